// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: simulated annealing with a cooling schedule that adapts to the problem.
#include "rankloom/map/metaheuristics/simulated_annealing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/metaheuristics/metaheuristic_search.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {
namespace {

/// Temperatures relative to the average cost of a rank in the start: from a value at which nothing of the start remains
/// to one at which hardly any swap is accepted, in steps of equal ratio.
constexpr double hottest = 3;
constexpr double coldest = 0.003;
constexpr std::size_t temperatures = 40;
/// The fraction of a round that is distributed evenly over all temperatures; the rest is spent where the cost changes.
constexpr double even_fraction = 0.3;
/// Every other round reheats only to the temperature at which the cost was this factor above the best one, so that the
/// best placement changes only in part.
constexpr double reheat_factor = 1.1;
/// Trials per rank of the first round, which only measures where the cost changes, and of the second round. Each later
/// round has twice the trials of the one before.
constexpr double first_trials = 500;
constexpr double second_trials = 10'000;
/// With fewer trials per rank than this, there is a single round, and it starts at a lower temperature.
constexpr double min_trials_for_rounds = 2000;
constexpr double min_start_temperature = 0.05;
/// On networks of more than a few locations, partitioning decides the large structure and annealing improves most below
/// this temperature. With this many trials per rank, the last part of them starts from the best placement at a lower
/// temperature: groups of ranks that the first round has torn apart do not come together again.
constexpr double max_network_start_temperature = 0.3;
constexpr double min_network_trials_for_rounds = 5000;
constexpr double min_trials_for_polish = 500;
constexpr double polish_fraction = 0.3;
constexpr double polish_temperature = 0.1;
/// Trials per second that every machine reaches.
constexpr double min_trials_per_second = 4e6;
/// The fraction at the end of a round in which no swap may raise the cost.
constexpr double quench_fraction = 0.05;
/// The fraction of trials whose target is any location.
constexpr double global_fraction = 0.05;
/// On networks, one of this many targets next to the partner's node is two hops away from it instead of one.
constexpr std::size_t two_hops_in = 4;
/// Trials between two updates of the clock and of the temperature.
constexpr std::uint64_t batch = 1024;

/// -ln(u) for u evenly spread over (0, 1): a table from which exponentially distributed acceptance limits are drawn,
/// in units of the temperature.
const std::array<double, 4096>& exponential_draws() {
  static const auto draws = [] {
    std::array<double, 4096> values{};
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = -portable_log((static_cast<double>(at) + 0.5) / static_cast<double>(values.size()));
    }
    return values;
  }();
  return draws;
}

template <class Space, bool with_messages>
class Annealing {
 public:
  Annealing(const Space& space, const SparseQap& graph, std::span<const Core> start, Random& random)
      : space_(space),
        graph_(graph),
        random_(random),
        facility_at_(graph.locations().assignment_of(start)),
        location_of_(graph.location_count()),
        place_of_(graph.location_count()),
        place_of_location_(graph.location_count()),
        current_cost_(graph.location_count(), not_computed) {
    for (std::uint32_t location = 0; location < graph.location_count(); ++location) {
      location_of_[facility_at_[location]] = location;
      place_of_location_[location] = place_of_[facility_at_[location]] = space.key(graph.locations().core_of(location));
    }
  }

  /// One trial. The Metropolis rule: an increase of cost is accepted if it is below the temperature times an
  /// exponentially distributed random number.
  void run_trial(double temperature) {
    const std::uint64_t bits = random_.next();
    const auto facility = below(bits & 0xffffffff, graph_.ranks());
    const auto edges = graph_.edges(facility);
    if (edges.empty()) return;
    const std::uint32_t location = location_of_[facility];
    const std::uint64_t more_bits = random_.next();
    const SparseQap::Region region =
        target_region(location, edges[below(bits >> 32, static_cast<std::uint32_t>(edges.size()))].to,
                      static_cast<std::uint32_t>(more_bits >> 44));
    if (region.begin == region.end) return;
    const std::uint32_t other = region.begin + below(more_bits & 0xffffffff, region.end - region.begin);
    if (are_equivalent(location, other)) return;
    const double limit = temperature * exponential_draws()[(more_bits >> 32) % 4096];
    const double delta = swap_delta(facility, facility_at_[other]);
    if (delta > limit || (delta == 0 && temperature == 0)) return;
    swap(location, other);
    cost_ += delta;
  }
  /// The change of cost since the start.
  double cost_delta() const { return cost_; }

