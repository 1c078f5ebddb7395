// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: memetic search for the QAP (Benlic, Hao 2015).
#include "rankloom/map/metaheuristics/memetic_search.hpp"

#include <algorithm>
#include <numeric>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/metaheuristics/tabu_search.hpp"

namespace rankloom {
namespace {

using Assignment = std::vector<std::uint32_t>;

constexpr std::size_t population_size = 20;
/// Iterations of tabu search for a child, per facility. Few iterations are best for structured matrices (tai..b of
/// QAPLIB). Where they do not suffice, each population uses more iterations than the one before it, by this factor.
constexpr std::uint64_t initial_iterations = 10;
constexpr double iteration_growth = 1.5;
/// A population ends after this many consecutive children that did not enter it.
constexpr std::uint64_t patience = 60;

constexpr std::uint32_t unassigned = ~std::uint32_t{0};

struct Individual {
  Assignment facility_at;
  double cost;
};

template <class Number>
class MemeticSearch {
 public:
  MemeticSearch(const QapInstance& instance, std::uint64_t iterations, Random& random, StopCondition& stop_condition)
      : instance_(instance),
        tabu_(instance),
        iterations_left_(iterations),
        random_(random),
        stop_condition_(stop_condition) {}

  Assignment run(const std::vector<Assignment>& starts) {
    best_ = {starts.front(), instance_.cost(starts.front())};
    if (instance_.size() < 2) return starts.front();
    std::uint64_t iterations = initial_iterations * instance_.size();
    for (const Assignment& start : starts) population_.push_back(improve(start, iterations));
    while (!finished()) {
      while (population_.size() < population_size && !finished())
        population_.push_back(improve(random_assignment(), iterations));
      evolve(iterations);
      population_.clear();
      iterations = static_cast<std::uint64_t>(static_cast<double>(iterations) * iteration_growth);
    }
    return best_.facility_at;
  }

 private:
  bool finished() const { return iterations_left_ == 0 || stop_condition_.stopped(); }

  Individual improve(const Assignment& from, std::uint64_t iterations) {
    tabu_.begin(from);
    iterations_left_ -= tabu_.run(std::min(iterations, iterations_left_), iterations, random_, stop_condition_);
    Individual child{tabu_.best(), tabu_.best_cost()};
    if (child.cost < best_.cost) best_ = child;
    return child;
  }

  Assignment random_assignment() {
    Assignment facility_at(instance_.size());
    std::iota(facility_at.begin(), facility_at.end(), 0U);
    random_.shuffle(std::span(facility_at));
    return facility_at;
  }

  void evolve(std::uint64_t iterations) {
    std::uint64_t rejected_children = 0;
    while (rejected_children < patience && !finished()) {
      const std::size_t first = select_parent();
      std::size_t second = select_parent();
      if (second == first) second = (first + 1) % population_.size();
      const Individual child =
          improve(crossover(population_[first].facility_at, population_[second].facility_at), iterations);
      const auto worst = std::max_element(population_.begin(), population_.end(),
                                          [](const auto& a, const auto& b) { return a.cost < b.cost; });
      const bool duplicate = std::any_of(population_.begin(), population_.end(),
                                         [&](const Individual& individual) { return individual.cost == child.cost; });
      ++rejected_children;
      if (child.cost >= worst->cost || duplicate) continue;
      *worst = child;
      rejected_children = 0;
    }
  }

  /// Binary tournament: the better of two random individuals.
  std::size_t select_parent() {
    const std::size_t a = random_.below(population_.size());
    const std::size_t b = random_.below(population_.size());
    return population_[a].cost < population_[b].cost ? a : b;
  }

  Assignment crossover(const Assignment& a, const Assignment& b) {
    Assignment child(a.size(), unassigned);
    std::vector<bool> placed(a.size(), false);
    const auto assign = [&](std::size_t location, std::uint32_t facility) {
      child[location] = facility;
      placed[facility] = true;
    };
    for (std::size_t location = 0; location < a.size(); ++location) {
      if (a[location] == b[location]) assign(location, a[location]);
    }
    std::vector<std::uint32_t> order(a.size());
    std::iota(order.begin(), order.end(), 0U);
    random_.shuffle(std::span(order));
    for (const std::uint32_t location : order) {
      if (child[location] != unassigned) continue;
      const bool from_a = random_.below(2) == 0;
      const std::uint32_t first = from_a ? a[location] : b[location], second = from_a ? b[location] : a[location];
      if (!placed[first]) {
        assign(location, first);
      } else if (!placed[second]) {
        assign(location, second);
      }
    }
    std::vector<std::uint32_t> unplaced;
    for (std::uint32_t facility = 0; facility < a.size(); ++facility) {
      if (!placed[facility]) unplaced.push_back(facility);
    }
    random_.shuffle(std::span(unplaced));
    for (std::uint32_t& facility : child) {
      if (facility != unassigned) continue;
      facility = unplaced.back();
      unplaced.pop_back();
    }
    return child;
  }

  const QapInstance& instance_;
  TabuSearch<Number> tabu_;
  std::uint64_t iterations_left_;
  Random& random_;
  StopCondition& stop_condition_;
  std::vector<Individual> population_;
  Individual best_{};
};

}  // namespace

std::vector<std::uint32_t> memetic_search(const QapInstance& instance, const std::vector<Assignment>& starts,
                                          std::uint64_t iterations, Random& random, StopCondition& stop_condition) {
  const TimedSection timing("memetic search");
  const bool fits_int32 = instance.integral() && instance.max_delta() < 0x1p31;
  return fits_int32 ? MemeticSearch<std::int32_t>(instance, iterations, random, stop_condition).run(starts)
                    : MemeticSearch<double>(instance, iterations, random, stop_condition).run(starts);
}

}  // namespace rankloom
