// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the default mapper. Several constructions give candidates, and local search and metaheuristics improve
// the best of them: an anytime search, which returns the best placement so far when the time is up.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/local_search/link_load_search.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/metaheuristics/metaheuristic_search.hpp"
#include "rankloom/map/multilevel/multilevel.hpp"
#include "rankloom/map/portfolio/parts_first.hpp"
#include "rankloom/map/portfolio/time_search.hpp"
#include "rankloom/map/structure/embedding/grid_embedding.hpp"
#include "rankloom/map/structure/embedding/rank_order_embedding.hpp"
#include "rankloom/map/structure/recognition/recognise_grid.hpp"
#include "rankloom/map/structure/tiling/boxes.hpp"
#include "rankloom/map/structure/tiling/tiling.hpp"

namespace rankloom {
namespace {

enum class Effort : std::uint8_t { fast, balanced, best };

/// The settings of one effort.
struct Preset : multilevel::Options {
  std::uint32_t multilevel_runs = 1;           ///< Multilevel constructions, each with another seed.
  std::uint64_t metaheuristic_trials = 0;      ///< 0: no metaheuristic search.
  bool metaheuristics_until_deadline = false;  ///< The metaheuristic search uses all the time there is.
  bool multilevel_on_grids = false;            ///< Partition also grids that are tiled, unless the tiling is optimal.
  std::uint64_t link_load_trials = 20;         ///< With congestion: trials per rank and candidate.
  std::size_t link_load_candidates = 1;        ///< With congestion: candidates from which the search starts.
  std::uint64_t rank_order_visits = 1U << 21;  ///< Edges visited at most to embed the ranks by their numbers.
  std::uint64_t max_rank_order_comparisons = std::numeric_limits<std::uint64_t>::max();  ///< And placements compared.
};

/// Larger programs take too long for what local search and metaheuristics gain.
constexpr std::uint32_t max_ranks_for_local_search = 1U << 17;
constexpr std::uint32_t max_ranks_for_metaheuristics = 1U << 15;

/// More than a sixth of the slots stays free. Then it matters which: all slots of some nodes, or some slots of all.
bool has_many_free_slots(const MapProblem& problem) {
  return problem.capacities.total() * 5 > std::uint64_t{problem.graph.rank_count()} * 6;
}

/// Trials per rank on networks of more slots than tabu search is used for. There, annealing from a low temperature
/// finds in few trials what partitioning misses, most of all between nodes of one slot.
constexpr std::uint64_t fast_network_trials = 80;
constexpr std::uint64_t network_trials = 2'000;
/// Up to this many ranks, `fast` partitions twice if nodes have many slots.
constexpr std::uint64_t max_ranks_for_second_run = 4'096;

bool nodes_have_one_slot(const MapProblem& problem) {
  return problem.capacities.total() == problem.topology.node_count();
}

/// There are few nodes: partitioning the program among them takes little of the time, and its result varies most.
bool nodes_have_many_slots(const MapProblem& problem) {
  return problem.capacities.total() >= std::uint64_t{16} * problem.topology.node_count();
}

/// `fast` costs one partitioning with few repetitions. `balanced` adds repetitions, a second run where that pays, and a
/// short metaheuristic search. `best` adds runs, and searches until the deadline.
Preset preset_of(Effort effort, const MapProblem& problem) {
  const std::uint64_t ranks = problem.graph.rank_count();
  const bool shares_cores = ranks > problem.topology.core_count();
  Preset preset;
  preset.multisection.partition.fm_passes = 8;
  switch (effort) {
    case Effort::fast:
      preset.multisection.partition.vertices_per_block = 100;
      preset.multisection.partition.bisection.initial_attempts = 3;
      preset.multisection.light_step_ratio = 5;
      preset.multisection.largest_first_level = multilevel::FirstLevel::recomputed;
      break;
    case Effort::balanced:
      preset.multisection.partition.vertices_per_block = 300;
      preset.multisection.partition.repetitions = 4;
      preset.multisection.partition.bisection.repetitions = shares_cores ? 1 : 2;
      preset.multilevel_runs = has_many_free_slots(problem) || (shares_cores && problem.topology.routed()) ? 2 : 1;
      preset.metaheuristic_trials = std::min<std::uint64_t>(2'500 * ranks, 10'000'000);
      preset.multilevel_on_grids = true;
      preset.rank_order_visits = 1U << 23;
      preset.link_load_trials = 200;
      preset.link_load_candidates = 3;
      break;
    case Effort::best:
      preset.multisection.partition.vertices_per_block = 300;
      preset.multisection.partition.repetitions = 4;
      preset.multisection.partition.bisection.repetitions = 4;
      preset.multilevel_runs = 8;
      preset.metaheuristic_trials = 20'000 * ranks;
      preset.metaheuristics_until_deadline = true;
      preset.multilevel_on_grids = true;
      preset.rank_order_visits = 1U << 25;
      preset.link_load_trials = 2000;
      preset.link_load_candidates = 4;
      break;
  }
  if (!problem.topology.routed()) {
    if (shares_cores) {
      auto& top = preset.multisection.top;
      top.annealing_sweeps = effort == Effort::fast ? 256 : effort == Effort::balanced ? 1024 : 4096;
      preset.multisection.partition.annealing_sweeps = top.annealing_sweeps / 4;
      if (effort == Effort::balanced) preset.multisection.partition.repetitions = 2;
      if (effort != Effort::fast) {
        // On large programs, more initial partitions hardly ever lead to a lower cost.
        const bool many = effort == Effort::best || ranks <= max_ranks_for_metaheuristics;
        top.repetition_factor = (many ? 16 : 4) / preset.multisection.partition.repetitions;
        top.runs = effort == Effort::best ? 8 : 3;
        top.recombinations = effort == Effort::best ? 32 : 0;
        top.v_cycles = 1;
      }
    }
    return preset;
  }
  if (effort == Effort::fast) preset.max_rank_order_comparisons = 400;
  if (problem.capacities.total() <= max_locations_for_tabu_search) return preset;
  if (effort == Effort::fast && nodes_have_one_slot(problem)) {
    preset.metaheuristic_trials = fast_network_trials * ranks;
  } else if (effort == Effort::fast && nodes_have_many_slots(problem) && ranks <= max_ranks_for_second_run) {
    preset.multilevel_runs = 2;
  } else if (effort == Effort::balanced) {
    preset.metaheuristic_trials = std::min<std::uint64_t>(network_trials * ranks, 10'000'000);
  }
  return preset;
}

/// Larger programs run one multilevel construction at a time, because each needs as much memory as the graph.
constexpr std::uint32_t max_ranks_for_parallel_runs = 1U << 21;
/// Larger grids get only placements of their structure as starts of the search for the shortest time.
constexpr std::uint32_t max_ranks_beside_grids = 1U << 12;

/// The loads of the ranks as vertex weights, and the capacities of the cores in the same units.
struct LoadProblem {
  std::vector<std::uint32_t> vertex_weights;  ///< One per rank; about 10^9 in total.
  Capacities capacities;
  double max_core_load;  ///< In the graph's own unit of load.
};

/// A core may carry `tolerance` more than the average load, or the heaviest rank if that is more. Nothing if all ranks
/// have the same load or no core has to be shared.
std::optional<LoadProblem> load_problem(const MapProblem& problem, double tolerance) {
  constexpr double total_weight = 1e9;
  const auto loads = problem.graph.loads();
  std::uint64_t slots = 0;
  for (const Core core : problem.topology.cores()) slots += problem.topology.capacity(core);
  if (loads.empty() || loads.size() <= slots) return std::nullopt;
  const auto [min_load, max_load] = std::minmax_element(loads.begin(), loads.end());
  if (*min_load == *max_load) return std::nullopt;
  const double total_load = std::accumulate(loads.begin(), loads.end(), 0.0);
  LoadProblem result{{}, problem.capacities, 0};
  std::uint64_t weight = 0;
  for (const double load : loads) {
    result.vertex_weights.push_back(static_cast<std::uint32_t>(std::lround(load / total_load * total_weight)));
    weight += result.vertex_weights.back();
  }
  const double average = total_load / static_cast<double>(slots);
  result.max_core_load = std::max(average * (1 + tolerance), *max_load);
  auto capacities = Capacities::of(problem.topology, static_cast<std::uint32_t>(weight),
                                   {.oversubscribe = true, .imbalance = result.max_core_load / average - 1});
  if (!capacities) return std::nullopt;
  result.capacities = std::move(*capacities);
  return result;
}

/// Whether every edge has the same number of messages per byte, so that a structure of the bytes is one of the
/// messages.
bool messages_follow_bytes(const CommGraph& graph) {
  if (!graph.has_messages() || graph.edge_count() == 0) return true;
  double first_bytes = 0, first_messages = 0;
  for (const Rank rank : graph.ranks()) {
    const auto bytes = graph.bytes(rank);
    for (std::size_t edge = 0; edge < bytes.size(); ++edge) {
      const double messages = graph.messages(rank, edge);
      if (first_bytes == 0 && first_messages == 0) {
        first_bytes = bytes[edge];
        first_messages = messages;
      }
      if (bytes[edge] * first_messages != messages * first_bytes) return false;
    }
  }
  return true;
}

/// Whether every edge has the same number of bytes.
bool edges_are_equal(const CommGraph& graph) {
  std::optional<double> first;
  for (const Rank rank : graph.ranks()) {
    for (const double bytes : graph.bytes(rank)) {
      if (bytes != first.value_or(bytes)) return false;
      first = bytes;
    }
  }
  return true;
}

struct Candidate {
  std::vector<Core> core_of;
  double cost;
};

class Auto final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice("effort", effort_, {{"fast", Effort::fast}, {"balanced", Effort::balanced}, {"best", Effort::best}},
                   "how long to search: fast, balanced, or best, which uses the time of --budget");
    options.flag("load", load_, "where cores are shared: limit the load of each core, not the number of its ranks");
    options.number("tolerance", tolerance_, "with load: how much more than the average a core may carry", 0, 10);
    options.choice("prefer", prefer_, {{"time", Prefer::time}, {"fewer-nodes", Prefer::fewer_nodes}},
                   "with fewer ranks than slots: the shortest predicted time, or fewer nodes unless more of them pay");
    options.number("node-price", node_price_,
                   "with prefer=fewer-nodes: by how many percent each additional node must shorten the predicted time",
                   0, 1000);
    options.choice("prediction", prediction_, {{"flows", Prediction::flows}, {"channels", Prediction::channels}},
                   "what chooses among the best placements of a small program: a simulation of its messages as flows "
                   "(not with effort=fast), or the busiest channels, which take less time");
  }
  bool balances_load() const override { return load_; }
  double node_price() const override { return prefer_ == Prefer::fewer_nodes ? node_price_ / 100 : 0; }
  bool minimises(CostModel model) const override { return model != CostModel::predicted || !load_; }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    if (node_price() > 0 && on_machine(problem.model, problem.topology) != CostModel::predicted) {
      return fail(Code::usage, at("--prefer"), "the price of a node is a share of the predicted time",
                  "add --model predicted; it needs a machine of nodes, and ranks without --load");
    }
    if (load_) {
      if (const auto loads = load_problem(problem, tolerance_)) return place_by_load(problem, run, *loads);
    }
    if (on_machine(problem.model, problem.topology) == CostModel::predicted) return place_by_time(problem, run);
    const MapProblem on_table{problem.graph, problem.topology, problem.capacities,
                              on_machine(problem.model, problem.topology), problem.start};
    return Search(on_table, run, effort_).run();
  }

