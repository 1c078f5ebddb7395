// SPDX-License-Identifier: Apache-2.0
// evaluate: a summary of a communication profile.
#include "rankloom/evaluate/profile_summary.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {
namespace {

/// The traffic of one edge, if it exists.
std::optional<Volume> find_edge(const CommGraph& graph, Rank from, Rank to) {
  const auto targets = graph.targets(from);
  const auto found = std::lower_bound(targets.begin(), targets.end(), to);
  if (found == targets.end() || *found != to) return std::nullopt;
  const auto edge = static_cast<std::size_t>(found - targets.begin());
  return Volume{graph.bytes(from)[edge], graph.messages(from, edge)};
}

bool heavier(const PairTraffic& one, const PairTraffic& other) {
  if (one.volume.bytes != other.volume.bytes) return one.volume.bytes > other.volume.bytes;
  return one.a != other.a ? one.a < other.a : one.b < other.b;
}

/// Keeps the heaviest pairs in a bounded heap.
class HeaviestPairs {
 public:
  explicit HeaviestPairs(std::size_t max_size) : max_size_(max_size) {}
  void offer(const PairTraffic& pair) {
    if (max_size_ == 0 || (pairs_.size() == max_size_ && !heavier(pair, pairs_.front()))) return;
    if (pairs_.size() == max_size_) {
      std::pop_heap(pairs_.begin(), pairs_.end(), heavier);
      pairs_.pop_back();
    }
    pairs_.push_back(pair);
    std::push_heap(pairs_.begin(), pairs_.end(), heavier);  // the lightest pair is the top
  }
  std::vector<PairTraffic> result() && {
    std::sort(pairs_.begin(), pairs_.end(), heavier);
    return std::move(pairs_);
  }

 private:
  std::size_t max_size_;
  std::vector<PairTraffic> pairs_;
};

/// Calls visit(a, b, volume) once for every pair of different ranks with traffic.
template <class Visit>
void for_each_pair(const CommGraph& graph, const Visit& visit) {
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const Rank to = graph.targets(from)[edge];
      if (from == to) continue;
      const auto back = find_edge(graph, to, from);
      if (back && to < from) continue;  // visited from the other end
      Volume total{graph.bytes(from)[edge], graph.messages(from, edge)};
      if (back) total = {total.bytes + back->bytes, total.messages + back->messages};
      visit(std::min(from, to), std::max(from, to), total);
    }
  }
}

void count_point_to_point(const CommGraph& graph, ProfileSummary& summary) {
  for (const Rank rank : graph.ranks()) {
    const auto self = find_edge(graph, rank, rank).value_or(Volume{});
    summary.to_itself.bytes += self.bytes;
    summary.to_itself.messages += self.messages;
  }
  std::vector<std::uint32_t> partners(graph.rank_count(), 0);
  for_each_pair(graph, [&](Rank a, Rank b, const Volume& volume) {
    summary.between_ranks.bytes += volume.bytes;
    summary.between_ranks.messages += volume.messages;
    ++summary.pairs;
    ++partners[index(a)];
    ++partners[index(b)];
  });
  for (const std::uint32_t count : partners) {
    summary.ranks_without_partners += count == 0 ? 1 : 0;
    summary.max_partners = std::max(summary.max_partners, count);
    summary.mean_partners += static_cast<double>(count) / graph.rank_count();
  }
}

std::vector<OperationTotal> operations_of(const std::vector<Collective>& collectives) {
  std::map<CollectiveOp, OperationTotal> totals;
  for (const Collective& collective : collectives) {
    OperationTotal& total = totals[collective.op];
    total.op = collective.op;
    total.calls += collective.count;
    total.bytes += collective.count * collective.bytes;
  }
  std::vector<OperationTotal> list;
  list.reserve(totals.size());
  for (const auto& [op, total] : totals) list.push_back(total);
  std::stable_sort(list.begin(), list.end(),
                   [](const OperationTotal& a, const OperationTotal& b) { return a.bytes > b.bytes; });
  return list;
}

/// Those with the most bytes. Equal calls on a communicator are added up, whatever their sizes.
std::vector<GroupTotal> groups_of(const std::vector<Collective>& collectives, std::size_t top) {
  std::map<std::pair<std::uint32_t, CollectiveOp>, GroupTotal> totals;
  for (const Collective& collective : collectives) {
    GroupTotal& total = totals[{collective.communicator, collective.op}];
    total.communicator = collective.communicator;
    total.op = collective.op;
    total.calls += collective.count;
    total.bytes += collective.count * collective.bytes;
  }
  std::vector<GroupTotal> list;
  list.reserve(totals.size());
  for (const auto& [key, total] : totals) list.push_back(total);
  std::stable_sort(list.begin(), list.end(),
                   [](const GroupTotal& a, const GroupTotal& b) { return a.bytes > b.bytes; });
  if (list.size() > top) list.resize(top);
  return list;
}

