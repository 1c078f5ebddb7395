// SPDX-License-Identifier: Apache-2.0
// core/system: rejects problems that do not fit into memory before they are allocated.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// Fails if `what` needs more bytes than this machine has.
Result<void> check_memory(Where where, std::string what, double bytes, std::string hint);

}  // namespace rankloom
