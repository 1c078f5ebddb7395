// SPDX-License-Identifier: Apache-2.0
// map/peers: graph partitioners of others as mappers, built where their library is installed.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_scotch();
std::unique_ptr<Mapper> make_metis();

}  // namespace rankloom
