// SPDX-License-Identifier: Apache-2.0
// tests: limits of time and effort in builds with sanitizers.
#pragma once

namespace rankloom::testing {

/// How many times as long code takes in this build, at most.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int slowdown = 20;
#else
inline constexpr int slowdown = 1;
#endif

}  // namespace rankloom::testing
