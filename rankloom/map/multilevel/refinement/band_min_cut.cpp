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
    arcs_[arc] = {link.b, reverse, link.capacity, link.capacity};
    arcs_[reverse] = {link.a, arc, link.capacity, link.capacity};
    max_capacity = std::max(max_capacity, link.capacity);
  }
  tolerance_ = max_capacity * 1e-9;
}

/// Levels are distances to the sink, so that a path with falling levels hardly ever ends before the sink.
bool FlowNetwork::find_levels() {
  level_.assign(vertices_, 0);
  queue_.clear();
  queue_.push_back(sink);
  level_[sink] = 1;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t vertex = queue_[at];
    for (std::uint32_t arc = first_[vertex]; arc < first_[vertex + 1]; ++arc) {
      const std::uint32_t from = arcs_[arc].to;
      if (level_[from] != 0 || !is_open(arcs_[arc].reverse_residual)) continue;
      level_[from] = level_[vertex] + 1;
      if (from == source) return true;
      queue_.push_back(from);
    }
  }
  return false;
}

/// Sends flow along paths with falling levels from the source to the sink until none is left. Returns its amount.
double FlowNetwork::augment() {
  double flow = 0;
  path_.clear();
  std::uint32_t vertex = source;
  for (;;) {
    if (vertex == sink) {
      double amount = arcs_[path_.front()].residual;
      for (const std::uint32_t arc : path_) amount = std::min(amount, arcs_[arc].residual);
      flow += amount;
      std::size_t open = path_.size();  // the next path has this many arcs in common with this one
      for (std::size_t at = path_.size(); at-- > 0;) {
        Arc& arc = arcs_[path_[at]];
        Arc& reverse = arcs_[arc.reverse];
        reverse.reverse_residual = arc.residual -= amount;
        arc.reverse_residual = reverse.residual += amount;
        if (!is_open(arc.residual)) open = at;
      }
      vertex = arcs_[arcs_[path_[open]].reverse].to;
      path_.resize(open);
    } else if (current_[vertex] < first_[vertex + 1]) {
      const Arc& arc = arcs_[current_[vertex]];
      if (level_[vertex] == level_[arc.to] + 1 && is_open(arc.residual)) {
        path_.push_back(current_[vertex]);
        vertex = arc.to;
      } else {
        ++current_[vertex];
      }
    } else if (path_.empty()) {
      return flow;
    } else {
      vertex = arcs_[arcs_[path_.back()].reverse].to;
      path_.pop_back();
      ++current_[vertex];
    }
  }
}

double FlowNetwork::run() {
  build();
  double flow = 0;
  while (find_levels()) {
    current_.assign(first_.begin(), first_.end() - 1);
    flow += augment();
  }
  return flow;
}

std::vector<std::uint8_t> FlowNetwork::source_side(bool largest) const {
  std::vector<std::uint8_t> reached(vertices_, 0);
  std::vector<std::uint32_t> queue{largest ? sink : source};
  reached[queue.front()] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (std::uint32_t arc = first_[queue[at]]; arc < first_[queue[at] + 1]; ++arc) {
      const double residual = largest ? arcs_[arc].reverse_residual : arcs_[arc].residual;
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
