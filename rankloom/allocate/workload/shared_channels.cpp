// SPDX-License-Identifier: Apache-2.0
// allocate/workload: how running jobs slow each other down.
#include "rankloom/allocate/workload/shared_channels.hpp"

#include <algorithm>
#include <utility>

namespace rankloom {

std::vector<std::uint32_t> SharedChannels::sharing(std::uint32_t job) const {
  std::vector<std::uint32_t> others;
  for (const auto& use : jobs_[job].communication.uses) {
    for (const std::uint32_t other : jobs_on_[use.channel]) {
      if (other != job) others.push_back(other);
    }
  }
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  return others;
}

std::vector<std::uint32_t> SharedChannels::add(std::uint32_t job, PlacedCommunication communication, double computing) {
  if (jobs_.size() <= job) jobs_.resize(job + 1);
  jobs_[job] = {std::move(communication), 0};
  Job& added = jobs_[job];
  added.iteration = computing + added.communication.seconds;
  for (const auto& use : added.communication.uses) {
    busy_[use.channel] += use.seconds / added.iteration;
    jobs_on_[use.channel].push_back(job);
  }
  return sharing(job);
}

std::vector<std::uint32_t> SharedChannels::remove(std::uint32_t job) {
  std::vector<std::uint32_t> others = sharing(job);
  for (const auto& use : jobs_[job].communication.uses) {
    std::erase(jobs_on_[use.channel], job);
    // Without jobs exactly 0, so that rounding errors do not accumulate.
    busy_[use.channel] = jobs_on_[use.channel].empty() ? 0 : busy_[use.channel] - use.seconds / jobs_[job].iteration;
  }
  jobs_[job] = {};
  return others;
}

double SharedChannels::seconds(std::uint32_t job) const {
  const Job& own = jobs_[job];
  double slowest = own.communication.transfer;
  for (const auto& use : own.communication.uses) {
    const std::size_t jobs = jobs_on_[use.channel].size();
    if (jobs < 2) continue;
    const double others = busy_[use.channel] - use.seconds / own.iteration;
    const double share = std::max(1 - others, 1 / static_cast<double>(jobs));
    slowest = std::max(slowest, use.seconds / share);
  }
  return own.communication.seconds - own.communication.transfer + slowest;
}

}  // namespace rankloom
