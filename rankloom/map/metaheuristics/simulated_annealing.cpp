// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: simulated annealing with a cooling schedule that adapts to the problem.
#include "rankloom/map/metaheuristics/simulated_annealing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/metaheuristics/annealing_domains.hpp"
#include "rankloom/map/metaheuristics/annealing_trials.hpp"
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
/// Trials between two updates of the clock and of the temperature.
constexpr std::uint64_t sequential_batch = 1024;
/// In domains: the phases of a round, each with another division, and the trials of a phase per rank.
constexpr std::uint64_t phases_per_round = 128;
constexpr std::uint64_t min_trials_of_phase = 4;
constexpr std::uint64_t max_trials_of_phase = 16;
/// And how many trials are drawn at most for each one that finds a location in its domain.
constexpr std::uint64_t max_draws_in_grown_domains = 4;
/// Locations that are copied in one chunk.
constexpr std::size_t locations_of_chunk = 1024;

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

/// All ranks take part in each trial.
template <class Trials>
class SequentialSearch {
 public:
  template <class Space>
  SequentialSearch(const Space& space, const SparseQap& graph, std::span<const std::uint32_t> facility_at,
                   Random& random)
      : trials_(space, graph, facility_at), random_(random) {}

  std::uint64_t batch() const { return sequential_batch; }
  void run_batch(double temperature) {
    for (std::uint64_t trial = 0; trial < sequential_batch; ++trial) trials_.run_trial(temperature, random_);
  }
  double cost_delta() const { return trials_.cost_delta(); }
  const std::vector<std::uint32_t>& assignment() const { return trials_.assignment(); }

 private:
  Trials trials_;
  Random& random_;
};

/// A batch is a phase in which the domains anneal in parallel. Each takes the ranks of the others to be where they were
/// at the start of the phase. On trees, a quarter more trials than of a sequential search give the same cost.
template <class Trials>
class DomainSearch {
 public:
  template <class Space>
  DomainSearch(const Space& space, const SparseQap& graph, std::span<const std::uint32_t> facility_at,
               AnnealingDomains::Kind kind, std::uint64_t trials, Random& random)
      : graph_(graph),
        seed_(random.next()),
        domains_(graph, facility_at, kind, seed_),
        facility_at_(facility_at.begin(), facility_at.end()),
        trials_(domains_.domains(), Trials(space, graph, facility_at)),
        start_cost_(trials_.front().cost_of(facility_at)),
        trials_per_rank_(is_scattered() ? min_trials_of_phase
                                        : std::clamp(trials / phases_per_round / graph.ranks(), min_trials_of_phase,
                                                     max_trials_of_phase)) {}

  std::uint64_t batch() const { return trials_per_rank_ * graph_.ranks(); }
  void run_batch(double temperature) {
    if (phase_ > 0 && phase_ % AnnealingDomains::division_count == 0)
      domains_ = AnnealingDomains(graph_, facility_at_, domains_.kind(), seed_ + phase_);
    const auto division = domains_.division(phase_);
    parallel_chunks(domains_.domains(), 1, [&](std::size_t domain, std::size_t) {
      Trials& trials = trials_[domain];
      trials.restrict_to_domain(static_cast<std::uint32_t>(domain), domains_.kind(), division, facility_at_);
      Random random(seed_ + phase_, domain);
      const std::uint64_t count = trials_per_rank_ * trials.rank_count();
      const std::uint64_t max_drawn = is_scattered() ? count : max_draws_in_grown_domains * count;
      for (std::uint64_t done = 0, drawn = 0; done < count && drawn < max_drawn; ++drawn)
        done += trials.run_trial(temperature, random) ? 1 : 0;
    });
    parallel_chunks(facility_at_.size(), locations_of_chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t location = begin; location < end; ++location)
        facility_at_[location] = trials_[division[location]].assignment()[location];
    });
    ++phase_;
  }
  double cost_delta() const { return trials_.front().cost_of(facility_at_) - start_cost_; }
  const std::vector<std::uint32_t>& assignment() const { return facility_at_; }

 private:
  bool is_scattered() const { return domains_.kind() == AnnealingDomains::Kind::scattered; }

  const SparseQap& graph_;
  std::uint64_t seed_;
  AnnealingDomains domains_;
  std::vector<std::uint32_t> facility_at_;
  std::vector<Trials> trials_;  // by domain
  double start_cost_;
  std::uint64_t trials_per_rank_;
  std::uint64_t phase_ = 0;
};

