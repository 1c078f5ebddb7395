// SPDX-License-Identifier: Apache-2.0
// bench/system: choosing nodes and mapping ranks together. Workloads at full load with EASY backfilling, in which every
// job has a communication pattern: run times depend on the nodes of a job, on the mapping of its ranks, and on the jobs
// with which it shares links. Required: the bounded slowdown of closed-fit is at most 0.95 of that of closed-best with
// a mapping afterwards and 0.75 of that of first-fit with ranks in block order, no job shares a link, and 2,000
// decisions per second on 1,024 nodes.
//
// The slowdown of one workload depends on a few large jobs and on the order in which they happen to start, so policies
// are compared by the geometric mean over workloads of different seeds and lengths, with its standard error.
//
//   bench_joint BIN [JOBS]               only the first JOBS jobs of each workload
//   bench_joint BIN seeds FIRST [COUNT]  only the workloads of these seeds, to check other seeds
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <string>

#include <fmt/format.h>

#include "bench/system/allocator.hpp"
#include "bench/verdict.hpp"
#include "rankloom/allocate/workload/workload_replay.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/place/joint/joint_model.hpp"

namespace {

using namespace rankloom;
using namespace rankloom::bench;

constexpr const char* fast_mapper = "auto:effort=fast";

void give_patterns(Workload& workload, std::uint64_t seed) {
  const std::vector<std::string> patterns(default_job_patterns().begin(), default_job_patterns().end());
  assign_applications(workload, value_or_exit(parse_applications(patterns)), seed);
}

struct Row {
  const char *policy, *mapper;
  bool headroom = true;  ///< For closed-fit.

