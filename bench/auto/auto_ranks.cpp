// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` with instance rank per core (suite A), compared with Scotch and METIS in the same run, on instance
// thread: J, CPU seconds of place(), and J relative to the best published result and to the regular tiling of stencils.
//
//   bench_auto_ranks [--quick | --best]          the table; effort=best on no row, or on every row
//   bench_auto_ranks --only rgg.1024,plaw.256 [--specs auto,scotch] [--seed 2] [--run-seed 1] [--shuffle]
//                        [--hierarchy 4:8:32 --distance 1:10:100] [--budget 10]       J and seconds of the given
//                        mappers
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/auto/reference_instances.hpp"
#include "bench/auto/tilings.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/parallel.hpp"

using namespace rankloom;
using namespace rankloom::bench;

namespace {

constexpr const char* fast = "auto:effort=fast";
constexpr const char* balanced = "auto";
constexpr const char* best = "auto:effort=best";
constexpr auto best_budget = std::chrono::seconds(10);

struct Case {
  std::string kind;
  std::uint32_t size;
  std::string hierarchy, distance;
  bool shuffled_ranks = false;  ///< Permuted ranks; for stencils, whose natural order helps mappers.
  bool in_suite = true;         ///< Counts in the means; other instances are only compared with the tiling.

  std::string name() const { return fmt::format("{}.{}{}", kind, size, shuffled_ranks ? " shuffled" : ""); }
};

Case on_powers_of_two(std::string kind, std::uint32_t size) {
  return {std::move(kind), size, fmt::format("4:8:{}", size / 32), "1:10:100"};
}

std::vector<Case> suite() {
  std::vector<Case> cases;
  for (const std::uint32_t size : {64, 128, 256, 512, 1024, 4096, 16384}) {
    for (const std::string kind : {"stencil2d", "stencil3d", "cg", "rgg", "blocks12", "plaw"}) {
      const bool stencil = kind.starts_with("stencil");
      const bool measured = size <= 1024 || (size == 4096 && kind != "plaw") || kind == "stencil2d" || kind == "rgg";
      if (!measured && !stencil) continue;
      cases.push_back(on_powers_of_two(kind, size));
      cases.back().in_suite = measured;
      if (!stencil) continue;
      cases.push_back(cases.back());
      cases.back().shuffled_ranks = true;
      cases.back().in_suite = false;
    }
  }
  for (const std::uint32_t nodes : {2, 4, 8}) {
    for (const char* kind : {"stencil2d", "rgg", "plaw"}) {
      cases.push_back({kind, 192 * nodes, fmt::format("16:12:{}", nodes), "10:37:41"});
    }
  }
  return cases;
}

/// Not in the suite: only `auto`, compared with the tiling.
std::vector<Case> large_stencils() {
  std::vector<Case> cases;
  for (const char* kind : {"stencil2d", "stencil3d"}) {
    for (const bool shuffled_ranks : {false, true}) {
      cases.push_back(on_powers_of_two(kind, 65536));
      cases.back().shuffled_ranks = shuffled_ranks;
      cases.back().in_suite = false;
    }
  }
  return cases;
}

Problem problem_of(const Case& instance, std::uint64_t seed) {
  auto graph = reference_graph(instance.kind, instance.size, seed);
  if (!graph) {
    fmt::print(stderr, "unknown graph {}\n", instance.name());
    std::exit(2);
  }
  if (instance.shuffled_ranks) graph = shuffled(*graph, seed);
  return problem_on(instance.name(), std::move(*graph), instance.hierarchy, instance.distance);
}

template <class T>
std::vector<T> numbers(const std::string& text) {
  std::vector<T> list;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find(':', at), text.size() - 1) + 1) {
    list.push_back(static_cast<T>(std::strtod(text.c_str() + at, nullptr)));
  }
  return list;
}

std::optional<double> tiling_of(const Case& instance) {
  const auto extents =
      instance.kind.starts_with("stencil") ? reference_extents(instance.kind, instance.size) : std::nullopt;
  if (!extents) return std::nullopt;
  const auto weights =
      instance.kind == "stencil2d" ? std::array<double, 4>{0, 10, 0, 0} : std::array<double, 4>{0, 100, 10, 1};
  const auto tiling = best_tiling({(*extents)[0], (*extents)[1], (*extents)[2]}, weights,
                                  numbers<std::uint64_t>(instance.hierarchy), numbers<double>(instance.distance));
  return tiling ? std::optional(tiling->cost) : std::nullopt;
}

