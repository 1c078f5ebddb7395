// SPDX-License-Identifier: Apache-2.0
// discover: what a host tells the one who asked, through whatever a launcher does to standard output. Launchers cut
// output into blocks, mix those of several processes and put labels in front; lines of one fixed, short length, each
// with its number, survive all that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct HostReport {
  std::string host;
  std::uint64_t rank = 0;  ///< In the launcher's order.
  std::string machine;     ///< Topology JSON.
};

/// Whole lines of 512 bytes, which divides the blocks that launchers forward.
std::string write_report(const HostReport& report);

/// Gathers lines as they come; one report a host remains, that of its lowest rank, in the order of the ranks.
class ReportCollector {
 public:
  /// False: the line is something else, such as a word of the launcher.
  bool add(std::string_view line);
  /// Fails when parts of a report are missing, or there is none.
  Result<std::vector<HostReport>> reports() const;

 private:
  struct Pieces {
    std::string id;
    std::vector<std::string> text;
    std::size_t got = 0;
  };
  std::vector<Pieces> pieces_;
};

}  // namespace rankloom
