// SPDX-License-Identifier: Apache-2.0
// map: the factory function of every mapper. The table in mappers.cpp calls them; each is defined in the source file of
// its mapper.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_auto();
std::unique_ptr<Mapper> make_block();
std::unique_ptr<Mapper> make_clustering();
std::unique_ptr<Mapper> make_eager();
std::unique_ptr<Mapper> make_exhaustive();
std::unique_ptr<Mapper> make_greedy();
std::unique_ptr<Mapper> make_hierarchical();
std::unique_ptr<Mapper> make_mpipp();
std::unique_ptr<Mapper> make_pair_exchange();
std::unique_ptr<Mapper> make_random();
std::unique_ptr<Mapper> make_refine();
std::unique_ptr<Mapper> make_round_robin();
std::unique_ptr<Mapper> make_treematch();

// Defined only in builds with the library in question.
std::unique_ptr<Mapper> make_metis();
std::unique_ptr<Mapper> make_scotch();

}  // namespace rankloom