  const std::vector<std::uint32_t>& assignment() const { return facility_at_; }

 private:
  using Place = typename Space::CoreKey;
  static std::uint32_t below(std::uint64_t bits, std::uint32_t bound) {
    return static_cast<std::uint32_t>((bits * bound) >> 32);
  }

  /// A random region that contains the partner but not this location; empty if there is none.
  SparseQap::Region target_region(std::uint32_t location, std::uint32_t partner, std::uint32_t draw) const {
    const std::uint32_t there = location_of_[partner];
    const auto nearby = graph_.nearby(there);
    if (draw < global_draws_ || (graph_.levels() == 0 && nearby.empty())) return {0, graph_.location_count()};
    std::size_t first = 0;
    while (first < graph_.levels() && graph_.region(first, location).begin == graph_.region(first, there).begin)
      ++first;
    const std::size_t choices = graph_.levels() - first;
    if (!nearby.empty()) return region_in_network(first, choices, there, draw);
    if (choices == 0) return {0, 0};
    return graph_.region(first + draw % choices, there);
  }

  /// A region inside the partner's node, or a node one or two hops away from it.
  SparseQap::Region region_in_network(std::size_t first, std::size_t choices, std::uint32_t there,
                                      std::uint32_t draw) const {
    const auto nearby = graph_.nearby(there);
    const std::size_t total = choices + nearby.size();
    const std::size_t choice = draw % total, more = draw / total;
    if (choice < choices) return graph_.region(first + choice, there);
    const SparseQap::Region one_hop = nearby[choice - choices];
    const auto next = graph_.nearby(one_hop.begin);
    if (more % two_hops_in != 0 || next.empty()) return one_hop;
    return next[more / two_hops_in % next.size()];
  }

  bool are_equivalent(std::uint32_t location, std::uint32_t other) const {
    return location == other || (graph_.levels() > 0 && graph_.region(graph_.levels() - 1, location).begin ==
                                                            graph_.region(graph_.levels() - 1, other).begin);
  }

  double cost_of_edge(const SparseQap::Edge& edge, Place at, Place there) const {
    const auto& distance = space_.between(at, there);
    double cost = edge.bytes * distance.per_byte;
    if constexpr (with_messages) cost += edge.messages * distance.per_message;
    return cost;
  }

  /// The cost of the traffic of a facility in its place. Most trials change nothing, so it is stored.
  double current_cost(std::uint32_t facility) {
    if (current_cost_[facility] == not_computed) {
      const Place at = place_of_[facility];
      double cost = 0;
      for (const SparseQap::Edge& edge : graph_.edges(facility)) cost += cost_of_edge(edge, at, place_of_[edge.to]);
      current_cost_[facility] = cost;
    }
    return current_cost_[facility];
  }

  /// The change of cost if the facility moves, without its traffic with facility `except`.
  double move_delta(std::uint32_t facility, Place from, Place to, std::uint32_t except) {
    double before = current_cost(facility), after = 0;
    for (const SparseQap::Edge& edge : graph_.edges(facility)) {
      if (edge.to == except) {
        before -= cost_of_edge(edge, from, to);
      } else {
        after += cost_of_edge(edge, to, place_of_[edge.to]);
      }
    }
    return after - before;
  }

  double swap_delta(std::uint32_t facility, std::uint32_t other) {
    const Place from = place_of_[facility], to = place_of_[other];
    return move_delta(facility, from, to, other) + move_delta(other, to, from, facility);
  }

  void swap(std::uint32_t location, std::uint32_t other) {
    std::swap(facility_at_[location], facility_at_[other]);
    for (const std::uint32_t changed : {location, other}) {
      const std::uint32_t facility = facility_at_[changed];
      location_of_[facility] = changed;
      place_of_[facility] = place_of_location_[changed];
      current_cost_[facility] = not_computed;
      for (const SparseQap::Edge& edge : graph_.edges(facility)) current_cost_[edge.to] = not_computed;
    }
  }

