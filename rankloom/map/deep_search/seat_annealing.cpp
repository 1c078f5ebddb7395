// SPDX-License-Identifier: Apache-2.0
// map/deep_search: simulated annealing over exchanges, for programs whose ranks have few partners each.
#include "rankloom/map/deep_search/seat_annealing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "rankloom/model/distance.hpp"

namespace rankloom {
namespace {

/// Temperatures relative to the cost of an average rank in the start: from where nothing of the start is left to where
/// nothing happens any more, in steps of equal ratio.
constexpr double hottest = 3;
constexpr double coldest = 0.003;
constexpr std::size_t temperatures = 40;
/// Share of a round that goes to all temperatures alike; the rest goes where the cost changes.
constexpr double even_share = 0.3;
/// Every other round begins where the cost was so far above the best, to change that in part only.
constexpr double lukewarm = 1.1;
/// Trials for each rank: of the first round, which only learns where the cost changes, and of the second; each later
/// round takes twice as many as the one before.
constexpr double first_trials = 500;
constexpr double second_trials = 10'000;
/// With fewer trials than these, there is one round, and it begins cooler.
constexpr double enough_trials = 2000;
constexpr double coolest_start = 0.05;
/// Trials in a second that any machine does.
constexpr double sure_speed = 4e6;
/// Share of a round at its end in which no step may raise the cost.
constexpr double quench = 0.05;
/// Of all trials, those that go anywhere.
constexpr double anywhere = 0.05;
/// Trials between two looks at the clock and at the temperature.
constexpr std::uint64_t batch = 1024;

/// -ln of numbers spread evenly over (0, 1): what a rise of cost may be in units of the temperature, ready to be drawn.
const std::array<double, 4096>& exponential_draws() {
  static const auto draws = [] {
    std::array<double, 4096> values{};
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = -std::log((static_cast<double>(at) + 0.5) / static_cast<double>(values.size()));
    }
    return values;
  }();
  return draws;
}

template <class Space, bool with_messages>
class Annealing {
 public:
  Annealing(const Space& space, const SeatGraph& graph, std::span<const Core> start, Random& random)
      : space_(space),
        graph_(graph),
        random_(random),
        item_on_(graph.items_on_seats(start)),
        seat_of_(graph.seats()),
        place_of_(graph.seats()),
        place_of_seat_(graph.seats()) {
    for (std::uint32_t seat = 0; seat < graph.seats(); ++seat) {
      seat_of_[item_on_[seat]] = seat;
      place_of_seat_[seat] = place_of_[item_on_[seat]] = space.place(graph.core_of(seat));
    }
  }

  /// One trial. A rise of cost passes if it is below the temperature times a draw.
  void attempt(double temperature) {
    const std::uint64_t bits = random_.next();
    const auto item = below(bits & 0xffffffff, graph_.ranks());
    const auto edges = graph_.edges(item);
    if (edges.empty()) return;
    const std::uint32_t seat = seat_of_[item];
    const std::uint64_t more = random_.next();
    const SeatGraph::Region region = target(seat, edges[below(bits >> 32, static_cast<std::uint32_t>(edges.size()))].to,
                                            static_cast<std::uint32_t>(more >> 44));
    if (region.begin == region.end) return;
    const std::uint32_t other = region.begin + below(more & 0xffffffff, region.end - region.begin);
    if (alike(seat, other)) return;
    const double limit = temperature * exponential_draws()[(more >> 32) % 4096];
    const double change = exchange_change(item, item_on_[other]);
    if (change > limit || (change == 0 && temperature == 0)) return;
    exchange(seat, other);
    cost_ += change;
  }
  /// Since the start.
  double cost_change() const { return cost_; }

  const std::vector<std::uint32_t>& items() const { return item_on_; }

 private:
  using Place = typename Space::Place;
  static std::uint32_t below(std::uint64_t bits, std::uint32_t bound) {
    return static_cast<std::uint32_t>((bits * bound) >> 32);
  }

  /// Where to: a region around the partner without this seat; empty when there is none.
  SeatGraph::Region target(std::uint32_t seat, std::uint32_t partner, std::uint32_t draw) const {
    if (draw < anywhere_ || graph_.levels() == 0) return {0, graph_.seats()};
    const std::uint32_t there = seat_of_[partner];
    std::size_t first = 0;
    while (first < graph_.levels() && graph_.region(first, seat).begin == graph_.region(first, there).begin) ++first;
    const std::size_t choices = graph_.levels() - first;
    if (choices == 0) return {0, 0};
    return graph_.region(first + draw % choices, there);
  }

