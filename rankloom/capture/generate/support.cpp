// SPDX-License-Identifier: Apache-2.0
// capture/generate: what several patterns share.
#include "rankloom/capture/generate/support.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/system/memory.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

std::string option_name(std::string_view option) {
  return fmt::format("--{}", option);
}

std::pair<std::uint32_t, std::uint32_t> nearest_factors(std::uint32_t number) {
  auto small = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(number)));
  while (number % small != 0) --small;
  return {small, number / small};
}

}  // namespace

std::uint64_t volume(const GridExtents& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];  // parse_extents keeps it below 2^31
}

Result<GridExtents> parse_extents(std::string_view text, std::size_t dimensions, std::string_view option) {
  const std::string_view example = dimensions == 2 ? "16x16" : "8x8x8";
  GridExtents extents = {1, 1, 1};
  std::uint64_t product = 1;
  std::string_view rest = text;
  for (std::size_t d = extents.size() - dimensions; d < extents.size(); ++d) {
    const std::string_view token = rest.substr(0, rest.find('x'));
    const bool last = d + 1 == extents.size();
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), extents[d]);
    const bool parsed = error == std::errc() && end == token.data() + token.size() && extents[d] > 0;
    if (!parsed || last != (token.size() == rest.size()))
      return fail(Code::usage, at(option_name(option)),
                  fmt::format("'{}' is not a list of {} extents", text, dimensions),
                  fmt::format("write positive integers such as {}", example));
    product *= extents[d];
    if (product > max_ranks)
      return fail(
          Code::usage, at(option_name(option)), fmt::format("'{}' has too many elements", text),
          fmt::format("the product of the extents is at most {}", format_count(static_cast<double>(max_ranks))));
    rest.remove_prefix(last ? rest.size() : token.size() + 1);
  }
  return extents;
}

GridExtents cubic_grid(std::uint32_t ranks, std::size_t dimensions) {
  if (dimensions == 2) {
    const auto [rows, columns] = nearest_factors(ranks);
    return {1, rows, columns};
  }
  GridExtents best = {1, 1, ranks};
  auto min_surface = ~std::uint64_t{0};
  for (std::uint64_t first = 1; first * first * first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    const auto [second, third] = nearest_factors(static_cast<std::uint32_t>(ranks / first));
    const std::uint64_t surface = first * second + std::uint64_t{second} * third + first * third;
    if (surface < min_surface) {
      min_surface = surface;
      best = {static_cast<std::uint32_t>(first), second, third};
    }
  }
  return best;
}

void GridSize::describe(OptionList& options) {
  options.text("size", size, dimensions == 2 ? "AxB" : "AxBxC", "ranks in each dimension, in row-major order");
  options.count("ranks", ranks, "instead of size: the number of ranks, in the most cubic grid; 0: use size", 0,
                max_ranks);
}

Result<GridExtents> GridSize::resolve() const {
  if (ranks > 0 && size == default_size) return cubic_grid(static_cast<std::uint32_t>(ranks), dimensions);
  auto extents = parse_extents(size, dimensions, "size");
  if (extents && ranks > 0 && volume(*extents) != ranks)
    return fail(Code::usage, at("--ranks"),
                fmt::format("{} ranks contradict size {}, which has {} ranks", ranks, size, volume(*extents)),
                "give only one of --ranks and --size");
  return extents;
}

Result<std::array<bool, 3>> parse_periodic(std::string_view text, std::size_t dimensions) {
  const std::size_t first = 3 - dimensions;
  std::array<bool, 3> periodic = {};
  if (text == "none" || text == "false") return periodic;
  const std::string_view letters = std::string_view("xyz").substr(0, dimensions);
  for (const char letter : text.empty() || text == "all" || text == "true" ? letters : text) {
    const std::size_t position = letters.find(letter);
    if (position == std::string_view::npos)
      return fail(Code::usage, at("--periodic"), fmt::format("'{}' is not a set of dimensions", text),
                  fmt::format("write none, all, or letters of {}", letters));
    periodic[first + position] = true;
  }
  return periodic;
}

void describe_direction(OptionList& options, Direction& direction, std::string_view when_directed) {
  options.choice(
      "directed", direction,
      {{"auto", Direction::by_weights}, {"false", Direction::undirected}, {"true", Direction::directed}},
      fmt::format("true: each direction carries the bytes; false: an edge counts once; auto: true {}", when_directed));
}

Result<void> check_memory(std::string_view pattern, double ranks, double bytes) {
  return rankloom::check_memory(at(std::string(pattern)), fmt::format("a pattern of {} ranks", format_count(ranks)),
                                ranks * bytes_per_rank + bytes, "choose fewer ranks or a sparser pattern");
}

PairWeights::PairWeights(std::uint64_t seed, std::uint64_t max_weight)
    : key_(Random(seed, static_cast<std::uint64_t>(Stream::weights)).next()), max_weight_(max_weight) {}

double PairWeights::operator()(Rank a, Rank b) const {
  if (max_weight_ <= 1) return 1;
  const std::uint64_t low = std::min(index(a), index(b));
  const std::uint64_t high = std::max(index(a), index(b));
  const std::uint64_t hash = mix(key_ ^ mix(low << 32 | high)) >> 32;
  return static_cast<double>(1 + (hash * max_weight_ >> 32));
}

CommGraph set_weights(CommGraph structure, const PairWeights& weights, bool directed) {
  CommGraph::Rows rows = std::move(structure).release();
  const double factor = directed ? 1.0 : 0.5;
  parallel_chunks(rows.offsets.size() - 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r)
      for (EdgeIndex e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e)
        rows.bytes[e] = factor * weights(Rank{static_cast<std::uint32_t>(r)}, rows.targets[e]);
  });
  rows.undirected = !directed;
  return CommGraph(std::move(rows));
}

Profile point_to_point_profile(CommGraph graph) {
  Profile profile;
  profile.point_to_point = std::move(graph);
  return profile;
}

}  // namespace rankloom
