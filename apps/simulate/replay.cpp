// SPDX-License-Identifier: Apache-2.0
// apps/simulate: replays jobs on a platform with SimGrid. A single zone takes every route from Platform,
// without gateways and routing tables, so that the routes are those of mappers and metrics.
#include "apps/simulate/replay.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <smpi/smpi.h>

#include "apps/simulate/action_recorder.hpp"
#include "apps/simulate/simgrid_api.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

namespace routing = simgrid::kernel::routing;
namespace s4u = simgrid::s4u;

/// SimGrid needs a number for an unlimited rate.
constexpr double unlimited_rate = 1e18;

/// The end time of a rank that has not ended.
constexpr double not_ended = -1;

/// SMPI adds this many bytes to every message. Their time is subtracted from the latency, so that a single message
/// takes the time of Topology::cost() (if the latency is large enough).
constexpr double header_bytes = 16;

/// Disables the parts of SimGrid's network model that Platform does not have: measured correction factors, the TCP
/// window, and cross-traffic of acknowledgements.
constexpr std::array<const char*, 8> configuration{
    "network/model:CM02",  "network/weight-S:8775", "network/TCP-gamma:0",     "network/crosstraffic:0",
    "smpi/host-speed:1Gf", "smpi/cpu-threshold:0",  "contexts/stack-size:256", simgrid_api::precision};

/// The zone with the used cores as hosts. It has one SimGrid link per channel that a used core can reach. If a single
/// message is slower than all channels of its route, an additional link limits its rate; this link is not shared. Each
/// core has its own limiting links: links that all messages of a level use would join them into one system of
/// equations, which takes ten times as long to solve.
class Machine : public simgrid_api::Zone {
 public:
  /// `used` is sorted; hosts are numbered by their position in it.
  Machine(const Platform& platform, std::vector<Core> used, double speed)
      : Zone("machine"), platform_(platform), used_(std::move(used)), limits_(used_.size()) {
    for (const Core core : used_) {
      hosts_.push_back(new_host(fmt::format("core{}", index(core)), speed));
      hosts_.back()->seal();
    }
    unlimited_link_ = create_limit("unlimited", unlimited_rate);
    create_channels();
  }

  const std::vector<Core>& used() const { return used_; }
  s4u::Host* host(std::size_t position) const { return hosts_[position]; }
  s4u::Host* host(Core core) const {
    return hosts_[static_cast<std::size_t>(std::lower_bound(used_.begin(), used_.end(), core) - used_.begin())];
  }

