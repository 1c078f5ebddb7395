// SPDX-License-Identifier: Apache-2.0
// apps/simulate: records when each action of a trace begins and ends. SimGrid's own traces (Paje) have the same times,
// but other names of states in each version.
#include "apps/simulate/action_recorder.hpp"

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <simgrid/s4u.hpp>
#include <xbt/replay.hpp>

namespace rankloom {

namespace {

using Kind = ReplayedAction::Kind;

struct RecordedName {
  const char* name;
  Kind kind;
};

/// The actions of time-independent traces that take time. Others, such as `init`, do not.
constexpr RecordedName recorded_names[] = {{"compute", Kind::compute},
                                           {"sleep", Kind::compute},
                                           {"send", Kind::send},
                                           {"recv", Kind::receive},
                                           {"isend", Kind::post_send},
                                           {"irecv", Kind::post_receive},
                                           {"wait", Kind::wait},
                                           {"waitall", Kind::wait_all},
                                           {"sendrecv", Kind::other},
                                           {"sendRecv", Kind::other},
                                           {"test", Kind::other},
                                           {"barrier", Kind::collective},
                                           {"bcast", Kind::collective},
                                           {"reduce", Kind::collective},
                                           {"allreduce", Kind::collective},
                                           {"alltoall", Kind::collective},
                                           {"alltoallv", Kind::collective},
                                           {"gather", Kind::collective},
                                           {"gatherv", Kind::collective},
                                           {"scatter", Kind::collective},
                                           {"scatterv", Kind::collective},
                                           {"allgather", Kind::collective},
                                           {"allgatherv", Kind::collective},
                                           {"reducescatter", Kind::collective},
                                           {"scan", Kind::collective},
                                           {"exscan", Kind::collective}};

template <class Number>
Number number_at(const simgrid::xbt::ReplayAction& words, std::size_t at, Number missing) {
  if (at >= words.size()) return missing;
  Number number = missing;
  std::from_chars(words[at].data(), words[at].data() + words[at].size(), number);
  return number;
}

/// The size of an element of the datatypes of traces; the default of traces is a double.
float bytes_of_type(const simgrid::xbt::ReplayAction& words, std::size_t at) {
  if (at >= words.size()) return 8;
  switch (number_at(words, at, 0)) {
    case 1:
    case 5:
      return 4;
    case 2:
    case 6:
      return 1;
    case 3:
      return 2;
    default:
      return 8;
  }
}

/// `0 isend 3 7 100 6`: rank, name, partner, tag, count, datatype. `0 wait 3 0 7`: rank, name, sender, receiver, tag.
ReplayedAction read_action(Kind kind, std::uint32_t rank, const simgrid::xbt::ReplayAction& words) {
  ReplayedAction action;
  action.kind = kind;
  if (kind == Kind::wait) {
    const auto from = number_at(words, 2, std::uint32_t{0}), to = number_at(words, 3, std::uint32_t{0});
    action.partner = from == rank ? to : from;
    action.tag = number_at(words, 4, 0);
  } else if (kind == Kind::send || kind == Kind::receive || kind == Kind::post_send || kind == Kind::post_receive) {
    action.partner = number_at(words, 2, std::uint32_t{0});
    action.tag = number_at(words, 3, 0);
    action.bytes = number_at(words, 4, 0.0F) * bytes_of_type(words, 5);
  }
  return action;
}

}  // namespace

/// The function that SimGrid calls instead of its own.
struct RecordingAction {
  ActionRecorder* recorder;
  Kind kind;
  action_fun original;

  void operator()(simgrid::xbt::ReplayAction& words) const {
    const simgrid::s4u::Actor& actor = *simgrid::s4u::Actor::self();
    constexpr std::size_t prefix = std::string_view("job").size();  // instances are named job0, job1, ..
    const std::string instance = actor.get_property("instance_id"), number = actor.get_property("rank");
    const auto job = static_cast<std::size_t>(std::stoul(instance.substr(prefix)));
    const auto rank = static_cast<std::uint32_t>(std::stoul(number));
    const bool records = ++recorder->count_ <= Timeline::max_actions;
    ReplayedAction action;
    if (records) action = read_action(kind, rank, words);
    action.begin = simgrid::s4u::Engine::get_clock();
    original(words);
    action.end = simgrid::s4u::Engine::get_clock();
    if (records) recorder->actions_of_[job][rank].push_back(action);
  }
};

ActionRecorder::ActionRecorder(const SimulationRequest& request) : request_(request) {
  for (const SimulatedJob& job : request.jobs) actions_of_.emplace_back(job.core_of.size());
}

void ActionRecorder::wrap_actions() {
  for (const auto& [name, kind] : recorded_names) {
    try {
      action_fun original = xbt_replay_action_get(name);
      if (original && original.target<RecordingAction>() == nullptr)
        xbt_replay_action_register(name, RecordingAction{this, kind, std::move(original)});
    } catch (const std::exception&) {
      continue;  // this version of SimGrid does not have the action
    }
  }
}

std::optional<Timeline> ActionRecorder::timeline(std::size_t job, const Platform& platform) const {
  if (count_ > Timeline::max_actions) return std::nullopt;
  const std::vector<Core>& core_of = request_.jobs[job].core_of;
  const Topology& topology = platform.topology();
  TimelineOptions options{.begin = request_.jobs[job].start, .eager = static_cast<double>(request_.eager)};
  options.message_seconds = [&](std::uint32_t from, std::uint32_t to, double bytes) {
    return platform.latency(core_of[from], core_of[to]) + bytes / platform.max_rate(core_of[from], core_of[to]);
  };
  options.level = [&](std::uint32_t from, std::uint32_t to) {
    return core_of[from] == core_of[to] ? topology.levels().size()
                                        : topology.divergence_level(core_of[from], core_of[to]);
  };
  options.levels = topology.levels().size() + 1;
  return make_timeline(actions_of_[job], options);
}

}  // namespace rankloom
