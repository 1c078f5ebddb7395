// SPDX-License-Identifier: Apache-2.0
// place: what is wrong with the placement of a program that a launcher has started in its own way.
#include "rankloom/place/diagnosis.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/machine/slots/slots.hpp"

namespace rankloom {

namespace {

/// The cores and NUMA nodes of one host, by the numbers of its processing units.
struct HostUnits {
  std::map<std::uint32_t, std::uint32_t> core_of, domain_of;
  std::map<std::uint32_t, std::size_t> domain_size;  ///< Processing units of a NUMA node.

  std::uint32_t core(std::uint32_t cpu) const {
    const auto found = core_of.find(cpu);
    return found == core_of.end() ? ~cpu : found->second;  // numbers of units that the machine does not list
  }
};

std::map<std::string, HostUnits> units_of_hosts(const Topology& topology) {
  std::map<std::string, HostUnits> hosts;
  const auto levels = topology.levels();
  const std::size_t level_of_cores = core_level(topology);
  const auto domain =
      std::find_if(levels.begin(), levels.end(), [](const auto& level) { return level.kind == "numa"; });
  for (const Core leaf : topology.cores()) {
    HostUnits& host = hosts[std::string(short_host_name(topology.node_name(topology.node_of(leaf))))];
    const std::uint32_t cpu = topology.os_index(leaf);
    host.core_of[cpu] = topology.object_of(level_of_cores, leaf);
    if (domain == levels.end()) continue;
    const std::uint32_t object = topology.object_of(static_cast<std::size_t>(domain - levels.begin()), leaf);
    host.domain_of[cpu] = object;
    ++host.domain_size[object];
  }
  return hosts;
}

/// What a user of this launcher types to give a rank this many cores.
std::string width_option(const Launcher& launcher, std::uint32_t cores) {
  if (launcher.name == "slurm") return fmt::format("srun -c {}", cores);
  if (launcher.name.starts_with("mpich")) return fmt::format("mpiexec -bind-to core:{}", cores);
  if (launcher.name == "intelmpi") return "mpirun -genv I_MPI_PIN_DOMAIN omp";
  return fmt::format("mpirun --map-by slot:PE={}", cores);
}

std::string bind_option(const Launcher& launcher) {
  if (launcher.name == "slurm") return "srun --cpu-bind=cores";
  if (launcher.name.starts_with("mpich")) return "mpiexec -bind-to core";
  if (launcher.name == "intelmpi") return "mpirun -genv I_MPI_PIN on";
  return "mpirun --bind-to core";
}

class Diagnosis {
 public:
  Diagnosis(const std::vector<BindingReport>& reports, const std::optional<Topology>& machine, const Launcher& launcher)
      : launcher_(launcher) {
    if (machine) hosts_ = units_of_hosts(*machine);
    for (const BindingReport& report : reports) ranks_on_[std::string(short_host_name(report.host))].push_back(&report);
  }

  std::vector<LaunchFinding> run() {
    for (const auto& [name, ranks] : ranks_on_) {
      const auto found = hosts_.find(name);
      const HostUnits none;
      const HostUnits& units = found == hosts_.end() ? none : found->second;
      for (const BindingReport* const rank : ranks) look_at_rank(*rank, units);
      look_at_host(ranks, units);
    }
    std::vector<LaunchFinding> findings;
    for (auto& [text, finding] : findings_) {
      std::sort(finding.ranks.begin(), finding.ranks.end());
      findings.push_back(std::move(finding));
    }
    std::sort(findings.begin(), findings.end(),
              [](const LaunchFinding& a, const LaunchFinding& b) { return a.ranks < b.ranks; });
    return findings;
  }

 private:
  /// Ranks with the same finding share it.
  void add(std::uint32_t rank, const std::string& what, const std::string& remedy) {
    LaunchFinding& finding = findings_[what];
    finding.what = what;
    finding.remedy = remedy;
    finding.ranks.push_back(rank);
  }

  /// Some MPI libraries bind ranks in MPI_Init, so where the threads may run counts if it is known.
  static std::vector<std::uint32_t> units_of(const BindingReport& report) {
    std::set<std::uint32_t> cpus;
    for (const ThreadReport& thread : report.threads) cpus.insert(thread.cpus.begin(), thread.cpus.end());
    return cpus.empty() ? report.cpus : std::vector<std::uint32_t>(cpus.begin(), cpus.end());
  }

