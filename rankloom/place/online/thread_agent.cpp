// SPDX-License-Identifier: Apache-2.0
// place/online: the agent of a program that records its threads.
#include "rankloom/place/online/thread_agent.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/file.hpp"
#include "rankloom/place/online/host.hpp"
#include "rankloom/place/online/log.hpp"
#include "rankloom/place/online/machine_here.hpp"
#include "rankloom/place/online/thread_watch.hpp"

namespace rankloom {

namespace {

using Clock = std::chrono::steady_clock;

class ThreadAgent {
 public:
  ThreadAgent(const AgentOptions& options, const std::string& host)
      : options_(options), host_(host), watch_(options.threads) {
    log_.host = host;
    log_.of_threads = true;
    log_.window_seconds = options.window_seconds;
  }

  Result<void> run() {
    if (wait_for_table()) {
      if (auto ready = prepare(); ready) {
        watch();
      } else {
        log_.remarks.push_back(fmt::format("nobody was moved: {}", to_string(ready.error())));
      }
    }
    log_.cpu_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const auto json = planner_ ? to_json(log_, *planner_) : to_json(log_);
    return write_file(log_file(options_.recording, host_), json.dump(1) + "\n");
  }

 private:
  /// False: the program that was started here is gone, and recorded no threads.
  bool wait_for_table() {
    while (!watch_.look()) {
      std::ifstream file(processes_file(options_.recording, host_));
      bool any = false;
      for (std::uint32_t process = 0; file >> process;) any = any || host::is_alive(process);
      if (!any) return watch_.look();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  Result<void> prepare() {
    const auto units = host::allowed_cpus(watch_.process());
    if (units.empty())
      return fail(Code::environment, at(host_), "the program is gone already", "nothing is to be done about it");
    auto here = machine_here(options_.machine, units);
    if (!here) return propagate(here);
    log_.machine = here->json;
    log_.cpus = here->cpus;
    if (here->cpus.size() > units.size()) watch_.leave_out_work();
    if (!options_.machine.empty()) log_.remarks.push_back("the machine is the one of -t, not the host as it is");
    topology_ = std::move(here->topology);
    return {};
  }

  void watch() {
    const auto begin = Clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    watch_.read(0);
    const auto window =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.window_seconds));
    for (auto next = begin + window; watch_.is_running(); next += window) {
      if (next < Clock::now()) next = Clock::now() + window;
      std::this_thread::sleep_until(next);
      const bool more = watch_.read(passed());
      if (watch_.numbers().size() < 2) continue;
      if (more || !planner_) plan_anew();
      settle();
      const auto decision = planner_->take(watch_.window());
      if (decision && decision->moves) move(*decision);
    }
    log_.seconds = passed();
  }

  /// Threads that begin to work later are more than the planner knows of: it learns the program's phases once more,
  /// from where everybody is.
  void plan_anew() {
    const auto count = static_cast<std::uint32_t>(watch_.numbers().size());
    const auto slots = Capacities::of(*topology_, count, {.oversubscribe = true});
    std::vector<Core> start = slots ? block_placement(count, *topology_, *slots) : std::vector<Core>(count, Core{0});
    std::vector<std::uint32_t> cpus(count, unbound);
    for (std::uint32_t i = 0; planner_ && i < count; ++i) {
      const auto known = std::ranges::find(log_.ranks, watch_.numbers()[i]);
      if (known == log_.ranks.end()) continue;
      const auto before = static_cast<std::size_t>(known - log_.ranks.begin());
      if (cpu_of_[before] == unbound) continue;
      start[i] = planner_->now()[before];
      cpus[i] = cpu_of_[before];
    }
    if (planner_ && planner_->windows() > 1) {
      log_.remarks.push_back(fmt::format("another thread began to work at {:.1f} s: phases before that are forgotten",
                                         watch_.window().begin));
    }
    // New threads of one that is bound are bound with it, all to one unit: they get places of their own.
    const bool any_bound = std::ranges::any_of(cpu_of_, [](std::uint32_t cpu) { return cpu != unbound; });
    for (std::uint32_t i = 0; any_bound && i < count; ++i)
      if (cpus[i] == unbound) cpus[i] = log_.cpus[index(start[i])];
    log_.bursts.clear();
    log_.ranks = watch_.numbers();
    cpu_of_ = std::move(cpus);
    settled_.assign(count, 0);
    planner_.emplace(*topology_, std::move(start), options_.online);
  }

  /// A thread that has taken the number of another one takes its place, too.
  void settle() {
    for (std::size_t i = 0; i < log_.ranks.size(); ++i) {
      const std::uint32_t thread = watch_.system_id(log_.ranks[i]);
      if (std::exchange(settled_[i], thread) == thread || thread == 0 || cpu_of_[i] == unbound) continue;
      host::move_thread_to(thread, cpu_of_[i]);
    }
  }

  /// At most once in a window.
  void move(const OnlineDecision& decision) {
    OnlineBurst burst;
    burst.time = decision.time;
    burst.window = decision.window;
    burst.traffic = planner_->phases().traffic(decision.kind);
    for (std::size_t i = 0; i < log_.ranks.size(); ++i) {
      const std::uint32_t cpu = log_.cpus[index(decision.target[i])];
      const std::uint32_t thread = watch_.system_id(log_.ranks[i]);
      if (thread > 0 && cpu_of_[i] != cpu) {
        if (host::move_thread_to(thread, cpu)) {
          ++burst.bound;
          cpu_of_[i] = cpu;
        } else {
          ++burst.failed;
        }
      }
      burst.cpus.push_back(cpu_of_[i] == unbound ? cpu : cpu_of_[i]);
    }
    log_.bursts.push_back(std::move(burst));
  }

  static constexpr std::uint32_t unbound = 0xffffffff;
  AgentOptions options_;
  std::string host_;
  ThreadWatch watch_;
  OnlineLog log_;
  std::optional<Topology> topology_;
  std::optional<OnlinePlanner> planner_;
  std::vector<std::uint32_t> cpu_of_;   // by place in log_.ranks
  std::vector<std::uint32_t> settled_;  // the threads that are there, as far as we have seen
};

}  // namespace

Result<void> run_thread_agent(const AgentOptions& options, const std::string& host) {
  return ThreadAgent(options, host).run();
}

}  // namespace rankloom
