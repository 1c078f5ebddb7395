// SPDX-License-Identifier: Apache-2.0
// allocate: the policies that choose the nodes of a job, and their table. To add a policy, add a function and a row in
// policies.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/allocate/fit_options.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/state/node_occupancy.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// What happens if the policy finds no nodes for a job (Zhang 2014, section 4).
enum class Fallback : std::uint8_t {
  wait,      ///< The job waits.
  diameter,  ///< The job gets nodes that are close to each other but share routers or links with other jobs.
  isolated,  ///< The job gets an isolated set that is larger or wider than the policy allows.
};

/// "wait", "diameter" or "closed", as users write it.
std::string_view name_of(Fallback fallback);

struct AllocationOptions {
  IsolationLimits limits = {};
  Fallback fallback = Fallback::wait;
  FitOptions fit = {};  ///< For closed-fit.
};

/// A machine with the tables that its search needs. Immutable and safe to share between threads; copies share their
/// data.
class Allocator {
 public:
  explicit Allocator(AllocationMachine machine);

  const AllocationMachine& machine() const { return machine_; }
  const IsolatedSearch& search() const { return *search_; }

 private:
  AllocationMachine machine_;
  std::shared_ptr<const IsolatedSearch> search_;
};

/// Nodes for a job; nothing if the job has to wait. Deterministic: the same occupancy gives the same nodes.
using AllocateFunction = std::optional<Allocation> (*)(const Allocator&, const Occupancy&, std::uint32_t nodes,
                                                       const AllocationOptions&);

struct PolicyInfo {
  std::string_view name;       ///< What the user types after --policy.
  std::string_view summary;    ///< One line, shown by `rankloom list policies`.
  std::string_view reference;  ///< The paper and section it implements.
  bool isolated;               ///< Its jobs never share a router or link, unless the fallback allows it.
  AllocateFunction allocate;
  bool leaves_headroom = false;  ///< It keeps free what AllocationOptions::fit.headroom says.
};

/// All policies, the default first.
std::span<const PolicyInfo> policies();
Result<const PolicyInfo*> find_policy(std::string_view name);

/// The nodes that the policy chooses, else those of the fallback.
std::optional<Allocation> allocate_nodes(const Allocator& allocator, const Occupancy& occupancy,
                                         const PolicyInfo& policy, std::uint32_t nodes,
                                         const AllocationOptions& options);

}  // namespace rankloom
