// SPDX-License-Identifier: Apache-2.0
// allocate: every route of every job, walked.
#include "rankloom/allocate/routing/conflict_verifier.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "rankloom/model/network/networks.hpp"

namespace rankloom {

std::string to_string(const Meeting& meeting, const Network& network) {
  const auto jobs = fmt::format("jobs {} and {}", meeting.one, meeting.other);
  switch (meeting.kind) {
    case Meeting::Kind::node:
      return fmt::format("node {} belongs to {}", meeting.number, jobs);
    case Meeting::Kind::router:
      return fmt::format("router {} is passed by {}", meeting.number, jobs);
    case Meeting::Kind::link:
      break;
  }
  const auto [from, to] = network.ends(Link{meeting.number});
  return fmt::format("link {} (from {} to {}) is passed by {}", meeting.number, index(from), index(to), jobs);
}

Verifier::Verifier(const Network& network, Exclusive exclusive)
    : network_(&network),
      exclusive_(exclusive),
      nodes_route_(std::holds_alternative<MeshShape>(network.shape()) || graph_shape(network) != nullptr) {
  const std::size_t things = std::size_t{network.node_count()} +
                             (exclusive == Exclusive::links ? network.link_count() : network.vertex_count());
  users_.resize(things);
  used_.resize(things);
}

void Verifier::use(std::uint32_t thing) {
  if (used_[thing]) return;
  used_[thing] = true;
  found_.push_back(thing);
}

void Verifier::walk(std::span<const Node> nodes) {
  const std::uint32_t behind = network_->node_count();
  std::vector<Link> route;
  for (const Node from : nodes) {
    use(index(from));
    for (const Node to : nodes) {
      route.clear();
      if (from != to) network_->route(from, to, route);
      for (const Link link : route) {
        if (exclusive_ == Exclusive::links) {
          use(behind + index(link));
          continue;
        }
        const auto [a, b] = network_->ends(link);
        if (nodes_route_ || index(a) >= behind) use(behind + index(a));
        if (nodes_route_ || index(b) >= behind) use(behind + index(b));
      }
    }
  }
}

Meeting Verifier::meeting(std::uint32_t thing, const std::string& one, const std::string& other) const {
  const std::uint32_t nodes = network_->node_count();
  if (thing < nodes) return {Meeting::Kind::node, thing, one, other};
  const auto kind = exclusive_ == Exclusive::links ? Meeting::Kind::link : Meeting::Kind::router;
  return {kind, thing - nodes, one, other};
}

std::vector<Meeting> Verifier::start(const RunningJob& job) {
  found_.clear();
  walk(job.nodes);
  std::sort(found_.begin(), found_.end());
  const auto place = things_.emplace(job.name, found_).first;
  std::vector<Meeting> meetings;
  for (const std::uint32_t thing : found_) {
    used_[thing] = false;
    for (const std::string* user : users_[thing]) meetings.push_back(meeting(thing, *user, job.name));
    users_[thing].push_back(&place->first);
  }
  return meetings;
}

void Verifier::end(const std::string& name) {
  const auto found = things_.find(name);
  if (found == things_.end()) return;
  for (const std::uint32_t thing : found->second) std::erase(users_[thing], &found->first);
  things_.erase(found);
}

std::vector<Meeting> verify(const Network& network, Exclusive exclusive, std::span<const RunningJob> jobs) {
  Verifier verifier(network, exclusive);
  std::vector<Meeting> all;
  for (const RunningJob& job : jobs) {
    const auto found = verifier.start(job);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace rankloom
