// SPDX-License-Identifier: Apache-2.0
// bench/auto: shared code of the benchmarks of the default mapper `auto`.
#include "bench/auto/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>

#include "bench/auto/exact_scotch.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom::bench {
namespace {

template <class T>
T value_or_exit(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", to_string(result.error()));
  std::exit(2);
}

/// A mapper of the table, or "scotch-exact", which is defined here.
Result<std::unique_ptr<Mapper>> mapper_of(const std::string& spec) {
#ifdef RANKLOOM_HAS_SCOTCH
  if (spec == "scotch-exact") return make_exact_scotch();
#endif
  auto configured = make_mapper(spec);
  if (!configured) return propagate(configured);
  return std::move(configured->mapper);
}

/// A line of /proc/self/status in bytes.
std::optional<double> process_memory(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return 1024 * std::strtod(line.c_str() + key.size() + 1, nullptr);
  }
  return std::nullopt;
}

/// The largest resident memory since the construction, less that at the construction. Memory that was freed before is
/// given back to the system first, so that using it again counts.
class PeakMemory {
 public:
  PeakMemory() {
    ::malloc_trim(0);
    std::ofstream reset("/proc/self/clear_refs");
    reset << 5 << std::flush;  // the peak of the process becomes its present size
    if (reset) before_ = process_memory("VmRSS");
  }
  std::optional<double> bytes() const {
    const auto peak = process_memory("VmHWM");
    return before_ && peak ? std::optional(std::max(0.0, *peak - *before_)) : std::nullopt;
  }

 private:
  std::optional<double> before_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Problem problem_on(std::string name, CommGraph graph, std::string_view hierarchy, std::string_view distance,
                   Capacities::Options options) {
  Topology machine = value_or_exit(Topology::build(value_or_exit(parse_hierarchy(hierarchy, distance))));
  Capacities capacities = value_or_exit(Capacities::of(machine, graph.rank_count(), options));
  return {std::move(name), std::move(graph), std::move(machine), std::move(capacities)};
}

Problem problem_on(std::string name, CommGraph graph, const std::string& topology, Capacities::Options options) {
  Topology machine = value_or_exit(load_topology(topology));
  Capacities capacities = value_or_exit(Capacities::of(machine, graph.rank_count(), options));
  return {std::move(name), std::move(graph), std::move(machine), std::move(capacities)};
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::optional<Measured> measure(const std::string& spec, const Problem& problem, const Runs& runs) {
  const auto mapper = mapper_of(spec);
  if (!mapper) {
    fmt::print(stderr, "{}: not measured: {}\n", spec, mapper.error().what);
    return std::nullopt;
  }
  const MapProblem view = problem.view();
  Measured measured;
  std::vector<double> cpu, wall;
  for (double sum = 0; cpu.empty() || (static_cast<int>(cpu.size()) < runs.max_runs && sum < runs.enough_s);
       sum += cpu.back()) {
    MapRun run;
    run.seed = runs.seed;
    if (runs.budget.count() > 0) run.deadline = Deadline::in(runs.budget);
    const auto memory = runs.with_memory ? std::optional<PeakMemory>(std::in_place) : std::nullopt;
    const double wall_start = wall_seconds();
    const double cpu_start = cpu_seconds();
    auto placement = (*mapper)->place(view, run);
    cpu.push_back(cpu_seconds() - cpu_start);
    wall.push_back(wall_seconds() - wall_start);
    if (!placement) {
      fmt::print(stderr, "{} on {}: {}\n", spec, problem.name, to_string(placement.error()));
      return std::nullopt;
    }
    if (memory) measured.peak_bytes = memory->bytes();
    measured.core_of = std::move(placement->core_of);
  }
  if (auto valid = Mapping::create(measured.core_of, problem.machine, problem.capacities, spec); !valid) {
    fmt::print(stderr, "{} on {}: {}\n", spec, problem.name, to_string(valid.error()));
    return std::nullopt;
  }
  measured.cost = evaluate(problem.graph, problem.machine, measured.core_of, CostModel::bytes);
  measured.cpu_s = median(std::move(cpu));
  measured.wall_s = median(std::move(wall));
  return measured;
}

std::string cell(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::optional<double> ratio(const std::optional<Measured>& a, const std::optional<Measured>& b) {
  return a && b ? std::optional(a->cost / b->cost) : std::nullopt;
}

std::optional<double> time_ratio(const std::optional<Measured>& a, const std::optional<Measured>& b) {
  return a && b ? std::optional(a->cpu_s / b->cpu_s) : std::nullopt;
}

std::optional<double> against(const std::optional<Measured>& measured, std::optional<double> known) {
  return measured && known ? std::optional(measured->cost / *known) : std::nullopt;
}

std::optional<std::vector<double>> Gathered::complete(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  std::vector<double> values;
  for (const auto& value : found->second) {
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<double> Gathered::mean(const std::string& name) const {
  const auto values = complete(name);
  if (!values) return std::nullopt;
  double logs = 0;
  for (const double value : *values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values->size()));
}

std::optional<double> Gathered::worst(const std::string& name) const {
  const auto values = complete(name);
  return values ? std::optional(*std::max_element(values->begin(), values->end())) : std::nullopt;
}

std::string cost_and_time(const std::optional<Measured>& measured) {
  if (!measured) return "-";
  return fmt::format("{:.0f} ({:.{}f})", measured->cost, measured->cpu_s, measured->cpu_s < 1 ? 4 : 2);
}

bool Arguments::has(std::string_view flag) const {
  return std::find(words_.begin(), words_.end(), flag) != words_.end();
}

std::string Arguments::value(std::string_view flag, std::string_view otherwise) const {
  const auto found = std::find(words_.begin(), words_.end(), flag);
  return found == words_.end() || found + 1 == words_.end() ? std::string(otherwise) : *(found + 1);
}

std::vector<std::string> Arguments::list(std::string_view flag, std::string_view otherwise) const {
  std::vector<std::string> items;
  std::istringstream text(value(flag, otherwise));
  for (std::string item; std::getline(text, item, ',');) {
    // Commas also separate the options of a spec: "auto:effort=best,x=1" is one spec.
    const bool option =
        !items.empty() && item.find('=') < item.find(':') && items.back().find(':') < items.back().size();
    if (option) {
      items.back() += ',' + item;
    } else {
      items.push_back(item);
    }
  }
  return items;
}

std::uint64_t Arguments::number(std::string_view flag, std::uint64_t otherwise) const {
  const std::string text = value(flag);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

void print_row(const std::string& name, const std::string& spec, const std::optional<Measured>& measured,
               std::optional<double> best) {
  fmt::print("{:<24}{:<28}{:>14}{:>9}{:>12}\n", name, spec,
             cell(measured ? std::optional(measured->cost) : std::nullopt, 0), cell(against(measured, best)),
             measured ? fmt::format("{:.4f} s", measured->cpu_s) : "-");
  std::fflush(stdout);
}

void try_specs(const Problem& problem, std::span<const std::string> specs, std::optional<double> best,
               const Runs& runs) {
  for (const std::string& spec : specs) print_row(problem.name, spec, measure(spec, problem, runs), best);
}

Runs runs_of(const Arguments& arguments) {
  Runs runs;
  runs.seed = arguments.number("--run-seed", 0);
  runs.budget = std::chrono::seconds(arguments.number("--budget", 0));
  return runs;
}

}  // namespace rankloom::bench
