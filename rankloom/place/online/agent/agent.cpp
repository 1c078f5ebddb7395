// SPDX-License-Identifier: Apache-2.0
// place/online: the agent on a node, for ranks and for threads.
#include "rankloom/place/online/agent/agent.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/online/agent/process_control.hpp"
#include "rankloom/place/online/agent/rank_monitor.hpp"
#include "rankloom/place/online/agent/thread_monitor.hpp"
#include "rankloom/place/online/online_log.hpp"

namespace rankloom {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t unbound = 0xffffffff;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string in_directory_of(const std::string& recording, const std::string& name) {
  return (std::filesystem::path(recording).parent_path() / name).string();
}

double agent_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The launcher's default placement, for ranks that are not bound.
std::vector<Core> default_placement(std::uint32_t count, const Topology& topology) {
  const auto capacities = Capacities::of(topology, count, {.oversubscribe = true});
  return capacities ? block_placement(count, topology, *capacities) : std::vector<Core>(count, Core{0});
}

/// What the agents of ranks and of threads share: the loop over windows, the migrations and the log.
class Agent {
 public:
  explicit Agent(const AgentOptions& options) : options_(options), host_(host_name()) {
    log_.host = host_;
    log_.window_seconds = options.window_seconds;
  }
  virtual ~Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  Result<void> run() {
    if (wait_for_start()) {
      if (auto prepared = prepare(); prepared) {
        observe();
      } else {
        log_.remarks.push_back(
            fmt::format("no {} was moved: {}", log_.of_threads ? "thread" : "rank", to_string(prepared.error())));
      }
    }
    log_.cpu_seconds = agent_cpu_seconds();
    const auto json = planner_ ? to_json(log_, *planner_) : to_json(log_);
    return write_file(log_file(options_.recording, host_), dump_json(json, 1) + "\n");
  }

 protected:
  /// Waits until the ranks or threads can be observed. False: the program ended without any.
  virtual bool wait_for_start() = 0;
  virtual Result<void> prepare() = 0;
  /// Begins the first window.
  virtual void start_observation() = 0;
  virtual bool is_running() const = 0;
  /// Ends the current window at this time and begins the next one. Nothing: there is nothing to plan yet.
  virtual std::optional<TrafficWindow> next_window(double now) = 0;
  virtual bool can_move(std::size_t i) const = 0;
  virtual bool bind(std::size_t i, std::uint32_t cpu, Migration& migration) = 0;
  virtual void finish_observation() {}

  /// The processes that the launcher started on this host. A rank may be a descendant of one of them.
  std::vector<std::uint32_t> launched_processes() const {
    std::ifstream file(processes_file(options_.recording, host_));
    std::vector<std::uint32_t> processes;
    for (std::uint32_t process = 0; file >> process;) processes.push_back(process);
    return processes;
  }

  bool any_launched_process_runs() const {
    const auto processes = launched_processes();
    return std::any_of(processes.begin(), processes.end(), process_control::is_alive);
  }

  /// Loads the machine that the planner maps onto, and assigns one of the allowed processing units to each of its
  /// cores: its own unit on the host itself, and units in turn for a machine that the user described.
  /// `cpu_times_are_valid` is false when several cores share a processing unit.
  struct LoadedMachine {
    Topology topology;
    bool cpu_times_are_valid = true;
  };
  Result<LoadedMachine> load_node(std::span<const std::uint32_t> allowed_cpus) {
    // The launcher started the agent inside the processor set of one rank. hwloc must see the set of all ranks.
    process_control::bind_self(allowed_cpus);
    const bool described = !options_.machine.empty();
    auto spec = described ? load_machine(options_.machine) : discover_host({.bound = true});
    if (!spec) return propagate(spec);
    log_.machine = write_machine_json(*spec);
    auto topology = Topology::build(*std::move(spec));
    if (!topology) return propagate(topology);
    if (topology->node_count() != 1) {
      return fail(Code::bad_input, at("-t"), fmt::format("the machine has {} nodes", topology->node_count()),
                  "describe one node, such as 'package:2 core:8'");
    }
    log_.cpus.clear();
    for (const Core core : topology->cores())
      log_.cpus.push_back(described ? allowed_cpus[index(core) % allowed_cpus.size()] : topology->os_index(core));
    if (described) log_.remarks.push_back("the machine is the one of -t, not the host itself");
    const bool cpu_times_are_valid = log_.cpus.size() <= allowed_cpus.size();
    return LoadedMachine{*std::move(topology), cpu_times_are_valid};
  }

  AgentOptions options_;
  std::string host_;
  OnlineLog log_;
  std::optional<OnlinePlanner> planner_;
  std::vector<std::uint32_t> cpu_of_;  // by index in log_.ranks

