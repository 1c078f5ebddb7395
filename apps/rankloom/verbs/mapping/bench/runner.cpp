// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: one run of an experiment.
#include "apps/rankloom/verbs/mapping/bench/runner.hpp"

#include <fmt/format.h>

#include "apps/rankloom/arguments/external_mapper.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/core/system/sha256.hpp"

namespace rankloom::app {

namespace {

/// `map` ends a command at its time limit by itself; this process waits a little longer for its error.
constexpr std::chrono::seconds grace{30};

std::string compiler_name() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

/// The name of the processor; empty if the system does not say.
std::string processor_name() {
  const auto file = read_file("/proc/cpuinfo");
  if (!file) return {};
  const std::string_view text = file->view();
  const std::size_t line = text.find("model name");
  const std::size_t colon = line == std::string_view::npos ? line : text.find(": ", line);
  if (colon == std::string_view::npos) return {};
  return std::string(text.substr(colon + 2, text.find('\n', colon) - colon - 2));
}

Argv map_command(const BenchRun& run, const BenchSettings& settings) {
  Argv argv{program_path(), "map", run.instance->graph};
  const auto add = [&](const char* option, std::string value) {
    argv.emplace_back(option);
    argv.push_back(std::move(value));
  };
  if (!run.instance->machine.empty()) add("-t", run.instance->machine);
  add("-a", run.mapper);
  add("--seed", fmt::format("{}", run.seed));
  add("--threads", fmt::format("{}", settings.threads));
  if (!settings.model.empty()) add("--model", settings.model);
  const auto budget = run.budget ? run.budget : settings.budget;
  if (budget) add("--budget", fmt::format("{}ms", budget->count()));
  add("--time-limit", fmt::format("{}ms", settings.time_limit.count()));
  for (const char* option : {"--raw", "--no-bound", "--json"}) argv.emplace_back(option);
  return argv;
}

/// "where: what" of an error that `map --json` prints; else what the process left.
std::string error_of(const ProcessResult& result, const Json& output) {
  if (result.timed_out || !result.started()) return result.message;
  const Json error = output.is_object() ? output.value("error", Json()) : Json();
  if (error.is_object()) {
    const std::string where = error.value("where", std::string());
    return fmt::format("{}{}{}", where, where.empty() ? "" : ": ", error.value("what", std::string()));
  }
  if (result.status > 128) return fmt::format("ended by signal {}", result.status - 128);
  return result.status != 0 ? fmt::format("ended with status {}", result.status) : "printed no result";
}

void add_result(Json& row, const Json& output, const ProcessResult& result) {
  for (const char* key : {"model", "ranks", "cores", "edges", "cost", "cost_default", "time_ms", "graph_digest",
                          "machine_digest", "note"})
    row[key] = output.value(key, Json());
  row["instance"] = sha256(fmt::format("{} {} {} {}", output.value("graph_digest", std::string()),
                                       output.value("machine_digest", std::string()), output.value("slots", 0ULL),
                                       output.value("model", std::string())))
                        .substr(0, 16);
  const Json process = output.value("process", Json());
  const bool is_command = process.is_object();
  row["seconds"] = is_command ? output.value("time_ms", 0.0) / 1000 : result.usage.seconds;
  row["cpu_seconds"] = is_command ? process.value("cpu_seconds", 0.0) : result.usage.cpu_seconds;
  row["peak_bytes"] = is_command ? process.value("peak_bytes", 0ULL) : result.usage.peak_bytes;
}

}  // namespace

Json bench_provenance() {
  const auto program = read_file(program_path());
  return {{"version", RANKLOOM_VERSION},
          {"program", program ? sha256(program->view()).substr(0, 16) : std::string()},
          {"compiler", compiler_name()},
          {"host", host_name()},
          {"cpu", processor_name()}};
}

Json run_bench(const BenchRun& run, const BenchSettings& settings, const Json& provenance) {
  ProcessSpec spec;
  spec.argv = map_command(run, settings);
  ProcessOptions options;
  options.capture_output = options.capture_errors = true;
  options.time_limit = settings.time_limit;
  if (is_external(run.mapper)) *options.time_limit += grace;
  const ProcessResult result = run_process(spec, options);
  const Json output = Json::parse(result.output, nullptr, false);
  Json row{{"graph", run.instance->graph},
           {"machine", run.instance->machine},
           {"class", run.instance->instance_class},
           {"mapper", run.mapper},
           {"seed", run.seed},
           {"threads", settings.threads}};
  if (run.budget) row["budget_ms"] = run.budget->count();
  if (result.succeeded() && output.is_object() && output.contains("cost") && output.at("cost").is_number()) {
    add_result(row, output, result);
  } else {
    row["error"] = error_of(result, output);
    row["seconds"] = result.usage.seconds;
  }
  row.update(provenance);
  return row;
}

std::optional<ExperimentRun> read_bench_row(const Json& row) {
  const auto is_text = [&](const char* key) { return row.contains(key) && row.at(key).is_string(); };
  const auto is_number = [&](const char* key) { return row.contains(key) && row.at(key).is_number(); };
  if (!is_text("graph") || !is_text("machine") || !is_text("mapper") || !is_number("seed")) return std::nullopt;
  ExperimentRun run{.graph = row.at("graph").get<std::string>(),
                    .machine = row.at("machine").get<std::string>(),
                    .mapper = row.at("mapper").get<std::string>(),
                    .instance_class = is_text("class") ? row.at("class").get<std::string>() : std::string(),
                    .seed = row.at("seed").get<std::uint64_t>()};
  if (is_number("budget_ms")) run.budget = row.at("budget_ms").get<double>() / 1000;
  if (is_text("error")) {
    run.error = row.at("error").get<std::string>();
    return run;
  }
  for (const char* key : {"cost", "seconds", "cpu_seconds", "peak_bytes", "ranks", "edges"})
    if (!is_number(key)) return std::nullopt;
  run.cost = row.at("cost");
  run.seconds = row.at("seconds");
  run.cpu_seconds = row.at("cpu_seconds");
  run.peak_bytes = row.at("peak_bytes");
  run.ranks = row.at("ranks");
  run.edges = row.at("edges");
  return run;
}

}  // namespace rankloom::app
