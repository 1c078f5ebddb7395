// SPDX-License-Identifier: Apache-2.0
// model/cost: the cost models of mappings.
#include "rankloom/model/cost/cost_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/machine/distance.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

namespace {

constexpr std::array<CostModelInfo, 6> table{{
    {CostModel::bytes, "bytes", "sum of bytes x time per byte: the quadratic assignment cost", "Wang 2015, eq. 1",
     false},
    {CostModel::time, "time", "sum of messages x latency + bytes x time per byte", "Getmanskiy 2015, eq. 4", false},
    {CostModel::hopbytes, "hopbytes", "sum of bytes x links on the route", "Agarwal, Sharma, Kale 2006", false},
    {CostModel::quality, "quality", "sum of bytes / latency; larger is better", "Cruz 2019, eq. 7", true},
    {CostModel::congestion, "congestion", "bytes on the most loaded link of the network", "Hoefler, Snir 2011", false},
    {CostModel::predicted, "predicted", "predicted seconds of the communication: latencies and the busiest channel",
     "Hockney 1994", false},
}};

/// with_self is false for quality: equation 7 of Cruz 2019 sums over i < j.
double pairwise(const CommGraph& graph, std::span<const Core> core_of, const auto& distance, bool with_self) {
  const double default_messages = graph.default_messages();
  return parallel_sum<double>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t r = begin; r < end; ++r) {
      const Rank rank{static_cast<std::uint32_t>(r)};
      const auto targets = graph.targets(rank);
      const auto bytes = graph.bytes(rank);
      const auto messages = graph.messages(rank);
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        if (!with_self && targets[edge] == rank) continue;
        const PairCost pair = distance(core_of[r], core_of[index(targets[edge])]);
        sum += bytes[edge] * pair.per_byte + (messages.empty() ? default_messages : messages[edge]) * pair.per_message;
      }
    }
    return sum;
  });
}

double largest_link_load(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  const auto loads = link_loads(graph, topology, core_of);
  double largest = 0;
  for (std::uint32_t link = 0; link < loads.size(); ++link) {
    largest = std::max(largest, loads[link] * topology.slowness(Link{link}));
  }
  return largest;
}

}  // namespace

CostModel on_machine(CostModel model, const Topology& topology) {
  return model == CostModel::predicted && topology.is_matrix() ? CostModel::time : model;
}

CostModel default_model(const CommGraph& graph, const Topology& topology) {
  constexpr std::uint32_t many_cores = 4'000'000;
  const bool is_large = graph.edge_count() > many_edges || topology.core_count() > many_cores;
  return topology.is_matrix() || is_large ? CostModel::bytes : CostModel::predicted;
}

std::span<const CostModelInfo> cost_models() {
  return table;
}

const CostModelInfo& info(CostModel model) {
  return table[static_cast<std::size_t>(model)];
}

std::optional<CostModel> find_cost_model(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const CostModelInfo& row) { return row.name == name; });
  return found == table.end() ? std::nullopt : std::optional(found->model);
}

double evaluate(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of, CostModel model) {
  model = on_machine(model, topology);
  if (model == CostModel::congestion) return largest_link_load(graph, topology, core_of);
  if (model == CostModel::predicted) return predict(graph, *Platform::of(topology), core_of).seconds;
  const Distance distance = make_distance(topology, model);
  const double smaller_is_better = std::visit(
      [&](const auto& concrete) { return pairwise(graph, core_of, concrete, model != CostModel::quality); }, distance);
  return info(model).larger_is_better ? 0 - smaller_is_better : smaller_is_better;  // never -0
}

std::string cost_text(CostModel model, double value) {
  return model == CostModel::predicted ? format_seconds(value) : cost_number(value);
}

double gap_percent(double value, double bound) {
  const double larger = std::max(std::abs(value), std::abs(bound));
  const double difference = std::abs(value - bound);
  return difference <= 1e-9 * larger ? 0 : 100 * difference / larger;  // smaller differences are rounding errors
}

bool is_informative_bound(double value, double bound) {
  return gap_percent(value, bound) < 99.95;
}

}  // namespace rankloom
