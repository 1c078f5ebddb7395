// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: finds what ranks waited for. The states are those of Scalasca (Geimer et al. 2010, "late sender",
// "wait at N x N"); the critical path is found by going back from the last rank (Böhme et al. 2012).
#include "rankloom/evaluate/simulate/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "rankloom/model/files/json.hpp"

namespace rankloom {

namespace {

using Kind = ReplayedAction::Kind;
using Actions = std::vector<std::vector<ReplayedAction>>;

constexpr std::uint32_t no_action = std::numeric_limits<std::uint32_t>::max();

bool is_send(Kind kind) {
  return kind == Kind::send || kind == Kind::post_send;
}
bool is_receive(Kind kind) {
  return kind == Kind::receive || kind == Kind::post_receive;
}

/// What ended an action: the message or the collective that began on `rank` at `begin`.
struct Cause {
  PathStep::Kind kind = PathStep::Kind::message;
  std::uint32_t rank = 0;   ///< Who began last.
  std::uint32_t other = 0;  ///< Of a message: the other rank.
  double begin = 0;
};

/// The partner of every message, and the begins of every collective.
class Matches {
 public:
  explicit Matches(const Actions& actions_of) : partner_of_(actions_of.size()) {
    std::unordered_map<std::uint64_t, Queue> queues;
    for (std::uint32_t rank = 0; rank < actions_of.size(); ++rank) {
      const auto& actions = actions_of[rank];
      partner_of_[rank].assign(actions.size(), no_action);
      std::size_t collective = 0;
      for (std::uint32_t at = 0; at < actions.size(); ++at) {
        const ReplayedAction& action = actions[at];
        if (is_send(action.kind)) queues[key(rank, action.partner)].sends.emplace_back(action.tag, at);
        if (is_receive(action.kind)) queues[key(action.partner, rank)].receives.emplace_back(action.tag, at);
        if (action.kind != Kind::collective) continue;
        if (collective == begins_.size()) begins_.emplace_back();
        begins_[collective++].emplace_back(action.begin, rank);
      }
    }
    for (auto& [pair, queue] : queues)
      match(queue, static_cast<std::uint32_t>(pair >> 32U), static_cast<std::uint32_t>(pair));
    for (auto& begins : begins_) std::sort(begins.begin(), begins.end());
  }

  /// The action of the other rank, or no_action.
  std::uint32_t partner(std::uint32_t rank, std::uint32_t at) const { return partner_of_[rank][at]; }

  /// The last rank that began the n-th collective before this time.
  std::optional<std::pair<double, std::uint32_t>> last_before(std::size_t n, double end) const {
    const auto& begins = begins_[n];
    auto after = std::lower_bound(begins.begin(), begins.end(), std::pair(end, std::uint32_t{0}));
    if (after == begins.begin()) return std::nullopt;
    return *std::prev(after);
  }

 private:
  using Posted = std::pair<std::int32_t, std::uint32_t>;  ///< Tag and action.
  struct Queue {
    std::vector<Posted> sends, receives;
  };

  static std::uint64_t key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32U | to; }

  /// The n-th send with a tag meets the n-th receive with this tag.
  void match(Queue& queue, std::uint32_t from, std::uint32_t to) {
    if (to >= partner_of_.size() || from >= partner_of_.size()) return;
    std::stable_sort(queue.sends.begin(), queue.sends.end());
    std::stable_sort(queue.receives.begin(), queue.receives.end());
    for (auto send = queue.sends.begin(), receive = queue.receives.begin();
         send != queue.sends.end() && receive != queue.receives.end();) {
      if (send->first != receive->first) {
        ++(send->first < receive->first ? send : receive);
        continue;
      }
      partner_of_[from][send->second] = receive->second;
      partner_of_[to][receive->second] = send->second;
      ++send;
      ++receive;
    }
  }

  std::vector<std::vector<std::uint32_t>> partner_of_;  ///< By rank and action.
  std::vector<std::vector<std::pair<double, std::uint32_t>>> begins_;
};

/// The causes of all actions of one rank that took time in MPI.
class CausesOfRank {
 public:
  CausesOfRank(const Actions& actions_of, const Matches& matches, const TimelineOptions& options, std::uint32_t rank)
      : actions_of_(actions_of), matches_(matches), options_(options), rank_(rank) {}

