// SPDX-License-Identifier: Apache-2.0
// capture/generate: the factory functions of all patterns, for the table in generators.cpp.
#pragma once

#include <memory>

#include "rankloom/capture/generate/generate.hpp"

namespace rankloom {

// grid_patterns.cpp
std::unique_ptr<Generator> make_stencil2d();
std::unique_ptr<Generator> make_stencil3d();
std::unique_ptr<Generator> make_ring();
std::unique_ptr<Generator> make_grid2d();
std::unique_ptr<Generator> make_grid3d();
std::unique_ptr<Generator> make_sweep();
// random_geometric.cpp
std::unique_ptr<Generator> make_rgg();
std::unique_ptr<Generator> make_rggmesh();
// random_graphs.cpp
std::unique_ptr<Generator> make_blocks();
std::unique_ptr<Generator> make_powerlaw();
std::unique_ptr<Generator> make_random_pairs();
// conjugate_gradient.cpp
std::unique_ptr<Generator> make_cg();
// exchanges.cpp
std::unique_ptr<Generator> make_alltoall();
std::unique_ptr<Generator> make_groups();
// qaplib.cpp
std::unique_ptr<Generator> make_qaplib();
// language_model.cpp
std::unique_ptr<Generator> make_llm();

}  // namespace rankloom
