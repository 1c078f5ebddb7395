// SPDX-License-Identifier: Apache-2.0
// map/command: mappers that are not in the table.
#include "rankloom/map/command/command_mapper.hpp"

#include <map>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/map/affinity.hpp"
#include "rankloom/map/command/command_template.hpp"
#include "rankloom/map/command/core_numbers.hpp"
#include "rankloom/map/external/integer_weights.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

constexpr double max_total_weight = 1 << 30;

using Values = std::map<std::string, std::string, std::less<>>;

/// The last line of a text that is not empty.
std::string_view last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string_view::npos ? 0 : begin + 1,
                     end - (begin == std::string_view::npos ? 0 : begin + 1) + 1);
}

/// Writes the files that a command asks for.
class CommandInput {
 public:
  CommandInput(const CommandTemplate& command, const CommandMapperSettings& settings,
               const TemporaryDirectory& directory)
      : command_(command), settings_(settings), directory_(directory) {}

  Result<Values> write(const MapProblem& problem, std::uint64_t seed) {
    values_ = {{"seed", fmt::format("{}", seed)},
               {"ranks", fmt::format("{}", problem.graph.rank_count())},
               {"cores", fmt::format("{}", problem.topology.core_count())},
               {"out", directory_.file("mapping.txt")}};
    for (const auto& write : {&CommandInput::write_graphs, &CommandInput::write_machine, &CommandInput::add_hierarchy})
      if (auto written = (this->*write)(problem); !written) return propagate(written);
    return std::move(values_);
  }

 private:
  Result<void> write_graphs(const MapProblem& problem) {
    struct Format {
      std::string_view placeholder, format, file;
    };
    for (const auto& [placeholder, format, file] :
         {Format{"graph", "metis", "graph.metis"}, Format{"graph.metis", "metis", "graph.metis"},
          Format{"graph.pairs", "pairs", "graph.pairs"}, Format{"graph.mtx", "matrix-market", "graph.mtx"}}) {
      if (!command_.uses(placeholder)) continue;
      const std::string path = directory_.file(std::string(file));
      auto written = format == "metis" ? settings_.write_graph(integral_graph(problem.graph), format, path)
                                       : settings_.write_graph(problem.graph, format, path);
      if (!written) return written;
      values_.emplace(placeholder, path);
    }
    return {};
  }

  Result<void> write_machine(const MapProblem& problem) {
    for (const std::string_view placeholder : {"machine", "machine.json"}) {
      if (!command_.uses(placeholder)) continue;
      if (problem.topology.is_matrix()) {
        return fail(Code::usage, at("-a"),
                    fmt::format("a distance matrix has no topology JSON for {{{}}}", placeholder),
                    "leave this placeholder out, or give the machine with -t");
      }
      const std::string path = directory_.file("machine.json");
      if (auto written = write_file(path, write_machine_json(problem.topology.spec())); !written) return written;
      values_.emplace(placeholder, path);
    }
    return {};
  }

  Result<void> add_hierarchy(const MapProblem& problem) {
    if (!command_.uses("hierarchy") && !command_.uses("distance")) return {};
    auto text = hierarchy_text(problem.topology);
    if (!text) return propagate(text);
    values_.emplace("hierarchy", text->hierarchy);
    values_.emplace("distance", text->distance);
    return {};
  }

  const CommandTemplate& command_;
  const CommandMapperSettings& settings_;
  const TemporaryDirectory& directory_;
  Values values_;
};

class CommandMapper final : public Mapper {
 public:
  CommandMapper(CommandTemplate command, CommandMapperSettings settings)
      : command_(std::move(command)), settings_(std::move(settings)) {}