  /// The links of a route; the reference is valid until the next call.
  const std::vector<s4u::Link*>& find_route(std::size_t from, std::size_t to, double& latency) {
    const Core p = used_[from], q = used_[to];
    const double max_rate = platform_.max_rate(p, q);
    latency = std::max(platform_.latency(p, q) - header_bytes / max_rate, 0.0);
    load_route(p, q);
    links_.clear();
    for (const Channel channel : route_) {
      if (const auto found = channels_.find(channel); found != channels_.end()) links_.push_back(found->second);
    }
    for (const auto& [rate, limit] : limits_[from]) {
      if (rate == max_rate && slowest_ > max_rate) links_.push_back(limit);
    }
    if (links_.empty()) links_.push_back(unlimited_link_);
    return links_;
  }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to, routing::Route* into,
                       double* latency) override {
    double seconds = 0;
    for (const s4u::Link* const link : find_route(from->id(), to->id(), seconds))
      into->link_list_.push_back(link->get_impl());
    if (latency != nullptr) *latency += seconds;
  }

  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}

 private:
  /// Sets route_ to the channels between two cores and slowest_ to the lowest rate.
  void load_route(Core from, Core to) {
    route_.clear();
    platform_.route(from, to, route_);
    slowest_ = unlimited_rate;
    for (const Channel channel : route_) slowest_ = std::min(slowest_, platform_.rate(channel));
  }

  /// SimGrid cannot add links during a simulation, so all links are created before. In a hierarchy two consecutive
  /// cores are at the border of every object that contains only one of them, so consecutive pairs reach every channel;
  /// on a routed network all pairs of nodes are visited. Limits depend on the divergence level of two cores and on the
  /// nodes.
  void create_channels() {
    const Topology& topology = platform_.topology();
    std::vector<std::size_t> first;  // position of the first core of each node, and the end
    for (std::size_t position = 0; position < used_.size(); ++position) {
      if (first.empty() || topology.node_of(used_[first.back()]) != topology.node_of(used_[position]))
        first.push_back(position);
      if (position == 0) continue;
      create_links(position - 1, position);
      create_links(position, position - 1);
    }
    first.push_back(used_.size());
    for (std::size_t node = 0; node + 1 < first.size(); ++node) {
      if (topology.routed()) {
        for (std::size_t other = 0; other + 1 < first.size(); ++other) create_links(first[node], first[other]);
        const auto of_node = limits_[first[node]];
        for (std::size_t position = first[node] + 1; position < first[node + 1]; ++position)
          for (const auto& [rate, limit] : of_node) add_limit(position, rate);
      }
    }
    if (topology.rail_count() > 0) create_rails();
    // For each core, one partner per level.
    for (std::size_t position = 0; position < used_.size(); ++position) {
      for (std::size_t level = 0; level < topology.levels().size(); ++level) {
        const std::uint32_t object = topology.object_of(level, used_[position]);
        const auto at = [&](Core core) {
          return static_cast<std::size_t>(std::lower_bound(used_.begin(), used_.end(), core) - used_.begin());
        };
        const std::size_t begin = at(topology.first_core(level, object)),
                          end = at(topology.first_core(level, object + 1));
        if (begin > 0) create_links(position, begin - 1);
        if (end < used_.size()) create_links(position, end);
      }
    }
  }

  /// The cards of all rails, the cores that relay messages, and the limits of pairs of cores on different rails.
  void create_rails() {
    const Topology& topology = platform_.topology();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> on_rail;  // by switch and rail
    std::optional<Node> last;
    for (std::size_t position = 0; position < used_.size(); ++position) {
      const Core core = used_[position];
      const std::size_t nodes = topology.node_level();
      std::vector<std::size_t>& same =
          on_rail[{nodes == 0 ? 0 : topology.object_of(nodes - 1, core), topology.rail(core)}];
      if (same.empty() || (same.size() == 1 && topology.node_of(used_[same[0]]) != topology.node_of(core)))
        same.push_back(position);
      if (last == topology.node_of(core)) continue;
      last = topology.node_of(core);
      for (std::uint32_t other = index(topology.first_core(nodes, index(*last)));
           other < index(topology.first_core(nodes, index(*last) + 1)); ++other) {
        for (const Platform::LevelChannels& level : platform_.channel_levels()) {
          create_channel(platform_.channel_out(level, Core{other}));
          create_channel(platform_.channel_out(level, Core{other}) + 1);
        }
      }
    }
    for (std::size_t position = 0; position < used_.size(); ++position) {
      const std::size_t nodes = topology.node_level();
      const std::uint32_t rail_switch = nodes == 0 ? 0 : topology.object_of(nodes - 1, used_[position]);
      for (std::uint32_t rail = 0; rail < topology.rail_count(); ++rail) {
        const auto found = on_rail.find({rail_switch, rail});
        if (found == on_rail.end()) continue;
        for (const std::size_t other : found->second) create_links(position, other);
      }
    }
  }

  void create_channel(Channel channel) {
    if (channels_.contains(channel) || std::isinf(platform_.rate(channel))) return;
    channels_.emplace(channel, new_link(fmt::format("channel {}", channel), platform_.rate(channel))->seal());
  }

  void create_links(std::size_t from, std::size_t to) {
    if (from == to) return;
    load_route(used_[from], used_[to]);
    for (const Channel channel : route_) create_channel(channel);
    const double rate = platform_.max_rate(used_[from], used_[to]);
    if (rate < slowest_) add_limit(from, rate);
  }

  void add_limit(std::size_t position, double rate) {
    for (const auto& limit : limits_[position])
      if (limit.first == rate) return;
    limits_[position].emplace_back(rate,
                                   create_limit(fmt::format("limit {}.{}", position, limits_[position].size()), rate));
  }

  s4u::Link* create_limit(const std::string& name, double rate) {
    return new_link(name, rate)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
  }

  const Platform& platform_;
  std::vector<Core> used_;
  std::vector<s4u::Host*> hosts_;
  std::unordered_map<Channel, s4u::Link*> channels_;
  std::vector<std::vector<std::pair<double, s4u::Link*>>> limits_;  // by position: a few rates
  s4u::Link* unlimited_link_ = nullptr;
  std::vector<Channel> route_;
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

/// Checks that SimGrid uses the routes of the platform: every channel, the latency, and the rate of a single message.
class RouteCheck {
 public:
  RouteCheck(Machine& machine, const Platform& platform) : machine_(machine), platform_(platform) {}

  /// Checks all pairs if there are at most 64 cores, else consecutive and random pairs.
  Result<std::uint64_t> run() {
    constexpr std::size_t max_exhaustive = 64, sample_size = 20'000;
    const std::size_t count = machine_.used().size();
    std::uint64_t checked = 0;
    if (count <= max_exhaustive) {
      for (std::size_t p = 0; p < count; ++p) {
        for (std::size_t q = 0; q < count; ++q, ++checked)
          if (auto same = check(p, q); !same) return propagate(same);
      }
      return checked;
    }
    Random random(0);
    // Random pairs mostly diverge at high levels, consecutive cores at low levels.
    for (std::size_t p = 0; p + 1 < count; ++p, ++checked)
      if (auto same = check(p, p + 1); !same) return propagate(same);
    for (; checked < sample_size; ++checked) {
      const std::size_t p = random.below(count), q = random.below(count);
      if (auto same = check(p, q); !same) return propagate(same);
    }
    return checked;
  }

