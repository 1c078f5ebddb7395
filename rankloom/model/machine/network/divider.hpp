// SPDX-License-Identifier: Apache-2.0
// model/machine/network: fast division by the constant sizes of a network, so that hops() of regular networks takes a
// few cycles.
#pragma once

#include <cstdint>

namespace rankloom {

/// Divides by multiplication (Lemire, Kaser, Kurz 2019); exact for all 32-bit numbers.
class Divider {
 public:
  explicit Divider(std::uint32_t divisor) : divisor_(divisor), inverse_(~std::uint64_t{0} / divisor + 1) {}

  std::uint32_t divisor() const { return divisor_; }
  std::uint32_t quotient(std::uint32_t value) const {
    __extension__ using Wide = unsigned __int128;
    if (divisor_ == 1) return value;  // the inverse, 2^64, does not fit
    return static_cast<std::uint32_t>((static_cast<Wide>(inverse_) * value) >> 64);
  }
  std::uint32_t remainder(std::uint32_t value) const { return value - quotient(value) * divisor_; }

 private:
  std::uint32_t divisor_;
  std::uint64_t inverse_;
};

}  // namespace rankloom
