// SPDX-License-Identifier: Apache-2.0
// core/system: SHA-256, with which a report identifies its input files.
#pragma once

#include <string>
#include <string_view>

namespace rankloom {

/// 64 hexadecimal digits, as sha256sum prints them (FIPS 180-4).
std::string sha256(std::string_view text);

}  // namespace rankloom
