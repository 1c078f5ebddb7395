// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: the options that the commands of `rankloom alloc` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/options.hpp"
#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom::app {

/// The options of `init` for the machine, of `request` for one job, and of `replay` for a workload.
struct PolicyArguments {
  std::vector<const PolicyInfo*> policies;  ///< Empty: not given.
  std::vector<std::string> mappers;         ///< By policy: the mapper after '+', as in first-fit+block; empty: none.
  std::optional<Exclusive> exclusive;
  AllocationOptions allocation;

  void describe_policy(CLI::App& app, const std::string& help, bool several);
  void describe_exclusive(CLI::App& app);
  void describe_limits(CLI::App& app);
  void describe_fallback(CLI::App& app);
};

/// The applications of a list of patterns, or those of the default patterns if it is empty.
Result<std::vector<Application>> applications_of(const std::string& pattern_list);

/// Sets a field to a whole number of at least 1.
SetValue set_count(std::string option, std::uint64_t& field);

}  // namespace rankloom::app
