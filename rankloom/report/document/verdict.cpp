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

constexpr double least_gain = 0.005;  // as `tune` sees it

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// The cost turned so that smaller is better.
double worth(const ReportDocument& document, double cost) {
  const auto model = find_cost_model(document.model);
  return model ? objective(*model, cost) : cost;
}

void conclude_mapping(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  const ShownOrder& before = document.orders.front();
  const ShownOrder& after = document.orders.back();
  const double now = worth(document, before.cost), then = worth(document, after.cost);
  const double gain = now != 0 ? (now - then) / std::abs(now) : 0;
  verdict.kind = gain > least_gain ? "gain" : "none";
  verdict.saved = gain;
  const std::string than = document.baseline();
  if (gain > least_gain) {
    verdict.sentence =
        fmt::format("{}: {} less cost than {} (model {}).", after.label, percent(gain), than, document.model);
    if (verdict.predicted && verdict.predicted->second > 0) {
      const double times = verdict.predicted->first / verdict.predicted->second;
      verdict.sentence +=
          times > 1 + least_gain
              ? fmt::format(" Communication predicted {:.2f} times faster; not measured.", times)
              : fmt::format(" Yet communication is predicted {:.2f} times as fast; not measured.", times);
    } else {
      verdict.sentence += " Not measured.";
    }
  } else if (gain < -least_gain) {
    verdict.sentence = fmt::format("{} costs {} more than {} (model {}): keep {}.", after.label, percent(-gain), than,
                                   document.model, than);
  } else {
    verdict.sentence = fmt::format("Nothing gained: {} costs as much as {} (model {}). Keep {}.", after.label, than,
                                   document.model, than);
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
        "Predicted by arithmetic: latencies, rates and the busiest wire; who waits for whom is left out, and so is "
        "what the program computes. Seconds are real only where the machine has real rates, not ratios.");
  }
  if (document.lower_bound && document.orders.size() > 1) {
    const double cost = document.orders.back().cost, bound = *document.lower_bound;
    if (cost > 0 && bound > 0) {
      verdict.notes.push_back(fmt::format("No placement costs less than {}: at most {} of what is left could be saved.",
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
    verdict.notes.push_back(fmt::format("The machine is not drawn whole: {}.", document.machine->note));
  if (document.undirected)
    verdict.notes.push_back(
        "The profile knows no directions: each direction is shown with half the traffic of its pair.");
  if (document.traffic && document.traffic->block > 1)
    verdict.notes.push_back(fmt::format("{} ranks are shown in blocks of {}; all figures are of every rank.",
                                        format_count(document.traffic->world), document.traffic->block));
}

void conclude_profile(ReportDocument& document) {
  document.verdict.kind = "profile";
  document.verdict.sentence =
      fmt::format("{} ranks send {} in {} messages.", format_count(document.traffic->world),
                  format_bytes(document.total_bytes), format_count(std::round(document.total_messages)));
}

void conclude_allocation(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  verdict.kind = "allocation";
  for (const PolicyRow& row : document.allocation->policies) {
    verdict.sentence +=
        fmt::format("{}{}: {} of the parallel jobs share no link or router, utilisation {}, mean wait {}.",
                    verdict.sentence.empty() ? "" : " ", row.policy, percent(row.contention_free),
                    percent(row.utilisation), format_duration(row.mean_wait));
    if (row.jobs.empty() && row.jobs_run > 0)
      verdict.notes.push_back(
          fmt::format("The replay kept no jobs of {}: rankloom alloc replay --detail keeps them.", row.policy));
  }
}

void conclude_online(ReportDocument& document) {
  Verdict& verdict = document.verdict;
  const OnlineSection& online = *document.online;
  verdict.kind = "online";
  double stayed = 0, moved = 0;
  std::uint64_t bursts = 0;
  for (const OnlineNode& node : online.nodes) {
    stayed += node.stayed;
    moved += node.online;
    bursts += node.bursts.size();
  }
  const std::string times = bursts == 1 ? "once" : fmt::format("{} times", bursts);
  if (bursts == 0) {
    verdict.sentence = "No rank was moved: the program went on as it was placed.";
  } else if (stayed > 0 && moved < stayed) {
    verdict.sentence = fmt::format("Moving ranks {} saved {} of the cost of communication, by the model.", times,
                                   percent(1 - moved / stayed));
  } else {
    verdict.sentence = fmt::format("Ranks were moved {}, and nothing was saved by the model.", times);
  }
  if (online.restart && online.restart->first > 0 && online.restart->second < online.restart->first)
    verdict.notes.push_back(fmt::format("Started anew where `auto` puts it, it would cost {} less, by the model.",
                                        percent(1 - online.restart->second / online.restart->first)));
  verdict.notes.push_back("The effect is the model's: what a program without moves would have taken was not measured.");
}

}  // namespace

void conclude(ReportDocument& document) {
  if (document.verdict.sentence.empty()) {
    if (document.orders.size() > 1) {
      conclude_mapping(document);
    } else if (document.allocation) {
      conclude_allocation(document);
    } else if (document.online) {
      conclude_online(document);
    } else if (document.traffic) {
      conclude_profile(document);
    } else if (!document.mappers.empty()) {
      const MapperRow& best = document.mappers.front();
      const double now = worth(document, document.cost_default.value_or(best.cost)), then = worth(document, best.cost);
      const double gain = now != 0 ? (now - then) / std::abs(now) : 0;
      document.verdict.kind = gain > least_gain ? "gain" : "none";
      document.verdict.saved = gain;
      document.verdict.sentence = gain > least_gain
                                      ? fmt::format("{} saves {} of the cost of the default order (model {}).",
                                                    best.name, percent(gain), document.model)
                                      : "Nothing beats the default order: keep it.";
    }
  }
  note_limits(document);
}

}  // namespace rankloom
