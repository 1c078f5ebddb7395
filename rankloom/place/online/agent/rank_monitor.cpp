// SPDX-License-Identifier: Apache-2.0
// place/online: observes the ranks of one node from outside.
#include "rankloom/place/online/agent/rank_monitor.hpp"

#include <algorithm>
#include <filesystem>

#include "rankloom/place/online/agent/process_control.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
constexpr std::uint32_t not_on_node = 0xffffffff;
/// More CPU time than this fraction of a window is the work of several threads.
constexpr double min_threaded_fraction = 1.25;
/// A zombie still has a CPU clock, so the state of the process is checked, too, but only in every eighth window.
constexpr std::uint64_t windows_between_state_checks = 8;

}  // namespace

RankMonitor::RankMonitor(const std::string& recording, std::string host) : host_(std::move(host)) {
  const fs::path path(recording);
  directory_ = path.parent_path().string();
  prefix_ = path.filename().string() + ".";
}

std::size_t RankMonitor::find_ranks() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix_) || opened_files_.contains(name)) continue;
    auto record = LiveRankRecord::open(entry.path().string());
    if (!record) continue;  // not complete yet
    opened_files_.insert(name);
    const bool is_other_job = !ranks_.empty() && !record->is_same_job(*ranks_.front().record);
    if (record->host() == host_ && record->process() > 0 && !is_other_job)
      ranks_.push_back({std::move(record), {}, 0, true});
  }
  std::sort(ranks_.begin(), ranks_.end(),
            [](const ObservedRank& a, const ObservedRank& b) { return a.record->rank() < b.record->rank(); });
  return ranks_.size();
}

void RankMonitor::start(double now) {
  if (ranks_.empty()) return;
  local_.assign(ranks_.front().record->ranks(), not_on_node);
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    ObservedRank& rank = ranks_[i];
    local_[rank.record->rank()] = i;
    rank.record->read(rank.totals);
    rank.cpu_seconds = process_control::cpu_seconds(rank.record->process()).value_or(0);
  }
  begin_ = now;
}

bool RankMonitor::any_running() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const ObservedRank& rank) { return rank.running; });
}

/// Only the first member of a communicator counts a collective operation, which is then expanded into traffic.
void RankMonitor::add_collectives(const ObservedRank& rank, const LiveTotals& change, Profile& profile) const {
  for (const LiveTotals::Call& call : change.calls) {
    Communicator communicator;
    if (call.communicator != 0) {
      communicator.members = rank.record->members(call.communicator);
      if (communicator.members.empty()) continue;
    }
    const std::size_t members = communicator.members.empty() ? local_.size() : communicator.members.size();
    if (call.root >= members) continue;
    auto& known = profile.communicators;
    auto entry = std::find_if(known.begin(), known.end(),
                              [&](const Communicator& other) { return other.members == communicator.members; });
    if (entry == known.end()) entry = known.insert(known.end(), std::move(communicator));
    const auto count = static_cast<double>(call.count);
    profile.collectives.push_back({static_cast<std::uint32_t>(entry - known.begin()),
                                   static_cast<CollectiveOp>(call.op), call.root,
                                   static_cast<double>(call.bytes) / count, count});
  }
}

TrafficWindow RankMonitor::next_window(double now) {
  const double seconds = now - begin_;
  const bool check_state = ++windows_ % windows_between_state_checks == 0;
  CommGraphBuilder pairs(static_cast<std::uint32_t>(ranks_.size()));
  Profile profile;
  std::vector<double> loads(ranks_.size(), 0.0);
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    ObservedRank& rank = ranks_[i];
    if (!rank.running) continue;
    LiveTotals latest;
    if (!rank.record->read(latest)) {
      ++inconsistent_reads_;
      continue;
    }
    const LiveTotals change = difference(rank.totals, latest);
    rank.totals = std::move(latest);
    for (const LiveTotals::Pair& pair : change.pairs) {
      const std::uint32_t other = local_[pair.other()];
      if (other == not_on_node || other == i) continue;
      const bool pulled = pair.kind() == record::TrafficKind::pulled;
      pairs.add(Rank{pulled ? other : i}, Rank{pulled ? i : other}, static_cast<double>(pair.bytes),
                static_cast<double>(pair.messages));
    }
    add_collectives(rank, change, profile);
    const auto cpu = process_control::cpu_seconds(rank.record->process());
    if (!cpu || rank.record->ended() || (check_state && !process_control::is_alive(rank.record->process()))) {
      rank.running = false;
      continue;
    }
    // MPI polls while it waits, so the time in MPI is CPU time but not work.
    loads[i] = std::clamp(*cpu - rank.cpu_seconds - change.seconds_in_mpi, 0.0, seconds);
    if (*cpu - rank.cpu_seconds > min_threaded_fraction * seconds) threaded_ = true;
    rank.cpu_seconds = *cpu;
  }
  if (!profile.collectives.empty()) {
    profile.point_to_point = CommGraphBuilder(static_cast<std::uint32_t>(local_.size())).build(true);
    const CommGraph collective_traffic = traffic(std::move(profile), CollectiveModel::tree);
    for (const Rank from : collective_traffic.ranks()) {
      if (local_[index(from)] == not_on_node) continue;
      for (std::size_t k = 0; k < collective_traffic.degree(from); ++k) {
        const std::uint32_t to = local_[index(collective_traffic.targets(from)[k])];
        if (to == not_on_node || to == local_[index(from)]) continue;
        pairs.add(Rank{local_[index(from)]}, Rank{to}, collective_traffic.bytes(from)[k],
                  collective_traffic.has_messages() ? collective_traffic.messages(from)[k] : 1);
      }
    }
  }
  if (use_cpu_times_) pairs.set_loads(std::move(loads));
  TrafficWindow window{begin_, now, std::move(pairs).build(true)};
  begin_ = now;
  return window;
}

}  // namespace rankloom
