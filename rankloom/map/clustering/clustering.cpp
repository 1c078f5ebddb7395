// SPDX-License-Identifier: Apache-2.0
// map/clustering: the mapper `clustering`: CP-NSC, then a scheme that places the clusters on nodes, then APE or PE.
#include "rankloom/map/clustering/clustering.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "rankloom/map/clustering/ape.hpp"
#include "rankloom/map/clustering/schemes.hpp"
#include "rankloom/map/clustering/spectral.hpp"
#include "rankloom/map/local_search/pair_exchange.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

enum class Refinement : std::uint8_t { none, ape, pe };

/// Up to this many ranks, one value of k costs milliseconds, so more values are tried.
constexpr std::uint32_t few_ranks = 512;
/// Above this many ranks, one value of k costs a substantial part of a second, so fewer values are tried.
constexpr std::uint32_t many_ranks = 1 << 16;

Groups singleton_clusters(std::uint32_t ranks) {
  Groups groups;
  groups.members.resize(ranks);
  std::iota(groups.members.begin(), groups.members.end(), 0U);
  groups.ends.resize(ranks + std::size_t{1});
  std::iota(groups.ends.begin(), groups.ends.end(), std::uint64_t{0});
  return groups;
}

/// The placement for one value of k.
struct Candidate {
  std::vector<Core> core_of;
  double cost;
  std::uint32_t clusters;
};

