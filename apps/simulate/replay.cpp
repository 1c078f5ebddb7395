// SPDX-License-Identifier: Apache-2.0
// apps: jobs replayed on a platform by SimGrid 3.32. One zone holds everything and asks our platform for every route,
// so there are no gateways, no tables of routes, and the routes are the ones that mappers and metrics see.
#include "apps/simulate/replay.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

namespace routing = simgrid::kernel::routing;
namespace s4u = simgrid::s4u;

/// Where there is no limit SimGrid still wants a number.
constexpr double endless_rate = 1e18;

/// The end of a rank that has none yet.
constexpr double not_ended = -1;

/// SMPI sends so many bytes with every message; their time is taken off the latency, so that a message alone takes what
/// the machine says (as far as it has a latency).
constexpr double envelope = 16;

/// What is fixed for the model to be ours: no factors that were measured on somebody's Ethernet, no window of TCP, no
/// acknowledgements that take part of the way back.
constexpr std::array<const char*, 8> configuration{
    "network/model:CM02",  "network/weight-S:8775", "network/TCP-gamma:0",     "network/crosstraffic:0",
    "smpi/host-speed:1Gf", "smpi/cpu-threshold:0",  "contexts/stack-size:256", "surf/precision:1e-9"};

/// The links of SimGrid: one for each wire that a used core can meet, and, where a message alone is slower than all its
/// wires, a limit that is not shared. Each core has limits of its own: one that all messages of a level pass would join
/// them into one system of equations, and take ten times as long.
class Machine : public routing::NetZoneImpl {
 public:
  /// Its hosts are the used cores, in rising order; a place is a position among them.
  Machine(const Platform& platform, std::vector<Core> used, double speed)
      : NetZoneImpl("machine"), platform_(platform), used_(std::move(used)), limits_(used_.size()) {
    for (const Core core : used_) {
      hosts_.push_back(create_host(fmt::format("core{}", index(core)), {speed}));
      hosts_.back()->seal();
    }
    endless_ = create_limit("endless", endless_rate);
    find_wires();
  }

  const std::vector<Core>& used() const { return used_; }
  s4u::Host* host(std::size_t place) const { return hosts_[place]; }
  s4u::Host* host(Core core) const {
    return hosts_[static_cast<std::size_t>(std::lower_bound(used_.begin(), used_.end(), core) - used_.begin())];
  }

