// SPDX-License-Identifier: Apache-2.0
// place/online: the agent of a program that records its threads: what agent.hpp says of ranks, for threads.
#pragma once

#include <string>

#include "rankloom/place/online/agent.hpp"

namespace rankloom {

/// Until the program is gone; then the log is there.
Result<void> run_thread_agent(const AgentOptions& options, const std::string& host);

}  // namespace rankloom
