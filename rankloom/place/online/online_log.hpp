// SPDX-License-Identifier: Apache-2.0
// place/online: the log of an agent: phases, decisions, migrations and their effect, as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rankloom/place/online/online_planner.hpp"

namespace rankloom {

/// The result of a decision to move.
struct Migration {
  double time = 0;
  std::size_t window = 0;
  std::uint32_t bound = 0;          ///< Ranks that were bound to another processing unit.
  std::uint32_t failed = 0;         ///< Ranks that the operating system refused to bind.
  std::uint32_t migrated = 0;       ///< Ranks whose memory pages were migrated.
  std::vector<std::uint32_t> cpus;  ///< The processing unit of each rank of the node afterwards.
  CommGraph traffic;                ///< The traffic that the mapping was computed for.
};

struct OnlineLog {
  std::string host;
  double window_seconds = 0;
  double seconds = 0;      ///< From the beginning of the first window to the end of the last.
  double cpu_seconds = 0;  ///< CPU time of the agent.
  std::uint64_t inconsistent_reads = 0;
  bool of_threads = false;           ///< The agent moved the threads of one program rather than ranks.
  std::vector<std::uint32_t> ranks;  ///< Ranks in MPI_COMM_WORLD, or the thread numbers of the recorder.
  std::vector<std::uint32_t> cpus;   ///< The processing unit of each core of the machine.
  std::string machine;               ///< As topology JSON.
  std::vector<Migration> migrations;
  std::vector<std::string> remarks;  ///< Messages for the user.
};

nlohmann::ordered_json to_json(const OnlineLog& log, const OnlinePlanner& planner);
/// For an agent that did not plan.
nlohmann::ordered_json to_json(const OnlineLog& log);

nlohmann::ordered_json to_json(const OnlinePhase& phase);
nlohmann::ordered_json to_json(const OnlineDecision& decision);
/// "A", "B", …, "Z", "A1", …
std::string phase_kind_name(std::size_t kind);

}  // namespace rankloom
