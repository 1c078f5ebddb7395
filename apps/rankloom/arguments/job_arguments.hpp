// SPDX-License-Identifier: Apache-2.0
// apps: several jobs in words: what each is, where its ranks are and when it starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::app {

struct JobWords {
  std::string name;
  std::string profile;  ///< A file of any format, or gen:PATTERN.
  std::string place;    ///< A mapping file, or "nodes:0-3,8": the ranks in order on the cores of these nodes.
  double start = 0;     ///< Seconds.
  std::optional<std::uint32_t> iterations;
  std::optional<double> compute;  ///< Seconds of work of a rank in each round.
};

/// "PROFILE@PLACE" or "PROFILE@PLACE@START"
Result<JobWords> parse_job(std::string_view text, std::size_t number);
/// [{"name": .., "profile": .., "mapping": FILE or "nodes": [..] or "0-3,8", "start": seconds, "iterations": N,
/// "compute": seconds}, ..]
Result<std::vector<JobWords>> read_jobs(const std::string& path);

/// The core of each rank.
Result<std::vector<Core>> place_job(const JobWords& job, std::uint32_t ranks, const Topology& topology);

}  // namespace rankloom::app
