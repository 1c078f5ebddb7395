// SPDX-License-Identifier: Apache-2.0
// report/document: the answer in a sentence.
#include "rankloom/report/document/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

constexpr double min_gain = 0.005;  // the threshold of `tune`

std::string percent_of(double share) {
  return percent(100 * share);
}

/// The saved share of the cost; negative if the mapping is worse, infinite if it has a cost and the baseline has none.
double saved_share(const ReportDocument& document, double before, double after) {
  if (before == after) return 0;
  return (document.larger_is_better() ? after - before : before - after) / std::abs(before);
}

/// "costs 12.0 % more than", for a negative gain.
std::string how_much_worse(const ReportDocument& document, double gain) {
  if (std::isinf(gain)) return "has a cost, unlike";
  if (document.larger_is_better()) return fmt::format("is {} worse than", percent_of(-gain));
  return gain <= -9 ? fmt::format("costs {} times as much as", factor(1 - gain))
                    : fmt::format("costs {} more than", percent_of(-gain));
}

/// How many times faster the communication is, simulated or else predicted; nothing if neither is known.
std::optional<double> expected_speedup(const Verdict& verdict) {
  const auto& times = verdict.simulated ? verdict.simulated : verdict.predicted;
  if (!times || !(times->second > 0)) return std::nullopt;
  return times->first / times->second;
}

const char* less_of(const ReportDocument& document) {
  if (document.larger_is_better()) return "better";
  return find_cost_model(document.model) == CostModel::predicted ? "less time" : "less cost";
}

/// A gain is one over the launcher's default placement, and only if the communication is not expected to be slower.
void write_mapping(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  const PlacementRow& before = document.orders.front();
  const PlacementRow& after = document.orders.back();
  const double gain = saved_share(document, before.cost, after.cost);
  const auto speedup = expected_speedup(verdict);
  const bool slower = speedup && *speedup < 1 - min_gain;
  verdict.kind = gain <= min_gain || slower ? "none" : document.has_default_baseline() ? "gain" : "comparison";
  if (std::isfinite(gain)) verdict.saved = gain;
  const std::string than = document.baseline();
  if (gain > min_gain) {
    verdict.sentence = fmt::format("{}: {} {} than {} (model {}).", after.label, percent_of(gain), less_of(document),
                                   than, document.model);
    const char* const source = verdict.simulated ? "simulated" : "predicted";
    if (!speedup) {
      verdict.sentence += " Not measured.";
    } else if (slower) {
      verdict.sentence += fmt::format(" But communication is {} {} times as fast: keep {}. Not measured.", source,
                                      factor(*speedup), than);
    } else {
      verdict.sentence += fmt::format(" Communication {} {} times {}; not measured.", source, factor(*speedup),
                                      *speedup > 1 + min_gain ? "faster" : "as fast");
    }
  } else if (gain < -min_gain) {
    verdict.sentence = fmt::format("{} {} {} (model {}): keep {}.", after.label, how_much_worse(document, gain), than,
                                   document.model, than);
  } else {
    verdict.sentence =
        fmt::format("No gain: {} costs as much as {} (model {}). Keep {}.", after.label, than, document.model, than);
  }
}

const MapperRow& best_mapper(const ReportDocument& document) {
  return *std::min_element(document.mappers.begin(), document.mappers.end(), [&](const auto& a, const auto& b) {
    return document.larger_is_better() ? a.cost > b.cost : a.cost < b.cost;
  });
}

/// A mapping that is not the best one of the report is not presented as if it were.
void note_better_mapper(ReportDocument& document) {
  if (document.orders.size() < 2 || document.mappers.empty()) return;
  const PlacementRow& shown = document.orders.back();
  const MapperRow& best = best_mapper(document);
  const double gain = saved_share(document, shown.cost, best.cost);
  if (best.name == shown.label || !(gain > min_gain)) return;
  document.verdict.notes.push_back(
      fmt::format("{} is not the best mapping of this report: {} {}.", shown.label, best.name,
                  document.larger_is_better() ? fmt::format("is {} better", percent_of(gain))
                                              : fmt::format("costs {} less", percent_of(gain))));
}

