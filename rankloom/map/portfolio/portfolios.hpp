// SPDX-License-Identifier: Apache-2.0
// map/portfolio: mappers that run others and keep the best.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_auto();

}  // namespace rankloom
