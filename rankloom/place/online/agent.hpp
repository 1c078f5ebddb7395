// SPDX-License-Identifier: Apache-2.0
// place/online: one agent on a node: reads what its ranks count, in windows, and moves them. It lives beside the ranks
// and ends with them; whatever befalls it, they do not notice.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/place/online/planner.hpp"

namespace rankloom {

struct AgentOptions {
  std::string recording;  ///< RANKLOOM_RECORD_OUT of the ranks; files of the agent are beside it.
  std::string threads;    ///< RANKLOOM_THREADS_LIVE of a program whose threads are to be moved, in place of ranks.
  double window_seconds = 0.1;
  std::string machine;  ///< A file or string in place of the host as it is; empty: what hwloc says.
  bool migrate_pages = false;
  bool threaded = false;  ///< Ranks are known to have threads of their own: nobody is moved.
  OnlineOptions online;
};

/// Files of the agents beside the recording: who has one, which processes a launcher started there, and the log.
std::string agent_file(const std::string& recording, const std::string& host);
std::string processes_file(const std::string& recording, const std::string& host);
std::string log_file(const std::string& recording, const std::string& host);

/// Until the last rank of this host is gone; then the log is there.
Result<void> run_agent(const AgentOptions& options);

}  // namespace rankloom
