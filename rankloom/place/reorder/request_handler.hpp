// SPDX-License-Identifier: Apache-2.0
// place/reorder: answers requests of the reorder library in the format of message_format.hpp.
#pragma once

#include <string>
#include <string_view>

namespace rankloom::reorder {

/// Returns a reply for any bytes. The reply contains an error message if the request or the machine is invalid.
std::string handle_request(std::string_view request, const std::string& machine);

}  // namespace rankloom::reorder
