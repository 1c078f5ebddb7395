// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: timelines of simulated runs, as text and as JSON. Part of `rankloom simulate`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "apps/rankloom/output.hpp"
#include "rankloom/evaluate/simulate/timeline.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::app {

struct NamedTimeline {
  std::string name;  ///< Of the mapping.
  const Timeline* timeline;
};

/// A table, `width` columns wide, of the shares of computation, transfer and waiting, and a line for each critical
/// path.
std::string timeline_text(std::span<const NamedTimeline> timelines, const Topology& topology, std::size_t width);

/// With the names of the levels that messages of the critical path cross.
Json timeline_json(const Timeline& timeline, const Topology& topology);

}  // namespace rankloom::app
