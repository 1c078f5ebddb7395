// SPDX-License-Identifier: Apache-2.0
// allocate/state: the persistent state of an allocator: the machine, the jobs with their nodes, the drained nodes. The
// file is an SQLite database, so that several processes can use it at once and a crash never leaves it inconsistent.
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

class Database;

/// What `rankloom alloc init` fixes.
struct StateSettings {
  std::string machine;  ///< Topology JSON.
  Exclusive exclusive = Exclusive::routers;
  std::string policy = "closed-best";
  IsolationLimits limits;
};

struct StoredJob {
  std::string name;
  std::uint64_t tasks = 0;  ///< 0: the user requested nodes.
  std::vector<Node> nodes, reserved;
  std::uint32_t diameter = 0;
  bool isolated = false;
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
  std::vector<StoredJob> jobs;  ///< In order of arrival.
  std::vector<StoredDrain> drains;
  std::uint64_t next_number = 1;  ///< The name of the next job without a name.
};

/// The changes of one command.
struct StateChange {
  std::vector<StoredJob> add;
  std::vector<std::string> remove;  ///< Job names.
  std::vector<StoredDrain> drain;
  std::vector<Node> resume;
};

class StateStore {
 public:
  /// Creates the file atomically. Fails if the file exists, unless `force` is set and it is a state file.
  static Result<void> create(const std::string& path, const StateSettings& settings, bool force);
  /// Fails if the file is missing, damaged or not a state file.
  static Result<StateStore> open(const std::string& path);

  Result<MachineState> read();
  /// Reads the state, calls `decide` and writes its changes as one transaction. If `decide` or the disk fails, nothing
  /// changes.
  Result<void> change(const std::function<Result<StateChange>(const MachineState&)>& decide);

 private:
  static Result<void> create_new(const std::string& path, const StateSettings& settings);
  static Result<void> replace(const std::string& path, const StateSettings& settings);
  StateStore(std::shared_ptr<Database> database, std::string path)
      : database_(std::move(database)), path_(std::move(path)) {}
  std::shared_ptr<Database> database_;
  std::string path_;
};

/// A stored state with the allocator and the occupancy built from it.
struct RestoredState {
  MachineState state;
  Allocator allocator;
  Occupancy occupancy;
};
/// Fails if the state is inconsistent: a node does not exist or belongs to two jobs.
Result<RestoredState> restore(MachineState state, const std::string& path);

/// "0-3,10": how nodes are written in the file and in messages.
std::string node_ranges(std::span<const Node> nodes);

}  // namespace rankloom
