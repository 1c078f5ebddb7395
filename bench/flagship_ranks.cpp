// SPDX-License-Identifier: Apache-2.0
// bench: `auto` with one rank a core (suite A), beside Scotch and METIS in the same run, on one thread: J, CPU seconds
// of place() alone, J against the best that public mappers reach, and against the regular tiling of stencils.
//
//   bench_flagship_ranks [--quick | --best]          the table; best effort on no row, or on every row
//   bench_flagship_ranks --only rgg.1024,plaw.256 [--specs auto,scotch] [--seed 2] [--run-seed 1] [--shuffle]
//                        [--hierarchy 4:8:32 --distance 1:10:100] [--budget 10]       J and seconds of some mappers
#include <algorithm>
#include <cmath>
#include <map>
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
    fmt::print("J (CPU seconds of the algorithm), one thread\n{:<24}{:>10}{:>12}{:>22}{:>22}{:>22}{:>22}", "instance",
               "machine", "best known", "scotch", "metis", "auto fast", "auto");
    fmt::print("{:>22}{:>13}{:>11}\n", "auto best 10 s", "fast/scotch", "auto/best");
  }

  void add(const Case& one, bool peers) {
    const Problem problem = problem_of(one, 1);
    const auto known = best_known(one, 1);
    const auto scotch = peers ? measure("scotch", problem) : std::nullopt;
    const auto metis = peers ? measure("metis", problem) : std::nullopt;
    const auto quick = measure(fast, problem);
    const auto usual = measure(balanced, problem);
    const Published* const row = one.renamed ? nullptr : published(one.kind, one.size, one.hierarchy, 1);
    const bool with_best = best_on_ == BestOn::all || (best_on_ == BestOn::large_irregular && row != nullptr &&
                                                       irregular(one) && one.size >= 1024);
    const auto longest = with_best ? measure(best, problem, {.budget = best_budget}) : std::nullopt;
    fmt::print("{:<24}{:>10}{:>12}{:>22}{:>22}{:>22}{:>22}{:>22}{:>13}{:>11}\n", one.name(), one.hierarchy,
               cell(known, 0), cost_and_time(scotch), cost_and_time(metis), cost_and_time(quick), cost_and_time(usual),
               cost_and_time(longest), cell(ratio(quick, scotch)),
               cell(known && usual ? std::optional(usual->cost / *known) : std::nullopt));
    std::fflush(stdout);

    if (one.in_suite) judge_fast(quick, scotch);
    if (one.in_suite && metis && scotch) note("metis J / scotch", metis->cost / scotch->cost);
    if (one.in_suite && metis && scotch) note("metis time / scotch", metis->cpu_s / scotch->cpu_s);
    if (row != nullptr) judge_balanced(*row, usual, scotch);
    if (row != nullptr && quick && row->fast > 0) note("fast J, published", quick->cost / row->fast / row->best);
    if (row != nullptr && scotch) note("scotch J / best", scotch->cost / row->best);
    if (row != nullptr && metis) note("metis J / best", metis->cost / row->best);
    if (const auto tiling = tiling_of(one); tiling && usual && one.distance == "1:10:100") {
      note(one.size <= 16384 ? "tiling" : "tiling beyond", usual->cost / *tiling);
    }
    if (row != nullptr && longest && irregular(one) && one.size >= 1024) note("best", longest->cost / row->best);
    for (const auto& [name, measured] :
         {std::pair("scotch", &scotch), {"metis", &metis}, {"fast", &quick}, {"auto", &usual}, {"best", &longest}}) {
      if (*measured) rows_[one.name() + " on " + one.hierarchy][name] = {(*measured)->cost, (*measured)->cpu_s};
    }
  }

  int finish() const {
    for (const char* peer : {"scotch J / best", "metis J / best", "metis J / scotch", "metis time / scotch"}) {
      fmt::print("{}{}: geometric mean {}, worst {}\n", peer == std::string("scotch J / best") ? "\n" : "", peer,
                 cell(mean(peer)), cell(most(peer)));
    }
    fmt::print("\n");
    Goals goals;
    goals.at_most("fast: J / Scotch's, geometric mean", mean("fast J"), 0.97, 0.93);
    goals.at_most("fast: J / Scotch's, worst", most("fast J"), 1.02, 1.00);
    goals.at_most("fast: CPU time / Scotch's, geometric mean", mean("fast time"), 1.5, 1.0);
    goals.aim_at_most("fast: J / Scotch's published J, geometric mean", mean("fast J, published"), 0.93);
    goals.at_most("balanced: J / best published, geometric mean", mean("auto J"), 1.01, 1.000);
    goals.at_most("balanced: J / best published, worst", most("auto J"), 1.04, 1.01);
    goals.at_most("balanced: CPU time / SharedMap eco's (both in units of Scotch's), mean", mean("auto time"), 1, 0.5);
    goals.at_most("stencils up to 16,384 ranks, own or shuffled order: J / tiling's, worst", most("tiling"),
                  1 + rounding, 1 + rounding);
    goals.aim_at_most("stencils of 65,536 ranks, own or shuffled order: J / tiling's, worst", most("tiling beyond"),
                      1 + rounding);
    if (best_on_ != BestOn::none) {
      goals.at_most("best, 10 s, irregular from 1,024: J / best published, worst", most("best"), 1 + rounding, 0.98);
    }
    return bench::finish("flagship_ranks", goals.reached(), goals.sentence(),
                         {{"goals", goals.figures()}, {"cost_and_cpu_seconds", rows_}});
  }

 private:
  /// Published figures have six digits.
  static constexpr double rounding = 5e-6;

  void note(const char* figure, double value) { values_[figure].push_back(value); }
  std::optional<double> mean(const char* figure) const {
    return values_.contains(figure) ? std::optional(geometric_mean(values_.at(figure))) : std::nullopt;
  }
  std::optional<double> most(const char* figure) const {
    return values_.contains(figure) ? std::optional(worst(values_.at(figure))) : std::nullopt;
  }

  void judge_fast(const std::optional<Measured>& quick, const std::optional<Measured>& scotch) {
    if (!quick || !scotch) return;
    note("fast J", quick->cost / scotch->cost);
    note("fast time", quick->cpu_s / scotch->cpu_s);
  }

  void judge_balanced(const Published& row, const std::optional<Measured>& usual,
                      const std::optional<Measured>& scotch) {
    if (!usual) return;
    note("auto J", usual->cost / row.best);
    if (scotch && row.good_s > 0) note("auto time", usual->cpu_s / scotch->cpu_s / (row.good_s / row.fast_s));
  }

  BestOn best_on_;
  std::map<std::string, std::vector<double>> values_;
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
      try_specs(problem_of(one, seed), arguments.list("--specs", "scotch,metis,auto:effort=fast,auto"),
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