  std::string name() const { return fmt::format("{}{}", policy, headroom ? "" : ", no headroom"); }
  ReplayOptions options() const {
    ReplayOptions options{.load = 1, .allocation = {}};
    if (!headroom) options.headroom.share = 0;
    return options;
  }
};
constexpr Row rows[] = {{"first-fit", "block"},       {"first-fit", fast_mapper},         {"closed-best", "block"},
                        {"closed-best", fast_mapper}, {"closed-fit", fast_mapper, false}, {"closed-fit", fast_mapper}};

nlohmann::json compare(const std::string& name, const std::string& machine, Workload workload, std::uint64_t jobs,
                       bench::Goals& goals) {
  give_patterns(workload, 1);
  const Allocator allocator = allocator_for(machine);
  fmt::print("{} on {}, load 1.0, EASY, no two jobs share {}\n", name, machine,
             name_of(allocator.machine().exclusive()));
  fmt::print("  {:23} {:17} {:>11} {:>9} {:>13} {:>10} {:>9} {:>9} {:>11}\n", "policy", "mapper", "utilisation",
             "slowdown", "communication", "makespan h", "isolated", "conflicts", "decisions/s");
  nlohmann::json figures = nlohmann::json::array();
  std::map<std::string, ReplayResult> results;
  for (const Row& row : rows) {
    const PolicyInfo& policy = *value_or_exit(find_policy(row.policy));
    const auto model = value_or_exit(JointModel::create(allocator.machine(), workload.applications, row.mapper));
    ReplayOptions options = row.options();
    options.jobs = jobs;
    options.verify = policy.isolated;
    options.communication = model.get();
    const ReplayResult result = value_or_exit(replay(allocator, policy, workload, options));
    fmt::print("  {:23} {:17} {:>9.1f} % {:>9.1f} {:>11.1f} % {:>10.1f} {:>7.1f} % {:>9} {:>11.0f}\n", row.name(),
               row.mapper, 100 * result.utilisation, result.bounded_slowdown, 100 * result.communication_ratio,
               result.makespan / 3600, 100 * result.contention_free(),
               policy.isolated ? fmt::format("{}", result.conflicts) : "-", result.decisions_per_second());
    std::fflush(stdout);
    figures.push_back({{"policy", row.name()},
                       {"mapper", row.mapper},
                       {"utilisation", result.utilisation},
                       {"bounded_slowdown", result.bounded_slowdown},
                       {"communication_ratio", result.communication_ratio},
                       {"mean_communication_s", result.mean_communication},
                       {"makespan_s", result.makespan},
                       {"contention_free", result.contention_free()},
                       {"conflicts", result.conflicts},
                       {"decisions_per_s", result.decisions_per_second()},
                       {"decision_p99_s", result.slowest_decision}});
    results.emplace(fmt::format("{}+{}", row.name(), row.mapper), result);
  }
  const ReplayResult& fit = results.at(fmt::format("closed-fit+{}", fast_mapper));
  const ReplayResult& best = results.at(fmt::format("closed-best+{}", fast_mapper));
  const ReplayResult& today = results.at("first-fit+block");
  goals.at_most(name + ": slowdown, of closed-best with mapping", fit.bounded_slowdown / best.bounded_slowdown, 0.95,
                0.85);
  goals.at_most(name + ": slowdown, of first-fit with block", fit.bounded_slowdown / today.bounded_slowdown, 0.75, 0.6);
  goals.at_most(name + ": makespan, of first-fit with block", fit.makespan / today.makespan, 1.0, 0.92);
  goals.at_least(name + ": isolated jobs, by the verifier", fit.conflicts == 0 ? fit.contention_free() : 0, 1, 1);
  return {{"case", name}, {"machine", machine}, {"policies", figures}};
}

/// Of ratios.
struct GeometricMean {
  double mean = 1;
  double error = 0;  ///< Standard error, as a fraction of the mean.
};

GeometricMean geometric_mean(const std::vector<double>& ratios) {
  double sum = 0, squares = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  const auto count = static_cast<double>(ratios.size());
  const double mean = sum / count;
  for (const double ratio : ratios) squares += (std::log(ratio) - mean) * (std::log(ratio) - mean);
  return {std::exp(mean), count > 1 ? std::sqrt(squares / (count - 1) / count) : 0};
}

/// The ratios of closed-fit over generated workloads; their lengths alternate between a few days and some weeks.
struct Seeds {
  std::uint64_t first = 1, count = 10;
};
constexpr std::uint64_t lengths[] = {400, 800, 1600};

nlohmann::json compare_over_seeds(const std::string& machine, std::uint64_t nodes, const Seeds& seeds,
                                  bench::Goals& goals) {
  const Allocator allocator = allocator_for(machine);
  const Row& today = rows[0];
  const Row compared[] = {
      today, {"closed-best", fast_mapper}, {"closed-fit", fast_mapper}, {"closed-fit", fast_mapper, false}};
  const std::vector<std::string> patterns(default_job_patterns().begin(), default_job_patterns().end());
  const auto applications = value_or_exit(parse_applications(patterns));
  // What a model keeps of a job and a shape does not depend on the workload.
  std::map<std::string, std::unique_ptr<JointModel>> models;
  for (const Row& row : compared) {
    auto& model = models[row.mapper];
    if (!model) model = value_or_exit(JointModel::create(allocator.machine(), applications, row.mapper));
  }
  std::vector<double> of_best, of_today, makespan, without_headroom;
  double isolated = 1;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const std::uint64_t jobs = lengths[seed % std::size(lengths)];
    Workload workload = value_or_exit(lublin_workload({.jobs = jobs, .nodes = nodes, .seed = seed}));
    assign_applications(workload, applications, seed);
    std::vector<ReplayResult> results;
    for (const Row& row : compared) {
      const PolicyInfo& policy = *value_or_exit(find_policy(row.policy));
      ReplayOptions options = row.options();
      options.verify = policy.isolated;
      options.communication = models.at(row.mapper).get();
      results.push_back(value_or_exit(replay(allocator, policy, workload, options)));
    }
    const ReplayResult &fit = results[2], &best = results[1], &first_fit = results[0];
    of_best.push_back(fit.bounded_slowdown / best.bounded_slowdown);
    of_today.push_back(fit.bounded_slowdown / first_fit.bounded_slowdown);
    makespan.push_back(fit.makespan / first_fit.makespan);
    without_headroom.push_back(results[3].bounded_slowdown / best.bounded_slowdown);
    isolated = std::min(isolated, fit.conflicts == 0 ? fit.contention_free() : 0);
    fmt::print(
        "  seed {:3}, {:5} jobs: slowdown {:.2f} of closed-best (without headroom {:.2f}), {:.2f} of first-fit; "
        "makespan {:.3f}\n",
        seed, jobs, of_best.back(), without_headroom.back(), of_today.back(), makespan.back());
    std::fflush(stdout);
  }
  nlohmann::json figures{{"case", "several seeds"}, {"machine", machine}, {"seeds", seeds.count}};
  const auto report = [&](const char* what, const char* key, const std::vector<double>& ratios, double must,
                          double aim) {
    const GeometricMean mean = geometric_mean(ratios);
    figures[key] = {{"geometric_mean", mean.mean}, {"standard_error", mean.error}, {"ratios", ratios}};
    fmt::print("  {}: {:.3f}, standard error {:.1f} %\n", what, mean.mean, 100 * mean.error);
    goals.at_most(fmt::format("{}, {} seeds: {}", machine, seeds.count, what), mean.mean, must, aim);
  };
  report("slowdown, of closed-best with mapping", "of_closed_best", of_best, 0.95, 0.85);
  report("slowdown, of first-fit with block", "of_first_fit", of_today, 0.75, 0.6);
  report("makespan, of first-fit with block", "makespan", makespan, 1.0, 0.92);
  const GeometricMean without = geometric_mean(without_headroom);
  fmt::print("  slowdown without headroom, of closed-best with mapping: {:.3f}, standard error {:.1f} %\n",
             without.mean, 100 * without.error);
  figures["without_headroom"] = {{"geometric_mean", without.mean}, {"standard_error", without.error}};
  goals.at_least(machine + ": isolated jobs of all seeds, by the verifier", isolated, 1, 1);
  return figures;
}

