// SPDX-License-Identifier: Apache-2.0
// map/clustering: mapping by clustering (Wang 2015, 4.3-4.4).
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The values of k that `--clusters auto` tries, in decreasing order, each once. The first is one cluster per rank,
/// which is the launcher's default placement; the paper's value is among them. The list is shorter for large programs.
/// `needed_nodes`: the number of nodes that suffice for the ranks.
std::vector<std::uint32_t> candidate_cluster_counts(std::uint32_t ranks, std::uint64_t nodes,
                                                    std::uint64_t needed_nodes);

/// The paper's k: twice the nodes of the machine, but not more than there are ranks.
std::uint32_t paper_cluster_count(std::uint32_t ranks, std::uint64_t nodes);

}  // namespace rankloom