void note_limits(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  if (verdict.measured && verdict.predicted && verdict.predicted->second > 0) {
    const double times = verdict.predicted->first / verdict.predicted->second;
    verdict.notes.push_back(fmt::format("Communication alone was predicted {} times {}.", factor(times),
                                        times > 1 + min_gain ? "faster" : "as fast"));
  }
  if (!verdict.bottlenecks_before.empty() && !verdict.bottlenecks_after.empty()) {
    verdict.notes.push_back(fmt::format("Limited before by {}. Limited after by {}.",
                                        first_bottleneck(verdict.bottlenecks_before),
                                        bottleneck_sentence(verdict.bottlenecks_after)));
  }
  if (verdict.predicted) {
    verdict.notes.push_back(
        "Predicted analytically from latencies, rates and the busiest channel, without waiting times and computation. "
        "Seconds are meaningful only if the machine is given with rates, not ratios.");
  }
  if (document.lower_bound && document.orders.size() > 1 && !document.larger_is_better()) {
    const double gap = gap_percent(document.orders.back().cost, *document.lower_bound);
    verdict.notes.push_back(
        fmt::format("No placement costs less than {}: at most {} of the remaining cost could be saved.",
                    document.cost_text(*document.lower_bound), percent(gap)));
  }
  if (!document.in_mpi.empty()) {
    double in = 0, out = 0;
    for (const float seconds : document.in_mpi) in += seconds;
    for (const float seconds : document.outside) out += seconds;
    if (in + out > 0)
      verdict.notes.push_back(fmt::format("{} of the time is spent in MPI: no mapping can save more than that.",
                                          percent_of(in / (in + out))));
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
                    verdict.sentence.empty() ? "" : " ", row.policy, percent_of(row.contention_free),
                    percent_of(row.utilisation), format_seconds(row.mean_wait));
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
                                   percent_of(1 - online_cost / without_migration));
  } else {
    verdict.sentence = fmt::format("Ranks were migrated {} without a gain in the model.", times);
  }
  if (online.restart && online.restart->first > 0 && online.restart->second < online.restart->first)
    verdict.notes.push_back(fmt::format("A restart with the mapping of `auto` would cost {} less, by the model.",
                                        percent_of(1 - online.restart->second / online.restart->first)));
  verdict.notes.push_back("The effect is computed by the model: the time without migrations was not measured.");
}

/// The fastest simulated run, and the slowest, which is often the default placement.
void write_simulation(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  verdict.kind = "simulation";
  const auto shorter = [](const TimelineRow& a, const TimelineRow& b) {
    return a.timeline.seconds < b.timeline.seconds;
  };
  const auto [fastest, slowest] = std::minmax_element(document.timelines.begin(), document.timelines.end(), shorter);
  const Timeline& timeline = fastest->timeline;
  double waiting = 0;
  for (const double seconds : timeline.rank_wait) waiting += seconds;
  const double all = timeline.seconds * timeline.ranks;
  verdict.sentence = fmt::format("Simulated with {}: {}, of which the ranks wait {}.", fastest->name,
                                 format_seconds(timeline.seconds), percent_of(all > 0 ? waiting / all : 0));
  if (slowest->timeline.seconds > timeline.seconds * (1 + min_gain) && timeline.seconds > 0)
    verdict.sentence +=
        fmt::format(" {} takes {} times as long.", slowest->name, factor(slowest->timeline.seconds / timeline.seconds));
}

void write_best_mapper(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  const MapperRow& best = best_mapper(document);
  if (!document.cost_default) {
    verdict.kind = "comparison";
    verdict.sentence = fmt::format("{}: cost {} (model {}). The cost of the default placement is not known.", best.name,
                                   document.cost_text(best.cost), document.model);
    return;
  }
  const double gain = saved_share(document, *document.cost_default, best.cost);
  verdict.kind = gain > min_gain ? "gain" : "none";
  if (std::isfinite(gain)) verdict.saved = gain;
  verdict.sentence = gain > min_gain ? fmt::format("{} saves {} of the cost of the default placement (model {}).",
                                                   best.name, percent_of(gain), document.model)
                                     : "No mapping costs less than the default placement: keep it.";
}

void drop_uninformative_bound(ReportDocument& document) {
  if (!document.lower_bound) return;
  const double cost = document.mappers.empty() ? document.cost_default.value_or(0) : best_mapper(document).cost;
  if (!is_informative_bound(cost, *document.lower_bound)) document.lower_bound.reset();
}

}  // namespace

std::string label_of_default(std::string_view name) {
  return fmt::format("default placement ({})", name);
}

bool ReportDocument::larger_is_better() const {
  const auto cost_model = find_cost_model(model);
  return cost_model && info(*cost_model).larger_is_better;
}

std::string ReportDocument::cost_text(double cost) const {
  const auto cost_model = find_cost_model(model);
  return cost_model ? rankloom::cost_text(*cost_model, cost) : cost_number(cost);
}

void write_verdict(ReportDocument& document) {
  drop_uninformative_bound(document);
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
      write_best_mapper(document);
    } else if (!document.timelines.empty()) {
      write_simulation(document);
    }
  }
  note_better_mapper(document);
  note_limits(document);
}

}  // namespace rankloom
