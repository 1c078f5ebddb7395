// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: the entry points that libFuzzer calls. `--list` prints the targets, `--target=NAME` chooses one.
#include <cstring>
#include <optional>

#include "rankloom/core/parallel.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/mutator.hpp"

namespace {

using namespace rankloom;

std::optional<fuzz::FuzzTarget> chosen;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static const ThreadLimit one_thread(1);
  constexpr std::string_view option = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    for (const fuzz::FuzzTarget& target : fuzz::fuzz_targets()) {
      if (argument == "--list") std::printf("%s\n", target.name.c_str());
      if (argument.starts_with(option) && argument.substr(option.size()) == target.name) chosen = target;
    }
    if (argument == "--list") std::exit(0);
  }
  if (chosen) return 0;
  std::fprintf(stderr, "name a target of --list with --target=NAME\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// libFuzzer's changes, which follow the comparisons of the reader, and every fourth time ours.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 4 != 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text = fuzz::Mutator(seed).mutate({reinterpret_cast<const char*>(data), size}, {}, max_size);
  if (text.empty()) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
