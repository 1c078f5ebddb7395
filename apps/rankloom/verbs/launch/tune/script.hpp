// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: `rankloom tune --script`: writes a job script that measures two placements, and submits it.
#pragma once

#include <optional>
#include <string>

#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/launch/tune/commands.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom::app {

struct TuneScriptArguments {
  std::string script;  ///< The user's job script; empty: tune runs a command.
  std::optional<std::size_t> line;
  bool submit = false;
};

/// The value is the exit status.
Result<int> write_tune_script(const TuneScriptArguments& script, const TuneArguments& tune, const Session& session);

}  // namespace rankloom::app
