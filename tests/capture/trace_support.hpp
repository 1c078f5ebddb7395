// SPDX-License-Identifier: Apache-2.0
// tests: helpers for the tests of recorded traces. All traces are of one program, tests/data/traces/talk.c.
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/capture/import_support.hpp"

namespace rankloom::testing {

inline Imported read_path(const std::string& path, std::string_view format = {}) {
  auto result = import_path(path, format);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  return result ? *std::move(result) : Imported{};
}

inline Error path_error(const std::string& path, std::string_view format = {}) {
  auto result = import_path(path, format);
  EXPECT_FALSE(result) << path;
  if (result) return {};
  EXPECT_EQ(result.error().code, Code::bad_input) << to_string(result.error());
  EXPECT_FALSE(result.error().hint.empty());
  return result.error();
}

/// The traffic of talk.c on 4 ranks, in bytes.
inline Edges program_traffic() {
  return {{{0, 1}, 2 * 800}, {{1, 2}, 2 * 808}, {{2, 3}, 2 * 816}, {{3, 0}, 2 * 824},
          {{0, 3}, 0},       {{2, 0}, 132},     {{3, 1}, 132}};
}

/// The only call with this operation, root and size.
inline Collective find_call(const Profile& profile, CollectiveOp op, std::uint32_t root = 0, double bytes = 0) {
  Collective result;
  int found = 0;
  for (const Collective& call : profile.collectives) {
    if (call.op != op || call.root != root || call.bytes != bytes) continue;
    result = call;
    ++found;
  }
  EXPECT_EQ(found, 1) << to_string(op) << " of " << bytes << " bytes";
  return result;
}

/// A temporary copy of a directory.
class TemporaryCopy {
 public:
  explicit TemporaryCopy(const std::string& original)
      : directory_(std::filesystem::temp_directory_path() /
                   fmt::format("rankloom-trace-{}-{}", ::getpid(), ::testing::UnitTest::GetInstance()->random_seed())) {
    std::filesystem::remove_all(directory_);
    std::filesystem::copy(original, directory_, std::filesystem::copy_options::recursive);
  }
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;
  ~TemporaryCopy() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

 private:
  std::filesystem::path directory_;
};

}  // namespace rankloom::testing
