// SPDX-License-Identifier: Apache-2.0
// allocate: the state of a machine in a file: what it is, who has which nodes, what is drained. An SQLite database, so
// that several processes may ask at once and a process may die at any moment; what is in the file is always whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// What `alloc init` decides once.
struct StateSettings {
  std::string machine;  ///< As topology JSON.
  Exclusive exclusive = Exclusive::routers;
  std::string policy = "closed-best";
  ClosedLimits limits;
};

struct StoredJob {
  std::string name;
  std::uint64_t tasks = 0;  ///< 0: nodes were asked for.
  std::vector<Node> nodes, kept;
  std::uint32_t diameter = 0;
  bool closed = false;
  std::string policy;
  std::string since;  ///< "2026-01-31T12:00:00Z"
};

struct StoredDrain {
  Node node;
  bool failed = false;
  std::string reason;
};

struct MachineState {
  StateSettings settings;
  std::vector<StoredJob> jobs;  ///< In the order in which they came.
  std::vector<StoredDrain> drains;
  std::uint64_t next_number = 1;  ///< For jobs without a name.
};

/// What one command changes.
struct StateChange {
  std::vector<StoredJob> add;
  std::vector<std::string> remove;  ///< Names of jobs.
  std::vector<StoredDrain> drain;
  std::vector<Node> resume;
};

class StateStore {
 public:
  /// A new file that appears whole or not at all. An old one is in the way unless it may be replaced.
  static Result<void> create(const std::string& path, const StateSettings& settings, bool replace);
  /// Fails on a file that is missing, damaged or something else.
  static Result<StateStore> open(const std::string& path);

  Result<MachineState> read();
  /// Reads, decides, writes, as one step that no other process can come between. When `decide` or the disk fails,
  /// nothing has changed.
  Result<void> change(const std::function<Result<StateChange>(const MachineState&)>& decide);

 private:
  struct Database;
  explicit StateStore(std::shared_ptr<Database> database) : database_(std::move(database)) {}
  std::shared_ptr<Database> database_;
};

/// A state with the machine that it speaks of, ready for questions.
struct LiveState {
  MachineState state;
  Allocator allocator;
  Occupancy occupancy;
};
/// Fails when the state contradicts itself: nodes that the machine has not, or that two jobs have.
Result<LiveState> bring_to_life(MachineState state, const std::string& path);

/// "0-3,10": as nodes are written in the file and for people.
std::string node_ranges(std::span<const Node> nodes);

}  // namespace rankloom
