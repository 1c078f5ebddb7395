// SPDX-License-Identifier: Apache-2.0
// capture/import: accumulates the events of a trace.
#include "rankloom/capture/import/accumulators.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace rankloom {

namespace {

/// Calls of one operation with more sizes than this, on one communicator with one root, are merged into the mean size.
constexpr std::size_t max_sizes = 64;

/// Finds the communicator with given members; adds it if there is none.
class CommunicatorIndex {
 public:
  CommunicatorIndex(std::vector<Communicator>& communicators, std::uint32_t ranks)
      : communicators_(communicators), ranks_(ranks) {
    for (std::uint32_t i = 0; i < communicators.size(); ++i) known_.emplace(communicators[i].members, i);
  }
  std::uint32_t index_of(std::vector<Rank> members) {
    const bool world = members.size() == ranks_;
    if (world) members.clear();
    const auto [entry, added] = known_.emplace(members, static_cast<std::uint32_t>(communicators_.size()));
    if (added) communicators_.push_back({world ? "MPI_COMM_WORLD" : "", std::move(members)});
    return entry->second;
  }

 private:
  std::vector<Communicator>& communicators_;
  std::uint32_t ranks_;
  std::map<std::vector<Rank>, std::uint32_t> known_;
};

/// The root is a rank of the communicator; if it is too large for that, a rank of MPI_COMM_WORLD.
std::uint32_t root_position(std::uint32_t root, const std::vector<Rank>& members) {
  if (root < members.size()) return root;
  const auto found = std::find(members.begin(), members.end(), Rank{root});
  return found == members.end() ? 0 : static_cast<std::uint32_t>(found - members.begin());
}

/// Assigns a call of unknown communicator to the communicator with these members.
void assign_communicator(CommunicatorIndex& groups, std::vector<Rank> members, const CollectiveAccumulator::Call& call,
                         Collective& made) {
  const auto size = static_cast<double>(members.size());
  made.count /= size;
  // Several communicators of this size were merged into one larger group. The bytes that each member sends stay the
  // same.
  const bool to_all = call.op == CollectiveOp::alltoall || call.op == CollectiveOp::allgather;
  if (to_all && call.uneven_members > 1 && members.size() > call.uneven_members)
    made.bytes *= (call.uneven_members - 1) / (size - 1);
  made.root = has_root(call.op) ? root_position(call.root, members) : 0;
  made.communicator = groups.index_of(std::move(members));
}

/// Sorts by communicator, operation, root and size, and merges equal calls and kinds with too many sizes.
std::vector<Collective> sort_and_merge(std::vector<Collective> list) {
  const auto kind = [](const Collective& call) { return std::tuple(call.communicator, call.op, call.root); };
  std::sort(list.begin(), list.end(), [&](const Collective& a, const Collective& b) {
    return std::tuple_cat(kind(a), std::tuple(a.bytes)) < std::tuple_cat(kind(b), std::tuple(b.bytes));
  });
  std::vector<Collective> result;
  for (auto begin = list.begin(); begin != list.end();) {
    const auto end =
        std::find_if(begin, list.end(), [&](const Collective& call) { return kind(call) != kind(*begin); });
    Collective mean = *begin;
    if (static_cast<std::size_t>(end - begin) <= max_sizes) {
      for (auto at = begin; at != end; ++at) {
        const bool same = at != begin && result.back().bytes == at->bytes;
        if (same) result.back().count += at->count;
        if (!same) result.push_back(*at);
      }
    } else {
      double bytes = 0;
      mean.count = 0;
      for (auto at = begin; at != end; ++at) {
        bytes += at->bytes * at->count;
        mean.count += at->count;
      }
      mean.bytes = bytes / mean.count;
      result.push_back(mean);
    }
    begin = end;
  }
  return result;
}

}  // namespace

