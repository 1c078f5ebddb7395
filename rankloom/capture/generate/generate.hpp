// SPDX-License-Identifier: Apache-2.0
// capture: communication patterns made by rule, and the table of them. Adding one: a file and a row in generators.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "rankloom/capture/generate/loads.hpp"
#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom {

class Generator {
 public:
  virtual ~Generator() = default;
  virtual void describe(OptionList& options) = 0;
  virtual Result<Profile> generate(std::uint64_t seed) const = 0;
  /// Patterns whose point is that their ranks come in no helpful order.
  virtual bool shuffled_by_default() const { return false; }
};

struct GeneratorInfo {
  std::string_view name;  ///< What the user types after `rankloom gen`.
  std::string_view summary;
  std::string_view reference;
  std::unique_ptr<Generator> (*make)();
};

std::span<const GeneratorInfo> generators();
const GeneratorInfo* find_generator(std::string_view name);

/// One row of the table with its options, and those that every pattern has: `seed`, `shuffle` (rename the ranks at
/// random) and `loads`. Set the options, then generate.
class Pattern {
 public:
  explicit Pattern(const GeneratorInfo& info);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  const GeneratorInfo& info() const { return *info_; }
  const OptionList& options() const { return options_; }
  /// The same options and seed give the same profile, whatever the number of threads.
  Result<Profile> generate() const;

 private:
  const GeneratorInfo* info_;
  std::unique_ptr<Generator> generator_;
  std::uint64_t seed_ = 0;
  bool shuffle_ = false;
  LoadPattern loads_ = LoadPattern::equal;
  OptionList options_;
};

/// "stencil3d:size=216x216x216,points=27": the pattern in one string, as every PROFILE argument takes it after "gen:".
/// The options `shuffle` (rename the ranks at random), `loads` and `seed` belong to every pattern.
Result<Profile> generate(std::string_view spec);

}  // namespace rankloom
