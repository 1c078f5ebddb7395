// SPDX-License-Identifier: Apache-2.0
// place/online: the ranks of one node, seen from outside.
#include "rankloom/place/online/watch.hpp"

#include <algorithm>
#include <filesystem>

#include "rankloom/place/online/host.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
constexpr std::uint32_t elsewhere = 0xffffffff;
/// More than this of a window on processing units is the work of several threads.
constexpr double several_threads = 1.25;
/// A process that is gone has no clock; one that only nobody has asked for its status yet still has.
constexpr std::uint64_t windows_between_looks = 8;

}  // namespace

NodeWatch::NodeWatch(std::string recording, std::string host) : host_(std::move(host)) {
  const fs::path path(recording);
  folder_ = path.parent_path().string();
  prefix_ = path.filename().string() + ".";
}

std::size_t NodeWatch::look() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix_) || name.ends_with(".tmp") || seen_.contains(name)) continue;
    auto image = LiveImage::open(entry.path().string());
    if (!image) continue;  // not yet
    seen_.insert(name);
    if (image->host() == host_ && image->process() > 0) ranks_.push_back({std::move(image), {}, 0, true});
  }
  std::sort(ranks_.begin(), ranks_.end(),
            [](const Watched& a, const Watched& b) { return a.image->rank() < b.image->rank(); });
  return ranks_.size();
}

void NodeWatch::start(double now) {
  if (ranks_.empty()) return;
  local_.assign(ranks_.front().image->ranks(), elsewhere);
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    Watched& rank = ranks_[i];
    local_[rank.image->rank()] = i;
    rank.image->read(rank.totals);
    rank.cpu = host::cpu_seconds(rank.image->process()).value_or(0);
  }
  begin_ = now;
}

bool NodeWatch::any_running() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Watched& rank) { return rank.running; });
}

/// Collectives are counted by the first member alone; they become traffic as everywhere else.
void NodeWatch::add_calls(const Watched& rank, const LiveTotals& change, Profile& said) const {
  for (const LiveTotals::Call& call : change.calls) {
    Communicator communicator;
    if (call.communicator != 0) {
      communicator.members = rank.image->members(call.communicator);
      if (communicator.members.empty()) continue;
    }
    const std::size_t members = communicator.members.empty() ? local_.size() : communicator.members.size();
    if (call.root >= members) continue;
    auto& known = said.communicators;
    auto found = std::find_if(known.begin(), known.end(),
                              [&](const Communicator& one) { return one.members == communicator.members; });
    if (found == known.end()) found = known.insert(known.end(), std::move(communicator));
    const auto count = static_cast<double>(call.count);
    said.collectives.push_back({static_cast<std::uint32_t>(found - known.begin()), static_cast<CollectiveOp>(call.op),
                                call.root, static_cast<double>(call.bytes) / count, count});
  }
}

OnlineWindow NodeWatch::next(double now) {
  const double seconds = now - begin_;
  const bool look_closely = ++windows_ % windows_between_looks == 0;
  CommGraphBuilder pairs(static_cast<std::uint32_t>(ranks_.size()));
  Profile said;
  std::vector<double> loads(ranks_.size(), 0.0);
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    Watched& rank = ranks_[i];
    if (!rank.running) continue;
    LiveTotals latest;
    if (!rank.image->read(latest)) {
      ++torn_;
      continue;
    }
    const LiveTotals change = difference(rank.totals, latest);
    rank.totals = std::move(latest);
    for (const LiveTotals::Pair& pair : change.pairs) {
      const std::uint32_t other = local_[pair.other()];
      if (other == elsewhere || other == i) continue;
      const bool pulled = pair.kind() == record::TrafficKind::pulled;
      pairs.add(Rank{pulled ? other : i}, Rank{pulled ? i : other}, static_cast<double>(pair.bytes),
                static_cast<double>(pair.messages));
    }
    add_calls(rank, change, said);
    const auto cpu = host::cpu_seconds(rank.image->process());
    if (!cpu || rank.image->ended() || (look_closely && !host::is_alive(rank.image->process()))) {
      rank.running = false;
      continue;
    }
    // MPI waits by asking again and again: that is CPU time, and no work.
    loads[i] = std::clamp(*cpu - rank.cpu - change.seconds_in_mpi, 0.0, seconds);
    if (*cpu - rank.cpu > several_threads * seconds) threaded_ = true;
    rank.cpu = *cpu;
  }
  if (!said.collectives.empty()) {
    said.point_to_point = CommGraphBuilder(static_cast<std::uint32_t>(local_.size())).build(true);
    const CommGraph all = traffic(std::move(said), CollectiveModel::tree);
    for (const Rank from : all.ranks()) {
      if (local_[index(from)] == elsewhere) continue;
      for (std::size_t k = 0; k < all.degree(from); ++k) {
        const std::uint32_t to = local_[index(all.targets(from)[k])];
        if (to == elsewhere || to == local_[index(from)]) continue;
        pairs.add(Rank{local_[index(from)]}, Rank{to}, all.bytes(from)[k],
                  all.has_messages() ? all.messages(from)[k] : 1);
      }
    }
  }
  if (with_work_) pairs.set_loads(std::move(loads));
  OnlineWindow window{begin_, now, std::move(pairs).build(true)};
  begin_ = now;
  return window;
}

}  // namespace rankloom