  /// The way of a message, valid until the next question.
  const std::vector<s4u::Link*>& way(std::size_t from, std::size_t to, double& latency) {
    const Core p = used_[from], q = used_[to];
    const double fastest = platform_.fastest(p, q);
    latency = std::max(platform_.latency(p, q) - envelope / fastest, 0.0);
    ask(p, q);
    links_.clear();
    for (const Wire wire : route_) {
      if (const auto found = wires_.find(wire); found != wires_.end()) links_.push_back(found->second);
    }
    for (const auto& [rate, limit] : limits_[from]) {
      if (rate == fastest && slowest_ > fastest) links_.push_back(limit);
    }
    if (links_.empty()) links_.push_back(endless_);
    return links_;
  }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to, routing::Route* into,
                       double* latency) override {
    double seconds = 0;
    for (const s4u::Link* const link : way(from->id(), to->id(), seconds)) into->link_list_.push_back(link->get_impl());
    if (latency != nullptr) *latency += seconds;
  }

  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}

 private:
  /// The wires between two cores, and the rate of the slowest.
  void ask(Core from, Core to) {
    route_.clear();
    platform_.route(from, to, route_);
    slowest_ = endless_rate;
    for (const Wire wire : route_) slowest_ = std::min(slowest_, platform_.rate(wire));
  }

  /// Links cannot be added while a simulation runs, so all that can be met are made before. In a hierarchy two cores
  /// that follow each other are the border of every object that holds one of them only, so they meet every wire; on a
  /// routed network all pairs of nodes are looked at. Limits depend on the level at which two cores part, and on the
  /// nodes.
  void find_wires() {
    const Topology& topology = platform_.topology();
    std::vector<std::size_t> first;  // place of the first core of each node, with an end mark
    for (std::size_t place = 0; place < used_.size(); ++place) {
      if (first.empty() || topology.node_of(used_[first.back()]) != topology.node_of(used_[place]))
        first.push_back(place);
      if (place == 0) continue;
      meet(place - 1, place);
      meet(place, place - 1);
    }
    first.push_back(used_.size());
    for (std::size_t node = 0; node + 1 < first.size(); ++node) {
      if (topology.routed()) {
        for (std::size_t other = 0; other + 1 < first.size(); ++other) meet(first[node], first[other]);
        const auto of_node = limits_[first[node]];
        for (std::size_t place = first[node] + 1; place < first[node + 1]; ++place)
          for (const auto& [rate, limit] : of_node) add_limit(place, rate);
      }
    }
    // Of each core, one partner at each level.
    for (std::size_t place = 0; place < used_.size(); ++place) {
      for (std::size_t level = 0; level < topology.levels().size(); ++level) {
        const std::uint32_t object = topology.object_of(level, used_[place]);
        const auto at = [&](Core core) {
          return static_cast<std::size_t>(std::lower_bound(used_.begin(), used_.end(), core) - used_.begin());
        };
        const std::size_t begin = at(topology.first_core(level, object)),
                          end = at(topology.first_core(level, object + 1));
        if (begin > 0) meet(place, begin - 1);
        if (end < used_.size()) meet(place, end);
      }
    }
  }

  void meet(std::size_t from, std::size_t to) {
    if (from == to) return;
    ask(used_[from], used_[to]);
    for (const Wire wire : route_) {
      if (wires_.contains(wire) || std::isinf(platform_.rate(wire))) continue;
      wires_.emplace(wire, create_link(fmt::format("wire {}", wire), {platform_.rate(wire)})->seal());
    }
    const double rate = platform_.fastest(used_[from], used_[to]);
    if (rate < slowest_) add_limit(from, rate);
  }

  void add_limit(std::size_t place, double rate) {
    for (const auto& limit : limits_[place])
      if (limit.first == rate) return;
    limits_[place].emplace_back(rate, create_limit(fmt::format("limit {}.{}", place, limits_[place].size()), rate));
  }

  s4u::Link* create_limit(const std::string& name, double rate) {
    return create_link(name, {rate})->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
  }

  const Platform& platform_;
  std::vector<Core> used_;
  std::vector<s4u::Host*> hosts_;
  std::unordered_map<Wire, s4u::Link*> wires_;
  std::vector<std::vector<std::pair<double, s4u::Link*>>> limits_;  // by place: rates, few
  s4u::Link* endless_ = nullptr;
  std::vector<Wire> route_;
  double slowest_ = 0;
  std::vector<s4u::Link*> links_;
};

