// SPDX-License-Identifier: Apache-2.0
// report/document: the answer in a sentence.
#include "rankloom/report/document/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

constexpr double min_gain = 0.005;  // the threshold of `tune`

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// The value that mappers minimise.
double objective_of(const ReportDocument& document, double cost) {
  const auto model = find_cost_model(document.model);
  return model ? objective(*model, cost) : cost;
}

void write_mapping(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  const PlacementRow& before = document.orders.front();
  const PlacementRow& after = document.orders.back();
  const double cost_before = objective_of(document, before.cost), cost_after = objective_of(document, after.cost);
  const double gain = cost_before != 0 ? (cost_before - cost_after) / std::abs(cost_before) : 0;
  verdict.kind = gain > min_gain ? "gain" : "none";
  verdict.saved = gain;
  const std::string than = document.baseline();
  if (gain > min_gain) {
    verdict.sentence =
        fmt::format("{}: {} less cost than {} (model {}).", after.label, percent(gain), than, document.model);
    if (verdict.predicted && verdict.predicted->second > 0) {
      const double times = verdict.predicted->first / verdict.predicted->second;
      verdict.sentence +=
          times > 1 + min_gain
              ? fmt::format(" Communication predicted {:.2f} times faster; not measured.", times)
              : fmt::format(" Communication is nevertheless predicted {:.2f} times as fast; not measured.", times);
    } else {
      verdict.sentence += " Not measured.";
    }
  } else if (gain < -min_gain) {
    verdict.sentence = fmt::format("{} costs {} more than {} (model {}): keep {}.", after.label, percent(-gain), than,
                                   document.model, than);
  } else {
    verdict.sentence =
        fmt::format("No gain: {} costs as much as {} (model {}). Keep {}.", after.label, than, document.model, than);
  }
}

void note_limits(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  if (verdict.measured && verdict.predicted && verdict.predicted->second > 0) {
    verdict.notes.push_back(fmt::format("Communication alone was predicted {:.2f} times faster.",
                                        verdict.predicted->first / verdict.predicted->second));
  }
  if (verdict.predicted) {
    verdict.notes.push_back(
        "Predicted analytically from latencies, rates and the most loaded link, without waiting times and computation. "
        "Seconds are meaningful only if the machine is given with rates, not ratios.");
  }
  if (document.lower_bound && document.orders.size() > 1) {
    const double cost = document.orders.back().cost, bound = *document.lower_bound;
    if (cost > 0 && bound > 0) {
      verdict.notes.push_back(
          fmt::format("No placement costs less than {}: at most {} of the remaining cost could be saved.",
                      bound < 1000 ? fmt::format("{:.6g}", bound) : format_count(std::round(bound)),
                      percent(std::max(0.0, (cost - bound) / cost))));
    }
  }
  if (!document.in_mpi.empty()) {
    double in = 0, out = 0;
    for (const float seconds : document.in_mpi) in += seconds;
    for (const float seconds : document.outside) out += seconds;
    if (in + out > 0)
      verdict.notes.push_back(
          fmt::format("{} of the time is spent in MPI: no mapping can save more than that.", percent(in / (in + out))));
  }
  if (document.machine && !document.machine->note.empty())
    verdict.notes.push_back(fmt::format("The machine is not drawn completely: {}.", document.machine->note));
  if (document.undirected)
    verdict.notes.push_back("The profile is undirected: each direction is shown with half the traffic of its pair.");
  if (document.traffic && document.traffic->ranks_per_vertex > 1)
    verdict.notes.push_back(fmt::format("{} ranks are shown in blocks of {}; all figures include every rank.",
                                        format_count(document.traffic->rank_count),
                                        document.traffic->ranks_per_vertex));
}

void write_profile(ReportDocument& document) {
  document.verdict.kind = "profile";
  document.verdict.sentence =
      fmt::format("{} ranks send {} in {} messages.", format_count(document.traffic->rank_count),
                  format_bytes(document.total_bytes), format_count(std::round(document.total_messages)));
}

void write_allocation(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  verdict.kind = "allocation";
  for (const PolicyRow& row : document.allocation->policies) {
    verdict.sentence +=
        fmt::format("{}{}: {} of the parallel jobs share no link or router, utilisation {}, mean wait {}.",
                    verdict.sentence.empty() ? "" : " ", row.policy, percent(row.contention_free),
                    percent(row.utilisation), format_duration(row.mean_wait));
    if (row.jobs.empty() && row.jobs_run > 0)
      verdict.notes.push_back(fmt::format(
          "The replay contains no jobs of {}: `rankloom alloc replay --detail` includes them.", row.policy));
  }
}

void write_online(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  const OnlineSection& online = *document.online;
  verdict.kind = "online";
  double without_migration = 0, online_cost = 0;
  std::uint64_t migrations = 0;
  for (const OnlineNode& node : online.nodes) {
    without_migration += node.total_cost_without_migration;
    online_cost += node.total_cost_online;
    migrations += node.migrations.size();
  }
  const std::string times = migrations == 1 ? "once" : fmt::format("{} times", migrations);
  if (migrations == 0) {
    verdict.sentence = "No rank was migrated.";
  } else if (without_migration > 0 && online_cost < without_migration) {
    verdict.sentence = fmt::format("Migrating ranks {} saved {} of the communication cost, by the model.", times,
                                   percent(1 - online_cost / without_migration));
  } else {
    verdict.sentence = fmt::format("Ranks were migrated {} without a gain in the model.", times);
  }
  if (online.restart && online.restart->first > 0 && online.restart->second < online.restart->first)
    verdict.notes.push_back(fmt::format("A restart with the mapping of `auto` would cost {} less, by the model.",
                                        percent(1 - online.restart->second / online.restart->first)));
  verdict.notes.push_back("The effect is computed by the model: the time without migrations was not measured.");
}

}  // namespace

void write_verdict(ReportDocument& document) {
  if (document.verdict.sentence.empty()) {
    if (document.orders.size() > 1) {
      write_mapping(document);
    } else if (document.allocation) {
      write_allocation(document);
    } else if (document.online) {
      write_online(document);
    } else if (document.traffic) {
      write_profile(document);
    } else if (!document.mappers.empty()) {
      const MapperRow& best = document.mappers.front();
      const double cost_before = objective_of(document, document.cost_default.value_or(best.cost)),
                   cost_after = objective_of(document, best.cost);
      const double gain = cost_before != 0 ? (cost_before - cost_after) / std::abs(cost_before) : 0;
      document.verdict.kind = gain > min_gain ? "gain" : "none";
      document.verdict.saved = gain;
      document.verdict.sentence = gain > min_gain
                                      ? fmt::format("{} saves {} of the cost of the default placement (model {}).",
                                                    best.name, percent(gain), document.model)
                                      : "No mapping costs less than the default placement: keep it.";
    }
  }
  note_limits(document);
}

}  // namespace rankloom
