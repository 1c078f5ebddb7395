// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the mapper that finds the optimum of small problems and proves it.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_exhaustive();

}  // namespace rankloom
