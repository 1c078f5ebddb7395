// SPDX-License-Identifier: Apache-2.0
// place/online: what an agent leaves behind: phases, decisions and their effect, as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rankloom/place/online/planner.hpp"

namespace rankloom {

/// What became of a decision to move.
struct OnlineBurst {
  double time = 0;
  std::size_t window = 0;
  std::uint32_t bound = 0;          ///< Ranks whose processing unit was set,
  std::uint32_t failed = 0;         ///< and those for which the operating system refused.
  std::uint32_t migrated = 0;       ///< Ranks whose pages followed them.
  std::vector<std::uint32_t> cpus;  ///< By rank of the node, after it.
  CommGraph traffic;                ///< What the mapping was found for.
};

struct OnlineLog {
  std::string host;
  double window_seconds = 0;
  double seconds = 0;      ///< From the first window to the last.
  double cpu_seconds = 0;  ///< Of the agent itself.
  std::uint64_t torn = 0;
  bool of_threads = false;           ///< Of one program, in place of ranks.
  std::vector<std::uint32_t> ranks;  ///< In the world; or the recorder's numbers of threads.
  std::vector<std::uint32_t> cpus;   ///< What ranks of the node may be moved to, by core of the machine.
  std::string machine;               ///< As topology JSON.
  std::vector<OnlineBurst> bursts;
  std::vector<std::string> remarks;  ///< What a user should know.
};

nlohmann::ordered_json to_json(const OnlineLog& log, const OnlinePlanner& planner);
/// Of an agent that had nothing to plan.
nlohmann::ordered_json to_json(const OnlineLog& log);

nlohmann::ordered_json to_json(const OnlinePhase& phase);
nlohmann::ordered_json to_json(const OnlineDecision& decision);
/// "A", "B", …, "Z", "A1", …
std::string kind_name(std::size_t kind);

}  // namespace rankloom
