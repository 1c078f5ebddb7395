// SPDX-License-Identifier: Apache-2.0
// capture/generate: synthetic communication patterns, and the table of them. To add one: a file and a row in
// generators.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// The computational load of each rank. Loads are integers, assigned to ranks in random order.
enum class LoadPattern : std::uint8_t {
  equal,    ///< No loads are written: all ranks have the same load.
  zipf,     ///< The k-th largest load is 10,000/k, at least 1.
  heavy,    ///< One rank has a tenth of the sum of all others, at least 10; the others have 1.
  bimodal,  ///< Every tenth rank has 10, the others 1.
  random,   ///< Uniformly distributed integers from 1 to 100.
};

class Generator {
 public:
  virtual ~Generator() = default;
  virtual void describe(OptionList& options) = 0;
  virtual Result<Profile> generate(std::uint64_t seed) const = 0;
  /// Whether the ranks are renumbered at random by default, for patterns whose natural order is already a good mapping.
  virtual bool shuffled_by_default() const { return false; }
};

struct GeneratorInfo {
  std::string_view name;  ///< The argument of `rankloom gen`.
  std::string_view summary;
  std::string_view reference;
  std::unique_ptr<Generator> (*make)();
};

std::span<const GeneratorInfo> generators();
const GeneratorInfo* find_generator(std::string_view name);

/// A pattern of the table with its options, and the options of all patterns: `seed`, `shuffle` (renumber the ranks at
/// random) and `loads`. Set the options, then generate.
class Pattern {
 public:
  explicit Pattern(const GeneratorInfo& info);
  /// With a generator of this row that was made elsewhere.
  Pattern(const GeneratorInfo& info, std::unique_ptr<Generator> generator);
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

/// A pattern with its options from one string, "stencil3d:size=216x216x216,points=27", which every PROFILE argument
/// accepts after "gen:".
Result<std::unique_ptr<Pattern>> read_pattern(std::string_view spec);
Result<Profile> generate(std::string_view spec);

}  // namespace rankloom
