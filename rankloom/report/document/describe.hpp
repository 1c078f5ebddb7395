// SPDX-License-Identifier: Apache-2.0
// report/document: what a program does, and what a mapping changes about it, written into a document.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Message sizes, point to point against collectives, time in MPI, phases.
void describe_profile(const Profile& profile, ReportDocument& document);

/// Who sits where: the default order, and what is compared with it, if anything.
struct Placements {
  std::vector<Core> before;
  std::vector<Core> after;  ///< Empty: nothing is compared.
  std::string after_label;  ///< "auto", "mapping.txt"
  CostModel model = CostModel::bytes;
};

/// The traffic alone, in the order of the ranks' numbers. Takes the graph.
void describe_traffic(CommGraph graph, ReportDocument& document);

/// Traffic, orders, machine, levels, links, costs and the predicted times. Takes the graph. O(edges x route).
void describe_placements(CommGraph graph, const Topology& topology, Placements placements, ReportDocument& document);

}  // namespace rankloom
