// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom online --replay`: recorded windows under the planner and under mappings that never change.
#pragma once

#include <string>

#include "apps/rankloom/verb.hpp"
#include "rankloom/place/online/online_planner.hpp"

namespace rankloom::app {

struct ReplayArguments {
  std::string profile;
  std::string machine;
  std::string output;
  OnlineOptions online;
};

Result<int> replay_windows(const ReplayArguments& arguments, const Session& session);

}  // namespace rankloom::app
