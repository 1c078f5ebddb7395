// SPDX-License-Identifier: Apache-2.0
// map/treematch: the mapper that groups by affinity, level by level.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_treematch();

}  // namespace rankloom
