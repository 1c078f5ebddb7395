// SPDX-License-Identifier: Apache-2.0
// place/online: one agent on a node.
#include "rankloom/place/online/agent.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "rankloom/core/file.hpp"
#include "rankloom/place/online/host.hpp"
#include "rankloom/place/online/log.hpp"
#include "rankloom/place/online/machine_here.hpp"
#include "rankloom/place/online/thread_agent.hpp"
#include "rankloom/place/online/watch.hpp"

namespace rankloom {

namespace {

using Clock = std::chrono::steady_clock;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string beside(const std::string& recording, const std::string& name) {
  return (std::filesystem::path(recording).parent_path() / name).string();
}

double own_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Agent {
 public:
  explicit Agent(const AgentOptions& options)
      : options_(options), host_(host_name()), watch_(options.recording, host_) {
    log_.host = host_;
    log_.window_seconds = options.window_seconds;
  }

  Result<void> run() {
    if (wait_for_ranks()) {
      list_ranks();
      if (auto ready = prepare(); ready) {
        watch();
      } else {
        log_.remarks.push_back(fmt::format("nobody was moved: {}", to_string(ready.error())));
      }
    }
    log_.cpu_seconds = own_cpu_seconds();
    const auto json = planner_ ? to_json(log_, *planner_) : to_json(log_);
    return write_file(log_file(options_.recording, host_), json.dump(1) + "\n");
  }

 private:
  void sleep() const { std::this_thread::sleep_for(std::chrono::duration<double>(options_.window_seconds)); }

  /// Started here by the launcher; a rank may be a process further down.
  std::vector<std::uint32_t> launched() const {
    std::ifstream file(processes_file(options_.recording, host_));
    std::vector<std::uint32_t> processes;
    for (std::uint32_t process = 0; file >> process;) processes.push_back(process);
    return processes;
  }

  /// Ranks come to MPI_Init one after the other; those that come much later are left alone. False: nobody came.
  bool wait_for_ranks() {
    constexpr int patience = 30;  // windows after the first rank
    for (int waited = 0; waited < patience;) {
      const std::size_t found = watch_.look();
      const auto processes = launched();
      if (found > 0 && found >= processes.size()) return true;
      if (found > 0) ++waited;
      if (found == 0 && std::none_of(processes.begin(), processes.end(), host::is_alive)) return false;
      sleep();
    }
    log_.remarks.push_back("not every process that was started here came to MPI; the others are watched");
    return true;
  }

  void list_ranks() {
    for (std::size_t i = 0; i < watch_.count(); ++i) log_.ranks.push_back(watch_.world_rank(i));
  }

  /// What the launcher gave to the ranks of this node together, each as it was at its start.
  Result<void> prepare() {
    std::set<std::uint32_t> all;
    for (std::size_t i = 0; i < watch_.count(); ++i) {
      allowed_.push_back(host::allowed_cpus(watch_.process(i)));
      all.insert(allowed_.back().begin(), allowed_.back().end());
    }
    if (all.empty())
      return fail(Code::environment, at(host_), "its ranks are gone already", "nothing is to be done about it");
    const std::vector<std::uint32_t> units(all.begin(), all.end());
    auto here = machine_here(options_.machine, units);
    if (!here) return propagate(here);
    log_.machine = here->json;
    log_.cpus = here->cpus;
    if (here->cpus.size() > units.size()) watch_.leave_out_work();
    if (!options_.machine.empty()) log_.remarks.push_back("the machine is the one of -t, not the host as it is");
    planner_.emplace(here->topology, placement_at_start(here->topology), options_.online);
    cpu_of_.assign(watch_.count(), unbound);
    for (std::size_t i = 0; i < watch_.count(); ++i)
      if (allowed_[i].size() == 1) cpu_of_[i] = allowed_[i].front();
    if (options_.migrate_pages) {
      memory_ = host::memory_nodes();
      if (memory_.empty()) log_.remarks.push_back("there is one memory node: no page has to follow");
    }
    return {};
  }

  /// Where the launcher bound them; ranks that may run anywhere are taken to be in its default order.
  std::vector<Core> placement_at_start(const Topology& topology) const {
    const auto ranks = static_cast<std::uint32_t>(watch_.count());
    const auto slots = Capacities::of(topology, ranks, {.oversubscribe = true});
    std::vector<Core> core_of = slots ? block_placement(ranks, topology, *slots) : std::vector<Core>(ranks, Core{0});
    const bool all_bound =
        std::all_of(allowed_.begin(), allowed_.end(), [](const auto& set) { return set.size() == 1; });
    if (!all_bound || !options_.machine.empty()) return core_of;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      const auto found = std::find(log_.cpus.begin(), log_.cpus.end(), allowed_[i].front());
      if (found != log_.cpus.end()) core_of[i] = Core{static_cast<std::uint32_t>(found - log_.cpus.begin())};
    }
    return core_of;
  }