 private:
  /// Placements with little traffic between distant cores, on few nodes and on more of them, are the starts of the
  /// search for the shortest time.
  Placement place_by_time(const MapProblem& problem, const MapRun& run) const {
    StopCondition stop_condition(run, "auto");
    const NodePrice price(problem, node_price());
    TimeSearch search(problem, run, price);
    search.add(problem.start.empty() ? block_placement(problem.graph.rank_count(), problem.topology, problem.capacities)
                                     : start_of(problem));
    const bool is_large = problem.graph.rank_count() > max_ranks_for_local_search;
    constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
    const std::size_t max_spreads = effort_ != Effort::fast ? no_limit : is_large ? 1 : 2;
    const std::vector<Capacities> spreads = spread_capacities(problem, price, max_spreads);
    const CostModel main_model = is_large ? CostModel::bytes : CostModel::time;
    std::vector<CostModel> models{main_model};
    if (problem.topology.routed() && effort_ != Effort::fast) models.push_back(CostModel::hopbytes);
    if (effort_ != Effort::fast && !is_large) models.push_back(CostModel::bytes);
    for (const Capacities& capacities : spreads) {
      for (const CostModel model : models) {
        const MapProblem pairwise{problem.graph, problem.topology, capacities, model, {}};
        const bool is_first = &capacities == &spreads.front() && model == main_model;
        Search construction(pairwise, run, is_first ? std::min(effort_, Effort::balanced) : Effort::fast);
        auto placements = construction.all_placements();
        if (is_large) placements.resize(1);  // a prediction takes as long as a construction
        for (auto& placement : placements) search.add(std::move(placement));
        if (construction.has_shortest_time()) return {search.take_best(), {}, {}};
        if (stop_condition.should_stop_now()) break;
      }
      if (!is_large) search.add(round_robin_placement(problem.graph.rank_count(), problem.topology, capacities));
      if (stop_condition.should_stop_now()) break;
    }
    if (!is_large) search.improve(time_search_limits(effort_), stop_condition);
    if (prediction_ == Prediction::flows && effort_ != Effort::fast)
      search.judge_by_flows(effort_ == Effort::balanced ? 8 : 16, stop_condition);
    return {search.take_best(), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }

  static TimeSearch::Limits time_search_limits(Effort effort) {
    switch (effort) {
      case Effort::fast:
        return {.candidates = 1, .descend = false, .trials_per_rank = 10, .channel_visits = 3e5};
      case Effort::balanced:
        return {.candidates = 2, .descend = true, .trials_per_rank = 100, .channel_visits = 7e6};
      case Effort::best:
        break;
    }
    return {.candidates = 4, .descend = true, .trials_per_rank = 2000, .channel_visits = 1e9};
  }

  /// Partitions the loads instead of the ranks; then exchanges that leave no core above its limit. On larger programs,
  /// they only repair what the partition left above it.
  Placement place_by_load(const MapProblem& problem, const MapRun& run, const LoadProblem& loads) const {
    const MapProblem in_load_units{problem.graph, problem.topology, loads.capacities, problem.model, {}};
    Preset preset = preset_of(effort_, problem);
    preset.multisection.partition.deadline = run.deadline;
    preset.multisection.pack = false;
    auto core_of = multilevel::multilevel_placement(
        in_load_units, multilevel::VertexGraph(problem, loads.vertex_weights), preset, mix(run.seed));
    LoadLimit limit(problem.graph, problem.topology, core_of, loads.max_core_load);
    if (problem.graph.rank_count() > max_ranks_for_local_search && !limit.exceeded())
      return {std::move(core_of), {}, std::string(run.deadline.passed() ? stopped_note : "")};
    StopCondition stop_condition(run, "auto");
    PlacementState state(problem, core_of);
    NeighbourhoodDescent(state, &limit).run(stop_condition);
    return {state.placement(), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }

  class Search {
   public:
    Search(const MapProblem& problem, const MapRun& run, Effort effort)
        : problem_(problem),
          run_(run),
          effort_(effort),
          preset_(preset_of(effort, problem)),
          stop_condition_(run, "auto") {
      preset_.multisection.partition.deadline = run.deadline;
    }

    Placement run() {
      // So that more effort never gives a worse result. `balanced` would take noticeably longer on larger programs.
      if (effort_ == Effort::best ||
          (effort_ == Effort::balanced && problem_.graph.rank_count() <= max_ranks_for_metaheuristics)) {
        const Effort less = effort_ == Effort::best ? Effort::balanced : Effort::fast;
        add(Search(problem_, run_, less).run().core_of);
      }
      // No metaheuristic search minimises congestion. Little traffic between distant nodes leaves few busy links, too.
      if (problem_.model == CostModel::congestion) {
        const MapProblem by_bytes{problem_.graph, problem_.topology, problem_.capacities, CostModel::bytes,
                                  problem_.start};
        add(Search(by_bytes, run_, effort_).run().core_of);
      }
      construct();
      if (!finished_) improve();
      return {std::move(candidates_.front().core_of), {}, note()};
    }
    /// The placements that run() compares, the cheapest first: without the metaheuristic search and, with fast effort
    /// and few ranks, without the local search, because the search for the shortest time follows.
    std::vector<std::vector<Core>> all_placements() {
      preset_.metaheuristic_trials = 0;
      needs_other_placements_ = effort_ != Effort::fast && problem_.graph.rank_count() <= max_ranks_beside_grids;
      construct();
      constexpr std::uint32_t max_ranks_for_time_search_alone = 256;
      const bool skips_search =
          effort_ == Effort::fast && problem_.graph.rank_count() <= max_ranks_for_time_search_alone;
      if (!finished_ && !skips_search) improve();
      std::vector<std::vector<Core>> placements;
      for (Candidate& candidate : candidates_) placements.push_back(std::move(candidate.core_of));
      return placements;
    }

    /// After all_placements(): the first one has no route of several links and the same load on all links.
    bool has_shortest_time() const { return shortest_time_; }

   private:
    std::string note() const {
      if (stop_condition_.stopped()) return std::string(stopped_note);
      return std::string(all_cost_the_same_ ? "every placement costs the same" : "");
    }

    bool is_large() const { return problem_.graph.rank_count() > max_ranks_for_local_search; }

    void add(std::vector<Core> core_of) {
      const TimedSection timing("evaluation");
      const double value = evaluate(problem_.graph, problem_.topology, core_of, problem_.model);
      Candidate candidate{std::move(core_of), objective(problem_.model, value)};
      const auto at = std::upper_bound(candidates_.begin(), candidates_.end(), candidate.cost,
                                       [](double cost, const Candidate& other) { return cost < other.cost; });
      candidates_.insert(at, std::move(candidate));
      if (is_large()) candidates_.resize(1);  // no search starts from others, which would take memory
    }

    /// Adds at least the start, if there is one, and the block placement; of a large program at the end, so that it
    /// takes no memory before.
    void construct() {
      if (!problem_.start.empty()) add(start_of(problem_));
      if (!is_large()) add_block();
      if (!stop_condition_.should_stop_now()) construct_others();
      if (is_large()) add_block();
    }

    void add_block() { add(block_placement(problem_.graph.rank_count(), problem_.topology, problem_.capacities)); }

    void construct_others() {
      const std::uint32_t ranks = problem_.graph.rank_count();
      const bool fills_machine = problem_.capacities.total() == ranks;
      all_cost_the_same_ = fills_machine && is_uniform_all_to_all(problem_.graph);
      finished_ = all_cost_the_same_;
      if (finished_) return;
      if (!is_large()) add(round_robin_placement(ranks, problem_.topology, problem_.capacities));
      if (stop_condition_.should_stop_now()) return;
      const auto grid = recognise_grid(problem_.graph);
      if (grid) {
        if (auto tiling = tiled_placement(problem_, *grid)) add(std::move(*tiling));
        auto embedding = embed_grid_in_mesh(problem_, *grid);
        // A regular grid that fills a symmetric tree: no better placement than the tiling is known. The grid was
        // recognised by its bytes; the numbers of messages can have another structure.
        const bool only_bytes_count = problem_.model != CostModel::time || messages_follow_bytes(problem_.graph);
        finished_ = only_bytes_count && grid->regular && fills_machine &&
                    MachineTree(problem_.topology, problem_.capacities).symmetric() &&
                    problem_.topology.cost_by_bit().has_value();
        // No edge of the grid can be shorter than one hop, but edges across corners take several. If edges differ, it
        // matters which of them stay inside a node.
        const bool one_slot = nodes_have_one_slot(problem_);
        const bool is_adjacent = only_bytes_count && grid->exact && embedding && embedding->adjacent;
        const bool has_one_hop_edges = is_adjacent && !grid->has_corner_edges();
        const bool is_compact = is_adjacent && (one_slot || has_compact_boxes(*grid, embedding->core_of));
        finished_ = finished_ || (is_compact && grid->regular) || (has_one_hop_edges && one_slot);
        shortest_time_ =
            has_one_hop_edges && is_compact && fills_machine && (one_slot || edges_are_equal(problem_.graph));
        if (embedding) add(std::move(embedding->core_of));
        if (needs_other_placements_ && !shortest_time_) finished_ = false;
        if (finished_ || ranks > max_ranks_for_parallel_runs) return;
      }
      const bool is_grid = grid && grid->stencil;
      run_multilevel(is_grid);
      if (problem_.topology.routed() && !is_grid) add_rank_order_embedding();
      add_parts_first();
    }

    void add_parts_first() {
      if (effort_ == Effort::fast || problem_.graph.rank_count() > max_ranks_for_second_run ||
          stop_condition_.should_stop_now())
        return;
      auto placement = place_parts_first(problem_, [&](const MapProblem& part) {
        const bool few_nodes = part.topology.routed() && part.topology.node_count() <= 64;
        return Search(part, run_, few_nodes ? Effort::balanced : Effort::fast).run().core_of;
      });
      if (placement) add(std::move(*placement));
    }

    /// Boxes of the grid that fit the axes of the network can have much more traffic between nodes than other parts.
    bool has_compact_boxes(const Grid& grid, std::span<const Core> core_of) const {
      const Topology& topology = problem_.topology;
      const auto node_of = [&](Rank rank) { return topology.node_of(core_of[index(rank)]); };
      double ranks_of_node = 0, bytes = 0;
      for (const Rank rank : problem_.graph.ranks()) {
        if (node_of(rank) == node_of(Rank{0})) ++ranks_of_node;
        const auto targets = problem_.graph.targets(rank);
        for (std::size_t edge = 0; edge < targets.size(); ++edge) {
          if (node_of(targets[edge]) != node_of(rank)) bytes += problem_.graph.bytes(rank)[edge];
        }
      }
      constexpr double tolerance = 1.1;
      return bytes <= tolerance * BoundaryTraffic(grid).min_crossing_bytes(ranks_of_node);
    }

    /// If the block placement costs far more than the best one, or about as much as a random one, the traffic does not
    /// follow the numbers of the ranks.
    void add_rank_order_embedding() {
      constexpr double max_ratio = 2, max_ratio_to_random = 0.9;
      if (stop_condition_.should_stop_now()) return;
      const auto cost_of = [&](const std::vector<Core>& core_of) {
        return objective(problem_.model, evaluate(problem_.graph, problem_.topology, core_of, problem_.model));
      };
      const std::uint32_t ranks = problem_.graph.rank_count();
      const double of_block = cost_of(block_placement(ranks, problem_.topology, problem_.capacities));
      if (of_block > max_ratio * candidates_.front().cost) return;
      Random random(run_.seed);
      if (of_block >
          max_ratio_to_random * cost_of(random_placement(ranks, problem_.topology, problem_.capacities, random)))
        return;
      const RankOrderLimits limits{.max_visits = preset_.rank_order_visits,
                                   .max_comparisons = preset_.max_rank_order_comparisons,
                                   .cost_to_beat = candidates_.front().cost};
      if (auto placement = embed_rank_order(problem_, limits)) add(std::move(*placement));
    }

    /// `is_grid`: the tiling is one of the candidates.
    void run_multilevel(bool is_grid) {
      const multilevel::VertexGraph vertices(problem_);
      if (is_grid && !candidates_.empty()) {
        add(multilevel::refine_placement(problem_, vertices, candidates_.front().core_of, preset_.mapping_fm_passes));
        if (!preset_.multilevel_on_grids && !problem_.topology.routed() && !needs_other_placements_) return;
      }
      // With a deadline, runs are sequential too: one complete run is worth more than several incomplete ones.
      const bool parallel = problem_.graph.rank_count() <= max_ranks_for_parallel_runs && !run_.deadline.limited();
      const std::size_t batch = parallel ? preset_.multilevel_runs : 1;
      // Nothing else uses the time of large programs.
      const bool runs_until_deadline = preset_.metaheuristics_until_deadline && run_.deadline.limited() &&
                                       problem_.graph.rank_count() > max_ranks_for_metaheuristics;
      const std::size_t max_runs =
          runs_until_deadline ? std::numeric_limits<std::size_t>::max() : preset_.multilevel_runs;
      // The first run always starts: even if the deadline cuts it short, it is better than the other candidates.
      for (std::size_t done = 0; done < max_runs && (done == 0 || !stop_condition_.should_stop_now()); done += batch) {
        std::vector<std::vector<Core>> placements(std::min(batch, max_runs - done));
        parallel_chunks(placements.size(), 1, [&](std::size_t at, std::size_t) {
          auto options = static_cast<const multilevel::Options&>(preset_);
          options.multisection.pack = has_many_free_slots(problem_) && (done + at) % 2 == 0;
          placements[at] = multilevel::multilevel_placement(problem_, vertices, options, mix(run_.seed) + done + at);
        });
        for (auto& placement : placements) add(std::move(placement));
      }
    }

    void improve() {
      // With little time on networks, annealing ends where the descent would.
      const bool anneals_first = effort_ == Effort::fast && preset_.metaheuristic_trials > 0;
      const double cost = candidates_.front().cost;
      if (anneals_first) search_metaheuristically();
      if (!anneals_first || candidates_.front().cost == cost) descend();
      if (problem_.model == CostModel::congestion) reduce_congestion();
      if (!anneals_first) search_metaheuristically();
    }

    void descend() {
      if (problem_.graph.rank_count() > max_ranks_for_local_search || stop_condition_.should_stop_now()) return;
      PlacementState state(problem_, candidates_.front().core_of);
      NeighbourhoodDescent(state).run(stop_condition_);
      if (state.cost() < candidates_.front().cost) add(state.placement());
    }

    void search_metaheuristically() {
      if (preset_.metaheuristic_trials == 0 || problem_.graph.rank_count() > max_ranks_for_metaheuristics ||
          stop_condition_.should_stop_now()) {
        return;
      }
      std::vector<std::vector<Core>> starts;
      for (const Candidate& candidate : candidates_) starts.push_back(candidate.core_of);
      const bool until_deadline = preset_.metaheuristics_until_deadline && run_.deadline.limited();
      const std::uint64_t iterations = std::max<std::uint64_t>(1, preset_.metaheuristic_trials / 1000);
      add(metaheuristic_search(problem_, std::move(starts), {.iterations = until_deadline ? 0 : iterations}, run_));
      stop_condition_.should_stop_now();
    }

    /// From the best candidates and, where there is time, from a random placement: dense traffic loads the links most
    /// evenly if it is spread over the whole network.
    void reduce_congestion() {
      if (problem_.graph.rank_count() > max_ranks_for_local_search) return;
      std::vector<std::vector<Core>> starts;
      double cost = -1;
      for (const Candidate& candidate : candidates_) {
        if (candidate.cost == cost) continue;  // most likely the same placement
        cost = candidate.cost;
        if (starts.size() < preset_.link_load_candidates) starts.push_back(candidate.core_of);
      }
      if (effort_ != Effort::fast) {
        Random random(run_.seed);
        starts.push_back(random_placement(problem_.graph.rank_count(), problem_.topology, problem_.capacities, random));
      }
      const std::uint64_t trials = preset_.link_load_trials * problem_.graph.rank_count();
      for (auto& start : starts) {
        if (stop_condition_.should_stop_now()) return;
        add(reduce_link_loads(problem_, std::move(start), trials, run_.seed, stop_condition_));
      }
    }

    const MapProblem& problem_;
    const MapRun& run_;
    Effort effort_;
    Preset preset_;
    StopCondition stop_condition_;
    std::vector<Candidate> candidates_;  // the cheapest first
    bool finished_ = false;              // no better placement is to be expected
    bool shortest_time_ = false;
    /// The cheapest placement of a grid is known, but it does not always have the shortest time.
    bool needs_other_placements_ = false;
    bool all_cost_the_same_ = false;
  };

  enum class Prefer : std::uint8_t { time, fewer_nodes };
  enum class Prediction : std::uint8_t { flows, channels };

  Effort effort_ = Effort::balanced;
  bool load_ = false;
  double tolerance_ = 0.03;
  Prefer prefer_ = Prefer::time;
  double node_price_ = 5;  // percent
  Prediction prediction_ = Prediction::flows;
};

}  // namespace

std::unique_ptr<Mapper> make_auto() {
  return std::make_unique<Auto>();
}

}  // namespace rankloom
