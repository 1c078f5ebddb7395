// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: `rankloom topo probe`.
#include "apps/rankloom/verbs/machine/topo_probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verbs/machine/machine_output.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/probe/probe_analysis.hpp"
#include "rankloom/discover/probe/probe_widths.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// MPI implementations share launcher names such as mpirun; `--version` tells them apart.
std::string mpi_of(const Argv& command) {
  const std::size_t position = launcher_position(command);
  if (position >= command.size()) return {};
  const Mpi* const mpi = mpi_of_launcher(command[position], launcher_version(command));
  return mpi != nullptr ? std::string(mpi->name) : std::string();
}

Result<std::string> choose_probe(const ProbeArguments& arguments) {
  const std::string mpi = arguments.mpi.empty() ? mpi_of(arguments.launcher) : arguments.mpi;
  if (!mpi.empty()) {
    if (auto program = find_installed(fmt::format("rankloom-probe-{}", mpi))) return *program;
  }
  if (auto program = find_installed("rankloom-probe-default")) return *program;
  if (mpi.empty())
    return fail(Code::environment, at(arguments.launcher[0]),
                "the MPI implementation of this launcher was not recognised", "add --mpi openmpi or --mpi mpich");
  return fail(Code::environment, at("topo probe"), fmt::format("rankloom-probe-{} is missing", mpi),
              how_to_install_for_mpi(mpi));
}

Result<FileContents> measure(const ProbeArguments& arguments) {
  if (arguments.launcher.empty())
    return fail(Code::usage, at("topo probe"), "the launcher is missing", "rankloom topo probe -- mpirun -n 16");
  auto program = choose_probe(arguments);
  if (!program) return propagate(program);
  Argv argv = arguments.launcher;
  argv.insert(argv.end(), {*program, "--seconds", fmt::format("{}", arguments.seconds)});
  if (arguments.rounds) argv.insert(argv.end(), {"--rounds", fmt::format("{}", *arguments.rounds)});
  if (arguments.alone) argv.insert(argv.end(), {"--alone", fmt::format("{}", *arguments.alone)});
  if (!arguments.topology.empty()) {
    auto topology = load_topology(arguments.topology);
    if (!topology) return propagate(topology);
    const UplinkHosts uplink = hosts_of_uplink(*topology);
    if (!uplink.from.empty()) {
      argv.insert(argv.end(), {"--uplink-from", fmt::format("{}", fmt::join(uplink.from, ",")), "--uplink-to",
                               fmt::format("{}", fmt::join(uplink.to, ","))});
    }
  }
  std::string table;
  auto status = run_lines(
      argv,
      [&](std::string_view line) {
        const auto mark = line.find(probe_line_prefix);
        if (mark == std::string_view::npos) {
          arguments.other_output(line);
        } else {
          table += line.substr(mark + probe_line_prefix.size());
          table += '\n';
        }
      },
      arguments.error_log.empty() ? Redirection::inherit() : Redirection::to_file(arguments.error_log));
  if (!status) return propagate(status);
  if (*status != 0 || table.empty())
    return fail(Code::environment, at(arguments.launcher[0]),
                table.empty() && *status == 0 ? std::string("the probe printed no measurements")
                                              : fmt::format("it ended with exit status {}", *status),
                fmt::format("run it by hand to see why: {}", command_text(argv)));
  return FileContents("the probe's table", table);
}

Json cost_json(const Cost& cost, std::size_t pairs) {
  if (pairs == 0) return nullptr;
  return {{"inverse_bandwidth", cost.inverse_bandwidth}, {"latency", cost.latency}, {"pairs", pairs}};
}

Json levels_json(const std::vector<ProbeLevel>& levels) {
  Json json = Json::array();
  for (const ProbeLevel& level : levels) {
    json.push_back({{"kind", level.kind},
                    {"inverse_bandwidth", level.cost.inverse_bandwidth},
                    {"latency", level.cost.latency},
                    {"alone", cost_json(level.alone, level.pairs_alone)},
                    {"together", cost_json(level.together, level.pairs_together)},
                    {"merged", level.merged}});
  }
  return json;
}

std::string levels_text(const std::vector<ProbeLevel>& levels, std::size_t width) {
  Table table({{"level"}, {"time/byte alone"}, {"latency"}, {"time/byte together"}, {"latency"}, {"pairs"}});
  for (const ProbeLevel& level : levels) {
    const auto time_per_byte = [](const Cost& cost, std::size_t pairs) {
      return pairs == 0 ? std::string("-") : fmt::format("{:.4g} ns/B", cost.inverse_bandwidth);
    };
    const auto latency = [](const Cost& cost, std::size_t pairs) {
      return pairs == 0 ? std::string("-") : format_seconds(cost.latency * 1e-9);
    };
    table.row({level.kind + (level.merged ? " (merged)" : ""), time_per_byte(level.alone, level.pairs_alone),
               latency(level.alone, level.pairs_alone), time_per_byte(level.together, level.pairs_together),
               latency(level.together, level.pairs_together),
               fmt::format("{}", level.pairs_alone + level.pairs_together)});
  }
  return "\n" + table.text(width);
}

