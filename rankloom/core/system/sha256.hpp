// SPDX-License-Identifier: Apache-2.0
// core: SHA-256 of a text, so that a report can say which very files it was made from.
#pragma once

#include <string>
#include <string_view>

namespace rankloom {

/// 64 hexadecimal digits, as sha256sum prints them (FIPS 180-4).
std::string sha256(std::string_view text);

}  // namespace rankloom
