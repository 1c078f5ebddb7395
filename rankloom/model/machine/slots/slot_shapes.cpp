// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: what the ranks of a job occupy.
#include "rankloom/model/machine/slots/slot_shapes.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace rankloom {

namespace {

std::optional<std::uint32_t> read_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The number of a rank, and the first rank after it for which it may be another one.
struct Run {
  std::optional<std::uint32_t> number;
  std::uint64_t end;
};

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

Run run_at(const RankNumbers& numbers, std::uint64_t rank) {
  if (numbers.for_all()) return {numbers.parts[0].number, no_end};
  std::uint64_t end = 0;
  for (const RankNumbers::Part& part : numbers.parts) {
    end += part.ranks;
    if (rank < end) return {part.number, end};
  }
  return {std::nullopt, no_end};
}

}  // namespace

std::optional<RankNumbers> RankNumbers::parse(std::string_view text, std::uint32_t max) {
  if (text.find('x') == std::string_view::npos) {
    const auto number = read_number(text);
    if (!number || *number == 0 || *number > max) return std::nullopt;
    return RankNumbers(*number);
  }
  RankNumbers numbers;
  std::uint64_t ranks = 0;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const std::size_t times = part.find('x');
    if (times == std::string_view::npos) return std::nullopt;
    const auto count = read_number(part.substr(0, times)), number = read_number(part.substr(times + 1));
    if (!count || *count == 0 || !number || *number > max) return std::nullopt;
    ranks += *count;
    if (ranks > std::numeric_limits<std::uint32_t>::max() || numbers.parts.size() == max_parts) return std::nullopt;
    numbers.parts.push_back({*count, *number});
  }
  return numbers;
}

std::string RankNumbers::text() const {
  if (for_all()) return fmt::format("{}", parts[0].number);
  std::string text;
  for (const Part& part : parts) text += fmt::format("{}{}x{}", text.empty() ? "" : ",", part.ranks, part.number);
  return text;
}

SlotShapes SlotShapes::combine(const SlotNumbers& numbers, const SlotShapes& otherwise) {
  SlotShapes shapes;
  shapes.parts_.clear();
  shapes.named_ranks_ = otherwise.named_ranks_;
  for (const auto& given : numbers) {
    std::uint64_t named = 0;
    if (given)
      for (const RankNumbers::Part& part : given->parts) named += part.ranks;
    shapes.named_ranks_ = std::max(shapes.named_ranks_, static_cast<std::uint32_t>(named));
  }
  for (std::uint64_t rank = 0; rank != no_end;) {
    const std::size_t part = otherwise.part_of(Rank{static_cast<std::uint32_t>(rank)});
    std::uint64_t end = part + 1 < otherwise.parts_.size() ? otherwise.parts_[part + 1].begin : no_end;
    SlotShape shape = otherwise.parts_[part].shape;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!numbers[i]) continue;
      const auto member = slot_numbers[i].member;
      const Run run = run_at(*numbers[i], rank);
      const std::uint32_t number = run.number.value_or(0);
      shape.*member = number == 0 ? SlotShape{}.*member : number;
      end = std::min(end, run.end);
    }
    if (shape.ranks_per_gpu > 1) shape.gpus = std::max(1U, shape.gpus);
    if (shapes.parts_.empty() || shapes.parts_.back().shape != shape)
      shapes.parts_.push_back({static_cast<std::uint32_t>(rank), shape});
    rank = end > std::numeric_limits<std::uint32_t>::max() ? no_end : end;
  }
  return shapes;
}

std::size_t SlotShapes::part_of(Rank rank) const {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), index(rank),
                                      [](std::uint32_t number, const Part& part) { return number < part.begin; });
  return static_cast<std::size_t>(after - parts_.begin()) - 1;
}

void SlotShapes::append(std::uint32_t ranks, SlotShape shape) {
  if (ranks == 0) return;
  if (parts_.back().begin == named_ranks_) parts_.pop_back();  // it contains only ranks that were not named
  if (parts_.empty() || parts_.back().shape != shape) parts_.push_back({named_ranks_, shape});
  named_ranks_ += ranks;
  if (parts_.back().shape != SlotShape{}) parts_.push_back({named_ranks_, {}});
}

SlotShapes SlotShapes::of_first(std::uint32_t ranks) const {
  SlotShapes shapes = *this;
  while (shapes.parts_.size() > 1 && shapes.parts_.back().begin >= ranks) shapes.parts_.pop_back();
  if (!shapes.differ()) return shapes.common();
  shapes.named_ranks_ = ranks;
  return shapes;
}

SlotNumbers SlotShapes::numbers() const {
  SlotNumbers all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = numbers_of(slot_numbers[i].member);
  return all;
}

std::optional<RankNumbers> SlotShapes::numbers_of(std::uint32_t SlotShape::*member) const {
  const std::uint32_t by_default = SlotShape{}.*member;
  if (!differ()) {
    const std::uint32_t common = parts_.front().shape.*member;
    return common == by_default ? std::nullopt : std::optional(RankNumbers(common));
  }
  RankNumbers numbers;
  for (std::size_t at = 0; at < parts_.size(); ++at) {
    const std::uint32_t end = at + 1 < parts_.size() ? parts_[at + 1].begin : std::max(named_ranks_, parts_[at].begin);
    const std::uint32_t ranks = end - parts_[at].begin, value = parts_[at].shape.*member;
    if (ranks == 0) continue;
    if (!numbers.parts.empty() && numbers.parts.back().number == value)
      numbers.parts.back().ranks += ranks;
    else
      numbers.parts.push_back({ranks, value});
  }
  if (numbers.parts.size() == 1 && numbers.parts[0].number == by_default) return std::nullopt;
  if (numbers.parts.size() > RankNumbers::max_parts && numbers.parts.back().number == by_default)
    numbers.parts.pop_back();  // ranks without a number have the default
  return numbers;
}

Result<void> SlotShapes::check(std::uint32_t ranks) const {
  if (named_ranks_ <= ranks) return {};
  return fail(Code::usage, at(option_text(*this)),
              fmt::format("the options name {} ranks, but there are {}", named_ranks_, ranks),
              "correct the numbers of ranks before the x");
}

std::string option_text(const SlotShapes& shapes) {
  std::string text;
  const SlotNumbers numbers = shapes.numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i]) text += fmt::format("{}{} {}", text.empty() ? "" : " ", slot_numbers[i].option, numbers[i]->text());
  }
  return text;
}

}  // namespace rankloom
