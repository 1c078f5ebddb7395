// SPDX-License-Identifier: Apache-2.0
// capture: plain neighbours on rings and grids, and the wavefront that sweeps over a grid.
#include <string>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/grid_graph.hpp"
#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

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
    options.count("ranks", ranks_, "on the ring", 1, most_ranks);
    options.bytes("bytes", bytes_, "of a message");
    options.count("iterations", iterations_, "messages to each neighbour", 1);
    options.flag("directed", directed_, "the bytes flow in each direction, instead of an edge that counts once");
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
  Grid(std::size_t dimensions, std::string standard)
      : size_{.dimensions = dimensions, .standard = std::move(standard)} {}

  void describe(OptionList& options) override {
    size_.describe(options);
    options.bytes("bytes", bytes_, "of a message");
    options.text("periodic", periodic_, size_.dimensions == 2 ? "none|all|x|y" : "none|all|x|xy|…",
                 "dimensions that wrap around");
    options.count("iterations", iterations_, "messages to each neighbour", 1);
    options.flag("directed", directed_, "the bytes flow in each direction, instead of an edge that counts once");
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

/// A solver that goes over the grid from one corner plane by plane, and back from the opposite one: each rank passes a
/// small message on to its two later neighbours for every plane, and on the way back to its two earlier ones.
class Sweep : public Generator {
 public:
  void describe(OptionList& options) override {
    size_.describe(options);
    options.bytes("bytes", bytes_, "of a message: one line of cells");
    options.count("planes", planes_, "messages to a neighbour in one sweep", 1, 1'000'000'000);
    options.count("iterations", iterations_, "sweeps there and back", 1, 1'000'000'000);
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
  GridSize size_{.dimensions = 2, .standard = "16x16"};
  double bytes_ = 640;
  std::uint64_t planes_ = 64;
  std::uint64_t iterations_ = 1;
};

}  // namespace

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
