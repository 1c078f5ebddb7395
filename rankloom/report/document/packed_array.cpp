// SPDX-License-Identifier: Apache-2.0
// report/document: arrays of numbers in JSON.
#include "rankloom/report/document/packed_array.hpp"

#include <bit>
#include <cassert>

#include <zlib.h>

namespace rankloom {

namespace {

using Json = nlohmann::ordered_json;

/// The bits of each number, lowest byte first on every machine.
template <class Number>
std::string little_endian(std::span<const Number> numbers) {
  static_assert(sizeof(Number) == 4);
  std::string bytes;
  bytes.reserve(4 * numbers.size());
  for (const Number number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  return bytes;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 6);
  assert(status == Z_OK);  // compressBound() guarantees that the buffer suffices
  static_cast<void>(status);
  result.resize(size);
  return result;
}

template <class Number>
Json pack(std::string_view type, std::span<const Number> numbers) {
  return {{"type", type}, {"length", numbers.size()}, {"data", base64(deflated(little_endian(numbers)))}};
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + (i == 0 ? 0 : i - 1) < bytes.size() ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

Json packed(std::span<const std::uint32_t> numbers) {
  return pack("u32", numbers);
}

Json packed(std::span<const float> numbers) {
  return pack("f32", numbers);
}

}  // namespace rankloom