 private:
  void observe() {
    const auto begin = Clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    start_observation();
    const auto window_length =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.window_seconds));
    for (auto next = begin + window_length; is_running(); next += window_length) {
      // After a delay of the agent, the next window has its full length instead of ending immediately.
      if (next < Clock::now()) next = Clock::now() + window_length;
      std::this_thread::sleep_until(next);
      const auto window = next_window(elapsed());
      if (!window) continue;
      const auto decision = planner_->add_window(*window);
      if (decision && decision->moves) migrate(*decision);
    }
    log_.seconds = elapsed();
    finish_observation();
  }

  /// Called at most once per window.
  void migrate(const OnlineDecision& decision) {
    Migration migration;
    migration.time = decision.time;
    migration.window = decision.window;
    migration.traffic = planner_->phases().traffic(decision.kind);
    for (std::size_t i = 0; i < log_.ranks.size(); ++i) {
      const std::uint32_t cpu = log_.cpus[index(decision.target[i])];
      if (can_move(i) && cpu_of_[i] != cpu) {
        if (bind(i, cpu, migration)) {
          ++migration.bound;
          cpu_of_[i] = cpu;
        } else {
          ++migration.failed;
        }
      }
      migration.cpus.push_back(cpu_of_[i] == unbound ? cpu : cpu_of_[i]);
    }
    log_.migrations.push_back(std::move(migration));
  }
};

class RankAgent final : public Agent {
 public:
  explicit RankAgent(const AgentOptions& options) : Agent(options), monitor_(options.recording, host_) {}

 private:
  /// Ranks call MPI_Init at different times. Ranks that are much later than the first one are not observed.
  bool wait_for_start() override {
    constexpr int max_windows_after_first = 30;
    for (int windows = 0; windows < max_windows_after_first;) {
      const std::size_t ranks = monitor_.find_ranks();
      if (ranks > 0 && ranks >= launched_processes().size()) return true;
      if (ranks > 0) ++windows;
      if (ranks == 0 && !any_launched_process_runs()) return false;
      std::this_thread::sleep_for(std::chrono::duration<double>(options_.window_seconds));
    }
    log_.remarks.push_back("some processes on this host did not call MPI_Init in time; they are not observed");
    return true;
  }

  /// The node consists of the processing units that the launcher gave to all of its ranks.
  Result<void> prepare() override {
    std::set<std::uint32_t> all;
    for (std::size_t i = 0; i < monitor_.count(); ++i) {
      log_.ranks.push_back(monitor_.world_rank(i));
      allowed_.push_back(process_control::allowed_cpus(monitor_.process(i)));
      all.insert(allowed_.back().begin(), allowed_.back().end());
    }
    if (all.empty())
      return fail(Code::environment, at(host_), "its ranks have already ended", "run the program for a longer time");
    const std::vector<std::uint32_t> units(all.begin(), all.end());
    auto node = load_node(units);
    if (!node) return propagate(node);
    if (!node->cpu_times_are_valid) monitor_.ignore_cpu_times();
    planner_.emplace(node->topology, initial_placement(node->topology), options_.online);
    cpu_of_.assign(monitor_.count(), unbound);
    for (std::size_t i = 0; i < monitor_.count(); ++i)
      if (allowed_[i].size() == 1) cpu_of_[i] = allowed_[i].front();
    if (options_.migrate_pages) {
      numa_node_of_cpu_ = process_control::numa_node_of_cpu();
      if (numa_node_of_cpu_.empty()) log_.remarks.push_back("there is one NUMA node, so no page is migrated");
    }
    return {};
  }

  /// The cores that the launcher bound the ranks to. If it did not bind each rank to one unit, its default placement.
  std::vector<Core> initial_placement(const Topology& topology) const {
    const auto ranks = static_cast<std::uint32_t>(monitor_.count());
    std::vector<Core> core_of = default_placement(ranks, topology);
    const bool all_bound =
        std::all_of(allowed_.begin(), allowed_.end(), [](const auto& units) { return units.size() == 1; });
    if (!all_bound || !options_.machine.empty()) return core_of;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      const auto entry = std::find(log_.cpus.begin(), log_.cpus.end(), allowed_[i].front());
      if (entry != log_.cpus.end()) core_of[i] = Core{static_cast<std::uint32_t>(entry - log_.cpus.begin())};
    }
    return core_of;
  }

  void start_observation() override { monitor_.start(0); }
  bool is_running() const override { return monitor_.any_running(); }
  bool is_threaded() const { return monitor_.any_threaded() || options_.threaded; }

  std::optional<TrafficWindow> next_window(double now) override {
    TrafficWindow window = monitor_.next_window(now);
    if (is_threaded()) planner_->disable_moves("the ranks are multithreaded");
    return window;
  }

  void finish_observation() override {
    log_.inconsistent_reads = monitor_.inconsistent_reads();
    if (is_threaded())
      log_.remarks.push_back("no rank was moved, because multithreaded ranks use several processing units");
  }

  bool can_move(std::size_t i) const override { return monitor_.is_running(i); }

  bool bind(std::size_t i, std::uint32_t cpu, Migration& migration) override {
    if (!process_control::bind_process(monitor_.process(i), cpu)) return false;
    if (numa_node_of_cpu_.empty() || cpu_of_[i] == unbound) return true;
    const auto numa_node = [&](std::uint32_t unit) {
      return unit < numa_node_of_cpu_.size() ? numa_node_of_cpu_[unit] : 0;
    };
    const std::uint32_t from = numa_node(cpu_of_[i]), to = numa_node(cpu);
    if (from != to && process_control::migrate_pages(monitor_.process(i), from, to)) ++migration.migrated;
    return true;
  }

  RankMonitor monitor_;
  std::vector<std::vector<std::uint32_t>> allowed_;  // by rank of the node, as the launcher bound it
  std::vector<std::uint32_t> numa_node_of_cpu_;      // empty: pages are not migrated
};

