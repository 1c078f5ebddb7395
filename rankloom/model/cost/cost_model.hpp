// SPDX-License-Identifier: Apache-2.0
// model/cost: the cost models of mappings. Mappers, eval, compare and reports use the same six models.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

enum class CostModel : std::uint8_t { bytes, time, hopbytes, quality, congestion, predicted };

struct CostModelInfo {
  CostModel model;
  std::string_view name;       ///< The value of --model.
  std::string_view summary;    ///< One line.
  std::string_view reference;  ///< The paper and its equation.
  bool larger_is_better;
};

/// All models, in the order of the documentation.
std::span<const CostModelInfo> cost_models();
const CostModelInfo& info(CostModel model);
std::optional<CostModel> find_cost_model(std::string_view name);

/// The value of the model for a placement: O(edges), for congestion and predicted O(edges x route length). Parallel;
/// the result does not depend on the number of threads.
double evaluate(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of, CostModel model);

/// The model whose sum over pairs of ranks is closest to this model: itself, unless it has no such sum.
constexpr CostModel pairwise_model(CostModel model) {
  if (model == CostModel::congestion) return CostModel::hopbytes;
  return model == CostModel::predicted ? CostModel::time : model;
}

/// The model that evaluate() uses on this machine: a distance matrix has no channels, so `predicted` is `time` there.
CostModel on_machine(CostModel model, const Topology& topology);
/// The model if none is named: `predicted`; on a distance matrix `bytes`, as in the quadratic assignment problem, and
/// also with more than `many_edges` edges or 4 million cores, for which a prediction takes minutes.
CostModel default_model(const CommGraph& graph, const Topology& topology);

/// The value that mappers minimise: negated if larger is better.
inline double objective(CostModel model, double value) {
  return info(model).larger_is_better ? -value : value;
}

/// The value of a model as text: "3,280", or "1.3 µs" for `predicted`.
std::string cost_text(CostModel model, double value);

/// The optimality gap: the distance between a value and a bound in percent of the larger of the two.
double gap_percent(double value, double bound);
/// A bound that leaves a gap of 100 % (rounded to one digit), such as 0 for a sum of costs, says nothing.
bool is_informative_bound(double value, double bound);

}  // namespace rankloom
