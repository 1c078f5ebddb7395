// SPDX-License-Identifier: Apache-2.0
// place: did every rank land where the mapping asked? Several launchers misplace without a word, so nobody is believed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

/// What one rank said of itself.
struct SeatReport {
  std::uint32_t rank = 0;
  std::string host;
  std::vector<std::uint32_t> cpus;  ///< Where it may run, rising.
};

/// Lines of "rank host cpus", as rankloom-bind writes them: "3 node1 0-3,8".
Result<std::vector<SeatReport>> read_reports(const FileContents& file);
/// "0-3,8"
std::string cpu_list(const std::vector<std::uint32_t>& cpus);

struct Difference {
  Rank rank{};
  std::string asked;  ///< "node1 cpu 3"
  std::string found;  ///< "node2 cpus 0-1", or what is wrong.
};

struct Verification {
  std::uint32_t ranks = 0;
  std::uint32_t confirmed = 0;
  std::uint32_t silent = 0;  ///< Ranks that did not report; among the differences.
  std::vector<Difference> differences;
  bool all() const { return confirmed == ranks; }
};

/// A rank is where it was asked when its host is, and, if ranks are bound, when it may run on its processing unit and
/// on none that is another core's. "localhost" means `this_host`.
Verification verify(const Deployment& deployment, EmitOptions::Bind bind, const std::vector<SeatReport>& reports,
                    const std::string& this_host);

}  // namespace rankloom
