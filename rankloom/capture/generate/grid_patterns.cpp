// SPDX-License-Identifier: Apache-2.0
// capture/generate: patterns on grids: the halo exchange of stencil codes, nearest neighbours, and wavefront sweeps.
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
  Stencil(std::size_t dimensions, std::string default_size)
      : dimensions_(dimensions), size_{.dimensions = dimensions, .default_size = std::move(default_size)} {}

  void describe(OptionList& options) override {
    size_.describe(options);
    if (dimensions_ == 2)
      options.choice("points", all_, {{"5", false}, {"9", true}},
                     "points of the stencil: 5, or 9 with diagonal neighbours");
    else
      options.choice("points", all_, {{"7", false}, {"27", true}},
                     "points of the stencil: 7, or 27 with diagonal neighbours");
    options.count("halo", halo_, "layers of cells in the halo", 1, max_ranks);
    options.text("block", block_, dimensions_ == 2 ? "AxB" : "AxBxC",
                 "cells per rank, for real bytes instead of abstract weights");
    options.bytes("cell", cell_, "bytes per cell, with block");
    if (dimensions_ == 3) options.bytes("face", face_, "weight of a neighbour across a face");
    options.bytes("edge", edge_, "weight of a neighbour across an edge");
    options.bytes("corner", corner_, "weight of a neighbour across a corner");
    options.text("periodic", periodic_, dimensions_ == 2 ? "none|all|x|y" : "none|all|x|xy|…",
                 "dimensions that wrap around");
    options.count("iterations", iterations_, "number of exchanges: messages to each neighbour", 1);
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
  /// A neighbour that differs in k dimensions receives halo^k layers of the common face, edge or corner.
  Result<void> set_bytes(GridTraffic& traffic) const {
    GridExtents block = {1, 1, 1};
    if (!block_.empty()) {
      auto parsed = parse_extents(block_, dimensions_, "block");
      if (!parsed) return propagate(parsed);
      block = *parsed;
      if (halo_ > *std::min_element(block.begin() + static_cast<std::ptrdiff_t>(3 - dimensions_), block.end()))
        return fail(Code::usage, at("--halo"),
                    fmt::format("a halo of {} layers is thicker than a block of {} cells", halo_, block_),
                    "make the block at least as large as the halo in each dimension");
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
      for (std::size_t d = 0; d < differing; ++d) weight *= static_cast<double>(halo_);
      traffic.bytes[set] = weight * traffic.messages;
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

constexpr std::array<bool, 8> across_faces = {false, true, true, false, true, false, false, false};

Result<Profile> mesh_profile(GridTraffic traffic, double bytes, std::string_view pattern) {
  traffic.neighbours = across_faces;
  traffic.bytes.fill(bytes * traffic.messages);
  auto graph = grid_graph(traffic, pattern);
  if (!graph) return propagate(graph);
  return point_to_point_profile(std::move(*graph));
}

class Ring : public Generator {
 public:
  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks", 1, max_ranks);
    options.bytes("bytes", bytes_, "bytes per message");
    options.count("iterations", iterations_, "messages to each neighbour", 1);
    options.flag("directed", directed_,
                 "each direction carries the bytes, instead of an undirected edge that counts once");
  }

  Result<Profile> generate(std::uint64_t) const override {
    return mesh_profile({.extents = {1, 1, static_cast<std::uint32_t>(ranks_)},
                         .periodic = {false, false, true},
                         .messages = static_cast<double>(iterations_),
                         .directed = directed_},
                        bytes_, "ring");
  }

 private:
  std::uint64_t ranks_ = 64;
  double bytes_ = 1;
  std::uint64_t iterations_ = 1;
  bool directed_ = false;
};

class Grid : public Generator {
 public:
  Grid(std::size_t dimensions, std::string default_size)
      : size_{.dimensions = dimensions, .default_size = std::move(default_size)} {}

  void describe(OptionList& options) override {
    size_.describe(options);
    options.bytes("bytes", bytes_, "bytes per message");
    options.text("periodic", periodic_, size_.dimensions == 2 ? "none|all|x|y" : "none|all|x|xy|…",
                 "dimensions that wrap around");
    options.count("iterations", iterations_, "messages to each neighbour", 1);
    options.flag("directed", directed_,
                 "each direction carries the bytes, instead of an undirected edge that counts once");
  }

  Result<Profile> generate(std::uint64_t) const override {
    auto extents = size_.resolve();
    if (!extents) return propagate(extents);
    auto periodic = parse_periodic(periodic_, size_.dimensions);
    if (!periodic) return propagate(periodic);
    return mesh_profile({.extents = *extents,
                         .periodic = *periodic,
                         .messages = static_cast<double>(iterations_),
                         .directed = directed_},
                        bytes_, size_.dimensions == 2 ? "grid2d" : "grid3d");
  }

 private:
  GridSize size_;
  double bytes_ = 1;
  std::string periodic_ = "none";
  std::uint64_t iterations_ = 1;
  bool directed_ = false;
};

/// A solver that sweeps over the grid plane by plane, from one corner and back from the opposite one. For every plane,
/// each rank sends a small message to its two successors, and on the way back to its two predecessors.
class Sweep : public Generator {
 public:
  void describe(OptionList& options) override {
    size_.describe(options);
    options.bytes("bytes", bytes_, "bytes per message: one line of cells");
    options.count("planes", planes_, "messages to a neighbour in one sweep", 1, 1'000'000'000);
    options.count("iterations", iterations_, "number of sweeps in both directions", 1, 1'000'000'000);
  }

  Result<Profile> generate(std::uint64_t) const override {
    auto extents = size_.resolve();
    if (!extents) return propagate(extents);
    return mesh_profile({.extents = *extents,
                         .messages = static_cast<double>(planes_) * static_cast<double>(iterations_),
                         .directed = true},
                        bytes_, "sweep");
  }

 private:
  GridSize size_{.dimensions = 2, .default_size = "16x16"};
  double bytes_ = 640;
  std::uint64_t planes_ = 64;
  std::uint64_t iterations_ = 1;
};

}  // namespace

std::unique_ptr<Generator> make_stencil2d() {
  return std::make_unique<Stencil>(2, "16x16");
}
std::unique_ptr<Generator> make_stencil3d() {
  return std::make_unique<Stencil>(3, "8x8x8");
}
std::unique_ptr<Generator> make_ring() {
  return std::make_unique<Ring>();
}
std::unique_ptr<Generator> make_grid2d() {
  return std::make_unique<Grid>(2, "16x16");
}
std::unique_ptr<Generator> make_grid3d() {
  return std::make_unique<Grid>(3, "8x8x8");
}
std::unique_ptr<Generator> make_sweep() {
  return std::make_unique<Sweep>();
}

}  // namespace rankloom