 private:
  Result<void> check(std::size_t p, std::size_t q) {
    double expected_latency = 0, latency = 0;
    const auto expected = machine_.find_route(p, q, expected_latency);
    std::vector<s4u::Link*> links;
    machine_.host(p)->route_to(machine_.host(q), links, &latency);
    double rate = unlimited_rate;
    for (const s4u::Link* const link : links) rate = std::min(rate, link->get_bandwidth());
    const Core from = machine_.used()[p], to = machine_.used()[q];
    const double max_rate = std::min(platform_.max_rate(from, to), unlimited_rate);
    constexpr double rounding = 1e-9;
    if (links == expected && latency == expected_latency && std::abs(rate - max_rate) <= rounding * max_rate) return {};
    return fail(
        Code::environment, at("routes"),
        fmt::format(
            "between cores {} and {} SimGrid uses {} links at {} B/s and {} s, but the machine has {} at {} B/s "
            "and {} s",
            index(from), index(to), links.size(), rate, latency, expected.size(), max_rate, expected_latency),
        "use SimGrid 3.32, 4.0 or 4.1");
  }

  Machine& machine_;
  const Platform& platform_;
};

void start_job(const SimulatedJob& job, const std::string& instance, const Machine& machine, std::vector<double>& ends,
               ActionRecorder* recorder) {
  SMPI_app_instance_register(instance.c_str(), nullptr, static_cast<int>(job.core_of.size()));
  ends.assign(job.core_of.size(), not_ended);
  for (std::size_t rank = 0; rank < job.core_of.size(); ++rank) {
    simgrid_api::start_actor(fmt::format("{}.{}", instance, rank), machine.host(job.core_of[rank]),
                             [&job, &ends, instance, rank, recorder] {
                               if (job.start > 0) s4u::this_actor::sleep_until(job.start);
                               const int number = static_cast<int>(rank);
                               s4u::Actor::self()->set_property("instance_id", instance);
                               s4u::Actor::self()->set_property("rank", std::to_string(rank));
                               smpi_replay_init(instance.c_str(), number, 0);  // registers SimGrid's actions
                               if (recorder != nullptr) recorder->wrap_actions();
                               smpi_replay_main(number, job.traces[rank].c_str());
                               ends[rank] = s4u::Engine::get_clock();
                             });
  }
}

/// SimGrid prints a message about a deadlock and returns from Engine::run().
Result<void> check_ends(const SimulationRequest& request, const std::vector<std::vector<double>>& ends) {
  for (std::size_t j = 0; j < ends.size(); ++j) {
    const auto blocked = std::find(ends[j].begin(), ends[j].end(), not_ended);
    if (blocked == ends[j].end()) continue;
    return fail(
        Code::bad_input, at(request.jobs[j].traces[static_cast<std::size_t>(blocked - ends[j].begin())]),
        fmt::format("deadlock: {} of {} ranks of {} wait for a message that is never sent; the first is rank {}",
                    std::count(blocked, ends[j].end(), not_ended), ends[j].size(), request.jobs[j].name,
                    blocked - ends[j].begin()),
        "the trace is incomplete: record it again");
  }
  return {};
}

}  // namespace

Result<SimulationResult> replay(const SimulationRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  auto platform = Platform::of(request.topology, request.factors);
  if (!platform) return propagate(platform);

  std::vector<std::string> argv{"rankloom-simulate", "--log=root.thres:error"};
  for (const char* const entry : configuration) argv.push_back(fmt::format("--cfg={}", entry));
#ifdef __SANITIZE_ADDRESS__
  argv.emplace_back("--cfg=contexts/factory:thread");  // the sanitizer does not know SimGrid's other stacks
#endif
  argv.push_back(fmt::format("--cfg=smpi/send-is-detached-thresh:{}", request.eager));
  std::vector<char*> arguments;
  arguments.reserve(argv.size());
  for (std::string& argument : argv) arguments.push_back(argument.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());
  SMPI_init();

  constexpr double operations_per_second = 1e9;  // work is recorded in nanoseconds
  // The engine owns the zone.
  auto* const machine = new Machine(*platform, used_cores(request), request.speed * operations_per_second);
  machine->get_iface()->seal();
  auto checked = RouteCheck(*machine, *platform).run();
  if (!checked) return propagate(checked);

  std::vector<std::vector<double>> ends(request.jobs.size());
  std::optional<ActionRecorder> recorder;
  if (request.timelines) recorder.emplace(request);
  for (std::size_t j = 0; j < request.jobs.size(); ++j)
    start_job(request.jobs[j], fmt::format("job{}", j), *machine, ends[j], recorder ? &*recorder : nullptr);
  engine.run();
  if (auto ended = check_ends(request, ends); !ended) return propagate(ended);
  SMPI_finalize();

  SimulationResult result{.jobs = {}, .seconds = 0, .routes_checked = *checked, .wall_seconds = 0};
  for (std::size_t j = 0; j < request.jobs.size(); ++j) {
    const SimulatedJob& job = request.jobs[j];
    JobTimes& times = result.jobs.emplace_back(JobTimes{.name = job.name, .start = job.start, .rank_seconds = {}});
    for (const double end : ends[j]) {
      times.rank_seconds.push_back(end - job.start);
      times.seconds = std::max(times.seconds, end - job.start);
      result.seconds = std::max(result.seconds, end);
    }
    if (recorder) times.timeline = recorder->timeline(j, *platform);
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace rankloom
