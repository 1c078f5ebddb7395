// SPDX-License-Identifier: Apache-2.0
// map/clustering: mapping by clustering (Wang 2015, 4.3-4.4).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_clustering();

/// The numbers of clusters that `--clusters auto` tries, in order, each once: every rank for itself first, which is the
/// default order, then from many clusters to few. It holds the paper's own number, twice the nodes. Shorter for large
/// programs. `needed` is how many of the nodes it takes to hold the ranks.
std::vector<std::uint32_t> cluster_ladder(std::uint32_t ranks, std::uint64_t nodes, std::uint64_t needed);

/// The paper's number: twice the nodes of the machine, but not more than there are ranks.
std::uint32_t paper_clusters(std::uint32_t ranks, std::uint64_t nodes);

}  // namespace rankloom
