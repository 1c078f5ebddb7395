// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: runs of the program with each placement.
#include "apps/rankloom/verbs/launch/tune/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/evaluate/successive_halving.hpp"

namespace rankloom::app {

Result<LaunchPlan> PlacementMeasurement::plan_default(const LaunchCommand& launch, const std::string& directory) const {
  const LaunchContext context = launch_context(directory, bind_);
  auto plan = plan_unchanged(launch, context);
  if (plan) plan->environment = launcher_variables(launch, context);
  return plan;
}

Result<PlacedRun> PlacementMeasurement::run_once(const Candidate* candidate, const LaunchCommand& launch,
                                                 const std::string& log) const {
  RunDirectory directory;
  const std::string name =
      candidate != nullptr ? commands_.launch_directory(candidate->smt) : commands_.default_directory();
  if (auto created = directory.create(name, existing(arguments_.force)); !created) return propagate(created);
  const Deployment& deployment = (candidate != nullptr ? *candidate : candidates_.front()).deployment;
  auto plan = candidate != nullptr ? plan_launch(launch, deployment, launch_context(directory.path(), bind_))
                                   : plan_default(launch, directory.path());
  if (!plan) return propagate(plan);
  return run_placed(*plan, deployment, bind_, directory, ProgramStreams::to_log(logs_.path(log)));
}

Argv PlacementMeasurement::command_of(const Candidate* candidate) const {
  if (candidate == nullptr) return commands_.run();
  if (candidate->number > 0) return commands_.run(commands_.file(TuneCommands::candidate_name(candidate->number)));
  return commands_.run(candidate->job.slots(), candidate->smt);
}

Result<std::optional<PlacedRun>> PlacementMeasurement::run_placement(const Candidate* candidate, std::size_t number) {
  const std::string name = number == 0 ? "warm-up" : fmt::format("{}", number);
  const std::string log = fmt::format("{}-{}.log", candidate != nullptr ? candidate->log() : "before", name);
  logs_.begin(fmt::format("{} with {}", number == 0 ? "warm-up run" : "run " + name,
                          candidate != nullptr ? candidate->measurement.placement() : "the default placement"),
              done_);
  auto run = logs_.logged(run_once(candidate, candidate != nullptr ? candidate->launch : launch_, log),
                          command_of(candidate), log);
  if (!run) return propagate(run);
  if (run->status == 0) {
    if (auto measured = measure_time(*run, commands_.file(log)); !measured) return propagate(measured);
    return *std::move(run);
  }
  result_.failed =
      failed_run(fmt::format("{} with {}", number == 0 ? "the warm-up run" : "run " + name,
                             candidate != nullptr ? candidate->measurement.placement() : "the default placement"),
                 run->status, commands_.file(log));
  result_.failed->mapped = candidate != nullptr;
  return std::nullopt;
}

Result<void> PlacementMeasurement::measure_time(PlacedRun& run, const std::string& log) {
  if (arguments_.metric.empty()) return {};
  auto output = read_file(log);
  if (!output) return propagate(output);
  std::optional<double> seconds;
  if (!arguments_.higher_is_better) {
    seconds = last_metric(output->view(), arguments_.metric);
  } else if (const auto rate = last_rate(output->view(), arguments_.metric)) {
    if (result_.unit.empty()) result_.unit = rate->unit;
    seconds = 1 / rate->in(result_.unit);
  }
  if (!seconds) {
    return fail(Code::bad_input, at(log),
                fmt::format("no line of the program's output has a {} that matches --metric",
                            arguments_.higher_is_better ? "rate" : "time"),
                arguments_.higher_is_better
                    ? "the first group of the expression must match a rate such as 1.5 or 12 GB/s"
                    : "the first group of the expression must match a time such as 1.5, 1.5s or 12ms");
  }
  run.seconds = *seconds;
  return {};
}

std::optional<double> PlacementMeasurement::start_time(const Candidate* candidate) const {
  LaunchCommand nothing = candidate != nullptr ? candidate->launch : launch_;
  constexpr double pause = 0.2;
  for (auto& program : nothing.programs) program.arguments = {"sleep", fmt::format("{}", pause)};
  const auto run = run_once(candidate, nothing, "start.log");
  return run && run->status == 0 ? std::optional(run->seconds - pause) : std::nullopt;
}

void PlacementMeasurement::measure_start() {
  constexpr double max_double = std::numeric_limits<double>::max();
  double before = max_double;
  std::vector<double> after(candidates_.size(), max_double);
  for (int round = 0; round < 3; ++round) {
    const auto seconds = start_time(nullptr);
    if (!seconds) return;
    before = std::min(before, *seconds);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const auto with_mapping = start_time(&candidates_[i]);
      if (!with_mapping) return;
      after[i] = std::min(after[i], *with_mapping);
    }
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    candidates_[i].measurement.start = StartTimes{.before_seconds = before, .after_seconds = after[i]};
}

Result<void> PlacementMeasurement::warm_up() {
  logs_.print_progress("warm-up    once before the times count");
  if (!arguments_.profile.empty()) {
    auto run = run_placement(nullptr, 0);
    if (!run) return propagate(run);
    if (!*run) return {};
  }
  for (std::size_t i = 0; i < candidates_.size();) {
    auto run = run_placement(&candidates_[i], 0);
    if (!run) return propagate(run);
    if (!*run && !candidates_[i].smt) return {};
    if (*run) {
      ++i;
      continue;
    }
    result_.smt_not_tried =
        fmt::format("the program exited with status {} with {}; its output is in {}", result_.failed->status,
                    candidates_[i].measurement.placement(), result_.failed->log);
    result_.failed.reset();
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

Result<std::optional<std::size_t>> PlacementMeasurement::find_fastest(double max_seconds) {
  SuccessiveHalving halving(candidates_.size(),
                            {.max_runs = arguments_.comparison.max_pairs, .max_seconds = max_seconds});
  std::optional<FailedRun> failed;
  while (const auto next = halving.next()) {
    TuneCandidate& row = result_.candidates[*next];
    const auto begin = std::chrono::steady_clock::now();
    auto run = run_placement(&candidates_[*next], row.seconds.size() + 1);
    if (!run) return propagate(run);
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (*run) {
      halving.add((*run)->seconds, elapsed);
      row.seconds.push_back((*run)->seconds);
      logs_.print_progress(fmt::format("candidate  {} with {}", result_.measured_text(row.seconds.back()), row.name));
    } else {
      halving.drop(elapsed);
      failed = std::exchange(result_.failed, std::nullopt);
      row.status = failed->status;
      logs_.print_progress(fmt::format("candidate  the program exited with status {} with {}", row.status, row.name));
    }
  }
  result_.candidate_seconds = halving.elapsed_seconds();
  const auto fastest = halving.fastest();
  if (fastest) {
    result_.candidates[*fastest].chosen = true;
  } else {
    result_.failed = std::move(failed);
  }
  return fastest;
}

Result<void> PlacementMeasurement::measure(double max_seconds) {
  if (auto done = warm_up(); !done) return done;
  if (result_.failed || candidates_.empty()) return {};
  if (arguments_.metric.empty()) measure_start();
  const ComparisonOptions options = arguments_.comparison.for_one_of(candidates_.size());
  for (Candidate& candidate : candidates_) candidate.measurement.comparison = compare_pairs({}, {}, options);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Candidate*> running;
  for (std::size_t rounds = 0;;) {
    running.clear();
    for (Candidate& candidate : candidates_)
      if (candidate.measurement.comparison.next_pairs > 0) running.push_back(&candidate);
    if (running.empty()) break;
    const std::size_t next = running.front()->measurement.comparison.next_pairs;
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double expected = rounds == 0 ? 0 : elapsed / static_cast<double>(rounds) * static_cast<double>(next);
    if (expected > max_seconds) {
      for (Candidate* const candidate : running) candidate->measurement.out_of_time = true;
      break;
    }
    for (; rounds < next; ++rounds) {
      if (auto done = run_round(rounds, next, running); !done) return done;
      if (result_.failed) return {};
    }
    for (Candidate* const candidate : running) {
      TuneMeasurement& measurement = candidate->measurement;
      measurement.comparison = compare_pairs(measurement.before_seconds, measurement.after_seconds, options);
    }
  }
  std::vector<TuneMeasurement> measurements;
  for (const Candidate& candidate : candidates_) measurements.push_back(candidate.measurement);
  result_.choose(std::move(measurements));
  return {};
}

Result<void> PlacementMeasurement::run_round(std::size_t round, std::size_t rounds,
                                             std::span<Candidate* const> running) {
  double before_seconds = 0;
  const std::size_t variants = 1 + running.size();
  std::size_t runs = round * variants;
  for (const std::size_t variant : run_order(round, variants)) {
    done_ = static_cast<double>(runs++) / static_cast<double>(rounds * variants);
    Candidate* const candidate = variant == 0 ? nullptr : running[variant - 1];
    auto run = run_placement(candidate, round + 1);
    if (!run) return propagate(run);
    if (!*run) return {};
    if (candidate == nullptr) {
      before_seconds = (*run)->seconds;
      continue;
    }
    TuneMeasurement& measurement = candidate->measurement;
    measurement.after_seconds.push_back((*run)->seconds);
    measurement.verified = measurement.verified && (*run)->verification.all();
    measurement.confirmed = (*run)->verification.confirmed;
  }
  std::string text = fmt::format("run {}  {} default placement", round + 1, result_.measured_text(before_seconds));
  for (Candidate* const candidate : running) {
    TuneMeasurement& measurement = candidate->measurement;
    measurement.before_seconds.push_back(before_seconds);
    text +=
        fmt::format(", {} with {}", result_.measured_text(measurement.after_seconds.back()), measurement.placement());
  }
  logs_.print_progress(text);
  return {};
}

}  // namespace rankloom::app