  std::vector<std::optional<Cause>> find() {
    const auto& actions = actions_of_[rank_];
    std::vector<std::optional<Cause>> causes(actions.size());
    std::size_t collective = 0;
    for (std::uint32_t at = 0; at < actions.size(); ++at) {
      const ReplayedAction& action = actions[at];
      const double end = action.end;
      switch (action.kind) {
        case Kind::send:
        case Kind::receive:
          consider(at, end);
          break;
        case Kind::post_send:
        case Kind::post_receive:
          pending_.push_back(at);
          break;
        case Kind::wait:
          complete(action, end);
          break;
        case Kind::wait_all:
          for (const std::uint32_t request : pending_) consider(request, end);
          pending_.clear();
          break;
        case Kind::collective:
          if (const auto last = matches_.last_before(collective++, end))
            best_ = Cause{PathStep::Kind::collective, last->second, last->second, last->first};
          break;
        case Kind::compute:
        case Kind::other:
          break;
      }
      if (end > action.begin) causes[at] = best_;
      best_.reset();
      latest_ = -1;
    }
    return causes;
  }

 private:
  /// A wait completes the oldest request with its partner and tag.
  void complete(const ReplayedAction& wait, double end) {
    const auto same = std::find_if(pending_.begin(), pending_.end(), [&](std::uint32_t at) {
      const ReplayedAction& request = actions_of_[rank_][at];
      return request.partner == wait.partner && request.tag == wait.tag;
    });
    if (same == pending_.end()) return;
    consider(*same, end);
    pending_.erase(same);
  }

  /// Keeps the message that is expected last.
  void consider(std::uint32_t at, double end) {
    const ReplayedAction& own = actions_of_[rank_][at];
    const std::uint32_t other_at = matches_.partner(rank_, at);
    if (other_at == no_action || (is_send(own.kind) && own.bytes < options_.eager)) return;
    const ReplayedAction& other = actions_of_[own.partner][other_at];
    const bool other_is_last = other.begin > own.begin;
    const std::uint32_t from = is_send(own.kind) ? rank_ : own.partner, to = is_send(own.kind) ? own.partner : rank_;
    const double begin = std::max(own.begin, other.begin);
    const double arrival =
        begin + (options_.message_seconds ? options_.message_seconds(from, to, double{own.bytes}) : 0);
    if (begin >= end || arrival <= latest_) return;
    latest_ = arrival;
    best_ = Cause{PathStep::Kind::message, other_is_last ? own.partner : rank_, own.partner, begin};
  }

  const Actions& actions_of_;
  const Matches& matches_;
  const TimelineOptions& options_;
  std::uint32_t rank_;
  std::vector<std::uint32_t> pending_;
  std::optional<Cause> best_;
  double latest_ = -1;
};

/// Sums up the time of states in the intervals.
class Intervals {
 public:
  Intervals(Timeline& timeline, double begin) : timeline_(timeline), begin_(begin) {
    const std::size_t rows = (timeline.ranks + timeline.ranks_per_row - 1) / timeline.ranks_per_row;
    for (auto& sums : sums_) sums.resize(rows * timeline.intervals);
  }

  enum State : std::uint8_t { compute, transfer, wait };

  void add(std::uint32_t rank, State state, double from, double to) {
    if (!(to > from)) return;
    auto& of_rank = state == compute    ? timeline_.rank_compute
                    : state == transfer ? timeline_.rank_transfer
                                        : timeline_.rank_wait;
    of_rank[rank] += to - from;
    if (!(timeline_.seconds > 0)) return;
    const double scale = timeline_.intervals / timeline_.seconds, last = timeline_.intervals;
    const double first = std::clamp((from - begin_) * scale, 0.0, last),
                 end = std::clamp((to - begin_) * scale, 0.0, last);
    const std::size_t row = std::size_t{rank / timeline_.ranks_per_row} * timeline_.intervals;
    for (auto at = static_cast<std::size_t>(first); at < timeline_.intervals && static_cast<double>(at) < end; ++at) {
      const auto left = static_cast<double>(at);
      sums_[state][row + at] += std::min(end, left + 1) - std::max(first, left);
    }
  }

  /// Sums become thousandths of the time of a row.
  void finish() {
    const std::size_t cells = sums_[0].size();
    for (auto* shares : {&timeline_.compute, &timeline_.transfer, &timeline_.wait}) shares->resize(cells);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t row = cell / timeline_.intervals;
      const std::size_t ranks =
          std::min<std::size_t>(timeline_.ranks_per_row, timeline_.ranks - row * timeline_.ranks_per_row);
      const auto share = [&](State state) {
        return static_cast<std::uint16_t>(
            std::lround(1000 * std::min(1.0, sums_[state][cell] / static_cast<double>(ranks))));
      };
      timeline_.compute[cell] = share(compute);
      timeline_.transfer[cell] = share(transfer);
      timeline_.wait[cell] = share(wait);
    }
  }

