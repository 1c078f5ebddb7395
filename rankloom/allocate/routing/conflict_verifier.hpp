// SPDX-License-Identifier: Apache-2.0
// allocate: do running jobs meet? Answered by walking every route between every two nodes of every job; shares no code
// with the policies and believes nothing that they say.
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
struct Meeting {
  enum class Kind : std::uint8_t { node, router, link };
  Kind kind;
  std::uint32_t number;  ///< Of the node, vertex or link.
  std::string one, other;
};

/// "router 12 is passed by jobs a and b"
std::string to_string(const Meeting& meeting, const Network& network);

/// Jobs come and go; each start tells whom the job meets.
class Verifier {
 public:
  Verifier(const Network& network, Exclusive exclusive);

  /// Every node, router and link that the job shares with a running one, each named once for each of the others.
  /// O(nodes² · hops).
  std::vector<Meeting> start(const RunningJob& job);
  void end(const std::string& name);

 private:
  void use(std::uint32_t thing);
  void walk(std::span<const Node> nodes);
  Meeting meeting(std::uint32_t thing, const std::string& one, const std::string& other) const;

  // A thing is a node, or behind the nodes a router or link.
  const Network* network_;
  Exclusive exclusive_;
  bool nodes_route_;
  std::vector<std::vector<const std::string*>> users_;                  // by thing
  std::vector<bool> used_;                                              // by thing, while a job is walked
  std::vector<std::uint32_t> found_;                                    // things of the job that is walked
  std::unordered_map<std::string, std::vector<std::uint32_t>> things_;  // by job
};

/// All jobs at once.
std::vector<Meeting> verify(const Network& network, Exclusive exclusive, std::span<const RunningJob> jobs);

}  // namespace rankloom
