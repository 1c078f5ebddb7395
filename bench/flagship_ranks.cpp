// SPDX-License-Identifier: Apache-2.0
// bench: `auto` with one rank a core (suite A), beside Scotch and METIS in the same run, on one thread: J, CPU seconds
// of place() alone, J against the best that public mappers reach, and against the regular tiling of stencils.
//
//   bench_flagship_ranks [--quick | --best]          the table; best effort on no row, or on every row
//   bench_flagship_ranks --only rgg.1024,plaw.256 [--specs auto,scotch] [--seed 2] [--run-seed 1] [--shuffle]
//                        [--hierarchy 4:8:32 --distance 1:10:100] [--budget 10]       J and seconds of some mappers
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/measure.hpp"
#include "bench/peer_instances.hpp"
#include "bench/tilings.hpp"
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
  bool renamed = false;  ///< The ranks in another order; for stencils, whose own order helps.
  bool in_suite = true;  ///< Counts in the means; the others are there for the tiling alone.

  std::string name() const { return fmt::format("{}.{}{}", kind, size, renamed ? " shuffled" : ""); }
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
      cases.back().renamed = true;
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

/// Beyond the suite: only ours, against the tiling.
std::vector<Case> large_stencils() {
  std::vector<Case> cases;
  for (const char* kind : {"stencil2d", "stencil3d"}) {
    for (const bool renamed : {false, true}) {
      cases.push_back(on_powers_of_two(kind, 65536));
      cases.back().renamed = renamed;
      cases.back().in_suite = false;
    }
  }
  return cases;
}

Problem problem_of(const Case& one, std::uint64_t seed) {
  auto graph = peer_graph(one.kind, one.size, seed);
  if (!graph) {
    fmt::print(stderr, "there is no graph {}\n", one.name());
    std::exit(2);
  }
  if (one.renamed) graph = shuffled(*graph, seed);
  return problem_on(one.name(), std::move(*graph), one.hierarchy, one.distance);
}

template <class T>
std::vector<T> numbers(const std::string& text) {
  std::vector<T> list;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find(':', at), text.size() - 1) + 1) {
    list.push_back(static_cast<T>(std::strtod(text.c_str() + at, nullptr)));
  }
  return list;
}

std::optional<double> tiling_of(const Case& one) {
  const auto extents = one.kind.starts_with("stencil") ? peer_extents(one.kind, one.size) : std::nullopt;
  if (!extents) return std::nullopt;
  const auto weights =
      one.kind == "stencil2d" ? std::array<double, 4>{0, 10, 0, 0} : std::array<double, 4>{0, 100, 10, 1};
  const auto tiling = best_tiling({(*extents)[0], (*extents)[1], (*extents)[2]}, weights,
                                  numbers<std::uint64_t>(one.hierarchy), numbers<double>(one.distance));
  return tiling ? std::optional(tiling->cost) : std::nullopt;
}

/// The lowest J that is known without us: published, or the tiling.
std::optional<double> best_known(const Case& one, std::uint64_t seed) {
  std::optional<double> known = tiling_of(one);
  if (const Published* row = published(one.kind, one.size, one.hierarchy, seed)) {
    known = std::min(known.value_or(row->best), row->best);
  }
  return known;
}

bool irregular(const Case& one) {
  return one.kind == "rgg" || one.kind == "blocks12" || one.kind == "plaw";
}

