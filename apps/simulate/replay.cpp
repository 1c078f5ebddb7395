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
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
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

/// SMPI sends so many bytes with every message; their time is taken off the latency, so that a message alone takes what
/// the machine says (as far as it has a latency).
constexpr double envelope = 16;

/// What is fixed for the model to be ours: no factors that were measured on somebody's Ethernet, no window of TCP, no
/// acknowledgements that take part of the way back.
constexpr std::array<const char*, 8> configuration{
    "network/model:CM02",  "network/weight-S:8775", "network/TCP-gamma:0",     "network/crosstraffic:0",
    "smpi/host-speed:1Gf", "smpi/cpu-threshold:0",  "contexts/stack-size:256", "surf/precision:1e-9"};

/// The links of SimGrid: one for each wire that a used core can meet. How fast a message alone is, is a bound of that
/// message: as a link that all messages of a level pass, it would join them all into one system of equations.
class Machine : public routing::NetZoneImpl {
 public:
  Machine(const Platform& platform, const std::vector<Core>& used) : NetZoneImpl("machine"), platform_(platform) {
    find_wires(used);
    for (const Core core : used) core_of_point_.push_back(core);
    endless_ = create_link("endless", {endless_rate});
    endless_->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
  }

  s4u::Host* add_core(Core core, double speed) {
    s4u::Host* const host = create_host(fmt::format("core{}", index(core)), {speed});
    host->seal();
    return host;
  }

  const std::vector<s4u::Link*>& expected(Core from, Core to, double& latency) {
    route_.clear();
    links_.clear();
    platform_.route(from, to, route_);
    for (const Wire wire : route_) {
      if (const auto found = wires_.find(wire); found != wires_.end()) links_.push_back(found->second);
    }
    if (links_.empty()) links_.push_back(endless_);
    latency = std::max(platform_.latency(from, to) - envelope / platform_.fastest(from, to), 0.0);
    return links_;
  }

  /// What a message alone gets, as a share of the slowest wire on its way: SimGrid asks for such a factor.
  double share_of_slowest(const s4u::Host* from, const s4u::Host* to, const std::vector<s4u::Link*>& links) const {
    const double fastest =
        platform_.fastest(core_of_point_[from->get_netpoint()->id()], core_of_point_[to->get_netpoint()->id()]);
    double slowest = endless_rate;
    for (const s4u::Link* const link : links) slowest = std::min(slowest, link->get_bandwidth());
    return std::min(fastest / slowest, 1.0);
  }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to, routing::Route* into,
                       double* latency) override {
    double seconds = 0;
    const auto& links = expected(core_of_point_[from->id()], core_of_point_[to->id()], seconds);
    for (const s4u::Link* const link : links) into->link_list_.push_back(link->get_impl());
    if (latency != nullptr) *latency += seconds;
  }

  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}

 private:
  /// Links cannot be added while a simulation runs, so all that can be met are made before. In a hierarchy two cores
  /// that follow each other are the border of every object that holds one of them only, so they meet every wire and
  /// limit; on a routed network all pairs of nodes are looked at.
  void find_wires(const std::vector<Core>& used) {
    const Topology& topology = platform_.topology();
    std::vector<Core> first;  // of each node that is used
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (first.empty() || topology.node_of(first.back()) != topology.node_of(used[i])) first.push_back(used[i]);
      if (i == 0) continue;
      meet(used[i - 1], used[i]);
      meet(used[i], used[i - 1]);
    }
    if (!topology.routed()) return;
    for (const Core p : first)
      for (const Core q : first) meet(p, q);
  }

  void meet(Core from, Core to) {
    if (from == to) return;
    route_.clear();
    platform_.route(from, to, route_);
    for (const Wire wire : route_) {
      if (wires_.contains(wire) || std::isinf(platform_.rate(wire))) continue;
      wires_.emplace(wire, create_link(platform_.name(wire), {platform_.rate(wire)})->seal());
    }
  }

  const Platform& platform_;
  std::vector<Core> core_of_point_;  // by number of the zone's points, which are the hosts in the order of their making
  std::unordered_map<Wire, s4u::Link*> wires_;
  s4u::Link* endless_ = nullptr;
  std::vector<Wire> route_;
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
  RouteCheck(Machine& machine, const Platform& platform, const std::vector<Core>& used,
             const std::vector<s4u::Host*>& hosts)
      : machine_(machine), platform_(platform), used_(used), hosts_(hosts) {}

  /// All pairs of few cores; of many, so many at random, which meet every level of machines that have few.
  Result<std::uint64_t> run() {
    constexpr std::size_t few = 64, many = 20'000;
    std::uint64_t checked = 0;
    if (used_.size() <= few) {
      for (std::size_t p = 0; p < used_.size(); ++p) {
        for (std::size_t q = 0; q < used_.size(); ++q, ++checked)
          if (auto same = check(p, q); !same) return pass_on(same);
      }
      return checked;
    }
    Random random(0);
    // The next core as well: far levels are met at random, near ones are not.
    for (std::size_t p = 0; p + 1 < used_.size(); ++p, ++checked)
      if (auto same = check(p, p + 1); !same) return pass_on(same);
    for (; checked < many; ++checked) {
      const auto p = random.below(used_.size()), q = random.below(used_.size());
      if (auto same = check(p, q); !same) return pass_on(same);
    }
    return checked;
  }

 private:
  Result<void> check(std::size_t p, std::size_t q) {
    double wanted_latency = 0, latency = 0;
    const auto wanted = machine_.expected(used_[p], used_[q], wanted_latency);
    std::vector<s4u::Link*> links;
    hosts_[p]->route_to(hosts_[q], links, &latency);
    double rate = endless_rate;
    for (const s4u::Link* const link : links) rate = std::min(rate, link->get_bandwidth());
    rate *= machine_.share_of_slowest(hosts_[p], hosts_[q], links);
    const double fastest = std::min(platform_.fastest(used_[p], used_[q]), endless_rate);
    constexpr double rounding = 1e-9;
    if (links == wanted && latency == wanted_latency && std::abs(rate - fastest) <= rounding * fastest) return {};
    return fail(Code::environment, at("routes"),
                fmt::format("between cores {} and {} the simulator takes {} links at {} B/s and {} s, the machine {} "
                            "at {} B/s and {} s",
                            index(used_[p]), index(used_[q]), links.size(), rate, latency, wanted.size(), fastest,
                            wanted_latency),
                "rankloom is made for SimGrid 3.32; is this another version?");
  }

  Machine& machine_;
  const Platform& platform_;
  const std::vector<Core>& used_;
  const std::vector<s4u::Host*>& hosts_;
};