class Clustering final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.text("clusters", clusters_, "K|auto|paper",
                 "number of clusters; paper: twice the number of nodes; auto: try several, keep the best mapping");
    options.choice(
        "scheme", schemes_.scheme,
        {{"plain", Scheme::plain},
         {"ff", Scheme::first_fit},
         {"mr", Scheme::most_reservation},
         {"adaptive", Scheme::adaptive}},
        "placement of clusters on nodes: Plain, First-Fit, Most-Reservation, or chosen by the cluster sizes");
    options.choice("refine", refinement_,
                   {{"none", Refinement::none}, {"ape", Refinement::ape}, {"pe", Refinement::pe}},
                   "final exchanges: ape exchanges small clusters, pe exchanges ranks as pe-500k does");
    options.number("low", schemes_.low,
                   "adaptive: plain if the standard deviation of the cluster sizes, relative to their mean, is lower",
                   0);
    options.number("high", schemes_.high,
                   "adaptive: ff if that deviation is higher and there are fewer clusters than `many`", 0);
    options.count("many", schemes_.many, "adaptive: with this many clusters or more, mr instead of ff");
    options.count("tries", ape_.tries, "ape: pairs of clusters to evaluate");
    options.count("noise", ape_.noise_threshold,
                  "ape: clusters with fewer ranks than this are exchanged; 0: those that fit on a node");
    options.number("self-similarity", spectral_.similarity.self, "similarity of a rank with itself", 0, 1e6);
    options.number("max-similarity", spectral_.similarity.maximum,
                   "similarity of the two ranks that exchange the most bytes", 1e-6, 1e6);
    options.count("restarts", spectral_.restarts, "restarts of k-means; the best result is kept", 1, 1000);
    options.count("at-once", spectral_.max_direct_clusters,
                  "for more clusters than this, divide the ranks into parts first", 2, 256);
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const std::uint32_t ranks = problem.graph.rank_count();
    const NodeSlots nodes = node_slots(problem);
    auto counts = cluster_counts(ranks, nodes);
    if (!counts) return propagate(counts);
    if (ranks == 0) return Placement{};
    StopCondition stop_condition(run, "clustering");
    SpectralClustering spectral(Affinity(problem.graph), spectral_, *counts, run.seed, run.deadline);
    std::optional<Candidate> best;
    for (std::size_t at = 0; at < counts->size() && (!best || !stop_condition.should_stop_now()); ++at) {
      const std::uint32_t k = (*counts)[at];
      auto clusters = k == ranks ? singleton_clusters(ranks) : spectral.clusters(k);
      if (!clusters) break;
      auto candidate = place_and_refine(problem, *clusters, nodes, run.seed, stop_condition);
      if (!best || candidate.cost < best->cost) best = std::move(candidate);
      stop_condition.set_fraction(static_cast<double>(at + 1) / static_cast<double>(counts->size()));
    }
    if (!best)
      return Placement{block_placement(ranks, problem.topology, problem.capacities), {}, std::string(stopped_note)};
    std::string text = note(*best, stop_condition);
    return Placement{std::move(best->core_of), {}, std::move(text)};
  }

 private:
  Result<std::vector<std::uint32_t>> cluster_counts(std::uint32_t ranks, const NodeSlots& nodes) const {
    if (clusters_ == "auto") return candidate_cluster_counts(ranks, nodes.node_count(), nodes.needed_for(ranks));
    if (clusters_ == "paper") return std::vector{paper_cluster_count(ranks, nodes.node_count())};
    std::uint32_t k = 0;
    const auto [end, error] = std::from_chars(clusters_.data(), clusters_.data() + clusters_.size(), k);
    if (error != std::errc() || end != clusters_.data() + clusters_.size() || k == 0) {
      return fail(Code::usage, at("--clusters"), fmt::format("'{}' is not a number of clusters", clusters_),
                  "give a whole number of at least 1, or one of: auto, paper");
    }
    return std::vector{std::min(k, std::max(1U, ranks))};
  }

  Candidate place_and_refine(const MapProblem& problem, const Groups& clusters, const NodeSlots& nodes,
                             std::uint64_t seed, StopCondition& stop_condition) const {
    auto core_of = place_clusters(clusters, nodes, choose_scheme(clusters, schemes_));
    if (refinement_ == Refinement::ape) {
      ApeOptions ape = ape_;
      if (ape.noise_threshold == 0) ape.noise_threshold = nodes.largest() + 1;
      aggregated_pair_exchange(problem, clusters, ape, seed, stop_condition, core_of);
    } else if (refinement_ == Refinement::pe) {
      PlacementState state(problem, core_of);
      exchange_random_pairs(state, pair_exchange_trials, seed, stop_condition);
      core_of = state.placement();
    }
    const double value = evaluate(problem.graph, problem.topology, core_of, problem.model);
    return {std::move(core_of), objective(problem.model, value), clusters.size()};
  }

  static std::string note(const Candidate& best, const StopCondition& stop_condition) {
    if (stop_condition.stopped()) return std::string(stopped_note);
    return best.clusters == best.core_of.size() ? "one cluster per rank" : fmt::format("{} clusters", best.clusters);
  }

  std::string clusters_ = "auto";
  Refinement refinement_ = Refinement::ape;
  SchemeOptions schemes_;
  ApeOptions ape_{.tries = 40'000, .noise_threshold = 0};
  SpectralOptions spectral_;
};

}  // namespace

std::uint32_t paper_cluster_count(std::uint32_t ranks, std::uint64_t nodes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ranks, 2 * nodes));
}

std::vector<std::uint32_t> candidate_cluster_counts(std::uint32_t ranks, std::uint64_t nodes,
                                                    std::uint64_t needed_nodes) {
  std::vector<std::uint64_t> counts{needed_nodes, 2 * needed_nodes, 2 * nodes};
  if (ranks <= many_ranks) counts.insert(counts.end(), {3 * needed_nodes, 4 * needed_nodes});
  if (ranks <= few_ranks) counts.insert(counts.end(), {nodes, 3 * needed_nodes / 2, 6 * needed_nodes});
  std::erase_if(counts, [&](std::uint64_t count) { return count == 0 || count >= ranks; });
  counts.push_back(ranks);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return {counts.begin(), counts.end()};
}

std::unique_ptr<Mapper> make_clustering() {
  return std::make_unique<Clustering>();
}

}  // namespace rankloom
