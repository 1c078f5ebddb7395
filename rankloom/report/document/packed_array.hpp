// SPDX-License-Identifier: Apache-2.0
// report/document: arrays of numbers in JSON: little-endian, compressed by zlib, in base64.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rankloom {

/// {"type": "u32" or "f32", "length": n, "data": base64}. The same numbers give the same text.
nlohmann::ordered_json packed(std::span<const std::uint32_t> numbers);
nlohmann::ordered_json packed(std::span<const float> numbers);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace rankloom
