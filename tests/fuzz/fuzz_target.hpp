// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: what a fuzz target is. A target reads any bytes with one reader: the reader returns a value or an error,
// and the value keeps the promises of its type. Each file in targets/ lists the targets of one stage and becomes one
// program, fuzz_<stage>: with libFuzzer in the preset `fuzz`, with driver.cpp in all other builds.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define RANKLOOM_FUZZ_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RANKLOOM_FUZZ_ASAN
#endif
#endif
#ifdef RANKLOOM_FUZZ_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace rankloom::fuzz {

struct FuzzTarget {
  std::string name;  ///< Also the folder of its inputs in tests/fuzz/corpus/.
  std::function<void(std::string_view)> run;
  std::uint32_t executions = 10'000;  ///< Of the short run in `./dev test`; fewer for slow readers.
};

/// Defined in targets/<stage>.cpp.
std::vector<FuzzTarget> fuzz_targets();

/// Ends the process as a failed assertion does, in every build.
inline void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: expectation failed: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// Whether there is a value. An error must say what is wrong.
template <class T>
bool has_value(const Result<T>& result) {
  if (!result) expect(!result.error().what.empty(), "an error has a message");
  return result.has_value();
}

/// A file with this content. With the address sanitizer, the byte after its end must not be read: a mapped file has no
/// terminating zero.
inline FileContents file_of(std::string_view bytes) {
  FileContents file("input", std::string(bytes));
#ifdef RANKLOOM_FUZZ_ASAN
  constexpr std::size_t max_inline_size = 15;  // short strings are stored inside the object
  if (bytes.size() > max_inline_size) __asan_poison_memory_region(file.view().data() + bytes.size(), 1);
#endif
  return file;
}

/// The text up to the next line end, which is removed from `rest` too.
inline std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(line.size() == rest.size() ? rest.size() : line.size() + 1);
  return line;
}

}  // namespace rankloom::fuzz
