// SPDX-License-Identifier: Apache-2.0
// place/reorder: the answer to what the library inside a program asks, in the words of wire.hpp.
#pragma once

#include <string>
#include <string_view>

namespace rankloom::reorder {

/// A reply to any bytes; what is wrong with them, or with the machine, stands in the reply.
std::string answer(std::string_view request, const std::string& machine);

}  // namespace rankloom::reorder
