// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: what the ranks of a job occupy: usually the same for all, but the programs of one job may
// differ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// What one rank occupies.
struct SlotShape {
  std::uint32_t cores = 1;
  /// Hardware threads of each core. 0: all of them; if there are more ranks than cores, and a rank has one core, one.
  std::uint32_t threads_per_core = 0;
  std::uint32_t gpus = 0;
  /// How many ranks at most share the same GPUs. They do only if there are more ranks than GPUs for them.
  std::uint32_t ranks_per_gpu = 1;
  bool operator==(const SlotShape&) const = default;
};

/// A number of a shape: its option, its key in JSON, and the largest one that is accepted.
struct SlotNumber {
  const char* option;
  const char* key;
  std::uint32_t SlotShape::*member;
  std::uint32_t max;
};
constexpr auto slot_numbers = std::to_array<SlotNumber>({
    {"--cores-per-rank", "cores_per_rank", &SlotShape::cores, 1U << 16},
    {"--threads-per-core", "threads_per_core", &SlotShape::threads_per_core, 1U << 10},
    {"--gpus-per-rank", "gpus_per_rank", &SlotShape::gpus, 1U << 10},
    {"--ranks-per-gpu", "ranks_per_gpu", &SlotShape::ranks_per_gpu, 1U << 10},
});

/// A number for every rank, as options and files write it: "8" for all ranks, or "4x8,16x1": 8 for the first four
/// ranks, 1 for the next sixteen. Ranks after those have the default.
struct RankNumbers {
  struct Part {
    std::uint32_t ranks = 0;  ///< 0: all.
    std::uint32_t number = 0;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;
  static constexpr std::size_t max_parts = 64;

  RankNumbers() = default;
  explicit RankNumbers(std::uint32_t for_all) : parts{{0, for_all}} {}
  bool for_all() const { return parts.size() == 1 && parts[0].ranks == 0; }
  /// Nothing if the text is not of this form, has too many parts, or contains a number above `max`. A single number is
  /// at least 1; in a list, 0 is the default.
  static std::optional<RankNumbers> parse(std::string_view text, std::uint32_t max);
  std::string text() const;
};

/// The numbers of all ranks, in the order of `slot_numbers`, as far as they are given.
using SlotNumbers = std::array<std::optional<RankNumbers>, slot_numbers.size()>;

/// The shapes of all ranks, by ranges of ranks.
class SlotShapes {
 public:
  struct Part {
    std::uint32_t begin = 0;  ///< The first rank.
    SlotShape shape = {};
    bool operator==(const Part&) const = default;
  };
  /// The largest number of parts: those of all numbers of a rank.
  static constexpr std::size_t max_parts = slot_numbers.size() * RankNumbers::max_parts + 1;

  SlotShapes() : SlotShapes(SlotShape{}) {}
  SlotShapes(SlotShape for_all) : parts_{{0, for_all}} {}  // NOLINT(google-explicit-constructor): usually all are equal
  /// What is not given is as in `otherwise`. Ranks that may share GPUs have at least one.
  static SlotShapes combine(const SlotNumbers& numbers, const SlotShapes& otherwise);

  /// Whether all ranks have the same shapes, however many were named.
  bool operator==(const SlotShapes& other) const { return parts_ == other.parts_; }
  /// Whether ranks may have different shapes.
  bool differ() const { return parts_.size() > 1; }
  /// The shape of all ranks, if they do not differ.
  const SlotShape& common() const { return parts_.front().shape; }
  /// O(log parts).
  const SlotShape& of(Rank rank) const { return parts_[part_of(rank)].shape; }
  std::size_t part_of(Rank rank) const;
  std::span<const Part> parts() const { return parts_; }
  /// Names further ranks, after those that were named so far. Only for shapes that are built from nothing.
  void append(std::uint32_t ranks, SlotShape shape);
  /// The shapes of the ranks of a job with this many ranks.
  SlotShapes of_first(std::uint32_t ranks) const;
  /// How many ranks were named one by one; 0: none.
  std::uint32_t named_ranks() const { return named_ranks_; }
  /// Whether the condition holds for a part.
  template <class Condition>
  bool any(const Condition& condition) const {
    for (const Part& part : parts_)
      if (condition(part.shape)) return true;
    return false;
  }

  /// The numbers that are not the default of all ranks.
  SlotNumbers numbers() const;

  /// Fails if more ranks were named than there are.
  Result<void> check(std::uint32_t ranks) const;

 private:
  std::optional<RankNumbers> numbers_of(std::uint32_t SlotShape::*member) const;

  std::vector<Part> parts_;  // in ascending order of ranks; neighbours differ
  std::uint32_t named_ranks_ = 0;
};

/// The options of shapes that are not the default: "--cores-per-rank 4 --threads-per-core 1".
std::string option_text(const SlotShapes& shapes);

}  // namespace rankloom