  static constexpr double not_computed = std::numeric_limits<double>::infinity();
  const Space& space_;
  const SparseQap& graph_;
  Random& random_;
  std::vector<std::uint32_t> facility_at_, location_of_;
  std::vector<Place> place_of_, place_of_location_;  // by facility, by location
  std::vector<double> current_cost_;                 // by facility
  std::uint32_t global_draws_ = static_cast<std::uint32_t>(global_fraction * (1 << 20));
  double cost_ = 0;
};

double cost_of(const MapProblem& problem, std::span<const Core> core_of) {
  return objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
}

double seconds(Deadline::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// The cooling schedule: how many trials a round spends at each temperature. Where the cost changes fast with the
/// temperature, the placement needs more trials to reach equilibrium. The number of trials is proportional to the
/// square root of that rate (constant thermodynamic speed, Salamon et al. 1988), as measured in the rounds before.
class CoolingSchedule {
 public:
  explicit CoolingSchedule(double unit) : unit_(unit), sum_(temperatures, 0.0), count_(temperatures, 0.0) {}

  double temperature(double step) const {
    return unit_ * hottest * portable_pow(coldest / hottest, step / static_cast<double>(temperatures));
  }
  void record(double step, double cost) {
    sum_[static_cast<std::size_t>(step)] += cost;
    ++count_[static_cast<std::size_t>(step)];
  }
  bool recorded() const { return count_.front() > 0; }
  /// The highest temperature at which the mean cost was at most `cost`, or the last one.
  std::size_t step_below(double cost) const {
    std::size_t step = 0;
    while (step + 1 < temperatures && (count_[step] == 0 || sum_[step] / count_[step] > cost)) ++step;
    return step;
  }
  /// For a round that starts at step `begin`: the fraction of the round at whose end each step ends; the last is 1.
  std::vector<double> step_ends(std::size_t begin) const {
    std::vector<double> weight(temperatures, 0.0);
    double total = 0;
    for (std::size_t step = begin + 1; recorded() && step < temperatures; ++step) {
      if (count_[step] == 0 || count_[step - 1] == 0) continue;
      const double fall = sum_[step - 1] / count_[step - 1] - sum_[step] / count_[step];
      const double width = temperature(static_cast<double>(step) - 1) - temperature(static_cast<double>(step));
      weight[step] = std::sqrt(std::max(fall, 0.0) / width);
      total += weight[step];
    }
    const double even = (total > 0 ? even_fraction : 1) / static_cast<double>(temperatures - begin);
    double end = 0;
    std::vector<double> ends(temperatures, 0.0);
    for (std::size_t step = begin; step < temperatures; ++step) {
      ends[step] = end += even + (total > 0 ? (1 - even_fraction) * weight[step] / total : 0);
    }
    return ends;
  }

 private:
  double unit_;
  std::vector<double> sum_, count_;  // by step: sum and number of the costs recorded there
};

/// One round: the temperature falls from `begin_step` on, over `trials` trials or until the deadline, whichever comes
/// first. `start_cost` is the cost of the start.
template <class Search>
void run_round(Search& search, CoolingSchedule& schedule, std::size_t begin_step, double start_cost,
               std::uint64_t trials, const Deadline& deadline, StopCondition& stop_condition) {
  const auto begin = Deadline::Clock::now();
  const double time = seconds(deadline.left());
  const std::vector<double> ends = schedule.step_ends(begin_step);
  std::size_t step = begin_step;
  double progress = 0;
  for (std::uint64_t tried = 0; progress < 1 && !stop_condition.should_stop_now(); tried += batch) {
    const double annealed = progress / (1 - quench_fraction);
    double temperature = 0;
    if (annealed < 1) {
      while (step + 1 < temperatures && ends[step] <= annealed) ++step;
      const double from = step == begin_step ? 0 : ends[step - 1];
      const double at = static_cast<double>(step) + std::min((annealed - from) / (ends[step] - from), 1.0);
      temperature = schedule.temperature(at);
    }
    for (std::uint64_t trial = 0; trial < batch; ++trial) search.run_trial(temperature);
    if (annealed < 1) schedule.record(static_cast<double>(step), start_cost + search.cost_delta());
    progress = static_cast<double>(tried + batch) / static_cast<double>(trials);
    if (deadline.limited()) progress = std::max(progress, seconds(Deadline::Clock::now() - begin) / time);
  }
}

/// Trials per rank that the time allows.
double expected_trials(std::uint32_t ranks, std::uint64_t trials, const Deadline& deadline) {
  const double allowed = static_cast<double>(trials);
  return (deadline.limited() ? std::min(allowed, seconds(deadline.left()) * min_trials_per_second) : allowed) / ranks;
}

std::size_t step_of(double temperature) {
  return static_cast<std::size_t>(temperatures * portable_log(temperature / hottest) / portable_log(coldest / hottest));
}

/// The start of a single round with few trials per rank: the fewer trials, the lower the temperature.
double start_temperature(double trials, bool on_network) {
  const double by_trials = std::clamp(hottest * trials / min_trials_for_rounds, min_start_temperature, hottest);
  return on_network ? std::min(by_trials, max_network_start_temperature) : by_trials;
}

template <class Space, bool with_messages>
std::vector<Core> anneal(const Space& space, const MapProblem& problem, const SparseQap& graph, std::vector<Core> best,
                         std::uint64_t trials, const Deadline& deadline, Random& random,
                         StopCondition& stop_condition) {
  double best_cost = cost_of(problem, best);
  CoolingSchedule schedule(std::abs(best_cost) / graph.ranks());
  const auto run_from_best = [&](std::size_t begin, std::uint64_t round) {
    Annealing<Space, with_messages> search(space, graph, best, random);
    run_round(search, schedule, begin, best_cost, round, deadline, stop_condition);
    std::vector<Core> candidate = graph.locations().placement_of(search.assignment());
    if (const double cost = cost_of(problem, candidate); cost < best_cost) {
      best_cost = cost;
      best = std::move(candidate);
    }
  };
  const double expected = expected_trials(graph.ranks(), trials, deadline);
  const bool on_network = problem.topology.routed() && graph.location_count() > max_locations_for_tabu_search;
  if (expected < (on_network ? min_network_trials_for_rounds : min_trials_for_rounds)) {
    const bool two_rounds = on_network && expected >= min_trials_for_polish;
    const auto polish =
        two_rounds ? static_cast<std::uint64_t>(polish_fraction * static_cast<double>(trials)) : std::uint64_t{0};
    run_from_best(step_of(start_temperature(expected, on_network)), trials - polish);
    if (two_rounds && !stop_condition.should_stop_now()) run_from_best(step_of(polish_temperature), polish);
    return best;
  }
  std::size_t begin = 0;
  double length = first_trials * graph.ranks();
  bool full_heat = true;
  for (std::uint64_t left = trials; left > 0 && !stop_condition.should_stop_now();) {
    // A remainder that is too short for another round is added to this one.
    const std::uint64_t round = static_cast<double>(left) < 2 * length ? left : static_cast<std::uint64_t>(length);
    run_from_best(begin, round);
    left -= round;
    begin = full_heat ? 0 : schedule.step_below(best_cost + (reheat_factor - 1) * std::abs(best_cost));
    full_heat = !full_heat;
    length = std::max(2 * length, second_trials * graph.ranks());
  }
  return best;
}

}  // namespace

std::vector<Core> simulated_annealing(const MapProblem& problem, const SparseQap& graph, std::vector<Core> start,
                                      std::uint64_t trials, const Deadline& deadline, Random& random,
                                      StopCondition& stop_condition) {
  const TimedSection timing("simulated annealing");
  if (!graph.has_traffic()) return start;
  const Distance any = make_distance(problem.topology, problem.model);
  return std::visit(
      [&](const auto& space) {
        using Space = std::decay_t<decltype(space)>;
        return problem.model == CostModel::time ? anneal<Space, true>(space, problem, graph, std::move(start), trials,
                                                                      deadline, random, stop_condition)
                                                : anneal<Space, false>(space, problem, graph, std::move(start), trials,
                                                                       deadline, random, stop_condition);
      },
      any);
}

}  // namespace rankloom
