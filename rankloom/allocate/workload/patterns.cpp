// SPDX-License-Identifier: Apache-2.0
// allocate/workload: gives the jobs of a workload communication patterns.
#include <algorithm>

#include <fmt/format.h>

#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

/// Fractions of the run time that a pattern without one gets, each for the same number of jobs on average.
constexpr double default_shares[] = {0.1, 0.2, 0.3, 0.4, 0.5};
/// Different from the streams of lublin_workload().
constexpr std::uint64_t pattern_stream = 16;

}  // namespace

Result<std::vector<Application>> parse_applications(std::span<const std::string> patterns) {
  std::vector<Application> applications;
  for (const std::string& text : patterns) {
    const std::size_t sign = text.find('@');
    const std::string pattern = text.substr(0, sign);
    if (pattern.empty())
      return fail(Code::usage, at("--patterns"), fmt::format("'{}' names no pattern", text),
                  "give patterns of `rankloom gen`, such as stencil3d or ring@0.3");
    if (sign == std::string::npos) {
      for (const double share : default_shares) applications.push_back({pattern, share});
      continue;
    }
    const auto share = parse_number(text.substr(sign + 1));
    if (!share || *share < 0 || *share >= 1)
      return fail(Code::usage, at("--patterns"),
                  fmt::format("'{}' is not a fraction of the run time", text.substr(sign + 1)),
                  "give a number of at least 0 and below 1 after '@', such as stencil3d@0.3");
    applications.push_back({pattern, *share});
  }
  return applications;
}

void assign_applications(Workload& workload, std::vector<Application> applications, std::uint64_t seed) {
  workload.applications = std::move(applications);
  Random random(seed, pattern_stream);
  for (WorkloadJob& job : workload.jobs) {
    // Every job draws a number, so that the patterns of other jobs do not depend on its size.
    const std::uint64_t drawn = random.below(std::max<std::size_t>(1, workload.applications.size()));
    job.application = job.tasks > 1 && !workload.applications.empty() ? static_cast<std::uint32_t>(drawn + 1) : 0;
  }
}

}  // namespace rankloom
