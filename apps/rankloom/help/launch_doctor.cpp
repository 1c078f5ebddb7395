// SPDX-License-Identifier: Apache-2.0
// apps/help: runs the user's command as it is, and tells where its ranks and threads were.
#include "apps/rankloom/help/launch_doctor.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/verbs/machine/topo_discover.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/place/diagnosis.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

constexpr std::size_t max_rows = 64;

/// The hosts that the launcher uses; nothing if they cannot be looked at.
std::optional<Topology> discover_hosts(const LaunchCommand& command) {
  DiscoverArguments discover;
  discover.launcher = launcher_argv(command);
  discover.other_output = [](std::string_view) {};
  discover.error_log = "/dev/null";
  auto machine = discover_machine(discover);
  if (!machine) return std::nullopt;
  auto topology = Topology::build(std::move(*machine));
  if (!topology) return std::nullopt;
  return *std::move(topology);
}

std::string list_ranks(const std::vector<std::uint32_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", format_number_ranges(ranks));
}

std::string to_text(const std::vector<BindingReport>& reports, const std::vector<LaunchFinding>& findings,
                    bool hosts_known, std::size_t width) {
  Table table({{"rank", Table::Align::right},
               {"host"},
               {"processing units"},
               {"busy threads", Table::Align::right},
               {"threads", Table::Align::right}});
  for (std::size_t i = 0; i < std::min(max_rows, reports.size()); ++i) {
    const BindingReport& report = reports[i];
    const bool known = !report.threads.empty();
    table.row({fmt::format("{}", report.rank), report.host, format_number_ranges(report.cpus),
               known ? fmt::format("{}", busy_threads(report)) : "-",
               known ? fmt::format("{}", report.threads.size()) : "-"});
  }
  std::string text = table.text(width);
  if (reports.size() > max_rows) text += fmt::format("  and {} more\n", reports.size() - max_rows);
  text += "\n";
  for (const LaunchFinding& finding : findings)
    text += fmt::format("  {}: {}\n    remedy: {}\n", list_ranks(finding.ranks), finding.what, finding.remedy);
  const bool threads_known =
      std::all_of(reports.begin(), reports.end(), [](const BindingReport& report) { return !report.threads.empty(); });
  if (!hosts_known) text += "  the hosts could not be looked at: ranks that are not bound are not found\n";
  if (!threads_known) text += "  the program ended before its threads were looked at: let it run for a second\n";
  if (findings.empty() && hosts_known && threads_known)
    text += "  every rank has its own cores, and its threads have room on them\n";
  return text;
}

Json to_json(const std::vector<BindingReport>& reports, const std::vector<LaunchFinding>& findings, int status) {
  Json json{{"ranks", Json::array()}, {"findings", Json::array()}, {"status", status}};
  for (const BindingReport& report : reports) {
    Json entry{{"rank", report.rank}, {"host", report.host}, {"cpus", report.cpus}};
    if (!report.threads.empty()) {
      entry["busy_threads"] = busy_threads(report);
      entry["threads"] = Json::array();
      for (const ThreadReport& thread : report.threads)
        entry["threads"].push_back({{"cpus", thread.cpus}, {"ticks", thread.ticks}});
    }
    json["ranks"].push_back(std::move(entry));
  }
  for (const LaunchFinding& finding : findings)
    json["findings"].push_back({{"ranks", finding.ranks}, {"what", finding.what}, {"remedy", finding.remedy}});
  return json;
}

}  // namespace

Result<int> examine_launch(const Session& session, const Argv& command) {
  auto launch = parse_launch_command(command, launcher_version(command));
  if (!launch) return propagate(launch);
  RunDirectory directory;
  if (auto created = directory.create("", OutputDirectory::Existing::own); !created) return propagate(created);
  LaunchContext context = launch_context(directory.path(), EmitOptions::Bind::none);
  context.threads = true;
  auto plan = plan_unchanged(*launch, context);
  if (!plan) return propagate(plan);
  if (auto written = directory.write({}); !written) return propagate(written);
  const int status = run_program(plan->command.argv(), {}, ProgramStreams::ours(session.json));
  auto reports = read_rank_reports(directory);
  if (!reports) return propagate(reports);
  if (reports->empty()) {
    if (status != 0) return status;
    return fail(Code::environment, at(launch->executable), "no rank has reported where it runs",
                "ranks write into the working directory: start rankloom in a directory that all hosts share");
  }
  const auto machine = discover_hosts(*launch);
  const auto findings = diagnose(*reports, machine, *launch->launcher);
  if (session.json) {
    print_json(to_json(*reports, findings, status));
  } else {
    print(to_text(*reports, findings, machine.has_value(), session.width));
  }
  return status;
}

}  // namespace rankloom::app
