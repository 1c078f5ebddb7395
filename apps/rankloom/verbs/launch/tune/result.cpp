// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: what `rankloom tune` finds.
#include "apps/rankloom/verbs/launch/tune/result.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/statistics.hpp"

namespace rankloom::app {

namespace {

using Outcome = PairedComparison::Outcome;

std::string_view verdict_name(TuneVerdict verdict) {
  switch (verdict) {
    case TuneVerdict::gain:
      return "faster";
    case TuneVerdict::same:
      return "same";
    case TuneVerdict::slower:
      return "slower";
    case TuneVerdict::not_by_placement:
      return "faster_not_by_placement";
    case TuneVerdict::faster_start:
      return "faster_start";
    case TuneVerdict::too_few_runs:
      return "too_few_runs";
    case TuneVerdict::not_measured:
      break;
  }
  return "not_measured";
}

/// The values that the program printed: times, or rates.
std::vector<double> printed(std::vector<double> seconds, bool rates) {
  for (double& value : seconds) value = rates ? 1 / value : value;
  return seconds;
}

/// {placement, run, seconds, median_seconds} of each outlier, or {…, rate, median_rate}; runs are counted from 1.
Json outliers_json(const TuneMeasurement& measurement, bool rates) {
  Json list = Json::array();
  const auto add = [&](const char* placement, const std::vector<double>& seconds) {
    for (const std::size_t i : find_outliers(seconds)) {
      const std::vector<double> values = printed({seconds[i], median(seconds)}, rates);
      list.push_back({{"placement", placement},
                      {"run", i + 1},
                      {rates ? "rate" : "seconds", values[0]},
                      {rates ? "median_rate" : "median_seconds", values[1]}});
    }
  };
  add("default", measurement.before_seconds);
  add("mapping", measurement.after_seconds);
  return list;
}

std::string outliers_text(const TuneResult& result) {
  std::string text;
  const auto add = [&](const char* placement, const std::vector<double>& seconds) {
    for (const std::size_t i : find_outliers(seconds)) {
      text += fmt::format("  outlier: run {} {} {} {}, the median is {}\n", i + 1, placement,
                          result.higher_is_better ? "had" : "took", result.measured_text(seconds[i]),
                          result.measured_text(median(seconds)));
    }
  };
  add("with the default placement", result.measurement->before_seconds);
  add("with the mapping", result.measurement->after_seconds);
  if (!text.empty())
    text += "  hint: other load on the machine makes the interval wider; measure again when it is idle\n";
  return text;
}

/// {goal, nodes, predicted_seconds, seconds or rates, chosen} of each mapping that ran to find the fastest.
Json candidates_json(const std::vector<TuneCandidate>& candidates, bool rates) {
  Json list = Json::array();
  for (const TuneCandidate& candidate : candidates) {
    Json row{{"goal", candidate.goal},
             {"nodes", candidate.nodes},
             {"predicted_seconds", candidate.predicted_seconds},
             {rates ? "rates" : "seconds", printed(candidate.seconds, rates)},
             {"chosen", candidate.chosen}};
    if (candidate.status != 0) row["status"] = candidate.status;
    list.push_back(std::move(row));
  }
  return list;
}

std::string candidates_text(const TuneResult& result) {
  if (result.candidates.empty()) return {};
  std::string text = "  the fastest of these candidates was compared, by other runs:\n";
  for (const TuneCandidate& candidate : result.candidates) {
    text += fmt::format("    {}: ", candidate.name);
    if (candidate.status != 0) {
      text += fmt::format("the program exited with status {}\n", candidate.status);
    } else if (candidate.seconds.empty()) {
      text += fmt::format("not run{}\n", candidate.chosen ? ", chosen" : "");
    } else {
      const std::size_t runs = candidate.seconds.size();
      text += fmt::format("{}, the median of {} run{}{}\n", result.measured_text(median(candidate.seconds)), runs,
                          runs == 1 ? "" : "s", candidate.chosen ? ", chosen" : "");
    }
  }
  return text;
}

/// The factor of the prefix of a unit: 1e9 for GB/s and GFLOP/s, 1 for steps/s.
double prefix_factor(const std::string& unit) {
  constexpr std::string_view prefixes = "kMGTPE";
  const bool has_letters = unit.size() > 1 && std::isalpha(static_cast<unsigned char>(unit[1])) != 0;
  const std::size_t prefix = has_letters ? prefixes.find(unit[0] == 'K' ? 'k' : unit[0]) : std::string_view::npos;
  double factor = 1;
  for (std::size_t i = 0; prefix != std::string_view::npos && i <= prefix; ++i) factor *= unit[1] == 'i' ? 1024 : 1000;
  return factor;
}

/// Calls `read` with what the first group of the expression matches in each line, without blanks.
template <class Read>
void read_matches(std::string_view output, const std::string& expression, const Read& read) {
  constexpr std::size_t max_line = 4096;  // matching takes a stack that grows with the line
  const std::regex pattern(expression);
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string line(output.substr(0, std::min(end, max_line)));
    output.remove_prefix(std::min(output.size(), end + 1));
    std::smatch match;
    if (!std::regex_search(line, match, pattern) || match.size() < 2) continue;
    std::string text = match[1].str();
    std::erase_if(text, [](char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; });
    read(text);
  }
}

}  // namespace