void start_job(const SimulatedJob& job, const std::string& instance, const std::vector<Core>& used,
               const std::vector<s4u::Host*>& hosts, std::vector<double>& ends) {
  SMPI_app_instance_register(instance.c_str(), nullptr, static_cast<int>(job.core_of.size()));
  ends.assign(job.core_of.size(), 0);
  for (std::size_t rank = 0; rank < job.core_of.size(); ++rank) {
    const auto place = std::lower_bound(used.begin(), used.end(), job.core_of[rank]) - used.begin();
    s4u::Actor::create(fmt::format("{}.{}", instance, rank), hosts[static_cast<std::size_t>(place)],
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

}  // namespace

Result<SimulationResult> replay(const SimulationRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  auto platform = Platform::of(request.topology, request.platform);
  if (!platform) return pass_on(platform);

  std::vector<std::string> words{"rankloom-simulate", "--log=root.thres:error"};
  for (const char* const entry : configuration) words.push_back(fmt::format("--cfg={}", entry));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());
  SMPI_init();

  const std::vector<Core> used = used_cores(request);
  auto* const machine = new Machine(*platform, used);  // the engine's from now on
  std::vector<s4u::Host*> hosts;
  constexpr double operations_per_second = 1e9;  // work is recorded in nanoseconds
  for (const Core core : used) hosts.push_back(machine->add_core(core, request.speed * operations_per_second));
  machine->get_iface()->get_network_model()->set_bw_factor_cb(
      [machine](double, const s4u::Host* from, const s4u::Host* to, const std::vector<s4u::Link*>& links,
                const std::unordered_set<s4u::NetZone*>&) { return machine->share_of_slowest(from, to, links); });
  machine->get_iface()->seal();
  auto checked = RouteCheck(*machine, *platform, used, hosts).run();
  if (!checked) return pass_on(checked);

  std::vector<std::vector<double>> ends(request.jobs.size());
  for (std::size_t j = 0; j < request.jobs.size(); ++j)
    start_job(request.jobs[j], fmt::format("job{}", j), used, hosts, ends[j]);
  engine.run();
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
