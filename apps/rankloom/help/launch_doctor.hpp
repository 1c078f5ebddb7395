// SPDX-License-Identifier: Apache-2.0
// apps/help: runs the user's command as it is, and tells where its ranks and threads were and what is wrong with that.
// The function of `rankloom doctor -- COMMAND`.
#pragma once

#include <string>
#include <vector>

#include "apps/rankloom/verb.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

/// The exit status: that of the program.
Result<int> examine_launch(const Session& session, const Argv& command);

}  // namespace rankloom::app
