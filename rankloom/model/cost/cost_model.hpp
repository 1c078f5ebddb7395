// SPDX-License-Identifier: Apache-2.0
// model: what a mapping costs. The same five models serve mappers, eval, compare and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

enum class CostModel : std::uint8_t { bytes, time, hopbytes, quality, congestion };

struct CostModelInfo {
  CostModel model;
  std::string_view name;       ///< What the user types after --model.
  std::string_view summary;    ///< One line.
  std::string_view reference;  ///< The paper and equation it follows.
  bool larger_is_better;
};

/// All of them, in reading order.
std::span<const CostModelInfo> cost_models();
const CostModelInfo& info(CostModel model);
std::optional<CostModel> find_cost_model(std::string_view name);

/// The model's value for a placement: O(edges), for congestion O(edges x route). Parallel; the same for any number of
/// threads.
double evaluate(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of, CostModel model);

/// The value turned so that smaller is better: what mappers minimise.
inline double objective(CostModel model, double value) {
  return info(model).larger_is_better ? -value : value;
}

}  // namespace rankloom
