// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: which parts of the machine are occupied, and which levels are the same everywhere.
#include "rankloom/map/structure/tiling/occupied_slots.hpp"

#include <algorithm>
#include <variant>

#include "rankloom/map/locality_order.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {
namespace {

/// The cost of a byte between two cores, including its share of the messages.
class ByteCost {
 public:
  explicit ByteCost(const MapProblem& problem)
      : distance_(make_distance(problem.topology, pairwise_model(problem.model))) {
    if (problem.model != CostModel::time) return;
    const double bytes = problem.graph.total_bytes();
    if (bytes > 0) messages_per_byte_ = problem.graph.total_messages() / bytes;
  }
  double operator()(std::uint32_t p, std::uint32_t q) const {
    const PairCost cost = std::visit([&](const auto& distance) { return distance(Core{p}, Core{q}); }, distance_);
    return cost.per_byte + cost.per_message * messages_per_byte_;
  }

 private:
  Distance distance_;
  double messages_per_byte_ = 0;
};

}  // namespace

OccupiedSlots::OccupiedSlots(const MapProblem& problem)
    : tree_(problem.topology, problem.capacities),
      cores_(block_placement(problem.graph.rank_count(), problem.topology, problem.capacities)) {
  packed_ = problem.capacities.is_one_each() && index(cores_.back()) + std::size_t{1} == cores_.size();
  const ByteCost cost(problem);
  const std::size_t slots_per_core = slots_in(Part{index(cores_.front()), index(cores_.front()) + 1, 0});
  Part part = tree_.root();
  for (auto inside = used_children(part); !inside.empty(); inside = used_children(part)) {
    if (inside.size() > 1) {
      levels_.push_back({static_cast<std::uint32_t>(inside.size()), cost(inside[0].begin, inside[1].begin)});
      first_part_.push_back(part);
    }
    part = inside.front();
  }
  if (slots_per_core > 1) {
    levels_.push_back({static_cast<std::uint32_t>(slots_per_core), cost(part.begin, part.begin)});
    first_part_.push_back(part);
  }
  uniform_levels_ = levels_.size();
  while (uniform_levels_ > 0 && !lowest_levels_are_uniform(uniform_levels_)) --uniform_levels_;
}

double OccupiedSlots::top_objects() const {
  const auto parts = used_children(first_part_.front());
  const std::size_t first = parts.empty() ? 1 : slots_in(parts.front());
  return static_cast<double>(cores_.size()) / static_cast<double>(first);
}

std::size_t OccupiedSlots::first_slot(const Part& part) const {
  if (packed_) return std::min<std::size_t>(part.begin, cores_.size());
  return static_cast<std::size_t>(std::lower_bound(cores_.begin(), cores_.end(), Core{part.begin}) - cores_.begin());
}

std::vector<OccupiedSlots::Part> OccupiedSlots::used_children(const Part& part) const {
  auto parts = tree_.children(part);
  std::erase_if(parts, [&](const Part& child) { return slots_in(child) == 0; });
  return parts;
}

bool OccupiedSlots::lowest_levels_are_uniform(std::size_t count) const {
  const std::size_t lowest = levels_.size() - count;
  const Part& first = first_part_[lowest];
  std::size_t slots = 1;
  for (std::size_t level = lowest; level < levels_.size(); ++level) slots *= levels_[level].arity;
  return is_uniform(first, lowest, slots) && all_parts_are_uniform(tree_.root(), slots, lowest);
}

bool OccupiedSlots::all_parts_are_uniform(const Part& part, std::size_t slots, std::size_t level) const {
  const std::size_t inside = slots_in(part);
  if (inside == 0) return true;
  if (inside <= slots) return inside == slots && is_uniform(part, level, slots);
  if (part.is_core()) return false;
  const auto parts = tree_.children(part);
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Part& child) { return all_parts_are_uniform(child, slots, level); });
}

bool OccupiedSlots::is_uniform(const Part& part, std::size_t level, std::size_t slots) const {
  if (slots_in(part) != slots) return false;
  if (level == levels_.size()) return true;
  if (packed_ && part.core_count() == slots && !has_network(tree_, part)) return has_full_levels(part, level);
  const auto parts = used_children(part);
  if (parts.size() == 1) return is_uniform(parts.front(), level, slots);
  if (parts.empty()) return level + 1 == levels_.size();
  if (has_network(tree_, part) || parts.size() != levels_[level].arity) return false;
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Part& child) { return is_uniform(child, level + 1, slots / parts.size()); });
}

bool OccupiedSlots::has_full_levels(const Part& part, std::size_t level) const {
  if (!tree_.symmetric(part)) return false;
  const auto arities = tree_.arities(part);
  return std::equal(arities.begin(), arities.end(), levels_.begin() + static_cast<std::ptrdiff_t>(level), levels_.end(),
                    [](std::uint32_t arity, const BoxLevel& expected) { return arity == expected.arity; });
}

}  // namespace rankloom