/// The lowest J known from others: published, or of the tiling.
std::optional<double> best_known(const Case& instance, std::uint64_t seed) {
  std::optional<double> known = tiling_of(instance);
  if (const Published* row = published(instance.kind, instance.size, instance.hierarchy, seed)) {
    known = std::min(known.value_or(row->best), row->best);
  }
  return known;
}

bool irregular(const Case& instance) {
  return instance.kind == "rgg" || instance.kind == "blocks12" || instance.kind == "plaw";
}

/// The figures of the suite, collected row by row.
class Table {
 public:
  enum class BestOn { none, large_irregular, all };
  explicit Table(BestOn best_on) : best_on_(best_on) {}

  void head() const {
    fmt::print("J (CPU seconds of the algorithm), one thread; scotch exact: no imbalance allowed, as published\n");
    fmt::print("{:<24}{:>9}{:>12}", "instance", "machine", "best known");
    for (const char* column : {"scotch exact", "scotch", "metis", "auto fast", "auto", "auto best 10 s"}) {
      fmt::print("{:>21}", column);
    }
    fmt::print("{:>12}{:>11}\n", "fast/exact", "auto/best");
  }

  void add(const Case& instance, bool peers) {
    const Problem problem = problem_of(instance, 1);
    const Published* const row =
        instance.shuffled_ranks ? nullptr : published(instance.kind, instance.size, instance.hierarchy, 1);
    const bool hard = row != nullptr && irregular(instance) && instance.size >= 1024;
    const bool with_best = best_on_ == BestOn::all || (best_on_ == BestOn::large_irregular && hard);
    const auto exact = peers ? measure("scotch-exact", problem) : std::nullopt;
    const auto scotch = peers ? measure("scotch", problem) : std::nullopt;
    const auto metis = peers ? measure("metis", problem) : std::nullopt;
    const auto quick = measure(fast, problem);
    const auto usual = measure(balanced, problem);
    const auto longest = with_best ? measure(best, problem, {.budget = best_budget}) : std::nullopt;
    const auto known = best_known(instance, 1);
    fmt::print("{:<24}{:>9}{:>12}", instance.name(), instance.hierarchy, cell(known, 0));
    for (const auto& [name, measured] : {std::pair("scotch exact", &exact),
                                         {"scotch", &scotch},
                                         {"metis", &metis},
                                         {"fast", &quick},
                                         {"auto", &usual},
                                         {"best", &longest}}) {
      fmt::print("{:>21}", cost_and_time(*measured));
      if (*measured)
        rows_[instance.name() + " on " + instance.hierarchy][name] = {(*measured)->cost, (*measured)->cpu_s};
    }
    fmt::print("{:>12}{:>11}\n", cell(ratio(quick, exact)), cell(against(usual, known)));
    std::fflush(stdout);

    if (instance.in_suite) {
      gathered_.note("fast J / exact Scotch", ratio(quick, exact));
      gathered_.note("fast J / mapper scotch", ratio(quick, scotch));
      gathered_.note("fast time", time_ratio(quick, exact));
      gathered_.note("J of scotch / scotch exact", ratio(scotch, exact));
      gathered_.note("J of metis / scotch exact", ratio(metis, exact));
      gathered_.note("time of scotch / scotch exact", time_ratio(scotch, exact));
      gathered_.note("time of metis / scotch exact", time_ratio(metis, exact));
    }
    if (row != nullptr) {
      gathered_.note("auto J", against(usual, row->best));
      gathered_.note("J of scotch exact / best published", against(exact, row->best));
      gathered_.note("J of scotch / best published", against(scotch, row->best));
      gathered_.note("J of metis / best published", against(metis, row->best));
    }
    if (row != nullptr && row->good_s > 0) {
      const auto time = time_ratio(usual, exact);
      gathered_.note("auto time", time ? std::optional(*time / (row->good_s / row->fast_s)) : std::nullopt);
    }
    if (const auto tiling = tiling_of(instance); tiling && instance.distance == "1:10:100") {
      gathered_.note(instance.size <= 16384 ? "tiling" : "tiling beyond", against(usual, tiling));
    }
    if (hard && with_best) gathered_.note("best", against(longest, row->best));
  }