std::vector<Core> used_cores(const SimulationRequest& request) {
  std::vector<Core> used;
  for (const SimulatedJob& job : request.jobs) used.insert(used.end(), job.core_of.begin(), job.core_of.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

/// What SimGrid will do with a message between two hosts is what the platform says: every wire, the latency, and that a
/// message alone is as fast as the topology's cost.
class RouteCheck {
 public:
  RouteCheck(Machine& machine, const Platform& platform) : machine_(machine), platform_(platform) {}

  /// All pairs of few cores; of many, so many at random, which meet every level of machines that have few.
  Result<std::uint64_t> run() {
    constexpr std::size_t few = 64, many = 20'000;
    const std::size_t count = machine_.used().size();
    std::uint64_t checked = 0;
    if (count <= few) {
      for (std::size_t p = 0; p < count; ++p) {
        for (std::size_t q = 0; q < count; ++q, ++checked)
          if (auto same = check(p, q); !same) return propagate(same);
      }
      return checked;
    }
    Random random(0);
    // The next core as well: far levels are met at random, near ones are not.
    for (std::size_t p = 0; p + 1 < count; ++p, ++checked)
      if (auto same = check(p, p + 1); !same) return propagate(same);
    for (; checked < many; ++checked)
      if (auto same = check(random.below(count), random.below(count)); !same) return propagate(same);
    return checked;
  }

 private:
  Result<void> check(std::size_t p, std::size_t q) {
    double wanted_latency = 0, latency = 0;
    const auto wanted = machine_.way(p, q, wanted_latency);
    std::vector<s4u::Link*> links;
    machine_.host(p)->route_to(machine_.host(q), links, &latency);
    double rate = endless_rate;
    for (const s4u::Link* const link : links) rate = std::min(rate, link->get_bandwidth());
    const Core from = machine_.used()[p], to = machine_.used()[q];
    const double fastest = std::min(platform_.fastest(from, to), endless_rate);
    constexpr double rounding = 1e-9;
    if (links == wanted && latency == wanted_latency && std::abs(rate - fastest) <= rounding * fastest) return {};
    return fail(
        Code::environment, at("routes"),
        fmt::format("between cores {} and {} the simulator takes {} links at {} B/s and {} s, the machine {} at "
                    "{} B/s and {} s",
                    index(from), index(to), links.size(), rate, latency, wanted.size(), fastest, wanted_latency),
        "rankloom is made for SimGrid 3.32; is this another version?");
  }

  Machine& machine_;
  const Platform& platform_;
};

void start_job(const SimulatedJob& job, const std::string& instance, const Machine& machine,
               std::vector<double>& ends) {
  SMPI_app_instance_register(instance.c_str(), nullptr, static_cast<int>(job.core_of.size()));
  ends.assign(job.core_of.size(), not_ended);
  for (std::size_t rank = 0; rank < job.core_of.size(); ++rank) {
    s4u::Actor::create(fmt::format("{}.{}", instance, rank), machine.host(job.core_of[rank]),
                       [&job, &ends, instance, rank] {
                         if (job.start > 0) s4u::this_actor::sleep_until(job.start);
                         const int number = static_cast<int>(rank);
                         s4u::Actor::self()->set_property("instance_id", instance);
                         s4u::Actor::self()->set_property("rank", std::to_string(rank));
                         smpi_replay_run(instance.c_str(), number, 0, job.traces[rank].c_str());
                         ends[rank] = s4u::Engine::get_clock();
                       });
  }
}

/// SimGrid ends a simulation in which everybody waits, says so, and goes on.
Result<void> check_ends(const SimulationRequest& request, const std::vector<std::vector<double>>& ends) {
  for (std::size_t j = 0; j < ends.size(); ++j) {
    const auto stuck = std::find(ends[j].begin(), ends[j].end(), not_ended);
    if (stuck == ends[j].end()) continue;
    return fail(Code::bad_input, at(request.jobs[j].traces[static_cast<std::size_t>(stuck - ends[j].begin())]),
                fmt::format("deadlock: {} of {} ranks of {}, rank {} the first, wait for a message that nobody sends",
                            std::count(stuck, ends[j].end(), not_ended), ends[j].size(), request.jobs[j].name,
                            stuck - ends[j].begin()),
                "the trace is not whole: record it again");
  }
  return {};
}

}  // namespace

Result<SimulationResult> replay(const SimulationRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  auto platform = Platform::of(request.topology, request.platform);
  if (!platform) return propagate(platform);

  std::vector<std::string> words{"rankloom-simulate", "--log=root.thres:error"};
  for (const char* const entry : configuration) words.push_back(fmt::format("--cfg={}", entry));
  words.push_back(fmt::format("--cfg=smpi/send-is-detached-thresh:{}", request.eager));
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());
  SMPI_init();

  constexpr double operations_per_second = 1e9;  // work is recorded in nanoseconds
  // The engine's from now on.
  auto* const machine = new Machine(*platform, used_cores(request), request.speed * operations_per_second);
  machine->get_iface()->seal();
  auto checked = RouteCheck(*machine, *platform).run();
  if (!checked) return propagate(checked);

  std::vector<std::vector<double>> ends(request.jobs.size());
  for (std::size_t j = 0; j < request.jobs.size(); ++j)
    start_job(request.jobs[j], fmt::format("job{}", j), *machine, ends[j]);
  engine.run();
  if (auto ended = check_ends(request, ends); !ended) return propagate(ended);
  SMPI_finalize();

  SimulationResult result{.jobs = {}, .seconds = 0, .routes_checked = *checked, .wall_seconds = 0};
  for (std::size_t j = 0; j < request.jobs.size(); ++j) {
    const SimulatedJob& job = request.jobs[j];
    JobTimes& times = result.jobs.emplace_back(JobTimes{job.name, 0, job.start, {}});
    for (const double end : ends[j]) {
      times.rank_seconds.push_back(end - job.start);
      times.seconds = std::max(times.seconds, end - job.start);
      result.seconds = std::max(result.seconds, end);
    }
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace rankloom
