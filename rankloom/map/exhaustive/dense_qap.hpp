// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: a problem small enough to be written out as tables.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// Traffic by pair of tasks and distances by pair of cores. Only for exhaustive search, which cannot handle more than a
/// few tasks anyway: at most `max_cores` cores.
class SmallProblem {
 public:
  static constexpr std::uint32_t max_cores = 1024;

  /// Congestion is no sum over pairs: there the distances are those of the `bytes` model and serve only to tell which
  /// parts of the machine are alike.
  explicit SmallProblem(const MapProblem& problem);

  std::uint32_t tasks() const { return tasks_; }
  std::uint32_t cores() const { return cores_; }
  std::uint32_t capacities(std::uint32_t core) const { return slots_[core]; }

  double bytes(std::uint32_t from, std::uint32_t to) const { return bytes_[from * tasks_ + to]; }
  double messages(std::uint32_t from, std::uint32_t to) const { return messages_[from * tasks_ + to]; }
  const PairCost& distance(std::uint32_t from, std::uint32_t to) const { return distance_[from * cores_ + to]; }
  /// No messages count, so every pair's cost is one product.
  bool bytes_only() const { return bytes_only_; }
  bool symmetric_distances() const { return symmetric_; }

  /// What a task sends to itself on this core.
  double self_cost(std::uint32_t task, std::uint32_t core) const {
    return counts_self_ ? flow_cost(task, task, distance(core, core)) : 0;
  }
  /// Both directions between two tasks on two cores.
  double pair_cost(std::uint32_t i, std::uint32_t p, std::uint32_t j, std::uint32_t q) const {
    return flow_cost(i, j, distance(p, q)) + flow_cost(j, i, distance(q, p));
  }

 private:
  double flow_cost(std::uint32_t from, std::uint32_t to, const PairCost& pair) const {
    return bytes(from, to) * pair.per_byte + messages(from, to) * pair.per_message;
  }

  std::uint32_t tasks_, cores_;
  std::vector<std::uint32_t> slots_;
  std::vector<double> bytes_, messages_;
  std::vector<PairCost> distance_;
  bool bytes_only_ = true;
  bool symmetric_ = true;
  bool counts_self_;
};

}  // namespace rankloom
