// SPDX-License-Identifier: Apache-2.0
// core: exponential and logarithm with the same bits on every architecture. Those of the C library differ in the last
// bit between processors with and without fused multiply-add, and one bit can change a mapping. The functions here
// consist of operations that IEEE 754 rounds correctly, in a fixed order.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rankloom {

namespace detail {
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;  // 33 bits, so that products with small integers are exact
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
}  // namespace detail

/// ln(x) for x > 0, to about 1 ulp.
inline double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact, in [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // ln(m) = 2 artanh(s), s = (m - 1) / (m + 1), |s| <= 0.172
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double series = 0;
  for (int denominator = 23; denominator > 1; denominator -= 2) series = (series + 1.0 / denominator) * square;
  return exponent * detail::ln2_high + (exponent * detail::ln2_low + 2 * s * series + 2 * s);
}

/// The binary logarithm of x > 0; exact for powers of two.
inline double portable_log2(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return mantissa == 0.5 ? exponent - 1 : portable_log(x) * 1.4426950408889634;
}

inline double portable_exp(double x) {
  if (!(x < 709)) return std::isnan(x) ? x : std::numeric_limits<double>::infinity();
  if (x < -745) return 0;
  const double multiple = std::floor(x * 1.4426950408889634 + 0.5);
  const double rest = (x - multiple * detail::ln2_high) - multiple * detail::ln2_low;  // |rest| <= 0.347
  double series = 1;
  for (int denominator = 14; denominator > 0; --denominator) series = 1 + series * rest / denominator;
  if (multiple < -1000) return std::ldexp(series, static_cast<int>(multiple));  // rounded to a subnormal number
  return series * std::bit_cast<double>(static_cast<std::uint64_t>(multiple + 1023) << 52);
}

/// base^exponent for base > 0; exact for the exponents 0 and 1.
inline double portable_pow(double base, double exponent) {
  if (exponent == 0) return 1;
  return exponent == 1 ? base : portable_exp(exponent * portable_log(base));
}

}  // namespace rankloom
