// SPDX-License-Identifier: Apache-2.0
// core: a question that is larger than the machine is answered at once, instead of after the machine has died of it.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// Fails when `what` would take more bytes than this machine has.
Result<void> check_memory(Where where, std::string what, double bytes, std::string hint);

}  // namespace rankloom
