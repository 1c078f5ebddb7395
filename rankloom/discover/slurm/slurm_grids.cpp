// SPDX-License-Identifier: Apache-2.0
// discover/slurm: builds the network of a machine of rings and tori.
#include "rankloom/discover/slurm/slurm_grids.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "rankloom/discover/default_costs.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

/// The routing tables of several grids have an entry per pair of cells.
constexpr std::size_t max_cells_of_several = 4096;

/// Sizes of 1 add nothing to a torus.
std::vector<std::uint32_t> without_ones(const std::vector<std::uint32_t>& sizes) {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t size : sizes) {
    if (size > 1) result.push_back(size);
  }
  return result.empty() ? std::vector<std::uint32_t>{1} : result;
}

/// The grids next to each other, and a switch with a link to every cell. Messages between two grids take the switch,
/// all others the route of their grid.
class JoinedGrids {
 public:
  explicit JoinedGrids(std::uint32_t cells) {
    shape_.nodes = cells;
    shape_.vertices = cells + 1;
    shape_.next.assign(cells, std::vector<Vertex>(std::size_t{cells} + 1, Vertex{cells}));
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      shape_.cables.push_back({Vertex{cell}, Vertex{cells}, default_switch_cost(2)});
      shape_.next[cell][cells] = Vertex{cell};
    }
  }

  void add(const Network& grid) {
    const auto vertex = [&](std::uint32_t cell) { return Vertex{first_ + cell}; };
    for (std::uint32_t link = 0; link < grid.link_count(); ++link) {
      const auto [from, to] = grid.endpoints(Link{link});
      shape_.cables.push_back({vertex(index(from)), vertex(index(to)), grid.per_hop(), true});
    }
    std::vector<Link> route;
    for (std::uint32_t to = 0; to < grid.node_count(); ++to) {
      for (std::uint32_t from = 0; from < grid.node_count(); ++from) {
        if (from == to) continue;
        route.clear();
        grid.route(Node{from}, Node{to}, route);
        shape_.next[first_ + to][first_ + from] = vertex(index(grid.endpoints(route.front()).second));
      }
    }
    first_ += grid.node_count();
  }

  Result<NetworkPtr> make() && { return make_graph(std::move(shape_)); }

 private:
  GraphShape shape_;
  std::uint32_t first_ = 0;  // the first cell of the next grid
};

Result<void> check_hosts(const std::string& source, const std::vector<GridEntry>& grids) {
  std::map<std::string, const GridEntry*> grid_of;
  for (const GridEntry& grid : grids) {
    for (const std::string& host : grid.hosts) {
      if (host.empty()) continue;
      const auto [known, added] = grid_of.emplace(host, &grid);
      if (!added) {
        return fail(Code::bad_input, at(source, grid.line),
                    known->second == &grid
                        ? fmt::format("{} contains the node {} twice", printable(grid.name), printable(host))
                        : fmt::format("the node {} is in {} and in {}", printable(host), printable(known->second->name),
                                      printable(grid.name)),
                    "name every node once");
      }
    }
  }
  if (!grid_of.empty()) return {};
  return fail(Code::bad_input, at(source, grids.empty() ? 0 : grids[0].line), "this topology names no nodes",
              "add \"nodes: n[0-7]\"");
}

Result<NetworkPtr> make_network(const std::string& source, const std::vector<GridEntry>& grids, std::size_t cells) {
  if (grids.size() > 1 && cells > max_cells_of_several) {
    return fail(Code::bad_input, at(source, grids[0].line),
                fmt::format("the topology has {} rings or tori of together {} nodes; more than {} are not supported",
                            grids.size(), cells, max_cells_of_several),
                "delete all but one ring or torus from a copy of the file; a job uses one of them");
  }
  std::vector<NetworkPtr> networks;
  for (const GridEntry& grid : grids) {
    auto network = make_mesh(without_ones(grid.sizes), true, default_switch_cost(1));
    if (!network) {
      network.error().where = at(source, grid.line);
      return network;
    }
    networks.push_back(std::move(*network));
  }
  if (networks.size() == 1) return networks[0];
  JoinedGrids joined(static_cast<std::uint32_t>(cells));
  for (const NetworkPtr& network : networks) joined.add(*network);
  auto network = std::move(joined).make();
  if (!network) network.error().where = at(source, grids[0].line);
  return network;
}

}  // namespace

Result<MachineSpec> build_grids(const std::string& source, const std::vector<GridEntry>& grids) {
  if (auto valid = check_hosts(source, grids); !valid) return propagate(valid);
  std::size_t cells = 0, empty_cells = 0;
  for (const GridEntry& grid : grids) cells += grid.hosts.size();
  auto network = make_network(source, grids, cells);
  if (!network) return propagate(network);
  MachineSpec machine;
  machine.text = source;
  machine.network = std::move(*network);
  machine.root.kind = "machine";
  for (const GridEntry& grid : grids) {
    for (std::size_t cell = 0; cell < grid.hosts.size(); ++cell) {
      const bool is_empty = grid.hosts[cell].empty();
      empty_cells += is_empty ? 1 : 0;
      ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
      if (is_empty) core.capacity = 0;
      machine.root.children.push_back({.kind = "node",
                                       .name = is_empty ? fmt::format("{}-cell{}", grid.name, cell) : grid.hosts[cell],
                                       .between = {},
                                       .os_index = {},
                                       .children = {std::move(core)}});
    }
  }
  if (grids.size() > 1)
    machine.remarks.push_back({fmt::format("the file does not say how its {} rings or tori are connected; one switch "
                                           "that connects all nodes is assumed",
                                           grids.size()),
                               "this has no effect on jobs inside one of them"});
  if (empty_cells > 0)
    machine.remarks.push_back({fmt::format("{} of {} cells of the torus have no node of Slurm; messages pass through "
                                           "them, ranks are not placed on them",
                                           empty_cells, cells),
                               "if they have nodes, add them to a region of the torus"});
  return machine;
}

}  // namespace rankloom