 private:
  Timeline& timeline_;
  double begin_;
  std::vector<double> sums_[3];
};

using Causes = std::vector<std::vector<std::optional<Cause>>>;

/// Goes back from the end of the last rank. Every step ends earlier than the one before it.
class PathSearch {
 public:
  PathSearch(const Actions& actions_of, const Causes& causes, const TimelineOptions& options, Timeline& timeline)
      : actions_of_(actions_of), causes_(causes), options_(options), timeline_(timeline) {
    timeline_.path_messages.resize(std::max<std::size_t>(options.levels, 1));
  }

  void find() {
    const double begin = options_.begin;
    std::uint32_t rank = 0;
    double time = -1;
    for (std::uint32_t other = 0; other < actions_of_.size(); ++other) {
      const double end = actions_of_[other].empty() ? -1 : actions_of_[other].back().end;
      if (end > time) std::tie(rank, time) = std::pair(other, end);
    }
    while (time > begin) {
      const auto& actions = actions_of_[rank];
      // The last action that began before this time.
      auto after = std::partition_point(actions.begin(), actions.end(),
                                        [&](const ReplayedAction& action) { return action.begin < time; });
      if (after == actions.begin()) break;
      const auto at = static_cast<std::size_t>(std::prev(after) - actions.begin());
      const auto& cause = causes_[rank][at];
      if (!cause || !(cause->begin < time)) {
        const bool computes = actions[at].kind == Kind::compute;
        add({computes ? PathStep::Kind::compute : PathStep::Kind::message, rank, rank, actions[at].begin, time});
        time = actions[at].begin;
        continue;
      }
      add({cause->kind, rank, cause->other, cause->begin, time});
      rank = cause->rank;
      time = cause->begin;
    }
    std::reverse(path_.begin(), path_.end());
    keep_longest();
  }

 private:
  void add(const PathStep& step) {
    const double seconds = step.end - step.begin;
    if (step.kind == PathStep::Kind::compute) timeline_.path_compute += seconds;
    if (step.kind == PathStep::Kind::collective) timeline_.path_collectives += seconds;
    if (step.kind == PathStep::Kind::message)
      timeline_.path_messages[options_.level ? options_.level(step.from, step.to) : 0] += seconds;
    PathStep* const last = path_.empty() ? nullptr : &path_.back();
    if (last != nullptr && step.kind == PathStep::Kind::compute && last->kind == step.kind && last->to == step.to) {
      last->begin = step.begin;
      return;
    }
    path_.push_back(step);
  }

  void keep_longest() {
    timeline_.path_steps = path_.size();
    if (path_.size() > Timeline::max_steps) {
      std::stable_sort(path_.begin(), path_.end(),
                       [](const PathStep& a, const PathStep& b) { return a.end - a.begin > b.end - b.begin; });
      path_.resize(Timeline::max_steps);
      std::stable_sort(path_.begin(), path_.end(),
                       [](const PathStep& a, const PathStep& b) { return a.begin < b.begin; });
    }
    timeline_.path = std::move(path_);
  }

  const Actions& actions_of_;
  const Causes& causes_;
  const TimelineOptions& options_;
  Timeline& timeline_;
  std::vector<PathStep> path_;
};

}  // namespace

Timeline make_timeline(const Actions& actions_of, const TimelineOptions& options) {
  Timeline timeline;
  timeline.ranks = static_cast<std::uint32_t>(actions_of.size());
  timeline.ranks_per_row = std::max(1U, (timeline.ranks + Timeline::max_rows - 1) / Timeline::max_rows);
  timeline.intervals = Timeline::max_intervals;
  for (auto* seconds : {&timeline.rank_compute, &timeline.rank_transfer, &timeline.rank_wait})
    seconds->resize(timeline.ranks);
  for (const auto& actions : actions_of) {
    if (!actions.empty()) timeline.seconds = std::max(timeline.seconds, actions.back().end - options.begin);
  }
  const Matches matches(actions_of);
  Intervals intervals(timeline, options.begin);
  Causes causes(actions_of.size());
  for (std::uint32_t rank = 0; rank < actions_of.size(); ++rank) {
    causes[rank] = CausesOfRank(actions_of, matches, options, rank).find();
    for (std::size_t at = 0; at < actions_of[rank].size(); ++at) {
      const ReplayedAction& action = actions_of[rank][at];
      if (action.kind == Kind::compute) {
        intervals.add(rank, Intervals::compute, action.begin, action.end);
        continue;
      }
      const auto& cause = causes[rank][at];
      const double ready =
          cause && cause->rank != rank ? std::clamp(cause->begin, action.begin, action.end) : action.begin;
      intervals.add(rank, Intervals::wait, action.begin, ready);
      intervals.add(rank, Intervals::transfer, ready, action.end);
    }
  }
  intervals.finish();
  PathSearch(actions_of, causes, options, timeline).find();
  for (PathStep& step : timeline.path) {
    step.begin -= options.begin;
    step.end -= options.begin;
  }
  return timeline;
}