  static std::set<std::uint32_t> cores_of(const BindingReport& report, const HostUnits& units) {
    std::set<std::uint32_t> cores;
    for (const std::uint32_t cpu : units_of(report)) cores.insert(units.core(cpu));
    return cores;
  }

  void look_at_rank(const BindingReport& report, const HostUnits& units) {
    const std::uint32_t busy = busy_threads(report);
    const std::vector<std::uint32_t> cpus = units_of(report);
    if (busy > cpus.size()) {
      add(report.rank,
          fmt::format("{} busy threads on {} processing unit{}", busy, cpus.size(), cpus.size() == 1 ? "" : "s"),
          fmt::format("give the rank {} cores: {}", busy, width_option(launcher_, busy)));
    }
    std::set<std::uint32_t> domains;
    std::size_t largest = 0;
    for (const std::uint32_t cpu : cpus) {
      const auto domain = units.domain_of.find(cpu);
      if (domain == units.domain_of.end()) continue;
      domains.insert(domain->second);
      largest = std::max(largest, units.domain_size.at(domain->second));
    }
    const bool whole_host = cpus.size() >= units.core_of.size();
    if (domains.size() > 1 && cpus.size() <= largest && !whole_host) {
      add(report.rank, fmt::format("its processing units are in {} NUMA nodes, though one has enough", domains.size()),
          "compute a mapping: rankloom tune cuts slots inside NUMA nodes");
    }
  }

  /// Ranks of one host that share cores, and ranks that are not bound.
  void look_at_host(const std::vector<const BindingReport*>& ranks, const HostUnits& units) {
    if (ranks.size() < 2) return;
    std::map<std::set<std::uint32_t>, std::vector<const BindingReport*>> ranks_on;  // by their cores
    std::set<std::uint32_t> used, all;
    for (const auto& [cpu, core] : units.core_of) all.insert(core);
    for (const BindingReport* const rank : ranks) {
      const auto cores = cores_of(*rank, units);
      used.insert(cores.begin(), cores.end());
      ranks_on[cores].push_back(rank);
    }
    const std::size_t idle = all.size() > used.size() ? all.size() - used.size() : 0;
    for (const auto& [cores, sharing] : ranks_on) {
      const bool unbound = !all.empty() && cores.size() > 1 && cores.size() >= all.size();
      for (const BindingReport* const rank : sharing) {
        const std::uint32_t busy = busy_threads(*rank);
        const std::string bind = busy > 1 ? width_option(launcher_, busy) : bind_option(launcher_);
        if (unbound) {
          add(rank->rank, "it is not bound: the operating system may move it to any core of its host",
              fmt::format("bind ranks: {}", bind));
        } else if (sharing.size() > cores.size()) {
          add(rank->rank, sharing_text(*sharing[0], sharing.size(), cores.size(), idle),
              idle > 0 ? fmt::format("give every rank its own cores: {}", bind) : "start fewer ranks on this host");
        }
      }
    }
  }

  static std::string sharing_text(const BindingReport& first, std::size_t ranks, std::size_t cores, std::size_t idle) {
    std::string text =
        cores == 1
            ? fmt::format("{} ranks share the core of processing unit {}", ranks, units_of(first)[0])
            : fmt::format("{} ranks share {} cores, from processing unit {} on", ranks, cores, units_of(first)[0]);
    if (idle > 0) text += fmt::format(", while {} core{} idle", idle, idle == 1 ? " is" : "s are");
    return text;
  }

  const Launcher& launcher_;
  std::map<std::string, HostUnits> hosts_;                             // by short name
  std::map<std::string, std::vector<const BindingReport*>> ranks_on_;  // by short name
  std::map<std::string, LaunchFinding> findings_;                      // by what they say
};

}  // namespace

std::uint32_t busy_threads(const BindingReport& report) {
  constexpr std::uint64_t min_share = 10;
  std::uint64_t most = 0;
  for (const ThreadReport& thread : report.threads) most = std::max(most, thread.ticks);
  const auto busy = std::count_if(report.threads.begin(), report.threads.end(), [&](const ThreadReport& thread) {
    return most > 0 && thread.ticks * min_share >= most;
  });
  return std::max(1U, static_cast<std::uint32_t>(busy));
}

std::vector<LaunchFinding> diagnose(const std::vector<BindingReport>& reports, const std::optional<Topology>& machine,
                                    const Launcher& launcher) {
  return Diagnosis(reports, machine, launcher).run();
}

}  // namespace rankloom
