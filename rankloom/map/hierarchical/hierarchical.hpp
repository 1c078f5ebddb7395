// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: mapping level by level (Wang 2015, 4.5).
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_hierarchical();

}  // namespace rankloom
