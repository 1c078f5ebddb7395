// SPDX-License-Identifier: Apache-2.0
// allocate: how the nodes of a job are chosen, and the table of such policies. Adding one: a function and a row in
// policies.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/allocate/state/node_occupancy.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// What a job gets when the policy finds no place for it (Zhang 2014, section 4): nothing, so that it waits; nodes that
/// are near each other but not closed; or a closed set that is larger or wider than the policy allows.
enum class Fallback : std::uint8_t { wait, diameter, closed };

std::string_view name_of(Fallback fallback);

struct PlaceOptions {
  ClosedLimits limits = {};
  Fallback fallback = Fallback::wait;
};

/// A machine with the tables that searching it takes. Immutable, safe to share; copies share their data.
class Allocator {
 public:
  explicit Allocator(AllocationMachine machine);

  const AllocationMachine& machine() const { return machine_; }
  const ClosedSearch& search() const { return *search_; }

 private:
  AllocationMachine machine_;
  std::shared_ptr<const ClosedSearch> search_;
};

/// Nodes for a job, or none when it has to wait. Same occupancy, same answer.
using Place = std::optional<Allotment> (*)(const Allocator&, const Occupancy&, std::uint32_t nodes,
                                           const PlaceOptions&);

struct PolicyInfo {
  std::string_view name;       ///< What the user types after --policy.
  std::string_view summary;    ///< One line, shown by `rankloom list policies`.
  std::string_view reference;  ///< The paper and section it implements.
  bool closed;                 ///< Its jobs never meet, unless a fallback gives that up.
  Place place;
};

/// The table, in reading order.
std::span<const PolicyInfo> policies();
Result<const PolicyInfo*> find_policy(std::string_view name);

/// The policy's answer, or the fallback's.
std::optional<Allotment> place(const Allocator& allocator, const Occupancy& occupancy, const PolicyInfo& policy,
                               std::uint32_t nodes, const PlaceOptions& options);

/// The allotment of these nodes whoever chose them: what it passes, how wide it is, whether anybody else is there.
Allotment describe(const AllocationMachine& machine, const Occupancy& occupancy, std::vector<Node> nodes);

}  // namespace rankloom