/// One round: the temperature falls from `begin_step` on, over `trials` trials or until the deadline, whichever comes
/// first. `start_cost` is the cost of the start. The costs are recorded for the following round, if there is one.
template <class Search>
void run_round(Search& search, CoolingSchedule& schedule, std::size_t begin_step, double start_cost,
               std::uint64_t trials, bool is_last, const Deadline& deadline, StopCondition& stop_condition) {
  const auto begin = Deadline::Clock::now();
  const double time = seconds(deadline.left());
  const std::vector<double> ends = schedule.step_ends(begin_step);
  std::size_t step = begin_step;
  double progress = 0;
  for (std::uint64_t tried = 0; progress < 1 && !stop_condition.should_stop_now(); tried += search.batch()) {
    const double annealed = progress / (1 - quench_fraction);
    double temperature = 0;
    if (annealed < 1) {
      while (step + 1 < temperatures && ends[step] <= annealed) ++step;
      const double from = step == begin_step ? 0 : ends[step - 1];
      const double at = static_cast<double>(step) + std::min((annealed - from) / (ends[step] - from), 1.0);
      temperature = schedule.temperature(at);
    }
    search.run_batch(temperature);
    if (annealed < 1 && !is_last) schedule.record(static_cast<double>(step), start_cost + search.cost_delta());
    progress = static_cast<double>(tried + search.batch()) / static_cast<double>(trials);
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

/// On large machines, rounds anneal in domains. Below the highest temperature, domains follow the traffic. At the
/// highest temperature, groups of ranks have to cross the whole machine, so domains are scattered over it; on networks,
/// such domains contain too few of the locations next to a partner.
std::optional<AnnealingDomains::Kind> domains_for(const SparseQap& graph, bool on_network, bool single_round) {
  if (graph.location_count() < AnnealingDomains::min_locations ||
      graph.location_count() > AnnealingDomains::max_locations) {
    return std::nullopt;
  }
  if (single_round) return AnnealingDomains::Kind::grown;
  return on_network ? std::nullopt : std::optional(AnnealingDomains::Kind::scattered);
}

template <class Trials, class Space>
std::vector<Core> anneal(const Space& space, const MapProblem& problem, const SparseQap& graph, std::vector<Core> best,
                         std::uint64_t trials, const Deadline& deadline, Random& random,
                         StopCondition& stop_condition) {
  double best_cost = cost_of(problem, best);
  CoolingSchedule schedule(std::abs(best_cost) / graph.ranks());
  const double expected = expected_trials(graph.ranks(), trials, deadline);
  const bool on_network = problem.topology.routed() && graph.location_count() > max_locations_for_tabu_search;
  const bool single_round = expected < (on_network ? min_network_trials_for_rounds : min_trials_for_rounds);
  const auto domains = domains_for(graph, on_network, single_round);
  const auto run_from_best = [&](std::size_t begin, std::uint64_t round, bool is_last) {
    const auto result_of = [&](auto search, std::uint64_t count) {
      run_round(search, schedule, begin, best_cost, count, is_last, deadline, stop_condition);
      return graph.locations().placement_of(search.assignment());
    };
    const auto start = graph.locations().assignment_of(best);
    const std::uint64_t in_domains = on_network ? round : round + round / 4;
    std::vector<Core> candidate =
        domains ? result_of(DomainSearch<Trials>(space, graph, start, *domains, in_domains, random), in_domains)
                : result_of(SequentialSearch<Trials>(space, graph, start, random), round);
    if (const double cost = cost_of(problem, candidate); cost < best_cost) {
      best_cost = cost;
      best = std::move(candidate);
    }
  };
  if (single_round) {
    const bool two_rounds = on_network && expected >= min_trials_for_polish;
    const auto polish =
        two_rounds ? static_cast<std::uint64_t>(polish_fraction * static_cast<double>(trials)) : std::uint64_t{0};
    run_from_best(step_of(start_temperature(expected, on_network)), trials - polish, true);
    if (two_rounds && !stop_condition.should_stop_now()) run_from_best(step_of(polish_temperature), polish, true);
    return best;
  }
  std::size_t begin = 0;
  double length = first_trials * graph.ranks();
  bool full_heat = true;
  for (std::uint64_t left = trials; left > 0 && !stop_condition.should_stop_now();) {
    // A remainder that is too short for another round is added to this one.
    const std::uint64_t round = static_cast<double>(left) < 2 * length ? left : static_cast<std::uint64_t>(length);
    left -= round;
    run_from_best(begin, round, left == 0);
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
        const auto search = problem.model == CostModel::time ? anneal<AnnealingTrials<Space, true>, Space>
                                                             : anneal<AnnealingTrials<Space, false>, Space>;
        return search(space, problem, graph, std::move(start), trials, deadline, random, stop_condition);
      },
      any);
}

}  // namespace rankloom