class ThreadAgent final : public Agent {
 public:
  explicit ThreadAgent(const AgentOptions& options) : Agent(options), monitor_(options.threads) {
    log_.of_threads = true;
  }

 private:
  bool wait_for_start() override {
    while (!monitor_.open_table()) {
      if (!any_launched_process_runs()) return monitor_.open_table();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  Result<void> prepare() override {
    const auto units = process_control::allowed_cpus(monitor_.process());
    if (units.empty())
      return fail(Code::environment, at(host_), "the program has already ended", "run the program for a longer time");
    auto node = load_node(units);
    if (!node) return propagate(node);
    if (!node->cpu_times_are_valid) monitor_.ignore_cpu_times();
    topology_ = std::move(node->topology);
    return {};
  }

  void start_observation() override { monitor_.read(0); }
  bool is_running() const override { return monitor_.is_running(); }

  std::optional<TrafficWindow> next_window(double now) override {
    const bool more_threads = monitor_.read(now);
    if (monitor_.numbers().size() < 2) return std::nullopt;
    if (more_threads || !planner_) restart_planner();
    bind_replaced_threads();
    return monitor_.window();
  }

  /// When another thread starts to work, a new planner for the larger set of threads starts from the current placement
  /// and detects the phases again.
  void restart_planner() {
    const auto count = static_cast<std::uint32_t>(monitor_.numbers().size());
    std::vector<Core> start = default_placement(count, *topology_);
    std::vector<std::uint32_t> cpus(count, unbound);
    for (std::uint32_t i = 0; planner_ && i < count; ++i) {
      const auto known = std::ranges::find(log_.ranks, monitor_.numbers()[i]);
      if (known == log_.ranks.end()) continue;
      const auto previous = static_cast<std::size_t>(known - log_.ranks.begin());
      if (cpu_of_[previous] == unbound) continue;
      start[i] = planner_->placement()[previous];
      cpus[i] = cpu_of_[previous];
    }
    if (planner_ && planner_->windows() > 1) {
      log_.remarks.push_back(fmt::format("another thread started to work at {:.1f} s; earlier phases are discarded",
                                         monitor_.window().begin));
    }
    // A new thread inherits the binding of the thread that created it, so it must be bound to a core of its own.
    const bool any_bound = std::ranges::any_of(cpu_of_, [](std::uint32_t cpu) { return cpu != unbound; });
    for (std::uint32_t i = 0; any_bound && i < count; ++i)
      if (cpus[i] == unbound) cpus[i] = log_.cpus[index(start[i])];
    log_.migrations.clear();
    log_.ranks = monitor_.numbers();
    cpu_of_ = std::move(cpus);
    bound_threads_.assign(count, 0);
    planner_.emplace(*topology_, std::move(start), options_.online);
  }

  /// Binds threads that took over the number of a thread that has ended.
  void bind_replaced_threads() {
    for (std::size_t i = 0; i < log_.ranks.size(); ++i) {
      const std::uint32_t thread = monitor_.system_id(log_.ranks[i]);
      if (std::exchange(bound_threads_[i], thread) == thread || thread == 0 || cpu_of_[i] == unbound) continue;
      process_control::bind_thread(thread, cpu_of_[i]);
    }
  }

  bool can_move(std::size_t i) const override { return monitor_.system_id(log_.ranks[i]) > 0; }
  bool bind(std::size_t i, std::uint32_t cpu, Migration&) override {
    return process_control::bind_thread(monitor_.system_id(log_.ranks[i]), cpu);
  }

  ThreadMonitor monitor_;
  std::optional<Topology> topology_;
  std::vector<std::uint32_t> bound_threads_;  // the system's thread id, by index in log_.ranks
};

}  // namespace

std::string agent_file(const std::string& recording, const std::string& host) {
  return in_directory_of(recording, "agent." + host);
}
std::string processes_file(const std::string& recording, const std::string& host) {
  return in_directory_of(recording, "processes." + host);
}
std::string log_file(const std::string& recording, const std::string& host) {
  return in_directory_of(recording, "log." + host + ".json");
}

Result<void> run_agent(const AgentOptions& options) {
  return options.threads.empty() ? RankAgent(options).run() : ThreadAgent(options).run();
}

}  // namespace rankloom