FailedRun failed_run(std::string run, int status, const std::string& log) {
  constexpr std::size_t max_lines = 20;  // launchers add about ten lines of their own
  FailedRun failed{.run = std::move(run), .status = status, .log = log, .tail = {}};
  if (const auto output = read_file(log)) {
    std::string_view text = output->view();
    while (text.ends_with('\n')) text.remove_suffix(1);
    while (!text.empty() && failed.tail.size() < max_lines) {
      const std::size_t newline = text.rfind('\n');
      failed.tail.emplace_back(newline == std::string_view::npos ? text : text.substr(newline + 1));
      text = text.substr(0, newline == std::string_view::npos ? 0 : newline);
    }
    std::reverse(failed.tail.begin(), failed.tail.end());
  }
  return failed;
}

Error FailedRun::error(const std::string& command) const {
  std::string what = fmt::format("the program exited with status {} in {}", status, run);
  if (!tail.empty()) what += fmt::format("; the last lines of its output:\n    {}", fmt::join(tail, "\n    "));
  return {Code::environment, at(command), what,
          fmt::format("{}; the complete output is in {}",
                      mapped ? "the command succeeds with the default placement: keep it"
                             : "run the command without rankloom: tune needs a program that exits with status 0",
                      log)};
}

std::optional<double> last_metric(std::string_view output, const std::string& expression) {
  std::optional<double> seconds;
  read_matches(output, expression, [&](const std::string& text) {
    const auto nanoseconds = parse_nanoseconds(text, 1e9);
    if (nanoseconds && *nanoseconds > 0) seconds = *nanoseconds / 1e9;
  });
  return seconds;
}

std::optional<Rate> last_rate(std::string_view output, const std::string& expression) {
  std::optional<Rate> rate;
  read_matches(output, expression, [&](const std::string& text) {
    const std::size_t digits = std::min(text.find_first_not_of("+-.0123456789eE"), text.size());
    // "5e" of "5events/s" and "1E" of "1EB/s" are a number and the beginning of the unit.
    for (std::size_t end = digits; end > 0; --end) {
      const auto value = parse_number(std::string_view(text).substr(0, end));
      if (!value) continue;
      if (*value > 0 && std::isfinite(*value)) rate = Rate{*value, text.substr(end)};
      return;
    }
  });
  return rate;
}

double Rate::in(const std::string& other) const {
  return value * prefix_factor(unit) / prefix_factor(other);
}

std::string TuneMeasurement::placement() const {
  if (threads_per_core == 0) return "the mapping";
  return fmt::format("{} hardware thread{} per core", threads_per_core, threads_per_core == 1 ? "" : "s");
}