/// The traffic of the collectives alone, on the recorded hosts.
Volume collective_volume(const Profile& profile, CollectiveModel model) {
  Profile collectives;
  collectives.point_to_point = std::move(CommGraphBuilder(profile.rank_count())).build(true);
  collectives.expanded_collectives = profile.expanded_collectives;
  collectives.communicators = profile.communicators;
  collectives.collectives = profile.collectives;
  std::vector<std::uint32_t> host_of(profile.rank_count(), 0);
  for (std::size_t rank = 0; rank < profile.locations.of_ranks.size(); ++rank)
    host_of[rank] = profile.locations.of_ranks[rank].host;
  model = collective_model(model, profile);
  const CommGraph graph = expand_collectives(split_by_nodes(std::move(collectives), model, host_of), model);
  return {graph.total_bytes(), graph.total_messages()};
}

std::optional<LocationSummary> location_of(const Locations& locations) {
  if (locations.of_ranks.empty()) return std::nullopt;
  std::vector<std::uint32_t> sizes;
  for (const std::string& cpus : locations.cpu_sets)
    sizes.push_back(
        static_cast<std::uint32_t>(parse_number_ranges(cpus).value_or(std::vector<std::uint32_t>()).size()));
  const Locations::OfRank& first = locations.of_ranks[0];
  LocationSummary summary{locations.hosts.size(), sizes[first.cpus], sizes[first.cpus], first.threads, first.threads};
  for (const Locations::OfRank& rank : locations.of_ranks) {
    summary.min_cpus = std::min(summary.min_cpus, sizes[rank.cpus]);
    summary.max_cpus = std::max(summary.max_cpus, sizes[rank.cpus]);
    summary.min_threads = std::min(summary.min_threads, rank.threads);
    summary.max_threads = std::max(summary.max_threads, rank.threads);
  }
  return summary;
}

std::optional<TimeShare> time_of(const std::vector<RankActivity>& activity) {
  TimeShare time{.min_share = 1};
  for (const RankActivity& rank : activity) {
    const double total = rank.seconds_in_mpi + rank.seconds_outside;
    time.seconds_in_mpi += rank.seconds_in_mpi;
    time.seconds_outside += rank.seconds_outside;
    if (total <= 0) continue;
    time.min_share = std::min(time.min_share, rank.seconds_in_mpi / total);
    time.max_share = std::max(time.max_share, rank.seconds_in_mpi / total);
  }
  if (time.seconds_in_mpi + time.seconds_outside <= 0) return std::nullopt;
  return time;
}

}  // namespace

Result<ProfileSummary> summarise(const Profile& profile, CollectiveModel model, std::size_t top) {
  if (auto fits = check_traffic_fits(profile, model); !fits) return propagate(fits);
  ProfileSummary summary;
  summary.ranks = profile.rank_count();
  count_point_to_point(profile.point_to_point, summary);
  summary.traffic = traffic(profile, model);
  HeaviestPairs heaviest(top);
  for_each_pair(summary.traffic, [&](Rank a, Rank b, const Volume& volume) { heaviest.offer({a, b, volume}); });
  summary.heaviest = std::move(heaviest).result();
  summary.operations = operations_of(profile.collectives);
  summary.groups = groups_of(profile.collectives, top);
  summary.collectives = collective_volume(profile, model);
  summary.time = time_of(profile.activity);
  summary.location = location_of(profile.locations);
  return summary;
}

Result<Profile> extract_phase(const Profile& profile, const std::string& name) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  for (std::size_t at = 0; at < profile.phases.size(); ++at) {
    const Phase& phase = profile.phases[at];
    if (phase.name != name && !(is_number && number == at + 1)) continue;
    Profile part;
    part.point_to_point = phase.point_to_point;
    part.expanded_collectives = phase.expanded_collectives;
    part.communicators = profile.communicators;
    part.locations = profile.locations;
    part.collectives = phase.collectives;
    part.self_traffic_counts = profile.self_traffic_counts;
    part.origin = profile.origin;
    part.origin["phase"] = phase.name;
    return part;
  }
  if (profile.phases.empty()) {
    return fail(Code::usage, at("--phase"), "the profile has no phases",
                "record with --window, or call MPI_Pcontrol in the program");
  }
  return fail(Code::usage, at("--phase"), fmt::format("there is no phase '{}'", name),
              fmt::format("give a number from 1 to {}, or a name that `rankloom show` prints", profile.phases.size()));
}

}  // namespace rankloom