  int finish() const {
    fmt::print("\nthe peers\n");
    for (const char* figure : {"J of scotch exact / best published", "J of scotch / best published",
                               "J of metis / best published", "J of scotch / scotch exact", "J of metis / scotch exact",
                               "time of scotch / scotch exact", "time of metis / scotch exact"}) {
      fmt::print("{:<38} geometric mean {}, worst {}\n", figure, cell(gathered_.mean(figure)),
                 cell(gathered_.worst(figure)));
    }
    fmt::print("\n");
    Goals goals;
    goals.at_most("fast: J / J of exact Scotch, geometric mean", gathered_.mean("fast J / exact Scotch"), 0.97, 0.93);
    goals.at_most("fast: J / J of exact Scotch, worst", gathered_.worst("fast J / exact Scotch"), 1.02, 1.00);
    goals.at_most("fast: CPU time / CPU time of exact Scotch, geometric mean", gathered_.mean("fast time"), 1.5, 1.0);
    goals.aim_at_most("fast: J / J of the mapper scotch, geometric mean", gathered_.mean("fast J / mapper scotch"),
                      0.97);
    goals.at_most("balanced: J / best published, geometric mean", gathered_.mean("auto J"), 1.01, 1.000);
    goals.at_most("balanced: J / best published, worst", gathered_.worst("auto J"), 1.04, 1.01);
    goals.at_most("balanced: CPU time / SharedMap eco (both relative to Scotch), mean", gathered_.mean("auto time"), 1,
                  0.5);
    goals.at_most("stencils up to 16,384 ranks, natural or shuffled order: J / J of the tiling, worst",
                  gathered_.worst("tiling"), 1 + rounding, 1 + rounding);
    goals.aim_at_most("stencils of 65,536 ranks, natural or shuffled order: J / J of the tiling, worst",
                      gathered_.worst("tiling beyond"), 1 + rounding);
    if (best_on_ != BestOn::none) {
      goals.at_most("best, 10 s, irregular graphs from 1,024 ranks: J / best published, worst", gathered_.worst("best"),
                    1 + rounding, 0.98);
    }
    return bench::finish("auto_ranks", goals.reached(), goals.sentence(),
                         {{"goals", goals.figures()}, {"cost_and_cpu_seconds", rows_}});
  }

 private:
  /// Published figures have six digits.
  static constexpr double rounding = 5e-6;

  BestOn best_on_;
  Gathered gathered_;
  nlohmann::json rows_;
};

/// "rgg.1024" in --only.
Case named(const std::string& name, const Arguments& arguments) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const auto size =
      dot < name.size() ? static_cast<std::uint32_t>(std::strtoul(name.c_str() + dot + 1, nullptr, 10)) : 0;
  Case instance = on_powers_of_two(name.substr(0, dot), size);
  instance.hierarchy = arguments.value("--hierarchy", instance.hierarchy);
  instance.distance = arguments.value("--distance", instance.distance);
  instance.shuffled_ranks = arguments.has("--shuffle");
  return instance;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments(count, words);
  const ThreadLimit one_thread(1);
  if (arguments.has("--only")) {
    const std::uint64_t seed = arguments.number("--seed", 1);
    for (const std::string& name : arguments.list("--only")) {
      const Case instance = named(name, arguments);
      try_specs(problem_of(instance, seed),
                arguments.list("--specs", "scotch-exact,scotch,metis,auto:effort=fast,auto"),
                best_known(instance, seed), runs_of(arguments));
    }
    return 0;
  }
  Table table(arguments.has("--best")    ? Table::BestOn::all
              : arguments.has("--quick") ? Table::BestOn::none
                                         : Table::BestOn::large_irregular);
  table.head();
  for (const Case& instance : suite()) table.add(instance, true);
  for (const Case& instance : large_stencils()) table.add(instance, false);
  return table.finish();
}
