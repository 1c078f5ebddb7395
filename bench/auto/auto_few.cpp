// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` with fewer ranks than cores, where the choice of the cores is part of the problem: 384 ranks on
// 16:12:4 with distances 10:37:41, compared with the best published result (TreeMatch, packed on half of the machine).
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/auto/reference_instances.hpp"
#include "bench/auto/tilings.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/parallel.hpp"

using namespace rankloom;
using namespace rankloom::bench;

int main() {
  const ThreadLimit one_thread(1);
  constexpr const char* hierarchy = "16:12:4";
  constexpr std::uint32_t ranks = 384;
  fmt::print("J on {}, distances 10:37:41, and relative to the best published\n{:<24}{:<28}{:>14}{:>9}{:>12}\n",
             hierarchy, "instance", "mapper", "J", "J/best", "CPU time");
  const auto tiling =
      best_tiling({1, 16, 24}, {0, 10, 0, 0}, std::vector<std::uint64_t>{16, 12, 2}, std::vector<double>{10, 37, 41});
  fmt::print("{:<24}{:<28}{:>14.0f}\n", "stencil2d.384", "tiling of half the machine", tiling->cost);
  Goals goals;
  nlohmann::json rows;
  std::vector<std::pair<std::string, std::optional<double>>> reached;
  for (const char* kind : {"stencil2d", "rgg"}) {
    const Problem problem =
        problem_on(fmt::format("{}.{}", kind, ranks), *reference_graph(kind, ranks), hierarchy, "10:37:41");
    const double best = published(kind, ranks, hierarchy, 1)->best;
    const std::vector<std::string> specs{"block",      "scotch",    "scotch:pack",      "metis",
                                         "metis:pack", "treematch", "auto:effort=fast", "auto"};
    for (const std::string& spec : specs) {
      const auto measured = measure(spec, problem);
      print_row(problem.name, spec, measured, best);
      if (measured) rows[problem.name][spec] = {measured->cost, measured->cpu_s};
      if (spec == "auto") reached.emplace_back(problem.name, against(measured, best));
    }
  }
  fmt::print("\n");
  for (const auto& [name, value] : reached) {
    goals.at_most(fmt::format("balanced, {} on {}: J / best published", name, hierarchy), value, 1, 0.97);
  }
  return finish("auto_few", goals.reached(), goals.sentence(),
                {{"goals", goals.figures()}, {"cost_and_cpu_seconds", rows}});
}
