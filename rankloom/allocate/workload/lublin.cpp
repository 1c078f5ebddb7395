// SPDX-License-Identifier: Apache-2.0
// allocate/workload: the workload model of U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers:
// modeling the characteristics of rigid jobs", J. Parallel Distrib. Comput. 63 (2003), written from its definitions:
// sizes from a two-stage uniform distribution of log2, run times from a mixture of two gamma distributions of the
// natural logarithm that depends on the size, arrivals from a gamma distribution of the logarithm under a daily cycle.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

// Parameters as published for all job types together.
constexpr double min_log = 0.8, middle_below_largest = 2.5, lower_share = 0.86;               // sizes, as log2
constexpr double short_shape = 4.2, short_scale = 0.94, long_shape = 312, long_scale = 0.03;  // run times, as ln
constexpr double short_slope = -0.0054, short_share = 0.78;                                   // fraction of short jobs
constexpr double arrival_shape = 10.2303 * 1.0225, arrival_scale = 0.4871;                    // between arrivals, as ln
constexpr double day_shape = 8.1737, day_scale = 3.9631;                                      // arrivals over the day
constexpr double max_run_log = 12, max_interarrival_log = 13;
constexpr std::size_t slots = 48;  // half hours of a day
constexpr double slot_seconds = 1800;
constexpr std::size_t day_begins = 11;

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

/// A gamma-distributed number by the method of Marsaglia and Tsang (2000), for shapes of at least 1.
double gamma(Random& random, double shape, double scale) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(random), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - random.unit()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

/// The cumulative gamma distribution, by the series of the incomplete gamma function.
double gamma_below(double value, double shape, double scale) {
  const double x = value / scale;
  if (x <= 0) return 0;
  double term = 1 / shape, sum = term;
  for (int n = 1; n < 10000 && term > sum * 1e-15; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return sum * std::exp(-x + shape * std::log(x) - std::lgamma(shape));
}

/// The arrival rate in each half hour of the day, relative to the mean rate.
std::array<double, slots> daily_cycle() {
  std::array<double, slots> weight{};
  double sum = 0;
  for (std::size_t i = day_begins; i < slots + day_begins; ++i) {
    const auto middle = static_cast<double>(i);
    const double share =
        gamma_below(middle + 0.5, day_shape, day_scale) - gamma_below(middle - 0.5, day_shape, day_scale);
    weight[(i - 1) % slots] = share;
    sum += share;
  }
  for (double& rate : weight) rate *= static_cast<double>(slots) / sum;
  return weight;
}

/// Arrival times under the daily cycle: an interval drawn at the mean rate is shortened in busy half hours and
/// lengthened in quiet ones.
class Arrivals {
 public:
  double next(Random& random) {
    double log_interarrival = 0;
    do {
      log_interarrival = gamma(random, arrival_shape, arrival_scale);
    } while (log_interarrival > max_interarrival_log);
    double left = std::exp(log_interarrival);  // seconds at the mean rate
    while (true) {
      const double rest = (slot_end_ - now_) * weight_[slot_];
      if (left <= rest) break;
      left -= rest;
      now_ = slot_end_;
      slot_end_ += slot_seconds;
      slot_ = (slot_ + 1) % slots;
    }
    now_ += left / weight_[slot_];
    return now_;
  }

 private:
  std::array<double, slots> weight_ = daily_cycle();
  double now_ = 0, slot_end_ = slot_seconds;
  std::size_t slot_ = 0;
};

std::uint64_t size_of_job(Random& random, const LublinOptions& options) {
  const double kind = random.unit();
  if (kind <= options.serial || options.nodes == 1) return 1;
  const double largest = std::log2(static_cast<double>(options.nodes));
  const double smallest = std::min(min_log, largest);
  const double middle = std::clamp(largest - middle_below_largest, smallest, largest);
  const bool low = random.unit() <= lower_share;
  const double from = low ? smallest : middle, to = low ? middle : largest;
  double log_size = from + (to - from) * random.unit();
  if (kind <= options.serial + options.power_of_two) log_size = std::floor(log_size + 0.5);
  const auto size = static_cast<std::uint64_t>(std::llround(std::exp2(log_size)));
  return std::clamp<std::uint64_t>(size, 1, options.nodes);
}

double run_of_job(Random& random, std::uint64_t size) {
  const double share = std::clamp(short_slope * static_cast<double>(size) + short_share, 0.0, 1.0);
  while (true) {
    const bool is_short = random.unit() <= share;
    const double log_run = is_short ? gamma(random, short_shape, short_scale) : gamma(random, long_shape, long_scale);
    if (log_run <= max_run_log) return std::max(1.0, std::floor(std::exp(log_run)));
  }
}

}  // namespace

Result<Workload> lublin_workload(const LublinOptions& options) {
  if (options.jobs == 0 || options.nodes == 0)
    return fail(Code::usage, at("gen workload"), "a workload needs at least one job and at least one node",
                "give for example --jobs 10000 --nodes 256");
  Workload workload;
  workload.name = fmt::format("Lublin-Feitelson model, {} nodes, seed {}", options.nodes, options.seed);
  workload.machine_size = options.nodes;
  workload.jobs.reserve(options.jobs);
  Random arrival_random(options.seed, 0), size_random(options.seed, 1), run_random(options.seed, 2);
  Arrivals arrivals;
  for (std::uint64_t i = 0; i < options.jobs; ++i) {
    WorkloadJob job;
    job.number = i + 1;
    job.submit = std::floor(arrivals.next(arrival_random));
    job.tasks = size_of_job(size_random, options);
    job.run = job.estimate = run_of_job(run_random, job.tasks);
    workload.jobs.push_back(job);
  }
  return workload;
}

}  // namespace rankloom
