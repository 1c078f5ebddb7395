// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/graph/profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom {

namespace {

constexpr const char* damaged_hint = "the file is damaged, or contains parts of several profiles; record it again";

/// One profile and the file that its errors name.
class ProfileCheck {
 public:
  ProfileCheck(const Profile& profile, std::string_view file) : profile_(profile), file_(file) {}

  Result<void> run() const {
    if (auto valid = check_graphs(profile_.point_to_point, profile_.expanded_collectives, "the profile"); !valid)
      return valid;
    if (auto valid = check_communicators(); !valid) return valid;
    if (auto valid = check_collectives(profile_.collectives); !valid) return valid;
    if (auto valid = check_activity(); !valid) return valid;
    if (auto valid = check_locations(); !valid) return valid;
    for (const Phase& phase : profile_.phases) {
      if (!is_amount(phase.begin) || !is_amount(phase.end)) return bad_amount("the time of a phase");
      if (phase.point_to_point.rank_count() != ranks())
        return mismatch("in a phase", phase.point_to_point.rank_count());
      if (auto valid = check_graphs(phase.point_to_point, phase.expanded_collectives, "a phase"); !valid) return valid;
      if (auto valid = check_collectives(phase.collectives); !valid) return valid;
    }
    return {};
  }

 private:
  std::uint32_t ranks() const { return profile_.rank_count(); }

  Failure damaged(std::string what, std::string_view hint = damaged_hint) const {
    return fail(Code::bad_input, at(std::string(file_)), std::move(what), std::string(hint));
  }
  Failure bad_amount(std::string_view what) const {
    return damaged(fmt::format("{} is negative, not a number, or larger than {:g}", what, max_amount),
                   "amounts of one pair of ranks are added: check the sizes and counts in the file");
  }
  Failure mismatch(std::string_view what, std::size_t count) const {
    return damaged(fmt::format("the profile has {} ranks, but {} {}", ranks(), count, what));
  }

  Result<void> check_graphs(const CommGraph& point_to_point, const CommGraph& expanded, std::string_view part) const {
    if (expanded.rank_count() != 0 && expanded.rank_count() != ranks())
      return mismatch(fmt::format("in the collectives of {}", part), expanded.rank_count());
    for (const CommGraph* const graph : {&point_to_point, &expanded}) {
      const CommGraph::Rows& rows = graph->rows();
      if (!std::all_of(rows.bytes.begin(), rows.bytes.end(), is_amount))
        return bad_amount("the traffic of a pair of ranks");
      if (!std::all_of(rows.messages.begin(), rows.messages.end(), is_amount))
        return bad_amount("the number of messages of a pair of ranks");
      if (!std::all_of(rows.loads.begin(), rows.loads.end(), is_amount)) return bad_amount("the work of a rank");
    }
    return {};
  }

  Result<void> check_communicators() const {
    for (const Communicator& communicator : profile_.communicators) {
      for (const Rank member : communicator.members) {
        if (index(member) >= ranks())
          return damaged(
              fmt::format("a communicator has rank {}, but the profile has {} ranks", index(member), ranks()));
      }
    }
    return {};
  }

  Result<void> check_collectives(const std::vector<Collective>& collectives) const {
    for (const Collective& call : collectives) {
      if (call.communicator >= profile_.communicators.size())
        return damaged("the communicator of a collective does not exist");
      const auto& members = profile_.communicators[call.communicator].members;
      if (call.root >= (members.empty() ? ranks() : members.size()))
        return damaged("the root of a collective is not a member of its communicator");
      if (!is_amount(call.bytes)) return bad_amount("the size of a collective");
      if (!is_amount(call.count)) return bad_amount("the number of calls of a collective");
    }
    return {};
  }

  Result<void> check_locations() const {
    const Locations& locations = profile_.locations;
    if (!locations.of_ranks.empty() && locations.of_ranks.size() != ranks())
      return mismatch("have a location", locations.of_ranks.size());
    for (const Locations::OfRank& rank : locations.of_ranks) {
      if (rank.host >= locations.hosts.size() || rank.cpus >= locations.cpu_sets.size())
        return damaged("the host or the processing units of a rank do not exist");
    }
    constexpr std::uint32_t max_cpu = 65535;
    constexpr std::size_t max_total_cpus = 1U << 26;
    if (locations.cpu_sets.size() > ranks() || locations.hosts.size() > ranks())
      return damaged("there are more hosts or sets of processing units than ranks");
    std::size_t total = 0;
    for (const std::string& text : locations.cpu_sets) {
      const auto cpus = parse_number_ranges(text, max_cpu);
      if (!cpus) return damaged("a set of processing units is not a list such as 0-3,8");
      if ((total += cpus->size()) > max_total_cpus) return damaged("there are too many processing units");
    }
    return {};
  }

  Result<void> check_activity() const {
    if (!profile_.activity.empty() && profile_.activity.size() != ranks())
      return mismatch("entries of activity", profile_.activity.size());
    for (const RankActivity& activity : profile_.activity) {
      if (!is_amount(activity.seconds_in_mpi) || !is_amount(activity.seconds_outside))
        return bad_amount("the time of a rank");
      if (!is_amount(activity.instructions)) return bad_amount("the number of instructions of a rank");
    }
    return {};
  }

  const Profile& profile_;
  std::string_view file_;
};

}  // namespace

Result<void> check_profile(const Profile& profile, std::string_view file) {
  return ProfileCheck(profile, file).run();
}

}  // namespace rankloom
