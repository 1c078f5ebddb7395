// SPDX-License-Identifier: Apache-2.0
// map/eager: the mapper `eager` (Cruz 2019, EagerMap).
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_eager();

}  // namespace rankloom