nlohmann::json to_json(const Timeline& timeline) {
  nlohmann::json steps = nlohmann::json::array();
  for (const PathStep& step : timeline.path)
    steps.push_back({static_cast<int>(step.kind), step.to, step.from, step.begin, step.end});
  return {{"ranks", timeline.ranks},
          {"ranks_per_row", timeline.ranks_per_row},
          {"intervals", timeline.intervals},
          {"seconds", timeline.seconds},
          {"compute", timeline.compute},
          {"transfer", timeline.transfer},
          {"wait", timeline.wait},
          {"rank_compute", timeline.rank_compute},
          {"rank_transfer", timeline.rank_transfer},
          {"rank_wait", timeline.rank_wait},
          {"path", std::move(steps)},
          {"path_steps", timeline.path_steps},
          {"path_compute", timeline.path_compute},
          {"path_messages", timeline.path_messages},
          {"path_collectives", timeline.path_collectives}};
}

namespace {

void check_sizes(const Timeline& timeline) {
  const std::size_t rows = timeline.ranks_per_row == 0
                               ? 0
                               : (std::size_t{timeline.ranks} + timeline.ranks_per_row - 1) / timeline.ranks_per_row;
  bool agree = rows > 0 && rows <= Timeline::max_rows && timeline.intervals > 0 &&
               timeline.intervals <= Timeline::max_intervals && timeline.seconds >= 0;
  for (const auto* cells : {&timeline.compute, &timeline.transfer, &timeline.wait})
    agree = agree && cells->size() == rows * timeline.intervals;
  for (const auto* seconds : {&timeline.rank_compute, &timeline.rank_transfer, &timeline.rank_wait})
    agree = agree && seconds->size() == timeline.ranks;
  for (const PathStep& step : timeline.path) agree = agree && step.from < timeline.ranks && step.to < timeline.ranks;
  if (!agree) throw std::invalid_argument("the sizes of the timeline do not agree");
}

}  // namespace

Timeline timeline_from_json(const nlohmann::json& json) {
  Timeline timeline;
  timeline.ranks = whole_number_32(json.at("ranks"));
  timeline.ranks_per_row = whole_number_32(json.at("ranks_per_row"));
  timeline.intervals = whole_number_32(json.at("intervals"));
  timeline.seconds = json.at("seconds");
  const auto shares = [&](const char* key) {
    std::vector<std::uint16_t> cells;
    for (const nlohmann::json& cell : json.at(key))
      cells.push_back(static_cast<std::uint16_t>(std::min<std::uint32_t>(whole_number_32(cell), 1000)));
    return cells;
  };
  timeline.compute = shares("compute");
  timeline.transfer = shares("transfer");
  timeline.wait = shares("wait");
  timeline.rank_compute = json.at("rank_compute").get<std::vector<double>>();
  timeline.rank_transfer = json.at("rank_transfer").get<std::vector<double>>();
  timeline.rank_wait = json.at("rank_wait").get<std::vector<double>>();
  for (const nlohmann::json& step : json.at("path")) {
    const std::uint32_t kind = whole_number_32(step.at(0));
    if (kind > static_cast<std::uint32_t>(PathStep::Kind::collective))
      throw std::invalid_argument("a step of the critical path has an unknown kind");
    timeline.path.push_back({static_cast<PathStep::Kind>(kind), whole_number_32(step.at(1)),
                             whole_number_32(step.at(2)), step.at(3), step.at(4)});
  }
  timeline.path_steps = whole_number(json.at("path_steps"));
  timeline.path_compute = json.at("path_compute");
  timeline.path_messages = json.at("path_messages").get<std::vector<double>>();
  timeline.path_collectives = json.at("path_collectives");
  check_sizes(timeline);
  return timeline;
}

}  // namespace rankloom