TuneResult TuneResult::with(TuneMeasurement candidate) const {
  TuneResult result = *this;
  result.measurement = std::move(candidate);
  result.others.clear();
  return result;
}

void TuneResult::choose(std::vector<TuneMeasurement> measurements) {
  std::size_t best = 0;
  double speedup = 0;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const TuneResult chosen = with(measurements[i]);
    const double ratio = chosen.attributed(measurements[i].comparison.ratio);
    if (!chosen.gain() || ratio <= speedup) continue;
    best = i;
    speedup = ratio;
  }
  measurement = std::move(measurements[best]);
  measurements.erase(measurements.begin() + static_cast<std::ptrdiff_t>(best));
  others = std::move(measurements);
}

bool is_reduction(double before, double after) {
  constexpr double min_reduction = 0.005;
  return after < before * (1 - min_reduction);
}

bool TuneResult::reduces_cost() const {
  return is_reduction(cost_default, cost);
}

bool TuneResult::predicts_gain() const {
  constexpr double min_speedup = 1.005;
  return !prediction || prediction->speedup() >= min_speedup;
}

bool TuneResult::can_gain() const {
  const auto limit = max_speedup();
  return !limit || *limit > 1 + ComparisonOptions().min_difference;
}

std::optional<double> TuneResult::max_speedup() const {
  // A part of the program may spend a larger share of its time in MPI than the whole.
  if (!share_in_mpi || *share_in_mpi >= 1 || !metric.empty()) return std::nullopt;
  if (measurement && measurement->threads_per_core > 0) return std::nullopt;
  return 1 / (1 - *share_in_mpi);
}

double TuneResult::start_seconds_saved() const {
  if (!measurement || !measurement->start) return 0;
  return std::max(0.0, measurement->start->before_seconds - measurement->start->after_seconds);
}

double TuneResult::without_faster_start(double ratio) const {
  const double saved = start_seconds_saved();
  if (saved == 0 || ratio <= 1) return ratio;
  const double after = median(measurement->after_seconds);
  return std::max(1.0, ratio * after / (after + saved));
}

double TuneResult::attributed(double ratio) const {
  return std::min(without_faster_start(ratio), max_speedup().value_or(ratio));
}

TuneVerdict TuneResult::verdict() const {
  if (!measurement) return TuneVerdict::not_measured;
  switch (measurement->comparison.outcome) {
    case Outcome::too_few_pairs:
      return TuneVerdict::too_few_runs;
    case Outcome::same:
      return TuneVerdict::same;
    case Outcome::slower:
      return TuneVerdict::slower;
    case Outcome::faster:
      break;
  }
  const double low = measurement->comparison.low;
  if (low > max_speedup().value_or(low)) return TuneVerdict::not_by_placement;
  return without_faster_start(low) > 1 + ComparisonOptions().min_difference ? TuneVerdict::gain
                                                                            : TuneVerdict::faster_start;
}

std::string TuneResult::reason() const {
  switch (verdict()) {
    case TuneVerdict::gain:
      return {};
    case TuneVerdict::slower:
      if (measurement->threads_per_core > 0) return "the program needs the hardware threads that it has by default";
      if (ranks > cores) return "there are more ranks than cores, and bound ranks cannot move to a core that is idle";
      return "communication may have other costs than the topology contains; measure them with --probe";
    case TuneVerdict::not_by_placement:
      return fmt::format(
          "{} of the time is spent in MPI, so that a placement can make the program at most {:.2f} times faster; "
          "the binding of the ranks or a change of the machine may be the cause",
          percent(100 * *share_in_mpi), *max_speedup());
    case TuneVerdict::faster_start:
      return fmt::format(
          "the launcher starts the ranks {} faster with the mapping, which explains the difference; choose an input "
          "that "
          "runs longer",
          format_seconds(start_seconds_saved()));
    case TuneVerdict::too_few_runs:
      return fmt::format("a verdict needs at least {} runs with each placement; leave out --max-runs",
                         ComparisonOptions().for_one_of(1 + others.size()).required_pairs);
    case TuneVerdict::same:
    case TuneVerdict::not_measured:
      break;
  }
  std::string text = "the possible saving is smaller than the differences between runs";
  if (measurement && measurement->threads_per_core > 0) return text;
  if (!predicts_gain()) {
    text = fmt::format("in a simulation the mapped program is {:.2f} times as fast", prediction->speedup());
  } else if (!reduces_cost() && candidates.empty()) {
    text = "no mapping with a lower communication cost was found: the default placement is already good";
  } else if (!can_gain()) {
    text = "the program hardly communicates";
  }
  if (share_in_mpi && metric.empty())
    text +=
        fmt::format("; {} of the time is spent in MPI, and a mapping cannot save more", percent(100 * *share_in_mpi));
  if (collectives_share > 0.5)
    text += fmt::format("; {} of the traffic is collective operations, which involve all ranks",
                        percent(100 * collectives_share));
  return text;
}

