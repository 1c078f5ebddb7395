// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom topo probe`: what sending costs between the ranks of a launcher, measured.
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/verbs/machine/machine_output.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/probe/probe_analysis.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

using Argv = std::vector<std::string>;

/// Launchers of one name belong to different MPIs; they say which when asked.
std::string mpi_of(const std::string& launcher) {
  std::string said;
  (void)run_lines({"sh", "-c", "\"$0\" --version 2>&1", launcher}, [&](std::string_view line) { said += line; });
  if (said.find("Open MPI") != std::string::npos || said.find("OpenRTE") != std::string::npos ||
      said.find("prterun") != std::string::npos)
    return "openmpi";
  if (said.find("HYDRA") != std::string::npos) return "mpich";
  return {};
}

class TopoProbe : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"-t,--topology", "TOPOLOGY", "a machine that is known: only its costs are measured", "input"},
             topology_);
    add_text(app, {"--table", "FILE", "analyse a table that --keep kept, instead of measuring", "input"}, table_);
    add_value(app, {"--seconds", "S", "time for the rounds in which all pairs meet", "measuring", "5"},
              [&](std::string_view text) -> Result<void> {
                const auto value = parse_number(text);
                if (!value || !(*value > 0) || *value > 1e5)
                  return bad_value("--seconds", text, "a time above 0, such as 5");
                seconds_ = *value;
                return {};
              });
    add_count(app, "--rounds", "rounds to measure, spread over all; as many as the time allows unless said", rounds_);
    add_count(app, "--alone", "pairs that are measured again while all others sleep", alone_);
    add_text(
        app,
        {"--mpi", "openmpi|mpich|default", "which MPI the launcher belongs to, where it does not say", "measuring"},
        mpi_);
    add_switch(app, "--blind", "find the nodes by the times alone, whatever the hosts are called", options_.blind,
               "analysis");
    add_switch(app, "--together", "costs while all ranks send, instead of those of pairs that send alone",
               options_.together, "analysis");
    add_text(app, {"--keep", "FILE", "keep the raw table", "output"}, keep_);
    add_text(app, {"-o,--output", "FILE", "write the machine as topology JSON", "output"}, output_);
    add_switch(app, "--ascii", "draw with plain characters", ascii_, "output");
    add_repeated(
        app, {"LAUNCHER", "LAUNCHER", "behind --: the command that starts MPI programs, such as mpirun -n 16", "input"},
        launcher_);
    exclude(app, "--table", "LAUNCHER");
    exclude(app, "--blind", "--topology");
  }

  Result<int> run(const Session& session) override {
    for (const std::string& path : {output_, keep_}) {
      if (auto writable = check_output(path); !writable) return propagate(writable);
    }
    auto text = table_.empty() ? measure() : read_file(table_);
    if (!text) return propagate(text);
    if (!keep_.empty()) {
      if (auto written = write_file(keep_, text->view()); !written) return propagate(written);
    }
    auto table = read_probe_table(*text);
    if (!table) return propagate(table);
    auto probed = analyse(*table);
    if (!probed) return propagate(probed);
    auto topology = Topology::build(std::move(probed->machine));
    if (!topology) return propagate(topology);
    Json json{
        {"ranks", table->ranks.size()}, {"pairs", table->pairs.size()}, {"measured", levels_json(probed->levels)}};
    json["groups"] = probed->groups;
    return deliver_machine(session, *topology, output_, ascii_, std::move(json), levels_text(probed->levels));
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

  Result<FileContents> measure() const {
    if (launcher_.empty())
      return fail(Code::usage, at("topo probe"), "no launcher is named", "rankloom topo probe -- mpirun -n 16");
    auto program = choose_probe();
    if (!program) return propagate(program);
    Argv words = launcher_;
    words.insert(words.end(), {*program, "--seconds", fmt::format("{}", seconds_)});
    if (rounds_) words.insert(words.end(), {"--rounds", fmt::format("{}", *rounds_)});
    if (alone_) words.insert(words.end(), {"--alone", fmt::format("{}", *alone_)});
    std::string table;
    auto status = run_lines(words, [&](std::string_view line) {
      const auto mark = line.find(probe_mark);
      if (mark == std::string_view::npos) {
        fmt::print(stderr, "{}\n", line);
      } else {
        table += line.substr(mark + probe_mark.size());
        table += '\n';
      }
    });
    if (!status) return propagate(status);
    if (*status != 0 || table.empty())
      return fail(Code::environment, at(launcher_[0]),
                  table.empty() && *status == 0 ? std::string("the probe said nothing")
                                                : fmt::format("ended with status {}", *status),
                  fmt::format("try it by hand: {}", command_text(words)));
    return FileContents("the probe's table", table);
  }

  Result<std::string> choose_probe() const {
    const std::string mpi = mpi_.empty() ? mpi_of(launcher_[0]) : mpi_;
    if (!mpi.empty()) {
      if (auto program = find_beside(fmt::format("rankloom-probe-{}", mpi))) return *program;
    }
    if (auto program = find_beside("rankloom-probe-default")) return *program;
    if (mpi.empty())
      return fail(Code::environment, at(launcher_[0]), "does not say which MPI it belongs to",
                  "add --mpi openmpi or --mpi mpich");
    return fail(Code::environment, at("topo probe"), fmt::format("there is no rankloom-probe for {}", mpi),
                remedy_for_part(fmt::format("rankloom-record-{}", mpi), fmt::format("lib{}-dev", mpi)));
  }

  Result<ProbedMachine> analyse(const ProbeTable& table) const {
    if (topology_.empty()) return analyse_probe(table, options_);
    auto topology = load_topology(topology_);
    if (!topology) return propagate(topology);
    return calibrate(*topology, table, options_);
  }

  static Json cost_json(const Cost& cost, std::size_t pairs) {
    if (pairs == 0) return nullptr;
    return {{"gap", cost.gap}, {"latency", cost.latency}, {"pairs", pairs}};
  }

  static Json levels_json(const std::vector<ProbeLevel>& levels) {
    Json json = Json::array();
    for (const ProbeLevel& level : levels) {
      json.push_back({{"kind", level.kind},
                      {"gap", level.cost.gap},
                      {"latency", level.cost.latency},
                      {"alone", cost_json(level.alone, level.pairs_alone)},
                      {"together", cost_json(level.together, level.pairs_together)},
                      {"merged", level.merged}});
    }
    return json;
  }

  static std::string levels_text(const std::vector<ProbeLevel>& levels) {
    Table table({{"level"}, {"gap alone"}, {"latency"}, {"gap together"}, {"latency"}, {"pairs"}});
    for (const ProbeLevel& level : levels) {
      const auto gap = [](const Cost& cost, std::size_t pairs) {
        return pairs == 0 ? std::string("-") : fmt::format("{:.4g} ns/B", cost.gap);
      };
      const auto latency = [](const Cost& cost, std::size_t pairs) {
        return pairs == 0 ? std::string("-") : format_seconds(cost.latency * 1e-9);
      };
      table.row({level.kind + (level.merged ? " (merged)" : ""), gap(level.alone, level.pairs_alone),
                 latency(level.alone, level.pairs_alone), gap(level.together, level.pairs_together),
                 latency(level.together, level.pairs_together),
                 fmt::format("{}", level.pairs_alone + level.pairs_together)});
    }
    return "\n" + table.text();
  }

  std::string topology_, table_, mpi_, keep_, output_;
  Argv launcher_;
  double seconds_ = 5;
  std::optional<std::uint64_t> rounds_, alone_;
  ProbeOptions options_;
  bool ascii_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_topo_probe() {
  return std::make_unique<TopoProbe>();
}

}  // namespace rankloom::app
