// SPDX-License-Identifier: Apache-2.0
// capture: what several patterns share.
#include "rankloom/capture/generate/support.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/memory.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/units.hpp"

namespace rankloom {

namespace {

std::string option_place(std::string_view option) {
  return fmt::format("--{}", option);
}

std::pair<std::uint32_t, std::uint32_t> nearest_factors(std::uint32_t number) {
  auto small = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(number)));
  while (number % small != 0) --small;
  return {small, number / small};
}

}  // namespace

std::uint64_t volume(const Extents& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];  // parse_extents keeps it below 2^31
}

Result<Extents> parse_extents(std::string_view text, std::size_t dimensions, std::string_view option) {
  const std::string_view example = dimensions == 2 ? "16x16" : "8x8x8";
  Extents extents = {1, 1, 1};
  std::uint64_t product = 1;
  std::string_view rest = text;
  for (std::size_t d = extents.size() - dimensions; d < extents.size(); ++d) {
    const std::string_view word = rest.substr(0, rest.find('x'));
    const bool last = d + 1 == extents.size();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extents[d]);
    const bool parsed = error == std::errc() && end == word.data() + word.size() && extents[d] > 0;
    if (!parsed || last != (word.size() == rest.size()))
      return fail(Code::usage, at(option_place(option)), fmt::format("'{}' is not {} extents", text, dimensions),
                  fmt::format("write whole numbers above 0 like {}", example));
    product *= extents[d];
    if (product > most_ranks)
      return fail(Code::usage, at(option_place(option)), fmt::format("'{}' is too large", text),
                  fmt::format("the product may be at most {}", format_count(static_cast<double>(most_ranks))));
    rest.remove_prefix(last ? rest.size() : word.size() + 1);
  }
  return extents;
}

Extents most_cubic(std::uint32_t ranks, std::size_t dimensions) {
  if (dimensions == 2) {
    const auto [rows, columns] = nearest_factors(ranks);
    return {1, rows, columns};
  }
  Extents best = {1, 1, ranks};
  auto least = ~std::uint64_t{0};
  for (std::uint64_t first = 1; first * first * first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    const auto [second, third] = nearest_factors(static_cast<std::uint32_t>(ranks / first));
    const std::uint64_t surface = first * second + std::uint64_t{second} * third + first * third;
    if (surface < least) {
      least = surface;
      best = {static_cast<std::uint32_t>(first), second, third};
    }
  }
  return best;
}

void GridSize::describe(OptionList& options) {
  options.text("size", size, dimensions == 2 ? "AxB" : "AxBxC",
               "ranks in each dimension, the last is numbered fastest");
  options.count("ranks", ranks, "instead of size: so many ranks, in the most even grid; 0: as size says", 0,
                most_ranks);
}

Result<Extents> GridSize::resolve() const {
  if (ranks > 0 && size == standard) return most_cubic(static_cast<std::uint32_t>(ranks), dimensions);
  auto extents = parse_extents(size, dimensions, "size");
  if (extents && ranks > 0 && volume(*extents) != ranks)
    return fail(Code::usage, at("--ranks"),
                fmt::format("{} ranks are not the {} of size {}", ranks, volume(*extents), size),
                "give only one of the two");
  return extents;
}

Result<std::array<bool, 3>> parse_periodic(std::string_view text, std::size_t dimensions) {
  const std::size_t first = 3 - dimensions;
  std::array<bool, 3> periodic = {};
  if (text == "none" || text == "false") return periodic;
  const std::string_view letters = std::string_view("xyz").substr(0, dimensions);
  for (const char letter : text.empty() || text == "all" || text == "true" ? letters : text) {
    const std::size_t found = letters.find(letter);
    if (found == std::string_view::npos)
      return fail(Code::usage, at("--periodic"), fmt::format("'{}' is not a set of dimensions", text),
                  fmt::format("none, all, or some of the letters {}", letters));
    periodic[first + found] = true;
  }
  return periodic;
}

void describe_direction(OptionList& options, Direction& direction, std::string_view when_directed) {
  options.choice(
      "directed", direction,
      {{"auto", Direction::by_weights}, {"false", Direction::undirected}, {"true", Direction::directed}},
      fmt::format("true: the bytes flow in each direction; false: an edge counts once; auto: true {}", when_directed));
}

Result<void> check_memory(std::string_view pattern, double ranks, double bytes) {
  return rankloom::check_memory(at(std::string(pattern)), fmt::format("a pattern of {} ranks", format_count(ranks)),
                                ranks * per_rank + bytes, "ask for fewer ranks or a sparser pattern");
}

PairWeights::PairWeights(std::uint64_t seed, std::uint64_t heaviest)
    : key_(Random(seed, static_cast<std::uint64_t>(Stream::weights)).next()), heaviest_(heaviest) {}

double PairWeights::operator()(Rank a, Rank b) const {
  if (heaviest_ <= 1) return 1;
  const std::uint64_t low = std::min(index(a), index(b));
  const std::uint64_t high = std::max(index(a), index(b));
  const std::uint64_t hash = mix(key_ ^ mix(low << 32 | high)) >> 32;
  return static_cast<double>(1 + (hash * heaviest_ >> 32));
}

CommGraph weighted(CommGraph structure, const PairWeights& weights, bool directed) {
  CommGraph::Rows rows = std::move(structure).release();
  const double share = directed ? 1.0 : 0.5;
  parallel_chunks(rows.offsets.size() - 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r)
      for (EdgeIndex e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e)
        rows.bytes[e] = share * weights(Rank{static_cast<std::uint32_t>(r)}, rows.targets[e]);
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
