// SPDX-License-Identifier: Apache-2.0
// map/local_search: the mappers that improve a placement by exchanging ranks and moving them to free cores.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_greedy();
std::unique_ptr<Mapper> make_pair_exchange();
std::unique_ptr<Mapper> make_mpipp();
std::unique_ptr<Mapper> make_refine();

}  // namespace rankloom