std::string TuneResult::measured_text(double seconds) const {
  if (!higher_is_better) return format_seconds(seconds);
  return fmt::format("{:.4g}{}{}", 1 / seconds, unit.empty() ? "" : " ", unit);
}

Json TuneResult::json() const {
  Json json{{"command", command}, {"folder", directory}, {"speedup", nullptr}, {"verified", nullptr}};
  const std::array times{higher_is_better ? "before_rates" : "before_seconds",
                         higher_is_better ? "after_rates" : "after_seconds"};
  json["ranks"] = ranks;
  json["cores"] = cores;
  json["nodes"] = nodes;
  json["collectives_share"] = collectives_share;
  if (share_in_mpi) json["share_in_mpi"] = *share_in_mpi;
  json["mapper"] = mapper;
  json["cost_default"] = cost_default;
  json["cost"] = cost;
  json["predicted_gain_percent"] = gain_percent(cost_default, cost, false);
  if (prediction) {
    json["simulated"] = {{"now_seconds", prediction->before_seconds},
                         {"placed_seconds", prediction->after_seconds},
                         {"speedup", prediction->speedup()}};
  }
  if (!candidates.empty()) json["candidates"] = candidates_json(candidates, higher_is_better);
  if (const auto limit = max_speedup()) json["max_speedup"] = *limit;
  if (measurement) {
    const PairedComparison& comparison = measurement->comparison;
    json["confirmed"] = measurement->confirmed;
    json["verified"] = measurement->verified;
    json[times[0]] = printed(measurement->before_seconds, higher_is_better);
    json[times[1]] = printed(measurement->after_seconds, higher_is_better);
    if (measurement->start) {
      json["start_seconds"] = {{"default", measurement->start->before_seconds},
                               {"mapping", measurement->start->after_seconds}};
    }
    json["outliers"] = outliers_json(*measurement, higher_is_better);
    json["slower"] = verdict() == TuneVerdict::slower;
    if (comparison.outcome != Outcome::too_few_pairs) {
      json["measured_speedup"] = comparison.ratio;
      json["speedup"] = attributed(comparison.ratio);
      json["speedup_low"] = attributed(comparison.low);
      json["speedup_high"] = attributed(comparison.high);
      json["speedup_spread"] = (attributed(comparison.high) - attributed(comparison.low)) / 2;
      json["confidence"] = comparison.confidence;
    }
  }
  if (measurement && measurement->threads_per_core > 0) json["threads_per_core"] = measurement->threads_per_core;
  for (const TuneMeasurement& other : others) {
    const TuneResult result = with(other);
    Json row{{"verdict", verdict_name(result.verdict())},
             {"verified", other.verified},
             {"measured_speedup", other.comparison.ratio},
             {times[0], printed(other.before_seconds, higher_is_better)},
             {times[1], printed(other.after_seconds, higher_is_better)}};
    if (other.threads_per_core > 0) row["threads_per_core"] = other.threads_per_core;
    if (other.comparison.outcome != Outcome::too_few_pairs) {
      row["speedup_low"] = result.attributed(other.comparison.low);
      row["speedup_high"] = result.attributed(other.comparison.high);
    }
    json["other_placements"].push_back(std::move(row));
  }
  if (!smt_not_tried.empty()) json["smt_not_tried"] = smt_not_tried;
  json["verdict"] = failed ? "failed" : verdict_name(verdict());
  json["gain"] = gain();
  if (!gain() && !failed) json["reason"] = reason();
  if (gain()) {
    json["use"] = use;
    json["run"] = run;
  }
  if (!replaced.empty()) json["replaced"] = replaced;
  if (!profile.empty()) json["profile"] = profile;
  if (!metric.empty()) json["metric"] = metric;
  if (higher_is_better) json["rate_unit"] = unit;
  if (!topology.empty()) json["topology"] = topology;
  if (failed) {
    json["reason"] = fmt::format("the program exited with status {} in {}", failed->status, failed->run);
    json["status"] = failed->status;
    json["failed_run"] = failed->run;
    json["log"] = failed->log;
    json["output_tail"] = failed->tail;
  }
  return json;
}