/// Allocates and releases jobs with patterns on a machine that stays nearly full; measures the CPU time of decisions,
/// including the estimates for new shapes.
void decisions(const std::string& machine, std::size_t count, bool large, bench::Goals& goals) {
  const Allocator allocator = allocator_for(machine);
  Workload workload =
      value_or_exit(lublin_workload({.jobs = count, .nodes = allocator.machine().node_count() / 4, .seed = 1}));
  give_patterns(workload, 2);
  const auto model = value_or_exit(JointModel::create(allocator.machine(), workload.applications, fast_mapper));
  const PolicyInfo& policy = *value_or_exit(find_policy("closed-fit"));
  Occupancy occupancy(allocator.machine());
  std::deque<Allocation> running;
  Random random(1);
  std::vector<double> times;
  for (const WorkloadJob& job : workload.jobs) {
    AllocationOptions options;
    options.fit.run_time = model->run_time_model(job);
    options.fit.headroom = Headroom{}.nodes(allocator.machine().node_count(), job.estimate);
    const double begin = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    auto found = allocate_nodes(allocator, occupancy, policy, static_cast<std::uint32_t>(job.tasks), options);
    times.push_back(processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
    if (found) {
      occupancy.add(*found);
      running.push_back(*std::move(found));
      continue;
    }
    for (int k = 0; k < 2 && !running.empty(); ++k) {
      std::swap(running.front(), running[random.below(running.size())]);
      occupancy.remove(running.front());
      running.pop_front();
    }
  }
  double sum = 0;
  for (const double time : times) sum += time;
  std::sort(times.begin(), times.end());
  if (large) {
    goals.at_most(machine + ": 99 % of decisions, ms", 1000 * times[times.size() * 99 / 100], 50, 20);
  } else {
    goals.at_least(machine + ": decisions per second", static_cast<double>(times.size()) / sum, 2'000, 10'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Goals goals;
  nlohmann::json figures;
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const bool only_seeds = argc > 2 && std::string_view(argv[2]) == "seeds";
  const Seeds seeds = only_seeds ? Seeds{number(3, Seeds{}.first), number(4, Seeds{}.count)} : Seeds{};
  figures["cases"].push_back(compare_over_seeds("torus:16x16 core:1", 256, seeds, goals));
  if (only_seeds) {
    figures["goals"] = goals.figures();
    return bench::finish("joint", goals.reached(), goals.sentence(), figures);
  }
  const std::uint64_t jobs = number(2, 0);
  const std::string data = RANKLOOM_TEST_DATA "/workloads/";
  Workload lublin = value_or_exit(load_workload(data + "lublin-256.swf.gz"));
  figures["cases"].push_back(compare("Lublin 256", "torus:16x16 core:1", std::move(lublin), jobs, goals));
  Workload large = value_or_exit(lublin_workload({.jobs = 10'000, .nodes = 1024, .seed = 1}));
  figures["cases"].push_back(compare("Lublin 1024", "fattree:16,8,8/8,8,1 core:1", large, jobs, goals));
  figures["cases"].push_back(
      compare("Lublin 1024, 2:1 oversubscribed", "fattree:16,8,8/4,4,1 core:1", std::move(large), jobs, goals));
  const std::size_t requests = jobs > 0 ? jobs : 20'000;
  decisions("torus:32x32 core:1", requests, false, goals);
  decisions("fattree:16,8,8/8,8,1 core:1", requests, false, goals);
  decisions("torus:128x128 core:1", requests / 4, true, goals);
  decisions("fattree:32,16,32/16,32,1 core:1", requests / 4, true, goals);
  figures["goals"] = goals.figures();
  return bench::finish("joint", goals.reached(), goals.sentence(), figures);
}
