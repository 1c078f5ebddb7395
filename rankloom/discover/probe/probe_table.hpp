// SPDX-License-Identifier: Apache-2.0
// discover: what rankloom-probe measured, pair by pair, and the text in which it is kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// What stands in front of each of its lines while a launcher carries them.
inline constexpr std::string_view probe_mark = "@rankloom-probe ";

struct ProbeRank {
  std::string host;
  std::int32_t cpu = -1;  ///< The only processing unit it may run on; -1: several.
};

/// How long messages of some sizes took, one way.
struct ProbePair {
  struct Time {
    double bytes = 0;
    double nanoseconds = 0;  ///< The mean without the highest tenth.
    double least = 0;        ///< The fastest; 0: not known.
  };
  std::uint32_t a = 0, b = 0;
  bool alone = false;  ///< Nobody else sent anything; otherwise all others did.
  std::vector<Time> times = {};
};

struct ProbeTable {
  std::vector<ProbeRank> ranks;
  std::vector<ProbePair> pairs;
};

/// "rankloom-probe 1", then "rank 0 host -1" for each, "pair 0 1 together 8:500.0:450.0 …" with size, mean and least
/// time, "end".
Result<ProbeTable> read_probe_table(const FileContents& file);

/// The line through the smallest and the largest message. Those in between take other ways through MPI and the network
/// (another protocol, what a shaper lets pass at once), and would bend a line through all of them away from both ends.
Cost fit_cost(const std::vector<ProbePair::Time>& times);
/// The same through the fastest of each: what others did at the same time shows least in it.
Cost fit_least_cost(std::vector<ProbePair::Time> times);

}  // namespace rankloom
