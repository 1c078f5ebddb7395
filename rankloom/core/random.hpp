// SPDX-License-Identifier: Apache-2.0
// core: random numbers that are identical on every machine and with every standard library.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>

namespace rankloom {

/// One step of SplitMix64 (Steele, Lea, Flood 2014): a good 64-bit mixing function, also used to derive seeds.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// xoshiro256** 1.0 (Blackman, Vigna 2018). Independent streams: Random(seed, stream).
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t value = mix(seed) ^ mix(~stream);
    for (auto& element : state_) element = value = mix(value);
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in 0..bound-1 without bias (Lemire 2019). bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = -bound % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t last = values.size(); last > 1; --last) std::swap(values[last - 1], values[below(last)]);
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace rankloom