  bool alike(std::uint32_t seat, std::uint32_t other) const {
    return seat == other || (graph_.levels() > 0 && graph_.region(graph_.levels() - 1, seat).begin ==
                                                        graph_.region(graph_.levels() - 1, other).begin);
  }

  /// What it changes if the item goes from one place to another, the traffic with `without` left out.
  double move_change(std::uint32_t item, Place from, Place to, std::uint32_t without) const {
    double change = 0;
    for (const SeatGraph::Edge& edge : graph_.edges(item)) {
      if (edge.to == without) continue;
      const Place there = place_of_[edge.to];
      const auto& after = space_.between(to, there);
      const auto& before = space_.between(from, there);
      change += edge.bytes * (after.per_byte - before.per_byte);
      if constexpr (with_messages) change += edge.messages * (after.per_message - before.per_message);
    }
    return change;
  }

  double exchange_change(std::uint32_t item, std::uint32_t other) const {
    const Place here = place_of_[item], there = place_of_[other];
    return move_change(item, here, there, other) + move_change(other, there, here, item);
  }

  void exchange(std::uint32_t seat, std::uint32_t other) {
    std::swap(item_on_[seat], item_on_[other]);
    for (const std::uint32_t changed : {seat, other}) {
      seat_of_[item_on_[changed]] = changed;
      place_of_[item_on_[changed]] = place_of_seat_[changed];
    }
  }

