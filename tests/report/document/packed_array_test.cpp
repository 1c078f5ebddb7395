// SPDX-License-Identifier: Apache-2.0
// tests of report/document: numbers inside JSON, unpacked again by zlib itself.
#include "rankloom/report/document/packed_array.hpp"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>
#include <zlib.h>

namespace rankloom {
namespace {

std::string from_base64(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0, count = 0;
  for (const char c : text) {
    const auto digit = std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

template <class Number>
std::vector<Number> unpacked(const nlohmann::ordered_json& json) {
  const std::string packed_bytes = from_base64(json["data"]);
  std::vector<Number> numbers(json["length"].get<std::size_t>());
  uLongf size = numbers.size() * sizeof(Number);
  std::vector<Bytef> raw(size + 1);
  EXPECT_EQ(uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(packed_bytes.data()), packed_bytes.size()),
            Z_OK);
  EXPECT_EQ(size, numbers.size() * sizeof(Number));
  if (size > 0) std::memcpy(numbers.data(), raw.data(), size);
  return numbers;
}

TEST(PackedArray, Base64IsThatOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(PackedArray, ReadsBackAsItWas) {
  std::vector<std::uint32_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 4'294'966'000U);
  const auto json = packed(numbers);
  EXPECT_EQ(json["type"], "u32");
  EXPECT_EQ(unpacked<std::uint32_t>(json), numbers);
  const std::vector<float> fractions{0, 0.1F, -3e30F};
  EXPECT_EQ(unpacked<float>(packed(fractions)), fractions);
  EXPECT_EQ(packed(fractions)["type"], "f32");
  EXPECT_EQ(unpacked<float>(packed(std::vector<float>{})).size(), 0);
}

}  // namespace
}  // namespace rankloom
