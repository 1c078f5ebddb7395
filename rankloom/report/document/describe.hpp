// SPDX-License-Identifier: Apache-2.0
// report/document: writes the properties of a program or a machine, and the effect of a mapping, into a document.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Message sizes, point-to-point and collective traffic, time in MPI, phases.
void describe_profile(const Profile& profile, ReportDocument& document);

/// The placements that are compared: the default, and optionally a mapping.
struct ComparedPlacements {
  std::vector<Core> before;
  std::string before_name;  ///< Of the default placement: "block", "recorded"
  std::vector<Core> after;  ///< Empty: no comparison.
  std::string after_label;  ///< "auto", "mapping.txt"
  CostModel model = CostModel::bytes;
  SlotShapes shapes = {};  ///< What every rank occupies.
};

/// Only the traffic, with ranks in numerical order. Consumes the graph.
void describe_traffic(CommGraph graph, ReportDocument& document);

/// Traffic, placements, machine, levels, links, costs and predicted times. Consumes the graph. O(edges x route length).
void describe_placements(CommGraph graph, const Topology& topology, ComparedPlacements placements,
                         ReportDocument& document);

/// A machine without a program: its parts, network, costs and widths, and what `topo check` finds. `headline` names its
/// size.
void describe_machine(const Topology& topology, std::string_view headline, ReportDocument& document);

}  // namespace rankloom
