// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: every topology source, and what tools print about machines.
#include "rankloom/discover/discover.hpp"

#include <fmt/format.h>

#include "rankloom/discover/compose.hpp"
#include "rankloom/discover/gpu_links.hpp"
#include "rankloom/discover/hwloc/host_report.hpp"
#include "rankloom/discover/probe/probe_analysis.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "tests/fuzz/check_machine.hpp"

namespace rankloom::fuzz {

namespace {

void check_result(const Result<MachineSpec>& machine) {
  if (!has_value(machine)) return;
  check_machine(*machine);
  if (core_count(machine->root) > 1000) return;
  (void)compose(*machine, {}, node_names(*machine));
}

/// Two lines: --hierarchy and --distance.
void read_hierarchy(std::string_view bytes) {
  const std::string_view hierarchy = take_line(bytes);
  check_result(parse_hierarchy(hierarchy, take_line(bytes)));
}

/// Two lines: the nodes of a job and its slots.
void read_allocation(std::string_view bytes) {
  const std::string nodes(take_line(bytes));
  check_result(read_slurm_allocation({nodes, std::string(take_line(bytes))}));
}

void collect_reports(std::string_view bytes) {
  HostReportCollector collector;
  while (!bytes.empty()) collector.add(take_line(bytes));
  const auto reports = collector.reports();
  if (!has_value(reports)) return;
  for (const HostReport& report : *reports) check_result(read_machine_json(file_of(report.machine)));
}

void read_probe(std::string_view bytes) {
  const auto table = read_probe_table(file_of(bytes));
  if (!has_value(table) || table->ranks.size() > 64) return;
  for (const bool ignore_host_names : {false, true}) {
    const auto probed = analyse_probe(*table, {.ignore_host_names = ignore_host_names, .under_load = false});
    if (has_value(probed)) check_machine(probed->machine);
  }
  static const auto known = load_topology("node:2 core:4");
  const auto calibrated = calibrate(*known, *table, {});
  if (has_value(calibrated)) check_machine(calibrated->machine);
}

/// The output of nvidia-smi or rocm-smi.
void read_gpu_links(std::string_view bytes) {
  for (const auto parse : {parse_nvidia_topology, parse_rocm_topology}) {
    const auto table = parse(bytes);
    if (!has_value(table)) continue;
    for (const GpuLinkSpec& link : group_links(*table, 0)) {
      expect(is_valid_cost(link.cost), "the cost of a link is valid");
      expect(link.gpus.empty() || link.gpus.size() > 1, "a link has two ends");
    }
  }
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> targets{{"hierarchy", read_hierarchy},
                                  {"slurm-allocation", read_allocation, 3000},
                                  {"host-report", collect_reports},
                                  {"probe-table", read_probe},
                                  {"gpu-links", read_gpu_links}};
  for (const TopologySourceInfo& source : topology_sources()) {
    targets.push_back({fmt::format("topology-{}", source.name),
                       [&source](std::string_view bytes) {
                         const FileContents file = file_of(bytes);
                         (void)source.recognise(file.view());
                         check_result(source.read(file));
                       },
                       source.name == "hwloc" ? 300U : FuzzTarget().executions});  // which starts a process for each
  }
  return targets;
}

}  // namespace rankloom::fuzz