std::string TuneResult::conclusion() const {
  const std::string not_tried =
      smt_not_tried.empty() ? "" : fmt::format("  other hardware threads were not tried: {}\n", smt_not_tried);
  if (!measurement)
    return fmt::format("no gain expected; keep the default placement\n  reason: {}\n{}", reason(), not_tried);
  const PairedComparison& comparison = measurement->comparison;
  const auto interval = [&](double low, double high) {
    return fmt::format("{:.2f} to {:.2f} with {:.0f} % confidence, {} runs each", low, high,
                       100 * comparison.confidence, comparison.pairs);
  };
  const char* const as_fast = higher_is_better ? "times the rate" : "times as fast";
  std::string more = not_tried + candidates_text(*this);
  for (const TuneMeasurement& other : others) {
    more += fmt::format("  with {}: {:.2f} {} ({:.2f} to {:.2f}, {} runs each)\n", other.placement(),
                        other.comparison.ratio, as_fast, other.comparison.low, other.comparison.high,
                        other.comparison.pairs);
  }
  std::string text = fmt::format("{} of {} ranks placed as requested\n", measurement->confirmed, ranks);
  if (measurement->threads_per_core > 0) text += fmt::format("with {}: ", measurement->placement());
  switch (verdict()) {
    case TuneVerdict::gain:
      text += fmt::format("{:.2f} times {} the default placement ({})\n", attributed(comparison.ratio),
                          higher_is_better ? "the rate of" : "faster than",
                          interval(attributed(comparison.low), attributed(comparison.high)));
      text += more + outliers_text(*this);
      if (!use.empty()) text += fmt::format("from now on, use:\n  {}\n", use);
      return text + fmt::format("(or: {})\n", run);
    case TuneVerdict::not_by_placement:
    case TuneVerdict::faster_start:
      text += fmt::format("faster, but not because of the placement ({}); keep the default placement\n",
                          interval(comparison.low, comparison.high));
      break;
    case TuneVerdict::slower:
      text += fmt::format("slower, not faster ({:.2f} {}: {}); keep the default placement\n", comparison.ratio, as_fast,
                          interval(comparison.low, comparison.high));
      break;
    case TuneVerdict::same:
      text += fmt::format("no measurable difference ({:.2f} {}: {}); keep the default placement\n", comparison.ratio,
                          as_fast, interval(comparison.low, comparison.high));
      break;
    case TuneVerdict::too_few_runs:
    case TuneVerdict::not_measured:
      text += fmt::format("no verdict: {}\n", reason());
      return text;
  }
  text += fmt::format("  reason: {}\n{}", reason(), more);
  if (measurement->out_of_time)
    text += "  hint: more runs did not fit into --max-time; a larger one can show a smaller difference\n";
  return text + outliers_text(*this);
}

}  // namespace rankloom::app
