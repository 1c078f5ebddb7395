// SPDX-License-Identifier: Apache-2.0
// allocate/routing: walks every route of every job.
#include "rankloom/allocate/routing/conflict_verifier.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

std::string to_string(const Conflict& conflict, const Network& network) {
  const auto jobs = fmt::format("jobs {} and {}", conflict.first_job, conflict.second_job);
  switch (conflict.kind) {
    case Conflict::Kind::node:
      return fmt::format("node {} belongs to {}", conflict.number, jobs);
    case Conflict::Kind::router:
      return fmt::format("router {} is used by {}", conflict.number, jobs);
    case Conflict::Kind::link:
      break;
  }
  const auto [from, to] = network.endpoints(Link{conflict.number});
  return fmt::format("link {} (from {} to {}) is used by {}", conflict.number, index(from), index(to), jobs);
}

ConflictVerifier::ConflictVerifier(const Network& network, Exclusive exclusive)
    : network_(&network),
      exclusive_(exclusive),
      nodes_are_routers_(std::holds_alternative<MeshShape>(network.shape()) || graph_shape(network) != nullptr) {
  const std::size_t resource_count = std::size_t{network.node_count()} +
                                     (exclusive == Exclusive::links ? network.link_count() : network.vertex_count());
  users_.resize(resource_count);
  used_by_new_job_.resize(resource_count);
}

void ConflictVerifier::use(std::uint32_t resource) {
  if (used_by_new_job_[resource]) return;
  used_by_new_job_[resource] = true;
  resources_of_new_job_.push_back(resource);
}

void ConflictVerifier::walk(std::span<const Node> nodes) {
  const std::uint32_t node_count = network_->node_count();
  std::vector<Link> route;
  for (const Node from : nodes) {
    use(index(from));
    for (const Node to : nodes) {
      route.clear();
      if (from != to) network_->route(from, to, route);
      for (const Link link : route) {
        if (exclusive_ == Exclusive::links) {
          use(node_count + index(link));
          continue;
        }
        const auto [a, b] = network_->endpoints(link);
        if (nodes_are_routers_ || index(a) >= node_count) use(node_count + index(a));
        if (nodes_are_routers_ || index(b) >= node_count) use(node_count + index(b));
      }
    }
  }
}

Conflict ConflictVerifier::conflict(std::uint32_t resource, const std::string& first_job,
                                    const std::string& second_job) const {
  const std::uint32_t nodes = network_->node_count();
  if (resource < nodes) return {Conflict::Kind::node, resource, first_job, second_job};
  const auto kind = exclusive_ == Exclusive::links ? Conflict::Kind::link : Conflict::Kind::router;
  return {kind, resource - nodes, first_job, second_job};
}

std::vector<Conflict> ConflictVerifier::start(const RunningJob& job) {
  resources_of_new_job_.clear();
  walk(job.nodes);
  std::sort(resources_of_new_job_.begin(), resources_of_new_job_.end());
  const auto entry = resources_.emplace(job.name, resources_of_new_job_).first;
  std::vector<Conflict> conflicts;
  for (const std::uint32_t resource : resources_of_new_job_) {
    used_by_new_job_[resource] = false;
    for (const std::string* user : users_[resource]) conflicts.push_back(conflict(resource, *user, job.name));
    users_[resource].push_back(&entry->first);
  }
  return conflicts;
}

void ConflictVerifier::end(const std::string& name) {
  const auto found = resources_.find(name);
  if (found == resources_.end()) return;
  for (const std::uint32_t resource : found->second) std::erase(users_[resource], &found->first);
  resources_.erase(found);
}

std::vector<Conflict> verify(const Network& network, Exclusive exclusive, std::span<const RunningJob> jobs) {
  ConflictVerifier verifier(network, exclusive);
  std::vector<Conflict> all;
  for (const RunningJob& job : jobs) {
    const auto found = verifier.start(job);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace rankloom