/// The figures of the suite, gathered row by row.
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

  void add(const Case& one, bool peers) {
    const Problem problem = problem_of(one, 1);
    const Published* const row = one.renamed ? nullptr : published(one.kind, one.size, one.hierarchy, 1);
    const bool hard = row != nullptr && irregular(one) && one.size >= 1024;
    const bool with_best = best_on_ == BestOn::all || (best_on_ == BestOn::large_irregular && hard);
    const auto exact = peers ? measure("scotch-exact", problem) : std::nullopt;
    const auto scotch = peers ? measure("scotch", problem) : std::nullopt;
    const auto metis = peers ? measure("metis", problem) : std::nullopt;
    const auto quick = measure(fast, problem);
    const auto usual = measure(balanced, problem);
    const auto longest = with_best ? measure(best, problem, {.budget = best_budget}) : std::nullopt;
    const auto known = best_known(one, 1);
    fmt::print("{:<24}{:>9}{:>12}", one.name(), one.hierarchy, cell(known, 0));
    for (const auto& [name, measured] : {std::pair("scotch exact", &exact),
                                         {"scotch", &scotch},
                                         {"metis", &metis},
                                         {"fast", &quick},
                                         {"auto", &usual},
                                         {"best", &longest}}) {
      fmt::print("{:>21}", cost_and_time(*measured));
      if (*measured) rows_[one.name() + " on " + one.hierarchy][name] = {(*measured)->cost, (*measured)->cpu_s};
    }
    fmt::print("{:>12}{:>11}\n", cell(ratio(quick, exact)), cell(against(usual, known)));
    std::fflush(stdout);

    if (one.in_suite) {
      gathered_.note("fast J / exact Scotch's", ratio(quick, exact));
      gathered_.note("fast J / our Scotch's", ratio(quick, scotch));
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
    if (const auto tiling = tiling_of(one); tiling && one.distance == "1:10:100") {
      gathered_.note(one.size <= 16384 ? "tiling" : "tiling beyond", against(usual, tiling));
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
    goals.at_most("fast: J / exact Scotch's, geometric mean", gathered_.mean("fast J / exact Scotch's"), 0.97, 0.93);
    goals.at_most("fast: J / exact Scotch's, worst", gathered_.worst("fast J / exact Scotch's"), 1.02, 1.00);
    goals.at_most("fast: CPU time / exact Scotch's, geometric mean", gathered_.mean("fast time"), 1.5, 1.0);
    goals.aim_at_most("fast: J / our mapper scotch's, geometric mean", gathered_.mean("fast J / our Scotch's"), 0.97);
    goals.at_most("balanced: J / best published, geometric mean", gathered_.mean("auto J"), 1.01, 1.000);
    goals.at_most("balanced: J / best published, worst", gathered_.worst("auto J"), 1.04, 1.01);
    goals.at_most("balanced: CPU time / SharedMap eco's (both in units of Scotch's), mean", gathered_.mean("auto time"),
                  1, 0.5);
    goals.at_most("stencils up to 16,384 ranks, own or shuffled order: J / tiling's, worst", gathered_.worst("tiling"),
                  1 + rounding, 1 + rounding);
    goals.aim_at_most("stencils of 65,536 ranks, own or shuffled order: J / tiling's, worst",
                      gathered_.worst("tiling beyond"), 1 + rounding);
    if (best_on_ != BestOn::none) {
      goals.at_most("best, 10 s, irregular from 1,024: J / best published, worst", gathered_.worst("best"),
                    1 + rounding, 0.98);
    }
    return bench::finish("flagship_ranks", goals.reached(), goals.sentence(),
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
  Case one = on_powers_of_two(name.substr(0, dot), size);
  one.hierarchy = arguments.value("--hierarchy", one.hierarchy);
  one.distance = arguments.value("--distance", one.distance);
  one.renamed = arguments.has("--shuffle");
  return one;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments(count, words);
  const ThreadLimit one_thread(1);
  if (arguments.has("--only")) {
    const std::uint64_t seed = arguments.number("--seed", 1);
    for (const std::string& name : arguments.list("--only")) {
      const Case one = named(name, arguments);
      try_specs(problem_of(one, seed), arguments.list("--specs", "scotch-exact,scotch,metis,auto:effort=fast,auto"),
                best_known(one, seed), runs_of(arguments));
    }
    return 0;
  }
  Table table(arguments.has("--best")    ? Table::BestOn::all
              : arguments.has("--quick") ? Table::BestOn::none
                                         : Table::BestOn::large_irregular);
  table.head();
  for (const Case& one : suite()) table.add(one, true);
  for (const Case& one : large_stencils()) table.add(one, false);
  return table.finish();
}
