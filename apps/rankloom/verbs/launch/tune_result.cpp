// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: what `rankloom tune` finds.
#include "apps/rankloom/verbs/launch/tune_result.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/evaluate/statistics.hpp"

namespace rankloom::app {

namespace {

/// Launches of the same program differ by up to about 2 %.
constexpr double noise = 1.02;

double slowest(const std::vector<double>& seconds) {
  return *std::max_element(seconds.begin(), seconds.end());
}

double fastest(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

}  // namespace

double TuneMeasurement::speedup() const {
  return summarise(before_seconds).mean / summarise(after_seconds).mean;
}

double TuneMeasurement::speedup_spread() const {
  const Sample before = summarise(before_seconds), after = summarise(after_seconds);
  const double runs = static_cast<double>(before_seconds.size());
  return speedup() * std::hypot(before.spread / before.mean, after.spread / after.mean) / std::sqrt(runs);
}

bool TuneMeasurement::is_faster() const {
  const bool separated = before_seconds.size() >= 3 && slowest(after_seconds) * noise < fastest(before_seconds);
  return separated || speedup() - 2 * speedup_spread() > noise;
}

bool TuneMeasurement::is_slower() const {
  return before_seconds.size() >= 3 && fastest(after_seconds) > noise * slowest(before_seconds);
}

bool TuneResult::reduces_cost() const {
  constexpr double min_reduction = 0.005;
  return cost < cost_default * (1 - min_reduction);
}

bool TuneResult::predicts_gain() const {
  constexpr double min_speedup = 1.005;
  return !prediction || prediction->speedup() >= min_speedup;
}

std::string TuneResult::reason() const {
  if (gain()) return {};
  if (measurement && measurement->is_slower()) {
    if (ranks > cores) return "there are more ranks than cores, and bound ranks cannot move to a core that is idle";
    return "communication may have other costs than the topology contains; measure them with --probe";
  }
  std::string text = "the possible saving is smaller than the differences between runs";
  if (!reduces_cost()) {
    text = "no mapping with a lower communication cost was found: the default placement is already good";
  } else if (!measurement) {
    text = fmt::format("in a simulation the mapped program is {:.2f} times as fast", prediction->speedup());
  }
  if (share_in_mpi)
    text +=
        fmt::format("; {} of the time is spent in MPI, and a mapping cannot save more", percent(100 * *share_in_mpi));
  if (collectives_share > 0.5)
    text += fmt::format("; {} of the traffic is collective operations, which involve all ranks",
                        percent(100 * collectives_share));
  return text;
}

Json TuneResult::json() const {
  Json json{{"command", command}, {"folder", directory}, {"speedup", nullptr}, {"verified", nullptr}};
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
  if (measurement) {
    json["confirmed"] = measurement->confirmed;
    json["before_seconds"] = measurement->before_seconds;
    json["after_seconds"] = measurement->after_seconds;
    json["speedup"] = measurement->speedup();
    json["speedup_spread"] = measurement->speedup_spread();
    json["verified"] = measurement->verified;
    json["slower"] = measurement->is_slower();
  }
  json["gain"] = gain();
  if (!gain()) json["reason"] = reason();
  if (gain()) json["use"] = use;
  if (!profile.empty()) json["profile"] = profile;
  if (!topology.empty()) json["topology"] = topology;
  return json;
}

std::string TuneResult::conclusion(const std::string& mapping, const std::string& machine) const {
  std::string text;
  if (measurement) {
    text += fmt::format("{} of {} ranks placed as requested\n", measurement->confirmed, ranks);
    const std::string speedup = fmt::format("{:.2f} ± {:.2f}", measurement->speedup(), measurement->speedup_spread());
    if (gain()) {
      text += fmt::format("{} times faster than the default placement\n", speedup);
      if (!use.empty()) text += fmt::format("from now on, use:\n  {}\n", use);
      return text +
             fmt::format("(or: rankloom run {} -t {} -- {})\n", shell_quote(mapping), shell_quote(machine), command);
    }
    text += fmt::format("{} ({}); keep the default placement\n",
                        measurement->is_slower() ? "slower, not faster" : "no measurable gain", speedup);
  } else {
    text += "no measurable gain; keep the default placement\n";
  }
  return text + fmt::format("  reason: {}\n", reason());
}

}  // namespace rankloom::app
