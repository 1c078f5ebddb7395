// SPDX-License-Identifier: Apache-2.0
// map/clustering: the mapper: CP-NSC, then a scheme that places the clusters on nodes, then exchanges.
#include "rankloom/map/clustering/clustering.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "rankloom/map/clustering/aqap.hpp"
#include "rankloom/map/clustering/schemes.hpp"
#include "rankloom/map/clustering/spectral.hpp"
#include "rankloom/map/local_search/pair_exchange.hpp"

namespace rankloom {
namespace {

enum class Refinement : std::uint8_t { none, ape, pe };

/// Up to so many ranks every rung of the ladder costs milliseconds.
constexpr std::uint32_t few_ranks = 512;
/// Above, one rung takes a good part of a second.
constexpr std::uint32_t many_ranks = 1 << 16;

Groups everyone_alone(std::uint32_t ranks) {
  Groups groups;
  groups.members.resize(ranks);
  std::iota(groups.members.begin(), groups.members.end(), 0U);
  groups.ends.resize(ranks + std::size_t{1});
  std::iota(groups.ends.begin(), groups.ends.end(), std::uint64_t{0});
  return groups;
}

/// A mapping of one rung, finished.
struct Candidate {
  std::vector<Core> core_of;
  double cost;
  std::uint32_t clusters;
};

class Clustering final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.text("clusters", clusters_, "K|auto|paper",
                 "number of clusters; paper: twice the nodes; auto: several, and the best mapping is kept");
    options.choice("scheme", schemes_.scheme,
                   {{"plain", Scheme::plain},
                    {"ff", Scheme::first_fit},
                    {"mr", Scheme::most_reservation},
                    {"adaptive", Scheme::adaptive}},
                   "how clusters are put on nodes: one after another, First-Fit, Most-Reservation, or by their sizes");
    options.choice("refine", refinement_,
                   {{"none", Refinement::none}, {"ape", Refinement::ape}, {"pe", Refinement::pe}},
                   "exchanges at the end: of small clusters, or of ranks as pe-500k does");
    options.number("low", schemes_.low, "adaptive: plain when the sizes of clusters vary less, relative to their mean",
                   0);
    options.number("high", schemes_.high, "adaptive: ff when the sizes vary more, and clusters are not many", 0);
    options.count("many", schemes_.many, "adaptive: from so many clusters on mr instead of ff");
    options.count("tries", exchanges_.tries, "ape: pairs of clusters to look at");
    options.count("noise", exchanges_.noise,
                  "ape: clusters with fewer ranks than this are exchanged; 0: those that fit on a node");
    options.number("self-similarity", spectral_.similarity.self, "of a rank with itself, in the similarity matrix", 0,
                   1e6);
    options.number("max-similarity", spectral_.similarity.maximum, "of the two ranks that talk most", 1e-6, 1e6);
    options.count("restarts", spectral_.restarts, "starts of k-means, of which the best is kept", 1, 1000);
    options.count("at-once", spectral_.at_once, "more clusters than this are made by dividing the ranks first", 2, 256);
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const std::uint32_t ranks = problem.graph.rank_count();
    const NodePlaces nodes = node_places(problem);
    auto numbers = numbers_of_clusters(ranks, nodes);
    if (!numbers) return propagate(numbers);
    if (ranks == 0) return Placement{};
    Pulse pulse(run, "clustering");
    SpectralClustering spectral(Affinity(problem.graph), spectral_, *numbers, run.seed, run.deadline);
    std::optional<Candidate> best;
    for (std::size_t rung = 0; rung < numbers->size() && (!best || !pulse.stop_now()); ++rung) {
      const std::uint32_t k = (*numbers)[rung];
      auto clusters = k == ranks ? everyone_alone(ranks) : spectral.clusters(k);
      if (!clusters) break;
      auto candidate = finished(problem, *clusters, nodes, run.seed, pulse);
      if (!best || candidate.cost < best->cost) best = std::move(candidate);
      pulse.set_fraction(static_cast<double>(rung + 1) / static_cast<double>(numbers->size()));
    }
    if (!best) return Placement{block_placement(ranks, problem.topology, problem.capacities), {}, std::string(stopped_note)};
    return Placement{std::move(best->core_of), {}, note(*best, pulse)};
  }

 private:
  Result<std::vector<std::uint32_t>> numbers_of_clusters(std::uint32_t ranks, const NodePlaces& nodes) const {
    if (clusters_ == "auto") return cluster_ladder(ranks, nodes.node_count(), nodes.nodes_for(ranks));
    if (clusters_ == "paper") return std::vector{paper_clusters(ranks, nodes.node_count())};
    std::uint32_t k = 0;
    const auto [end, error] = std::from_chars(clusters_.data(), clusters_.data() + clusters_.size(), k);
    if (error != std::errc() || end != clusters_.data() + clusters_.size() || k == 0) {
      return fail(Code::usage, at("--clusters"), fmt::format("'{}' is not a value it takes", clusters_),
                  "a whole number, at least 1, or one of: auto, paper");
    }
    return std::vector{std::min(k, std::max(1U, ranks))};
  }

  Candidate finished(const MapProblem& problem, const Groups& clusters, const NodePlaces& nodes, std::uint64_t seed,
                     Pulse& pulse) const {
    auto core_of = place_clusters(clusters, nodes, chosen_scheme(clusters, schemes_));
    if (refinement_ == Refinement::ape) {
      ApeOptions exchanges = exchanges_;
      if (exchanges.noise == 0) exchanges.noise = nodes.largest() + 1;
      aggregated_pair_exchange(problem, clusters, exchanges, seed, pulse, core_of);
    } else if (refinement_ == Refinement::pe) {
      Seating seating(problem, core_of);
      exchange_random_pairs(seating, pair_exchange_tries, seed, pulse);
      core_of = seating.placement();
    }
    const double value = evaluate(problem.graph, problem.topology, core_of, problem.model);
    return {std::move(core_of), objective(problem.model, value), clusters.size()};
  }

  static std::string note(const Candidate& best, const Pulse& pulse) {
    if (pulse.stopped()) return std::string(stopped_note);
    return best.clusters == best.core_of.size() ? "every rank a cluster of its own"
                                                : fmt::format("{} clusters", best.clusters);
  }

  std::string clusters_ = "auto";
  Refinement refinement_ = Refinement::ape;
  SchemeOptions schemes_;
  ApeOptions exchanges_{.tries = 40'000, .noise = 0};
  SpectralOptions spectral_;
};

}  // namespace

std::uint32_t paper_clusters(std::uint32_t ranks, std::uint64_t nodes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ranks, 2 * nodes));
}

std::vector<std::uint32_t> cluster_ladder(std::uint32_t ranks, std::uint64_t nodes, std::uint64_t needed) {
  std::vector<std::uint64_t> numbers{needed, 2 * needed, 2 * nodes};
  if (ranks <= many_ranks) numbers.insert(numbers.end(), {3 * needed, 4 * needed});
  if (ranks <= few_ranks) numbers.insert(numbers.end(), {nodes, 3 * needed / 2, 6 * needed});
  std::erase_if(numbers, [&](std::uint64_t number) { return number == 0 || number >= ranks; });
  numbers.push_back(ranks);
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return {numbers.begin(), numbers.end()};
}

std::unique_ptr<Mapper> make_clustering() {
  return std::make_unique<Clustering>();
}

}  // namespace rankloom