void PairAccumulator::grow() {
  std::vector<Entry> before = std::exchange(slots_, std::vector<Entry>(2 * slots_.size()));
  used_ = 0;
  for (const Entry& entry : before) {
    if (entry.key != unused) slot(entry.key) = entry;
  }
}

CommGraph TrafficAccumulator::build(std::uint32_t ranks) const {
  CommGraphBuilder builder(ranks);
  builder.reserve(pairs_.size());
  pairs_.for_each([&](const PairAccumulator::Entry& entry) {
    // Subtractions may leave a sum below 0 by a rounding error.
    const double bytes = std::max(entry.first, 0.0), messages = std::max(entry.second, 0.0);
    if (bytes > 0 || messages > 0) builder.add(Rank{entry.left()}, Rank{entry.right()}, bytes, messages);
  });
  return std::move(builder).build(true);
}

std::map<std::uint64_t, std::uint64_t> SizeHistogram::sizes() const {
  std::map<std::uint64_t, std::uint64_t> result;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) result[i == 0 ? 0 : std::uint64_t{1} << (i - 1)] = counts_[i];
  }
  return result;
}

std::size_t CollectiveAccumulator::Hash::operator()(const Call& call) const {
  const std::uint64_t words[] = {std::uint64_t{call.communicator} << 32 | call.root,
                                 std::uint64_t{call.uneven_members} << 8 | static_cast<std::uint8_t>(call.op),
                                 std::bit_cast<std::uint64_t>(call.bytes)};
  return std::accumulate(std::begin(words), std::end(words), std::uint64_t{0}, [](std::uint64_t sum, std::uint64_t w) {
    return (std::rotl(sum, 5) ^ w) * 0x9e37'79b9'7f4a'7c15;
  });
}

std::uint32_t CollectiveAccumulator::id_of(const Call& call) {
  const auto [entry, added] = ids_.emplace(call, static_cast<std::uint32_t>(calls_.size()));
  if (added) calls_.push_back(call);
  return entry->second;
}

void CollectiveAccumulator::add(std::uint32_t rank, const Call& call, double bytes, double count) {
  reports_.add(id_of(call), rank, bytes, count);
}

void CollectiveAccumulator::merge(const CollectiveAccumulator& other) {
  other.reports_.for_each([&](const PairAccumulator::Entry& entry) {
    add(entry.right(), other.calls_[entry.left()], entry.first, entry.second);
  });
}

void CollectiveAccumulator::finish(Profile& profile) const {
  std::vector<PairAccumulator::Entry> reports;
  reports.reserve(reports_.size());
  reports_.for_each([&](const PairAccumulator::Entry& entry) { reports.push_back(entry); });
  std::sort(reports.begin(), reports.end(), [](const auto& a, const auto& b) { return a.key < b.key; });

  CommunicatorIndex groups(profile.communicators, profile.rank_count());
  std::vector<Collective> list = std::move(profile.collectives);
  for (auto begin = reports.begin(); begin != reports.end();) {
    const auto end = std::find_if(begin, reports.end(),
                                  [&](const PairAccumulator::Entry& entry) { return entry.left() != begin->left(); });
    const Call& call = calls_[begin->left()];
    Collective made{call.communicator, call.op, call.root, 0, 0};
    for (auto at = begin; at != end; ++at) {
      made.bytes += at->first;
      made.count += at->second;
    }
    made.bytes /= made.count;
    if (call.communicator == unknown_communicator) {
      std::vector<Rank> members;
      for (auto at = begin; at != end; ++at) members.push_back(Rank{at->right()});
      assign_communicator(groups, std::move(members), call, made);
    } else {
      const auto& members = profile.communicators[call.communicator].members;
      const std::size_t size = members.empty() ? profile.rank_count() : members.size();
      made.count /= static_cast<double>(has_root(call.op) && size > 1 ? size - 1 : size);
    }
    list.push_back(made);
    begin = end;
  }
  profile.collectives = sort_and_merge(std::move(list));
}

}  // namespace rankloom
