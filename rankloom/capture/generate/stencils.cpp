// SPDX-License-Identifier: Apache-2.0
// capture: the halo exchange of stencil codes on two- and three-dimensional grids.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/grid_graph.hpp"
#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

class Stencil : public Generator {
 public:
  Stencil(std::size_t dimensions, std::string standard)
      : dimensions_(dimensions), size_{.dimensions = dimensions, .standard = std::move(standard)} {}

  void describe(OptionList& options) override {
    size_.describe(options);
    if (dimensions_ == 2)
      options.choice("points", all_, {{"5", false}, {"9", true}}, "of the stencil: 5, or 9 with the diagonals");
    else
      options.choice("points", all_, {{"7", false}, {"27", true}}, "of the stencil: 7, or 27 with the diagonals");
    options.count("halo", halo_, "layers of cells that are exchanged", 1, most_ranks);
    options.text("block", block_, dimensions_ == 2 ? "AxB" : "AxBxC",
                 "cells that one rank holds; gives real bytes instead of the weights below");
    options.bytes("cell", cell_, "of one cell, with block");
    if (dimensions_ == 3) options.bytes("face", face_, "weight of a neighbour across a face");
    options.bytes("edge", edge_, "weight of a neighbour across an edge");
    options.bytes("corner", corner_, "weight of a neighbour across a corner");
    options.text("periodic", periodic_, dimensions_ == 2 ? "none|all|x|y" : "none|all|x|xy|…",
                 "dimensions that wrap around");
    options.count("iterations", iterations_, "exchanges: messages to each neighbour", 1);
    describe_direction(options, direction_, "with block");
  }

  Result<Profile> generate(std::uint64_t) const override {
    auto extents = size_.resolve();
    if (!extents) return propagate(extents);
    auto periodic = parse_periodic(periodic_, dimensions_);
    if (!periodic) return propagate(periodic);
    GridTraffic traffic{.extents = *extents, .periodic = *periodic};
    traffic.messages = static_cast<double>(iterations_);
    traffic.directed = direction_ == Direction::directed || (direction_ == Direction::by_weights && !block_.empty());
    if (auto set = set_bytes(traffic); !set) return propagate(set);
    auto graph = grid_graph(traffic, dimensions_ == 2 ? "stencil2d" : "stencil3d");
    if (!graph) return propagate(graph);
    return point_to_point_profile(std::move(*graph));
  }

 private:
  /// A neighbour in k dimensions gets halo^k layers of what it shares with this rank.
  Result<void> set_bytes(GridTraffic& traffic) const {
    Extents block = {1, 1, 1};
    if (!block_.empty()) {
      auto parsed = parse_extents(block_, dimensions_, "block");
      if (!parsed) return propagate(parsed);
      block = *parsed;
      if (halo_ > *std::min_element(block.begin() + static_cast<std::ptrdiff_t>(3 - dimensions_), block.end()))
        return fail(Code::usage, at("--halo"),
                    fmt::format("{} layers reach beyond a neighbour of {} cells", halo_, block_),
                    "make the blocks at least as thick as the halo");
    }
    const std::array<double, 4> weight_3d = {0, face_, edge_, corner_};
    const std::array<double, 4> weight_2d = {0, edge_, corner_, 0};
    for (Dimensions set = 1; set < 8; ++set) {
      const auto differing = static_cast<std::size_t>(std::popcount(set));
      if (dimensions_ == 2 && (set & 1) != 0) continue;
      double weight = (dimensions_ == 2 ? weight_2d : weight_3d)[differing];
      if (!block_.empty()) {
        weight = cell_;
        for (std::uint32_t d = 0; d < 3; ++d)
          if ((set >> d & 1) == 0) weight *= block[d];
      }
      traffic.neighbours[set] = differing == 1 || all_;
      traffic.bytes[set] =
          weight * std::pow(static_cast<double>(halo_), static_cast<double>(differing)) * traffic.messages;
    }
    return {};
  }

  std::size_t dimensions_;
  GridSize size_;
  bool all_ = dimensions_ == 3;
  std::uint64_t halo_ = 1;
  std::string block_;
  double cell_ = 8;
  double face_ = 100;
  double edge_ = 10;
  double corner_ = 1;
  std::string periodic_ = "none";
  std::uint64_t iterations_ = 1;
  Direction direction_ = Direction::by_weights;
};

}  // namespace

std::unique_ptr<Generator> make_stencil2d() {
  return std::make_unique<Stencil>(2, "16x16");
}
std::unique_ptr<Generator> make_stencil3d() {
  return std::make_unique<Stencil>(3, "8x8x8");
}

}  // namespace rankloom
