// SPDX-License-Identifier: Apache-2.0
// place/reorder: the host and the binding of this process, and its helper process. The mapper and hwloc run in the
// helper rankloom-reorder rather than in the program, so that no failure in them can affect the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankloom::reorder {

/// "host 0-3,8\n": the host and the processing units of this process. Without units it may run on all of them.
/// RANKLOOM_HOSTNAME overrides the host name of the system.
std::string own_binding();

/// Runs the helper next to this library with one argument and returns its output. Nothing if the helper is missing,
/// fails, or exceeds the time limit.
std::optional<std::string> run_helper(const char* argument, std::string_view input);

/// The description of this host as topology JSON. It is computed once.
std::string host_description();

}  // namespace rankloom::reorder
