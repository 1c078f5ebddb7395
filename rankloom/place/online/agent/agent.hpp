// SPDX-License-Identifier: Apache-2.0
// place/online: the agent on a node. It reads the traffic of the ranks of the node, or of the threads of one program,
// in windows of time and moves them to other processing units. It runs next to the program and ends with it; no failure
// of the agent affects the program.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/place/online/online_planner.hpp"

namespace rankloom {

struct AgentOptions {
  std::string recording;  ///< RANKLOOM_RECORD_OUT of the ranks; the files of the agent are in the same directory.
  std::string threads;    ///< RANKLOOM_THREADS_LIVE of a program whose threads are moved; empty: ranks are moved.
  double window_seconds = 0.1;
  std::string machine;  ///< A file or string that describes the node; empty: the host as hwloc reports it.
  bool migrate_pages = false;
  bool threaded = false;  ///< The ranks are known to be multithreaded, so no rank is moved.
  OnlineOptions online;
};

/// Files of the agents in the directory of the recording: the process id of the agent of a host, the processes that the
/// launcher started on the host, and the log of the agent.
std::string agent_file(const std::string& recording, const std::string& host);
std::string processes_file(const std::string& recording, const std::string& host);
std::string log_file(const std::string& recording, const std::string& host);

/// Runs until the last rank of this host, or the program, has ended, and then writes the log.
Result<void> run_agent(const AgentOptions& options);

}  // namespace rankloom
