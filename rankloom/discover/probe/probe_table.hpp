// SPDX-License-Identifier: Apache-2.0
// discover/probe: the measurements of rankloom-probe per pair of ranks, and their text format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// The prefix of each line of the table in the output of a launcher.
inline constexpr std::string_view probe_line_prefix = "@rankloom-probe ";

struct ProbeRank {
  std::string host;
  std::int32_t cpu = -1;  ///< The only processing unit of its affinity mask; -1: several.
};

/// One-way times of messages of several sizes between two ranks.
struct ProbePair {
  struct Time {
    double bytes = 0;
    double nanoseconds = 0;      ///< Mean without the highest tenth.
    double min_nanoseconds = 0;  ///< Fastest repetition; 0: unknown.
  };
  std::uint32_t a = 0, b = 0;
  bool alone = false;  ///< No other pair sent messages meanwhile; otherwise all pairs did.
  std::vector<Time> times = {};
};

/// The rate of several pairs that send through one channel at once.
struct ProbeLoad {
  std::string channel;  ///< "node": from one node to another; "bus": inside a node; "uplink": from switch to switch.
  std::uint32_t pairs = 1;
  double bytes_per_second = 0;  ///< Of all pairs together.
};

struct ProbeTable {
  std::vector<ProbeRank> ranks = {};
  std::vector<ProbePair> pairs = {};
  std::vector<ProbeLoad> loads = {};
};

/// "rankloom-probe 1", then "rank 0 host -1" per rank, "pair 0 1 together 8:500.0:450.0 …" with size, mean and minimum
/// time per pair, "load node 4 2.5e9" with the rate of four pairs, and "end".
Result<ProbeTable> read_probe_table(const FileContents& file);

/// Latency and inverse bandwidth of the line through the smallest and the largest message. Sizes in between may use
/// another protocol of MPI or a burst of the network, and would distort a fit through all points.
Cost fit_cost(const std::vector<ProbePair::Time>& times);
/// The same for the fastest repetitions, which are disturbed least by other processes.
Cost fit_min_cost(std::vector<ProbePair::Time> times);

}  // namespace rankloom
