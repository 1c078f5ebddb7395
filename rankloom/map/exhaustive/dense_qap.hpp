// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: a small mapping problem as a QAP with dense matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// The matrix of the traffic between tasks (the facilities) and of the distances between cores (the locations). For
/// exact searches and bounds of small problems: at most `max_cores` cores.
class DenseQap {
 public:
  static constexpr std::uint32_t max_cores = 1024;

  /// Congestion is not a sum over pairs. Its distances are those of the `bytes` model and serve only to find the
  /// symmetries of the machine.
  explicit DenseQap(const MapProblem& problem);

  std::uint32_t tasks() const { return tasks_; }
  std::uint32_t cores() const { return cores_; }
  std::uint32_t capacity(std::uint32_t core) const { return capacities_[core]; }

  double bytes(std::uint32_t from, std::uint32_t to) const { return bytes_[from * tasks_ + to]; }
  double messages(std::uint32_t from, std::uint32_t to) const { return messages_[from * tasks_ + to]; }
  const PairCost& distance(std::uint32_t from, std::uint32_t to) const { return distance_[from * cores_ + to]; }
  /// The cost does not depend on the numbers of messages, so the cost of a pair is one product.
  bool bytes_only() const { return bytes_only_; }
  bool symmetric_distances() const { return symmetric_; }

  /// The cost of the messages of a task to itself on this core.
  double self_cost(std::uint32_t task, std::uint32_t core) const {
    return counts_self_ ? flow_cost(task, task, distance(core, core)) : 0;
  }
  /// The cost of both directions between task i on core p and task j on core q.
  double pair_cost(std::uint32_t i, std::uint32_t p, std::uint32_t j, std::uint32_t q) const {
    return flow_cost(i, j, distance(p, q)) + flow_cost(j, i, distance(q, p));
  }

 private:
  double flow_cost(std::uint32_t from, std::uint32_t to, const PairCost& pair) const {
    return bytes(from, to) * pair.per_byte + messages(from, to) * pair.per_message;
  }

  std::uint32_t tasks_, cores_;
  std::vector<std::uint32_t> capacities_;
  std::vector<double> bytes_, messages_;
  std::vector<PairCost> distance_;
  bool bytes_only_ = true;
  bool symmetric_ = true;
  bool counts_self_;
};

}  // namespace rankloom
