// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: Dinic's maximum flow algorithm.
#include "rankloom/map/multilevel/refinement/band_min_cut.hpp"

#include <algorithm>

namespace rankloom::multilevel {

void FlowNetwork::clear(std::uint32_t vertices) {
  vertices_ = vertices;
  links_.clear();
}

void FlowNetwork::build() {
  first_.assign(vertices_ + std::size_t{1}, 0);
  for (const Link& link : links_) {
    ++first_[link.a + std::size_t{1}];
    ++first_[link.b + std::size_t{1}];
  }
  for (std::size_t at = 1; at < first_.size(); ++at) first_[at] += first_[at - 1];
  arcs_.resize(2 * links_.size());
  current_.assign(first_.begin(), first_.end() - 1);
  double max_capacity = 0;
  for (const Link& link : links_) {
    const std::uint32_t arc = current_[link.a]++;
    const std::uint32_t reverse = current_[link.b]++;
    arcs_[arc] = {link.b, reverse, link.capacity};
    arcs_[reverse] = {link.a, arc, link.capacity};
    max_capacity = std::max(max_capacity, link.capacity);
  }
  tolerance_ = max_capacity * 1e-9;
}

bool FlowNetwork::find_levels() {
  level_.assign(vertices_, 0);
  queue_.clear();
  queue_.push_back(source);
  level_[source] = 1;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t vertex = queue_[at];
    for (std::uint32_t arc = first_[vertex]; arc < first_[vertex + 1]; ++arc) {
      const std::uint32_t to = arcs_[arc].to;
      if (level_[to] != 0 || !is_open(arcs_[arc].residual)) continue;
      level_[to] = level_[vertex] + 1;
      if (to == sink) return true;
      queue_.push_back(to);
    }
  }
  return false;
}

/// Sends flow along one path with rising levels from the source to the sink. Returns its amount; 0 if no path is left.
double FlowNetwork::augment() {
  path_.clear();
  std::uint32_t vertex = source;
  while (vertex != sink) {
    if (current_[vertex] < first_[vertex + 1]) {
      const Arc& arc = arcs_[current_[vertex]];
      if (level_[arc.to] == level_[vertex] + 1 && is_open(arc.residual)) {
        path_.push_back(current_[vertex]);
        vertex = arc.to;
      } else {
        ++current_[vertex];
      }
    } else if (path_.empty()) {
      return 0;
    } else {
      vertex = arcs_[arcs_[path_.back()].reverse].to;
      path_.pop_back();
      ++current_[vertex];
    }
  }
  double amount = arcs_[path_.front()].residual;
  for (const std::uint32_t arc : path_) amount = std::min(amount, arcs_[arc].residual);
  for (const std::uint32_t arc : path_) {
    arcs_[arc].residual -= amount;
    arcs_[arcs_[arc].reverse].residual += amount;
  }
  return amount;
}

double FlowNetwork::run() {
  build();
  double flow = 0;
  while (find_levels()) {
    current_.assign(first_.begin(), first_.end() - 1);
    for (double amount; (amount = augment()) > 0;) flow += amount;
  }
  return flow;
}

std::vector<std::uint8_t> FlowNetwork::source_side(bool largest) const {
  std::vector<std::uint8_t> reached(vertices_, 0);
  std::vector<std::uint32_t> queue{largest ? sink : source};
  reached[queue.front()] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (std::uint32_t arc = first_[queue[at]]; arc < first_[queue[at] + 1]; ++arc) {
      const double residual = largest ? arcs_[arcs_[arc].reverse].residual : arcs_[arc].residual;
      if (reached[arcs_[arc].to] != 0 || !is_open(residual)) continue;
      reached[arcs_[arc].to] = 1;
      queue.push_back(arcs_[arc].to);
    }
  }
  if (largest) {
    for (std::uint8_t& mark : reached) mark = mark != 0 ? 0 : 1;
  }
  return reached;
}

}  // namespace rankloom::multilevel
