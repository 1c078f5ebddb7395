// SPDX-License-Identifier: Apache-2.0
// allocate/routing: checks whether running jobs share a node, router or link, by walking every route between every two
// nodes of every job. Shares no code with the policies, so that an error there cannot hide here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "rankloom/allocate/routing/allocation_machine.hpp"

namespace rankloom {

struct RunningJob {
  std::string name;
  std::vector<Node> nodes;
};

/// A node, router or link that two jobs use.
struct Conflict {
  enum class Kind : std::uint8_t { node, router, link };
  Kind kind;
  std::uint32_t number;  ///< Of the node, vertex or link.
  std::string first_job, second_job;
};

/// "router 12 is used by jobs a and b"
std::string to_string(const Conflict& conflict, const Network& network);

/// Follows jobs as they start and end; start() returns the conflicts with the jobs that run.
class ConflictVerifier {
 public:
  ConflictVerifier(const Network& network, Exclusive exclusive);

  /// Every node, router and link that the job shares with a running job, once per other job. O(nodes² · hops).
  std::vector<Conflict> start(const RunningJob& job);
  void end(const std::string& name);

 private:
  void use(std::uint32_t resource);
  void walk(std::span<const Node> nodes);
  Conflict conflict(std::uint32_t resource, const std::string& first_job, const std::string& second_job) const;

  // A resource is a node or, numbered after the nodes, a router or link.
  const Network* network_;
  Exclusive exclusive_;
  bool nodes_are_routers_;
  std::vector<std::vector<const std::string*>> users_;                     // by resource
  std::vector<bool> used_by_new_job_;                                      // by resource, while a job is walked
  std::vector<std::uint32_t> resources_of_new_job_;                        // of the job that is walked
  std::unordered_map<std::string, std::vector<std::uint32_t>> resources_;  // by job
};

/// The conflicts among all of these jobs.
std::vector<Conflict> verify(const Network& network, Exclusive exclusive, std::span<const RunningJob> jobs);

}  // namespace rankloom