  const Space& space_;
  const SeatGraph& graph_;
  Random& random_;
  std::vector<std::uint32_t> item_on_, seat_of_;
  std::vector<Place> place_of_, place_of_seat_;  // by item, by seat
  std::uint32_t anywhere_ = static_cast<std::uint32_t>(anywhere * (1 << 20));
  double cost_ = 0;
};

double cost_of(const MapProblem& problem, std::span<const Core> core_of) {
  return objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
}

double seconds(Deadline::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// How long a round stays at each temperature. Where the cost changes fast with the temperature a system needs time to
/// follow it; the time there goes with the root of that speed (Salamon et al. 1988, constant thermodynamic speed), as
/// the rounds before have seen it.
class Schedule {
 public:
  explicit Schedule(double unit) : unit_(unit), sum_(temperatures, 0.0), count_(temperatures, 0.0) {}

  double temperature(double step) const {
    return unit_ * hottest * std::pow(coldest / hottest, step / static_cast<double>(temperatures));
  }
  void record(double step, double cost) {
    sum_[static_cast<std::size_t>(step)] += cost;
    ++count_[static_cast<std::size_t>(step)];
  }
  bool recorded() const { return count_.front() > 0; }
  /// The first temperature from the top at which the cost was below this, or the last.
  std::size_t step_below(double cost) const {
    std::size_t step = 0;
    while (step + 1 < temperatures && (count_[step] == 0 || sum_[step] / count_[step] > cost)) ++step;
    return step;
  }
  /// The ends of the shares of a round that begins at a step; the last is 1.
  std::vector<double> shares(std::size_t begin) const {
    std::vector<double> weight(temperatures, 0.0);
    double total = 0;
    for (std::size_t step = begin + 1; recorded() && step < temperatures; ++step) {
      if (count_[step] == 0 || count_[step - 1] == 0) continue;
      const double fall = sum_[step - 1] / count_[step - 1] - sum_[step] / count_[step];
      const double width = temperature(static_cast<double>(step) - 1) - temperature(static_cast<double>(step));
      weight[step] = std::sqrt(std::max(fall, 0.0) / width);
      total += weight[step];
    }
    const double even = (total > 0 ? even_share : 1) / static_cast<double>(temperatures - begin);
    double end = 0;
    std::vector<double> ends(temperatures, 0.0);
    for (std::size_t step = begin; step < temperatures; ++step) {
      ends[step] = end += even + (total > 0 ? (1 - even_share) * weight[step] / total : 0);
    }
    return ends;
  }

 private:
  double unit_;
  std::vector<double> sum_, count_;  // by step: of the costs seen there
};

/// One fall of the temperature from a step on, over so many trials or until the deadline, whichever comes first.
/// `start_cost` is where the search begins.
template <class Search>
void cool(Search& search, Schedule& schedule, std::size_t begin_step, double start_cost, std::uint64_t trials,
          const Deadline& deadline, Pulse& pulse) {
  const auto begin = Deadline::Clock::now();
  const double time = seconds(deadline.left());
  const std::vector<double> ends = schedule.shares(begin_step);
  std::size_t step = begin_step;
  double progress = 0;
  for (std::uint64_t tried = 0; progress < 1 && !pulse.stop_now(); tried += batch) {
    const double annealed = progress / (1 - quench);
    double temperature = 0;
    if (annealed < 1) {
      while (step + 1 < temperatures && ends[step] <= annealed) ++step;
      const double from = step == begin_step ? 0 : ends[step - 1];
      const double at = static_cast<double>(step) + std::min((annealed - from) / (ends[step] - from), 1.0);
      temperature = schedule.temperature(at);
    }
    for (std::uint64_t trial = 0; trial < batch; ++trial) search.attempt(temperature);
    if (annealed < 1) schedule.record(static_cast<double>(step), start_cost + search.cost_change());
    progress = static_cast<double>(tried + batch) / static_cast<double>(trials);
    if (deadline.limited()) progress = std::max(progress, seconds(Deadline::Clock::now() - begin) / time);
  }
}

/// Trials for each rank that there will be time for.
double expected_trials(std::uint32_t ranks, std::uint64_t trials, const Deadline& deadline) {
  const double allowed = static_cast<double>(trials);
  return (deadline.limited() ? std::min(allowed, seconds(deadline.left()) * sure_speed) : allowed) / ranks;
}

/// Where a round with few trials begins: the fewer, the cooler.
std::size_t cool_step(double trials) {
  const double begin = std::clamp(hottest * trials / enough_trials, coolest_start, hottest);
  return static_cast<std::size_t>(temperatures * std::log(begin / hottest) / std::log(coldest / hottest));
}

template <class Space, bool with_messages>
std::vector<Core> anneal(const Space& space, const MapProblem& problem, const SeatGraph& graph, std::vector<Core> best,
                         std::uint64_t trials, const Deadline& deadline, Random& random, Pulse& pulse) {
  double best_cost = cost_of(problem, best);
  Schedule schedule(std::abs(best_cost) / graph.ranks());
  const double expected = expected_trials(graph.ranks(), trials, deadline);
  const bool short_of_time = expected < enough_trials;
  std::size_t begin = short_of_time ? cool_step(expected) : 0;
  double length = (short_of_time ? enough_trials : first_trials) * graph.ranks();
  bool melts = !short_of_time;
  for (std::uint64_t left = trials; left > 0 && !pulse.stop_now();) {
    // What would be too short for a round of its own joins the last one.
    const std::uint64_t round = static_cast<double>(left) < 2 * length ? left : static_cast<std::uint64_t>(length);
    Annealing<Space, with_messages> search(space, graph, best, random);
    cool(search, schedule, begin, best_cost, round, deadline, pulse);
    std::vector<Core> found = graph.placement(search.items());
    if (const double cost = cost_of(problem, found); cost < best_cost) {
      best_cost = cost;
      best = std::move(found);
    }
    left -= round;
    begin = melts ? 0 : schedule.step_below(best_cost + (lukewarm - 1) * std::abs(best_cost));
    melts = !melts;
    length = std::max(2 * length, second_trials * graph.ranks());
  }
  return best;
}

}  // namespace

std::vector<Core> anneal_seats(const MapProblem& problem, const SeatGraph& graph, std::vector<Core> start,
                               std::uint64_t trials, const Deadline& deadline, Random& random, Pulse& pulse) {
  if (graph.without_traffic()) return start;
  const Distance any = make_distance(problem.topology, problem.model);
  return std::visit(
      [&](const auto& space) {
        using Space = std::decay_t<decltype(space)>;
        return problem.model == CostModel::time
                   ? anneal<Space, true>(space, problem, graph, std::move(start), trials, deadline, random, pulse)
                   : anneal<Space, false>(space, problem, graph, std::move(start), trials, deadline, random, pulse);
      },
      any);
}

}  // namespace rankloom