  void watch() {
    const auto begin = Clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    watch_.start(0);
    const auto window =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.window_seconds));
    for (auto next = begin + window; watch_.any_running(); next += window) {
      if (next < Clock::now()) next = Clock::now() + window;  // never two windows at once after a long wait
      std::this_thread::sleep_until(next);
      const OnlineWindow window_now = watch_.next(passed());
      if (watch_.any_threaded() || options_.threaded) planner_->stay("ranks have threads of their own");
      const auto decision = planner_->take(window_now);
      if (decision && decision->moves) move(*decision);
    }
    log_.seconds = passed();
    log_.torn = watch_.torn();
    if (watch_.any_threaded() || options_.threaded)
      log_.remarks.push_back("ranks with threads of their own use several processing units: nobody was moved");
  }

  /// At most once in a window.
  void move(const OnlineDecision& decision) {
    OnlineBurst burst;
    burst.time = decision.time;
    burst.window = decision.window;
    burst.traffic = planner_->phases().traffic(decision.kind);
    for (std::size_t i = 0; i < watch_.count(); ++i) {
      const std::uint32_t cpu = log_.cpus[index(decision.target[i])];
      if (watch_.is_running(i) && cpu_of_[i] != cpu) {
        if (host::move_to(watch_.process(i), cpu)) {
          ++burst.bound;
          migrate(i, cpu, burst);
          cpu_of_[i] = cpu;
        } else {
          ++burst.failed;
        }
      }
      burst.cpus.push_back(cpu_of_[i] == unbound ? cpu : cpu_of_[i]);
    }
    log_.bursts.push_back(std::move(burst));
  }

  void migrate(std::size_t rank, std::uint32_t cpu, OnlineBurst& burst) const {
    if (memory_.empty() || cpu_of_[rank] == unbound) return;
    const auto node = [&](std::uint32_t unit) { return unit < memory_.size() ? memory_[unit] : 0; };
    const std::uint32_t from = node(cpu_of_[rank]), to = node(cpu);
    if (from != to && host::migrate_pages(watch_.process(rank), from, to)) ++burst.migrated;
  }

  static constexpr std::uint32_t unbound = 0xffffffff;
  AgentOptions options_;
  std::string host_;
  NodeWatch watch_;
  OnlineLog log_;
  std::optional<OnlinePlanner> planner_;
  std::vector<std::vector<std::uint32_t>> allowed_;  // by rank of the node, as the launcher left it
  std::vector<std::uint32_t> cpu_of_;                // by rank of the node
  std::vector<std::uint32_t> memory_;                // by processing unit
};

}  // namespace

std::string agent_file(const std::string& recording, const std::string& host) {
  return beside(recording, "agent." + host);
}
std::string processes_file(const std::string& recording, const std::string& host) {
  return beside(recording, "processes." + host);
}
std::string log_file(const std::string& recording, const std::string& host) {
  return beside(recording, "log." + host + ".json");
}

Result<void> run_agent(const AgentOptions& options) {
  return options.threads.empty() ? Agent(options).run() : run_thread_agent(options, host_name());
}

}  // namespace rankloom