class TopoProbe : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"-t,--topology", "TOPOLOGY", "a known machine: only its costs are measured", "input"},
             arguments_.topology);
    add_text(
        app,
        {"--table", "FILE", "analyse the table of times in a file that --keep wrote, instead of measuring", "input"},
        arguments_.table);
    add_value(app,
              {"--seconds", "S", "time limit for the rounds in which all ranks communicate in pairs", "measuring", "5"},
              [&](std::string_view text) -> Result<void> {
                const auto value = parse_number(text);
                if (!value || !(*value > 0) || *value > 1e5)
                  return bad_value("--seconds", text, "a time above 0, such as 5");
                arguments_.seconds = *value;
                return {};
              });
    add_count(app, "--rounds", "rounds to measure, chosen evenly from all; by default as many as the time allows",
              arguments_.rounds);
    add_count(app, "--alone", "pairs that are measured again while all other ranks are idle", arguments_.alone);
    add_text(app,
             {"--mpi", "openmpi|mpich|default", "the MPI implementation of the launcher, if it is not recognised",
              "measuring"},
             arguments_.mpi);
    add_switch(app, "--blind", "infer the nodes from the times only, without the host names",
               arguments_.options.ignore_host_names, "analysis");
    add_switch(app, "--together", "use the costs while all ranks send at once, instead of those of single pairs",
               arguments_.options.under_load, "analysis");
    add_text(app, {"--keep", "FILE", "save the table of times", "output"}, arguments_.keep);
    add_text(app, {"-o,--output", "FILE", "write the machine as topology JSON", "output"}, output_);
    add_switch(app, "--ascii", "draw with ASCII characters only", ascii_, "output");
    add_repeated(
        app, {"LAUNCHER", "LAUNCHER", "after --: the command that starts MPI programs, such as mpirun -n 16", "input"},
        arguments_.launcher);
    exclude(app, "--table", "LAUNCHER");
    exclude(app, "--blind", "--topology");
  }

  Result<int> run(const Session& session) override {
    for (const std::string& path : {output_, arguments_.keep}) {
      if (auto writable = check_output(path); !writable) return propagate(writable);
    }
    ProgressDisplay progress(stderr, session.progress);
    if (arguments_.table.empty())
      progress.report(fmt::format("measuring, rounds of pairs for {}", format_seconds(arguments_.seconds)), -1);
    arguments_.other_output = [&](std::string_view line) { progress.print(line); };
    auto table = probe_table(arguments_);
    progress.finish();
    if (!table) return propagate(table);
    auto probed = analyse_table(arguments_, *table);
    if (!probed) return propagate(probed);
    auto topology = Topology::build(std::move(probed->machine));
    if (!topology) return propagate(topology);
    Json json{
        {"ranks", table->ranks.size()}, {"pairs", table->pairs.size()}, {"measured", levels_json(probed->levels)}};
    json["groups"] = probed->groups;
    return deliver_machine(session, *topology, output_, ascii_, json, levels_text(probed->levels, session.width));
  }

 private:
  static void add_count(CLI::App& app, const std::string& name, const std::string& help,
                        std::optional<std::uint64_t>& field) {
    add_value(app, {name, "N", help, "measuring"}, [name, &field](std::string_view text) -> Result<void> {
      const auto value = parse_number(text);
      if (!value || !(*value >= 0) || *value > 1e6 || *value != static_cast<double>(static_cast<std::uint64_t>(*value)))
        return bad_value(name, text, "a whole number from 0 to 1000000");
      field = static_cast<std::uint64_t>(*value);
      return {};
    });
  }

  ProbeArguments arguments_;
  std::string output_;
  bool ascii_ = false;
};

}  // namespace

Result<ProbeTable> probe_table(const ProbeArguments& arguments) {
  auto text = arguments.table.empty() ? measure(arguments) : read_file(arguments.table);
  if (!text) return propagate(text);
  if (!arguments.keep.empty()) {
    if (auto written = write_file(arguments.keep, text->view()); !written) return propagate(written);
  }
  return read_probe_table(*text);
}

Result<ProbedMachine> analyse_table(const ProbeArguments& arguments, const ProbeTable& table) {
  if (arguments.topology.empty()) return analyse_probe(table, arguments.options);
  auto topology = load_topology(arguments.topology);
  if (!topology) return propagate(topology);
  return calibrate(*topology, table, arguments.options);
}

Result<ProbedMachine> probe_machine(const ProbeArguments& arguments) {
  auto table = probe_table(arguments);
  if (!table) return propagate(table);
  return analyse_table(arguments, *table);
}

std::unique_ptr<Verb> make_topo_probe() {
  return std::make_unique<TopoProbe>();
}

}  // namespace rankloom::app
