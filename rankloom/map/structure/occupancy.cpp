// SPDX-License-Identifier: Apache-2.0
// map/structure: which parts of the machine are used, and which of them are alike.
#include "rankloom/map/structure/occupancy.hpp"

#include <algorithm>
#include <variant>

#include "rankloom/map/near_order.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom {
namespace {

/// What a byte between two cores costs, with the messages that come with it.
class ByteCost {
 public:
  explicit ByteCost(const MapProblem& problem)
      : distance_(make_distance(problem.topology,
                                problem.model == CostModel::congestion ? CostModel::hopbytes : problem.model)) {
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

Occupancy::Occupancy(const MapProblem& problem)
    : tree_(problem.topology, problem.capacities),
      seats_(block_placement(problem.graph.rank_count(), problem.topology, problem.capacities)) {
  packed_ = problem.capacities.one_each() && index(seats_.back()) + std::size_t{1} == seats_.size();
  const ByteCost cost(problem);
  const std::size_t each = seats_in(Part{index(seats_.front()), index(seats_.front()) + 1, 0});
  Part part = tree_.root();
  for (auto inside = used_children(part); !inside.empty(); inside = used_children(part)) {
    if (inside.size() > 1) {
      levels_.push_back({static_cast<std::uint32_t>(inside.size()), cost(inside[0].begin, inside[1].begin)});
      part_on_.push_back(part);
    }
    part = inside.front();
  }
  if (each > 1) {
    levels_.push_back({static_cast<std::uint32_t>(each), cost(part.begin, part.begin)});
    part_on_.push_back(part);
  }
  even_ = levels_.size();
  while (even_ > 0 && !can_be_even(even_)) --even_;
}

double Occupancy::pieces() const {
  const auto parts = used_children(part_on_.front());
  const std::size_t first = parts.empty() ? 1 : seats_in(parts.front());
  return static_cast<double>(seats_.size()) / static_cast<double>(first);
}

std::size_t Occupancy::first_seat(const Part& part) const {
  if (packed_) return std::min<std::size_t>(part.begin, seats_.size());
  return static_cast<std::size_t>(std::lower_bound(seats_.begin(), seats_.end(), Core{part.begin}) - seats_.begin());
}

std::vector<Occupancy::Part> Occupancy::used_children(const Part& part) const {
  auto parts = tree_.children(part);
  std::erase_if(parts, [&](const Part& child) { return seats_in(child) == 0; });
  return parts;
}

bool Occupancy::can_be_even(std::size_t count) const {
  const std::size_t at = levels_.size() - count;
  const Part& model = part_on_[at];
  std::size_t seats = 1;
  for (std::size_t level = at; level < levels_.size(); ++level) seats *= levels_[level].arity;
  return is_even(model, at, seats) && all_like(tree_.root(), seats, at);
}

bool Occupancy::all_like(const Part& part, std::size_t seats, std::size_t at) const {
  const std::size_t inside = seats_in(part);
  if (inside == 0) return true;
  if (inside <= seats) return inside == seats && is_even(part, at, seats);
  if (part.is_core()) return false;
  const auto parts = tree_.children(part);
  return std::all_of(parts.begin(), parts.end(), [&](const Part& child) { return all_like(child, seats, at); });
}

bool Occupancy::is_even(const Part& part, std::size_t at, std::size_t seats) const {
  if (seats_in(part) != seats) return false;
  if (at == levels_.size()) return true;
  if (packed_ && part.core_count() == seats && !has_network(tree_, part)) return symmetric(part, at);
  const auto parts = used_children(part);
  if (parts.size() == 1) return is_even(parts.front(), at, seats);
  if (parts.empty()) return at + 1 == levels_.size();
  if (has_network(tree_, part) || parts.size() != levels_[at].arity) return false;
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Part& child) { return is_even(child, at + 1, seats / parts.size()); });
}

bool Occupancy::symmetric(const Part& part, std::size_t at) const {
  if (!tree_.symmetric(part)) return false;
  const auto arities = tree_.arities(part);
  return std::equal(arities.begin(), arities.end(), levels_.begin() + static_cast<std::ptrdiff_t>(at), levels_.end(),
                    [](std::uint32_t arity, const BoxLevel& level) { return arity == level.arity; });
}

}  // namespace rankloom
