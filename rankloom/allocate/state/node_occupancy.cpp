// SPDX-License-Identifier: Apache-2.0
// allocate: bookkeeping of nodes and passages.
#include "rankloom/allocate/state/node_occupancy.hpp"

#include <cassert>
#include <variant>

#include "rankloom/model/network/networks.hpp"

namespace rankloom {

Occupancy::Occupancy(const AllocationMachine& machine)
    : free_(machine.node_count()),
      held_(machine.rule().passage_count()),
      users_(machine.node_count()),
      holders_(machine.rule().passage_count()),
      away_(machine.node_count()),
      nodes_route_(machine.exclusive() == Exclusive::routers &&
                   std::holds_alternative<MeshShape>(machine.network().shape())) {
  for (std::uint32_t node = 0; node < machine.node_count(); ++node) {
    free_.set(node);
    ++free_count_;
  }
  machine.holes().each([&](std::uint32_t node) { drain(Node{node}, false); });
}

void Occupancy::take(Node node) {
  if (users_[index(node)]++ > 0 || away_[index(node)] != here) return;
  free_.reset(index(node));
  --free_count_;
}

void Occupancy::give_back(Node node) {
  if (--users_[index(node)] > 0 || away_[index(node)] != here) return;
  free_.set(index(node));
  ++free_count_;
}

void Occupancy::add(const Allotment& allotment) {
  for (const Node node : allotment.nodes) take(node);
  for (const Node node : allotment.kept) take(node);
  allotment.passages.each([&](std::uint32_t passage) { hold(passage); });
}

void Occupancy::remove(const Allotment& allotment) {
  for (const Node node : allotment.nodes) give_back(node);
  for (const Node node : allotment.kept) give_back(node);
  allotment.passages.each([&](std::uint32_t passage) { let_go(passage); });
}

void Occupancy::drain(Node node, bool failed) {
  resume(node);
  if (users_[index(node)] == 0) {
    free_.reset(index(node));
    --free_count_;
  }
  away_[index(node)] = failed ? dead : drained_only;
  if (failed && nodes_route_) hold(index(node));
}

void Occupancy::resume(Node node) {
  if (away_[index(node)] == here) return;
  if (away_[index(node)] == dead && nodes_route_) let_go(index(node));
  away_[index(node)] = here;
  if (users_[index(node)] > 0) return;
  free_.set(index(node));
  ++free_count_;
}

bool Occupancy::fits(const Allotment& allotment) const {
  for (const auto* nodes : {&allotment.nodes, &allotment.kept}) {
    for (const Node node : *nodes) {
      if (!free_.test(index(node))) return false;
    }
  }
  return !allotment.closed || !allotment.passages.meets(held_);
}

}  // namespace rankloom