  bool minimises(CostModel) const override { return true; }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    auto directory = TemporaryDirectory::make();
    if (!directory) return propagate(directory);
    auto values = CommandInput(command_, settings_, *directory).write(problem, run.seed);
    if (!values) return propagate(values);
    const ProcessResult result = execute(command_.fill(*values));
    if (!result.succeeded()) return failed(result);
    auto text = result_text(result, values->at("out"));
    if (!text) return propagate(text);
    const FileContents file(fmt::format("result of {}", command_.text()), *std::move(text));
    auto core_of = read_core_numbers(file, problem.graph.rank_count(), problem.topology, problem.capacities);
    if (!core_of) return propagate(core_of);
    return Placement{*std::move(core_of), {}, {}, result.usage};
  }

 private:
  ProcessResult execute(const std::string& command) const {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", command};
    spec.new_process_group = true;  // a time limit ends all of its processes
    ProcessOptions options;
    options.capture_output = options.capture_errors = true;
    options.time_limit = settings_.time_limit;
    options.forward_signals = true;
    return run_process(spec, options);
  }

  Failure failed(const ProcessResult& result) const {
    if (result.timed_out) {
      return fail(Code::environment, at(command_.text()),
                  fmt::format("the command did not end within {}",
                              format_seconds(std::chrono::duration<double>(settings_.time_limit).count())),
                  "allow more with --time-limit");
    }
    if (!result.started())
      return fail(Code::environment, at(command_.text()), result.message, "this system has no /bin/sh");
    const std::string_view said = last_line(result.errors.empty() ? result.output : result.errors);
    return fail(Code::environment, at(command_.text()),
                fmt::format("the command ended with status {}{}{}", result.status, said.empty() ? "" : ": ", said),
                result.status == 127 ? "install the program, or write its path with a slash"
                                     : "run the command by hand, with a graph of `rankloom import PROFILE --to metis`");
  }

  Result<std::string> result_text(const ProcessResult& result, const std::string& out) const {
    if (!command_.uses("out")) return result.output;
    auto file = read_file(out);
    if (!file) {
      return fail(Code::environment, at(command_.text()), "the command wrote no file {out}",
                  "write one core number per line to {out}, or leave {out} out and write to standard output");
    }
    return std::string(file->view());
  }

  CommandTemplate command_;
  CommandMapperSettings settings_;
};

class GivenMapper final : public Mapper {
 public:
  bool minimises(CostModel) const override { return true; }

  Result<Placement> place(const MapProblem& problem, const MapRun&) const override {
    if (problem.start.empty() && problem.graph.rank_count() > 0) {
      return fail(Code::usage, at("-a"), "a mapping file is not a mapper here",
                  "use file:FILE in map, compare or bench");
    }
    return Placement{{problem.start.begin(), problem.start.end()}, {}, {}};
  }
};

constexpr MapperInfo command_info{.name = "exec",
                                  .summary = "a program that reads files and writes one core number per line",
                                  .reference = "docs/bench.md",
                                  .baseline = false,
                                  .takes_start = false,
                                  .make = nullptr};
constexpr MapperInfo given_info{.name = "file",
                                .summary = "a mapping file",
                                .reference = "docs/bench.md",
                                .baseline = true,
                                .takes_start = false,
                                .make = nullptr};

}  // namespace

Result<ConfiguredMapper> make_command_mapper(std::string_view spec, CommandMapperSettings settings) {
  auto command = CommandTemplate::parse(spec.substr(command_prefix.size()));
  if (!command) return propagate(command);
  return ConfiguredMapper{&command_info, std::string(spec),
                          std::make_unique<CommandMapper>(*std::move(command), std::move(settings))};
}

ConfiguredMapper make_given_mapper(std::string_view spec) {
  return {&given_info, std::string(spec), std::make_unique<GivenMapper>()};
}

Result<HierarchyText> hierarchy_text(const Topology& topology) {
  const auto not_regular = [](std::string_view why) {
    return fail(Code::usage, at("-a"), fmt::format("{} has no {{hierarchy}} and {{distance}}", why),
                "use {machine}, a file with the complete machine, or a machine whose parts are equal");
  };
  if (topology.is_matrix()) return not_regular("a distance matrix");
  if (topology.routed()) return not_regular("a routed network");
  HierarchyText text;
  for (auto level = topology.levels().rbegin(); level != topology.levels().rend(); ++level) {
    if (level->is_private()) continue;
    if (level->arity == 0 || !level->cost) return not_regular("a machine with unequal parts");
    const std::string_view separator = text.hierarchy.empty() ? "" : ":";
    text.hierarchy += fmt::format("{}{}", separator, level->arity);
    text.distance += fmt::format("{}{}", separator, format_value(level->cost->inverse_bandwidth));
  }
  if (text.hierarchy.empty()) return HierarchyText{"1", "1"};
  return text;
}

CommGraph integral_graph(const CommGraph& graph) {
  const Affinity affinity(graph);
  const auto weights = integer_weights<std::uint32_t>(affinity.all_weights(), max_total_weight);
  CommGraphBuilder builder(affinity.size());
  builder.reserve(weights.size() / 2);
  for (std::uint32_t rank = 0; rank < affinity.size(); ++rank) {
    for (std::size_t at = 0; at < affinity.degree(rank); ++at) {
      const std::uint32_t other = affinity.neighbours(rank)[at];
      if (rank < other) builder.add(Rank{rank}, Rank{other}, weights[affinity.offsets()[rank] + at]);
    }
  }
  if (!graph.loads().empty()) {
    const auto loads = integer_weights<std::uint32_t>(graph.loads(), max_total_weight);
    builder.set_loads({loads.begin(), loads.end()});
  }
  return std::move(builder).build(false, true);
}

}  // namespace rankloom
