// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: transports the topology of a host through the standard output of a launcher. Launchers split output
// into blocks, interleave the output of several processes and prepend labels. Numbered lines of one fixed, short length
// mostly survive that; one that another line interrupts is not taken, and can be sent again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct HostReport {
  std::string host;
  std::uint64_t rank = 0;  ///< As the launcher numbers the processes.
  std::string machine;     ///< Topology JSON.
};

/// Lines of 512 bytes each; launchers forward blocks whose size is a multiple of that.
std::string write_host_report(const HostReport& report);

/// Collects lines in any order. Keeps one report per host, that of its lowest rank, sorted by rank.
class HostReportCollector {
 public:
  /// Returns false if the line is not part of a report, for example a message of the launcher.
  bool add(std::string_view line);
  /// Whether lines are missing, or were damaged since the last start().
  bool is_incomplete() const;
  /// The processes send their reports, perhaps once more.
  void start() { damaged_ = false; }
  /// Fails if parts of a report are missing or there is no report.
  Result<std::vector<HostReport>> reports() const;

 private:
  struct PartialReport {
    std::size_t count = 0;                     ///< Of its lines.
    std::map<std::size_t, std::string> lines;  ///< Those that arrived, by number.
  };
  void add_one(std::string_view line);
  std::map<std::string, PartialReport, std::less<>> partial_reports_;  // by the id in the lines
  bool damaged_ = false;
};

}  // namespace rankloom
