// SPDX-License-Identifier: Apache-2.0
// apps/process: maps the ranks of a user's command: its profile, the machine of its hosts, and what the command says
// about cores per rank and ranks per node. The function of `rankloom tune` and of `rankloom run --auto`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/profile_summary.hpp"
#include "rankloom/map/portfolio/candidate_mappings.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/job_shape.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom::app {

class JobMapping {
 public:
  /// `profile` and `machine` are files.
  JobMapping(const Launcher& launcher, const JobShape& shape, std::string profile, std::string machine)
      : launcher_(&launcher),
        shape_(shape),
        profile_(std::move(profile)),
        machine_(std::move(machine)),
        bind_(shape.unbound_by.empty() ? EmitOptions::Bind::core : EmitOptions::Bind::none) {}

  /// Reads the profile without its phases.
  Result<ProfileSummary> summarise();
  /// Reads the machine and decides what a rank occupies; after summarise().
  Result<void> fit();
  /// Writes the mapping to a file; after fit().
  Result<MapResult> map(const std::string& mapper, const std::string& output) const;
  /// `mapped`, which is the result of map(), and mappings for other goals, by predicted time. They may use other
  /// numbers of nodes than the default placement, unless the command limits the ranks per node.
  Result<std::vector<CandidateMapping>> candidates(const std::string& mapper, const MapResult& mapped) const;
  /// Writes a mapping of this job to a file.
  Result<void> write(const Mapping& mapping, const std::string& output) const;
  /// The same job with another number of hardware threads per core: one if its ranks use all of them, all if the
  /// command limits them; after fit(). The ranks keep their number of cores. `openmp_threads` is the user's own number
  /// of threads, which stays; 0: the user has not chosen one, and OpenMP gets as many threads as a slot has processing
  /// units. An error says why another number cannot be tried.
  Result<JobMapping> with_other_threads_per_core(std::uint32_t openmp_threads) const;

  std::uint64_t cores() const { return cores_; }
  std::uint64_t nodes() const { return nodes_; }
  bool oversubscribes() const { return ranks_ > slots_; }
  const SlotShapes& slots() const { return slots_of_ranks_; }
  /// How many hardware threads of a core every rank uses.
  std::uint32_t threads_per_core() const {
    const std::uint32_t limit = slots_of_ranks_.common().threads_per_core;
    return limit == 0 ? threads_of_core_ : std::min(limit, threads_of_core_);
  }
  /// How many threads every rank had when it was recorded; 0: not known, or they differ.
  std::uint32_t threads() const {
    return location_ && location_->min_threads == location_->max_threads ? location_->min_threads : 0;
  }
  EmitOptions::Bind bind() const { return bind_; }
  /// What the recorded threads changed; empty: nothing.
  const std::string& threads_remark() const { return threads_remark_; }
  ProblemArguments problem(bool oversubscribe) const;
  /// The same without the recorded numbers of ranks per node, unless the command says how many a node has.
  ProblemArguments problem_on_any_nodes(bool oversubscribe) const;

 private:
  bool says_width() const;
  void make_room_for_threads(const Topology& topology);

  const Launcher* launcher_;
  JobShape shape_;
  std::string profile_, machine_;
  EmitOptions::Bind bind_;
  std::uint32_t ranks_ = 0;
  std::uint64_t cores_ = 0, nodes_ = 0, slots_ = 0;
  std::uint32_t threads_of_core_ = 1;
  SlotShapes slots_of_ranks_;
  std::optional<LocationSummary> location_;         // of the recorded ranks
  std::vector<std::uint32_t> threads_of_programs_;  // of the recorded rank with the fewest
  std::string threads_remark_;
};

/// The slots with this number of hardware threads of each core.
SlotShapes with_threads_per_core(const SlotShapes& slots, std::uint32_t threads);

/// The deployment of a mapping file on a machine file, with names of its hosts.
Result<Deployment> deployment_of(const std::string& mapping, const std::string& machine, RankSettings settings);

}  // namespace rankloom::app
