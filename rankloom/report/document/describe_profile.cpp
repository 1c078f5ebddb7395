// SPDX-License-Identifier: Apache-2.0
// report/document: what a program does.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "rankloom/report/document/describe.hpp"

namespace rankloom {

namespace {

constexpr std::size_t most_collectives = 40;

std::string name_of(const Profile& profile, std::uint32_t communicator) {
  const Communicator& group = profile.communicators[communicator];
  if (!group.name.empty()) return group.name;
  return group.members.empty() ? "MPI_COMM_WORLD" : fmt::format("communicator {}", communicator);
}

/// By operation and communicator; what is behind the first forty is put together.
std::vector<CollectiveRow> collectives_of(const Profile& profile) {
  std::map<std::pair<CollectiveOp, std::uint32_t>, CollectiveRow> rows;
  for (const Collective& collective : profile.collectives) {
    CollectiveRow& row = rows[{collective.op, collective.communicator}];
    row.count += collective.count;
    row.bytes += collective.count * collective.bytes;
  }
  std::vector<CollectiveRow> list;
  for (auto& [key, row] : rows) {
    const auto& members = profile.communicators[key.second].members;
    row.operation = to_string(key.first);
    row.communicator = name_of(profile, key.second);
    row.members = members.empty() ? profile.rank_count() : members.size();
    list.push_back(std::move(row));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.bytes > b.bytes; });
  if (list.size() <= most_collectives) return list;
  CollectiveRow rest{"others", fmt::format("{} more", list.size() - most_collectives), 0, 0, 0};
  for (std::size_t i = most_collectives; i < list.size(); ++i) {
    rest.count += list[i].count;
    rest.bytes += list[i].bytes;
  }
  list.resize(most_collectives);
  list.push_back(std::move(rest));
  return list;
}

double bytes_between_ranks(const CommGraph& graph) {
  double bytes = graph.total_bytes();
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto self = std::lower_bound(targets.begin(), targets.end(), rank);
    if (self != targets.end() && *self == rank) bytes -= graph.bytes(rank)[self - targets.begin()];
  }
  return bytes;
}

}  // namespace

void describe_profile(const Profile& profile, ReportDocument& document) {
  for (const auto& [size, messages] : profile.sizes)
    document.sizes.push_back({size, size == 0 ? 0 : 2 * size - 1, messages});
  document.point_to_point = bytes_between_ranks(profile.point_to_point);
  document.collectives = collectives_of(profile);
  if (profile.expanded_collectives.rank_count() > 0) {
    document.collectives.push_back(
        {"as pairs", "recorded as messages between pairs", 0, 0, bytes_between_ranks(profile.expanded_collectives)});
  }
  for (const RankActivity& activity : profile.activity) {
    document.in_mpi.push_back(static_cast<float>(activity.seconds_in_mpi));
    document.outside.push_back(static_cast<float>(activity.seconds_outside));
  }
  for (const Phase& phase : profile.phases) {
    document.phases.push_back({phase.name, phase.begin, phase.end, bytes_between_ranks(phase.point_to_point),
                               phase.point_to_point.total_messages()});
  }
}

}  // namespace rankloom
