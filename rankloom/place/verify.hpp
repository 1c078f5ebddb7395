// SPDX-License-Identifier: Apache-2.0
// place: compares where the ranks run with where the mapping places them. Several launchers misplace ranks silently, so
// every rank reports its own host and processing units.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

/// A thread of a rank while the program ran.
struct ThreadReport {
  std::vector<std::uint32_t> cpus;  ///< On which it may run, increasing.
  std::uint64_t ticks = 0;          ///< Its processor time.
};

/// What one rank reports about itself.
struct BindingReport {
  std::uint32_t rank = 0;
  std::string host;
  std::vector<std::uint32_t> cpus;     ///< On which it may run, increasing.
  std::vector<ThreadReport> threads;   ///< Empty: they were not looked at.
  std::string memory = {}, gpus = {};  ///< Its memory policy and its GPUs "0,1"; empty: not set by rankloom-bind.
};

/// Lines of "rank host cpus", as rankloom-bind writes them: "3 node1 0-3,8"; with other settings and the threads of a
/// rank "3 node1 0-3,8 memory local gpus 0,1 threads 0-3,8:120 1:4". There may be several lines of a rank.
Result<std::vector<BindingReport>> read_reports(const FileContents& file);

/// A rank that does not run where the mapping places it.
struct Difference {
  Rank rank{};
  std::string requested;  ///< "node1 cpu 3", "node1 cpus 0-3"
  std::string actual;     ///< "node2 cpus 0-1", or "did not report".
};

struct Verification {
  std::uint32_t ranks = 0;
  std::uint32_t confirmed = 0;
  std::uint32_t unreported = 0;  ///< Ranks that did not report; they are among the differences.
  std::vector<Difference> differences;
  bool all() const { return confirmed == ranks; }
};

/// A rank is confirmed when it runs on its host and, if ranks are bound, when it may run on all its processing units
/// and on no others. "localhost" means `this_host`.
Verification verify(const Deployment& deployment, EmitOptions::Bind bind, const std::vector<BindingReport>& reports,
                    const std::string& this_host);

}  // namespace rankloom
