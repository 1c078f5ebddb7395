// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/model/machine/network/divider.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Sizes = std::vector<std::uint32_t>;

constexpr std::uint32_t far_away = 1'000'000'000;
const Cost hop_cost{2, 3};

NetworkPtr valid(Result<NetworkPtr> made) {
  EXPECT_TRUE(made) << (made ? "" : to_string(made.error()));
  return made ? *made : nullptr;
}

std::string problem(const Result<NetworkPtr>& made) {
  return made ? "none" : to_string(made.error());
}

std::vector<Link> route(const Network& network, std::uint32_t from, std::uint32_t to) {
  std::vector<Link> links;
  network.route(Node{from}, Node{to}, links);
  return links;
}

std::vector<std::uint32_t> stops(const Network& network, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> vertices{from};
  for (const Link link : route(network, from, to)) vertices.push_back(index(network.endpoints(link).second));
  return vertices;
}

/// The hops between all vertices over the links of the network, by a plain breadth-first search.
std::vector<std::uint32_t> search_from(const Network& network, std::uint32_t start) {
  std::vector<std::vector<std::uint32_t>> next(network.vertex_count());
  for (std::uint32_t link = 0; link < network.link_count(); ++link) {
    const auto [from, to] = network.endpoints(Link{link});
    next[index(from)].push_back(index(to));
  }
  std::vector<std::uint32_t> hops(network.vertex_count(), far_away), queue{start};
  hops[start] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const std::uint32_t to : next[queue[at]]) {
      if (hops[to] != far_away) continue;
      hops[to] = hops[queue[at]] + 1;
      queue.push_back(to);
    }
  }
  return hops;
}

Cost cost_of(const Network& network, Link link, const std::vector<Cost>& by_link) {
  return by_link.empty() ? network.per_hop() : by_link[index(link)];
}

/// Checks that routes are chains of links between their endpoints without repeated vertices, that hops and costs are
/// sums over the links, and that diameter and symmetry are correct. `by_link`: the costs of the links if they differ.
void expect_consistent_routes(const Network& network, const std::vector<Cost>& by_link = {}) {
  SCOPED_TRACE(network.text());
  std::uint32_t longest = 0;
  for (std::uint32_t from = 0; from < network.node_count(); ++from) {
    for (std::uint32_t to = 0; to < network.node_count(); ++to) {
      std::uint32_t here = from;
      Cost sum;
      std::set<std::uint32_t> passed{from};
      const auto links = route(network, from, to);
      for (const Link link : links) {
        ASSERT_LT(index(link), network.link_count());
        ASSERT_EQ(index(network.endpoints(link).first), here);
        here = index(network.endpoints(link).second);
        ASSERT_TRUE(passed.insert(here).second) << "vertex " << here << " twice";
        sum = {sum.inverse_bandwidth + cost_of(network, link, by_link).inverse_bandwidth,
               sum.latency + cost_of(network, link, by_link).latency};
      }
      ASSERT_EQ(here, to);
      ASSERT_EQ(network.hops(Node{from}, Node{to}), links.size());
      ASSERT_NEAR(network.cost(Node{from}, Node{to}).inverse_bandwidth, sum.inverse_bandwidth,
                  1e-9 * sum.inverse_bandwidth);
      ASSERT_NEAR(network.cost(Node{from}, Node{to}).latency, sum.latency, 1e-9 * sum.latency);
      if (network.symmetric()) {
        const Cost there = network.cost(Node{from}, Node{to}), back = network.cost(Node{to}, Node{from});
        ASSERT_NEAR(there.inverse_bandwidth, back.inverse_bandwidth, 1e-9 * back.inverse_bandwidth);
        ASSERT_NEAR(there.latency, back.latency, 1e-9 * back.latency);
        ASSERT_EQ(network.hops(Node{from}, Node{to}), network.hops(Node{to}, Node{from}));
      }
      longest = std::max(longest, network.hops(Node{from}, Node{to}));
    }
  }
  EXPECT_EQ(network.diameter(), longest);
}

/// Checks that every link connects two vertices and has a reverse link, and that there are no parallel links.
void expect_sound_links(const Network& network, bool may_be_parallel) {
  SCOPED_TRACE(network.text());
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
  for (std::uint32_t link = 0; link < network.link_count(); ++link) {
    const auto [from, to] = network.endpoints(Link{link});
    ASSERT_LT(index(from), network.vertex_count());
    ASSERT_LT(index(to), network.vertex_count());
    ASSERT_NE(from, to) << link;
    ++count[{index(from), index(to)}];
  }
  for (const auto& [ends, links] : count) {
    EXPECT_EQ(links, (count[{ends.second, ends.first}])) << ends.first << " to " << ends.second;
    EXPECT_TRUE(links == 1 || may_be_parallel) << ends.first << " to " << ends.second;
  }
}

Sizes random_sizes(Random& random, std::size_t max_dimensions, std::uint32_t max_size, std::uint64_t max_nodes) {
  while (true) {
    Sizes sizes(1 + random.below(max_dimensions));
    std::uint64_t nodes = 1;
    for (auto& size : sizes) nodes *= size = static_cast<std::uint32_t>(1 + random.below(max_size));
    if (nodes <= max_nodes) return sizes;
  }
}

TEST(Divider, DividesExactly) {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto divisor = static_cast<std::uint32_t>(1 + (random.next() >> (32 + random.below(32))));
    const auto value = static_cast<std::uint32_t>(random.next() >> (32 + random.below(32)));
    if (divisor == 0) continue;
    ASSERT_EQ(Divider(divisor).quotient(value), value / divisor) << value << "/" << divisor;
    ASSERT_EQ(Divider(divisor).remainder(value), value % divisor) << value << "%" << divisor;
  }
  for (const std::uint32_t divisor : {1U, 2U, 3U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    for (const std::uint32_t value : {0U, divisor - 1, divisor, 0xfffffffeU, 0xffffffffU}) {
      ASSERT_EQ(Divider(divisor).quotient(value), value / divisor) << value << "/" << divisor;
    }
  }
}

TEST(Mesh, RoutesAlongTheLastDimensionFirst) {
  const auto mesh = valid(make_mesh({3, 4}, false, hop_cost));
  EXPECT_THAT(stops(*mesh, 0, 11), ElementsAre(0, 1, 2, 3, 7, 11));
  EXPECT_THAT(stops(*mesh, 11, 0), ElementsAre(11, 10, 9, 8, 4, 0));
}

TEST(Mesh, HasTwoLinksForEveryCableBetweenNeighbours) {
  EXPECT_EQ(valid(make_mesh({3, 4}, false, hop_cost))->link_count(), 2U * (3 * 3 + 2 * 4));
  EXPECT_EQ(valid(make_mesh({3, 4}, true, hop_cost))->link_count(), 2U * (3 * 4 + 3 * 4));
  EXPECT_EQ(valid(make_mesh({1}, true, hop_cost))->link_count(), 0U);
}

TEST(Mesh, HopsAreTheManhattanDistance) {
  Random random(2);
  for (int i = 0; i < 40; ++i) {
    const Sizes sizes = random_sizes(random, 4, 7, 150);
    const auto mesh = valid(make_mesh(sizes, false, hop_cost));
    const auto torus = valid(make_mesh(sizes, true, hop_cost));
    for (std::uint32_t a = 0; a < mesh->node_count(); ++a) {
      for (std::uint32_t b = 0; b < mesh->node_count(); ++b) {
        std::uint32_t straight = 0, wrapped = 0, x = a, y = b;
        for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
          const std::uint32_t distance = std::max(x % *size, y % *size) - std::min(x % *size, y % *size);
          straight += distance;
          wrapped += std::min(distance, *size - distance);
          x /= *size;
          y /= *size;
        }
        ASSERT_EQ(mesh->hops(Node{a}, Node{b}), straight);
        ASSERT_EQ(torus->hops(Node{a}, Node{b}), wrapped);
      }
    }
  }
}

TEST(Mesh, RoutesAreConsistentForRandomShapes) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const auto network = valid(make_mesh(random_sizes(random, 4, 6, 120), i % 2 == 0, hop_cost));
    expect_sound_links(*network, false);
    expect_consistent_routes(*network);
  }
}

TEST(Torus, TakesTheShorterDirectionAndThePositiveOneIfEqual) {
  const auto ring = valid(make_mesh({6}, true, hop_cost));
  EXPECT_THAT(stops(*ring, 0, 5), ElementsAre(0, 5));
  EXPECT_THAT(stops(*ring, 5, 1), ElementsAre(5, 0, 1));
  EXPECT_THAT(stops(*ring, 1, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(stops(*ring, 4, 1), ElementsAre(4, 5, 0, 1));
}

TEST(Mesh, WritesItselfAsATopologyString) {
  EXPECT_EQ(valid(make_mesh({8, 8, 8}, true, {10, 500}))->text(), "torus:8x8x8=10,500ns");
  EXPECT_EQ(valid(make_mesh({4}, false, {0.5, 0}))->text(), "mesh:4=0.5");
}

TEST(Mesh, RejectsInvalidShapes) {
  EXPECT_THAT(problem(make_mesh({}, false, hop_cost)), HasSubstr("at least one size"));
  EXPECT_THAT(problem(make_mesh({4, 0}, false, hop_cost)), HasSubstr("size of 0"));
  EXPECT_THAT(problem(make_mesh({70'000, 70'000}, false, hop_cost)), HasSubstr("too many nodes"));
  EXPECT_THAT(problem(make_mesh({65'536, 65'535}, false, hop_cost)), HasSubstr("too many links"));
  EXPECT_THAT(problem(make_mesh({Sizes(100, 4'000'000'000)}, true, hop_cost)), HasSubstr("too many nodes"));
  EXPECT_THAT(problem(make_mesh({4}, true, {0, 1})), HasSubstr("cost 0,1"));
  EXPECT_THAT(problem(make_mesh({4}, true, {1, -1})), HasSubstr("cost 1,-1"));
}

/// Attaches switches and nodes to random switches.
TreeShape random_tree(Random& random) {
  const auto nodes = static_cast<std::uint32_t>(1 + random.below(40));
  const auto switches = static_cast<std::uint32_t>(1 + random.below(15));
  const std::uint32_t root = nodes + switches - 1;
  std::vector<Vertex> parent(nodes + switches, Vertex{root});
  for (std::uint32_t v = 0; v < root; ++v) {
    const std::uint32_t lowest = v < nodes ? nodes : v + 1;
    parent[v] = Vertex{static_cast<std::uint32_t>(lowest + random.below(root - lowest + 1))};
  }
  return {nodes, parent, "tree"};
}

TEST(Tree, RoutesAreConsistentForRandomShapes) {
  Random random(4);
  for (int i = 0; i < 60; ++i) {
    const auto [nodes, parent, text] = random_tree(random);
    const auto tree = valid(make_tree(nodes, parent, hop_cost, text));
    EXPECT_EQ(tree->vertex_count(), parent.size());
    expect_sound_links(*tree, false);
    expect_consistent_routes(*tree);
    for (std::uint32_t a = 0; a < nodes; ++a) {
      const auto hops = search_from(*tree, a);
      for (std::uint32_t b = 0; b < nodes; ++b) ASSERT_EQ(tree->hops(Node{a}, Node{b}), hops[b]);
    }
  }
}

TEST(Tree, HopsAreTwiceTheLevelsToTheCommonSwitch) {
  // 4 switches of 3 nodes below one root: nodes 0..11, switches 12..15, root 16.
  std::vector<Vertex> parent(17, Vertex{16});
  for (std::uint32_t node = 0; node < 12; ++node) parent[node] = Vertex{12 + node / 3};
  const auto tree = valid(make_tree(12, parent, hop_cost, "tree"));
  EXPECT_EQ(tree->hops(Node{0}, Node{0}), 0U);
  EXPECT_EQ(tree->hops(Node{0}, Node{2}), 2U);
  EXPECT_EQ(tree->hops(Node{2}, Node{3}), 4U);
  EXPECT_THAT(stops(*tree, 2, 3), ElementsAre(2, 12, 16, 13, 3));
  EXPECT_EQ(tree->cost(Node{2}, Node{3}), (Cost{8, 12}));
}

TEST(Tree, OneNodeUnderOneSwitchIsATree) {
  const auto tree = valid(make_tree(1, {Vertex{1}, Vertex{1}}, hop_cost, "tree"));
  EXPECT_EQ(tree->hops(Node{0}, Node{0}), 0U);
  EXPECT_EQ(tree->diameter(), 0U);
}

TEST(Tree, RejectsInvalidShapes) {
  const auto make = [](std::uint32_t nodes, std::vector<std::uint32_t> parent) {
    std::vector<Vertex> vertices;
    for (const std::uint32_t v : parent) vertices.push_back(Vertex{v});
    return problem(make_tree(nodes, vertices, hop_cost, "tree"));
  };
  EXPECT_THAT(make(0, {0}), HasSubstr("no nodes"));
  EXPECT_THAT(make(2, {1, 1}), HasSubstr("no switch"));
  EXPECT_THAT(make(2, {2, 2, 1}), HasSubstr("not the root"));
  EXPECT_THAT(make(2, {1, 2, 2}), HasSubstr("vertex 0 has the parent 1, which is not a switch"));
  EXPECT_THAT(make(2, {7, 2, 2}), HasSubstr("vertex 0 has the parent 7"));
  EXPECT_THAT(make(1, {1, 2, 1, 3}), HasSubstr("cycle"));
}

TEST(FatTree, RoutesAreConsistentForRandomShapes) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const Sizes children = random_sizes(random, 4, 5, 100);
    Sizes parents(children.size());
    for (auto& count : parents) count = static_cast<std::uint32_t>(1 + random.below(4));
    const auto network = valid(make_fat_tree(children, parents, hop_cost));
    expect_sound_links(*network, false);
    expect_consistent_routes(*network);
    for (std::uint32_t a = 0; a < network->node_count(); ++a) {
      for (std::uint32_t b = 0; b < network->node_count(); ++b) {
        std::uint32_t levels = 0, x = a, y = b;
        for (auto count = children.rbegin(); x != y; ++count, ++levels) {
          x /= *count;
          y /= *count;
        }
        ASSERT_EQ(network->hops(Node{a}, Node{b}), 2 * levels);
      }
    }
  }
}

TEST(FatTree, HasTheTextbookNumberOfKPortSwitches) {
  const auto network = valid(make_fat_tree({8, 4, 4}, {4, 4, 1}, hop_cost));  // k = 8
  EXPECT_EQ(network->node_count(), 128U);
  EXPECT_EQ(network->vertex_count() - network->node_count(), 32U + 32U + 16U);
  EXPECT_EQ(network->link_count(), 2U * 3 * 128);
  EXPECT_EQ(network->diameter(), 6U);
  std::map<std::uint32_t, std::uint32_t> ports;
  for (std::uint32_t link = 0; link < network->link_count(); ++link)
    ++ports[index(network->endpoints(Link{link}).first)];
  for (const auto& [vertex, count] : ports) EXPECT_EQ(count, vertex < 128 ? 1U : 8U) << vertex;
}

TEST(FatTree, DistributesDestinationsEvenlyOverUpLinks) {
  // Every node of one leaf switch sends to another leaf switch: D-mod-k uses a different up-link for each destination.
  const auto network = valid(make_fat_tree({4, 4}, {4, 1}, hop_cost));
  std::set<std::uint32_t> used;
  for (std::uint32_t node = 0; node < 4; ++node) {
    for (const Link link : route(*network, node, 4 + node)) EXPECT_TRUE(used.insert(index(link)).second);
  }
}

TEST(FatTree, RejectsInvalidShapes) {
  EXPECT_THAT(problem(make_fat_tree({4, 4}, {1}, hop_cost)), HasSubstr("2 numbers of children but 1 of parents"));
  EXPECT_THAT(problem(make_fat_tree({4, 4}, {0, 1}, hop_cost)), HasSubstr("size of 0"));
  EXPECT_THAT(problem(make_fat_tree({65'536, 65'536}, {1, 1}, hop_cost)), HasSubstr("too many nodes"));
  EXPECT_THAT(problem(make_fat_tree({2, 2, 2}, {60'000, 60'000, 60'000}, hop_cost)), HasSubstr("too many"));
  EXPECT_THAT(problem(make_fat_tree(Sizes(30, 1), Sizes(30, 4'000'000'000), hop_cost)), HasSubstr("too many"));
}

TEST(Dragonfly, RoutesAreConsistentForRandomShapes) {
  Random random(6);
  int made = 0;
  while (made < 80) {
    const DragonflyShape shape{
        .groups = static_cast<std::uint32_t>(1 + random.below(9)),
        .routers = static_cast<std::uint32_t>(1 + random.below(5)),
        .nodes = static_cast<std::uint32_t>(1 + random.below(3)),
        .global = static_cast<std::uint32_t>(random.below(9)),
    };
    const std::uint32_t ports = shape.routers * shape.global;
    if (shape.groups * shape.routers * shape.nodes > 80 || (shape.global > 0 && ports + 1 < shape.groups)) continue;
    ++made;
    const auto network = valid(make_dragonfly(shape, hop_cost));
    expect_sound_links(*network, true);
    expect_consistent_routes(*network);
    EXPECT_LE(network->diameter(), 5U);
    for (std::uint32_t a = 0; a < network->node_count(); ++a) {
      const auto hops = search_from(*network, a);
      for (std::uint32_t b = 0; b < network->node_count(); ++b) ASSERT_GE(network->hops(Node{a}, Node{b}), hops[b]);
    }
  }
}

TEST(Dragonfly, TakesTheGlobalLinkWithTheFewestLocalHops) {
  // 3 groups of 2 routers with 2 global links each: two cables between any two groups, one for each pair of routers.
  const auto network = valid(make_dragonfly({3, 2, 1, 2}, hop_cost));
  for (std::uint32_t a = 0; a < 6; ++a) {
    for (std::uint32_t b = 0; b < 6; ++b) {
      if (a / 2 == b / 2) continue;
      EXPECT_EQ(network->hops(Node{a}, Node{b}), a % 2 == b % 2 ? 3U : 4U) << a << " to " << b;
    }
  }
  EXPECT_EQ(network->diameter(), 4U);
}

TEST(Dragonfly, DefaultsToTheMinimumOfGlobalLinksThatReachesEveryGroup) {
  EXPECT_EQ(valid(make_dragonfly({9, 4, 2, 0}, {1, 0}))->text(), "dragonfly:9,4,2,2=1");
  EXPECT_EQ(valid(make_dragonfly({1, 4, 2, 0}, {1, 0}))->diameter(), 3U);
  EXPECT_EQ(valid(make_dragonfly({9, 4, 2, 0}, hop_cost))->link_count(), 2U * (72 + 9 * 6 + 36));
}

TEST(Dragonfly, RejectsInvalidShapes) {
  EXPECT_THAT(problem(make_dragonfly({9, 4, 2, 1}, hop_cost)), HasSubstr("cannot reach 8 other groups"));
  EXPECT_THAT(problem(make_dragonfly({9, 0, 2, 1}, hop_cost)), HasSubstr("size of 0"));
  EXPECT_THAT(problem(make_dragonfly({60'000, 60'000, 2, 0}, hop_cost)), HasSubstr("too many"));
  EXPECT_THAT(problem(make_dragonfly({2, 1, 1, 4'000'000'000}, hop_cost)), HasSubstr("too many links"));
  EXPECT_THAT(problem(make_dragonfly({4'000'000'000, 4'000'000'000, 4'000'000'000, 4'000'000'000}, hop_cost)),
              HasSubstr("too many"));
}

/// A connected graph: a random tree over all vertices and random further cables; integer costs, so that sums are exact.
GraphShape random_graph(Random& random, bool one_way) {
  GraphShape shape;
  shape.nodes = static_cast<std::uint32_t>(1 + random.below(25));
  shape.vertices = shape.nodes + static_cast<std::uint32_t>(random.below(12));
  const auto cost = [&] {
    return Cost{static_cast<double>(1 + random.below(4)), static_cast<double>(random.below(3))};
  };
  for (std::uint32_t v = 1; v < shape.vertices; ++v)
    shape.cables.push_back({Vertex{v}, Vertex{static_cast<std::uint32_t>(random.below(v))}, cost()});
  for (std::uint64_t extra = random.below(3 * shape.vertices); extra > 0 && shape.vertices > 1; --extra) {
    const auto a = static_cast<std::uint32_t>(random.below(shape.vertices)),
               b = static_cast<std::uint32_t>(random.below(shape.vertices));
    if (a != b) shape.cables.push_back({Vertex{a}, Vertex{b}, cost(), one_way && random.below(2) == 0});
  }
  return shape;
}

struct Best {
  std::uint32_t hops = far_away;
  double inverse_bandwidth = 0, latency = 0;
  auto operator<=>(const Best&) const = default;
};

/// Fewest hops, lowest inverse bandwidth, lowest latency from every vertex to one, by relaxing all links
/// (Bellman-Ford).
std::vector<Best> relax_to(const GraphShape& shape, std::uint32_t destination) {
  std::vector<Best> best(shape.vertices);
  best[destination] = {0, 0, 0};
  for (bool changed = true; changed;) {
    changed = false;
    const auto relax = [&](Vertex from, Vertex to, Cost cost) {
      const bool passes = to == Vertex{destination} || shape.nodes_forward || index(to) >= shape.nodes;
      if (!passes || best[index(to)].hops == far_away) return;
      const Best by{best[index(to)].hops + 1, best[index(to)].inverse_bandwidth + cost.inverse_bandwidth,
                    best[index(to)].latency + cost.latency};
      if (!(by < best[index(from)])) return;
      best[index(from)] = by;
      changed = true;
    };
    for (const auto& [a, b, cost, one_way] : shape.cables) {
      relax(a, b, cost);
      if (!one_way) relax(b, a, cost);
    }
  }
  return best;
}

std::vector<Cost> link_costs(const GraphShape& shape) {
  std::vector<Cost> costs;
  for (const auto& [a, b, cost, one_way] : shape.cables) costs.insert(costs.end(), one_way ? 1 : 2, cost);
  return costs;
}

TEST(Graph, TakesTheFewestHopsThenTheLowestCost) {
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    const GraphShape shape = random_graph(random, i % 3 == 0);
    const auto graph = valid(make_graph(shape));
    expect_consistent_routes(*graph, link_costs(shape));
    for (std::uint32_t to = 0; to < shape.nodes; ++to) {
      const auto best = relax_to(shape, to);
      for (std::uint32_t from = 0; from < shape.nodes; ++from) {
        ASSERT_EQ(graph->hops(Node{from}, Node{to}), best[from].hops);
        ASSERT_EQ(graph->cost(Node{from}, Node{to}), (Cost{best[from].inverse_bandwidth, best[from].latency}));
      }
    }
  }
}

TEST(Graph, RoutesAvoidNodesThatDoNotForward) {
  // 0 and 2 are connected through node 1 in two hops, and through routers 3 and 4 in three.
  GraphShape shape{.nodes = 3, .vertices = 5, .cables = {}};
  for (const auto& [a, b] : {std::pair(0, 1), {1, 2}, {0, 3}, {3, 4}, {4, 2}, {1, 3}}) {
    shape.cables.push_back({Vertex{static_cast<std::uint32_t>(a)}, Vertex{static_cast<std::uint32_t>(b)}, {1, 0}});
  }
  EXPECT_EQ(valid(make_graph(shape))->hops(Node{0}, Node{2}), 2U);
  shape.nodes_forward = false;
  const auto graph = valid(make_graph(shape));
  EXPECT_THAT(stops(*graph, 0, 2), ElementsAre(0, 3, 4, 2));
  expect_consistent_routes(*graph);
}

TEST(Graph, TheLowestVertexDecidesBetweenEqualRoutes) {
  GraphShape shape{.nodes = 2, .vertices = 5, .cables = {}};
  for (const std::uint32_t middle : {4U, 2U, 3U}) {
    shape.cables.push_back({Vertex{0}, Vertex{middle}, {1, 0}});
    shape.cables.push_back({Vertex{middle}, Vertex{1}, {1, 0}});
  }
  EXPECT_THAT(stops(*valid(make_graph(shape)), 0, 1), ElementsAre(0, 2, 1));
  EXPECT_THAT(stops(*valid(make_graph(shape)), 1, 0), ElementsAre(1, 2, 0));
}

TEST(Graph, CostsAreEqualInBothDirectionsDespiteRounding) {
  // 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last bit, which must not change the chosen route.
  GraphShape shape{.nodes = 2, .vertices = 6, .cables = {}};
  const auto add_way = [&](std::uint32_t x, std::uint32_t y, std::vector<Cost> costs) {
    shape.cables.push_back({Vertex{0}, Vertex{x}, costs[0]});
    shape.cables.push_back({Vertex{x}, Vertex{y}, costs[1]});
    shape.cables.push_back({Vertex{y}, Vertex{1}, costs[2]});
  };
  add_way(2, 3, {{0.1, 5}, {0.2, 0}, {0.3, 0}});
  add_way(4, 5, {{0.3, 1}, {0.2, 0}, {0.1, 0}});
  const auto graph = valid(make_graph(shape));
  EXPECT_EQ(graph->cost(Node{0}, Node{1}).latency, graph->cost(Node{1}, Node{0}).latency);
  EXPECT_EQ(graph->cost(Node{0}, Node{1}).latency, 1);
}

TEST(Graph, FollowsRoutingTables) {
  // A ring of 5 vertices where all routes go in the positive direction.
  GraphShape shape{.nodes = 5, .vertices = 5, .cables = {}};
  for (std::uint32_t v = 0; v < 5; ++v) shape.cables.push_back({Vertex{v}, Vertex{(v + 1) % 5}, {1.0 + v, 2}});
  shape.next.assign(5, {Vertex{1}, Vertex{2}, Vertex{3}, Vertex{4}, Vertex{0}});
  const auto graph = valid(make_graph(shape));
  EXPECT_THAT(stops(*graph, 1, 0), ElementsAre(1, 2, 3, 4, 0));
  EXPECT_EQ(graph->hops(Node{1}, Node{0}), 4U);
  EXPECT_EQ(graph->cost(Node{1}, Node{0}), (Cost{2 + 3 + 4 + 5, 8}));
  EXPECT_EQ(graph->diameter(), 4U);
  EXPECT_FALSE(graph->symmetric());
  expect_consistent_routes(*graph, link_costs(shape));
}

TEST(Graph, TableEntriesOfUnusedVerticesAreIgnored) {
  GraphShape shape{
      .nodes = 2, .vertices = 3, .cables = {{Vertex{0}, Vertex{1}, {1, 0}}, {Vertex{1}, Vertex{2}, {1, 0}}}};
  shape.next = {{Vertex{0}, Vertex{0}, Vertex{2}}, {Vertex{1}, Vertex{1}, Vertex{99}}};
  EXPECT_EQ(valid(make_graph(shape))->hops(Node{0}, Node{1}), 1U);
}

TEST(Graph, RejectsTablesThatDoNotReachTheDestination) {
  GraphShape ring{.nodes = 4, .vertices = 4, .cables = {}};
  for (std::uint32_t v = 0; v < 4; ++v) ring.cables.push_back({Vertex{v}, Vertex{(v + 1) % 4}, {1, 0}});
  ring.next.assign(4, {Vertex{1}, Vertex{2}, Vertex{3}, Vertex{0}});
  EXPECT_EQ(problem(make_graph(ring)), "none");
  auto circle = ring;
  circle.next[3][2] = Vertex{1};
  EXPECT_THAT(problem(make_graph(circle)), HasSubstr("the table of destination 3 contains a cycle"));
  auto jump = ring;
  jump.next[1][3] = Vertex{1};
  EXPECT_THAT(problem(make_graph(jump)),
              HasSubstr("the table of destination 1 goes to 1, which is not a neighbour, at vertex 3"));
  auto outside = ring;
  outside.next[1][3] = Vertex{400};
  EXPECT_THAT(problem(make_graph(outside)), HasSubstr("goes to 400"));
  auto resting = ring;
  resting.nodes_forward = false;
  EXPECT_THAT(problem(make_graph(resting)), HasSubstr("a node that does not forward"));
  auto small = ring;
  small.next[2].pop_back();
  EXPECT_THAT(problem(make_graph(small)), HasSubstr("3 entries for 4 vertices"));
  auto few = ring;
  few.next.pop_back();
  EXPECT_THAT(problem(make_graph(few)), HasSubstr("3 tables for 4 nodes"));
}

TEST(Graph, RejectsDisconnectedGraphs) {
  GraphShape shape{
      .nodes = 4, .vertices = 4, .cables = {{Vertex{0}, Vertex{1}, {1, 0}}, {Vertex{2}, Vertex{3}, {1, 0}}}};
  EXPECT_THAT(problem(make_graph(shape)), HasSubstr("node 2 cannot reach node 0"));
  shape.cables.push_back({Vertex{2}, Vertex{1}, {1, 0}, true});
  EXPECT_THAT(problem(make_graph(shape)), HasSubstr("node 0 cannot reach node 2"));
  shape.cables.push_back({Vertex{1}, Vertex{2}, {1, 0}, true});
  EXPECT_EQ(problem(make_graph(shape)), "none");
  shape.nodes_forward = false;
  EXPECT_THAT(problem(make_graph(shape)), HasSubstr("cannot reach"));
}

TEST(Graph, RejectsInvalidShapes) {
  const GraphShape::Cable cable{Vertex{0}, Vertex{1}, {1, 0}};
  EXPECT_THAT(problem(make_graph({.nodes = 0, .vertices = 2, .cables = {cable}})), HasSubstr("no nodes"));
  EXPECT_THAT(problem(make_graph({.nodes = 3, .vertices = 2, .cables = {cable}})),
              HasSubstr("2 vertices are fewer than 3 nodes"));
  EXPECT_THAT(problem(make_graph({.nodes = 2, .vertices = 4'000'000'000, .cables = {cable}})),
              HasSubstr("1 cables cannot connect"));
  EXPECT_THAT(problem(make_graph({.nodes = 2, .vertices = 2, .cables = {{Vertex{0}, Vertex{2}, {1, 0}}}})),
              HasSubstr("cable 0"));
  EXPECT_THAT(problem(make_graph({.nodes = 2, .vertices = 2, .cables = {cable, {Vertex{1}, Vertex{1}, {1, 0}}}})),
              HasSubstr("cable 1"));
  EXPECT_THAT(problem(make_graph({.nodes = 2, .vertices = 2, .cables = {{Vertex{0}, Vertex{1}, {0, 0}}}})),
              HasSubstr("cost 0,0"));
  EXPECT_EQ(valid(make_graph({.nodes = 1, .vertices = 1, .cables = {}}))->diameter(), 0U);
}

TEST(Graph, SlownessIsRelativeToTheFastestLink) {
  const auto graph = valid(make_graph(
      {.nodes = 3, .vertices = 3, .cables = {{Vertex{0}, Vertex{1}, {4, 0}}, {Vertex{1}, Vertex{2}, {1, 0}}}}));
  EXPECT_EQ(graph->slowness(Link{0}), 4);
  EXPECT_EQ(graph->slowness(Link{3}), 1);
  EXPECT_EQ(graph->per_hop(), (Cost{1, 0}));
}

TEST(Graph, ReturnsTheSameRoutesToManyThreads) {
  Random random(8);
  GraphShape shape = random_graph(random, false);
  while (shape.nodes < 20) shape = random_graph(random, false);
  const auto alone = valid(make_graph(shape)), shared = valid(make_graph(shape));
  std::vector<std::uint32_t> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint32_t i = 0; i < shape.nodes * shape.nodes; ++i) {
        const Node from{i % shape.nodes}, to{i / shape.nodes};
        if (shared->cost(from, to) != alone->cost(from, to)) ++wrong[thread];
        if (shared->diameter() != alone->diameter()) ++wrong[thread];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST(Network, EveryNetworkReturnsItsShape) {
  const auto torus = valid(make_mesh({4, 1, 3}, true, hop_cost));
  EXPECT_EQ(std::get<MeshShape>(torus->shape()).sizes, (Sizes{4, 1, 3}));
  EXPECT_TRUE(std::get<MeshShape>(torus->shape()).torus);
  EXPECT_EQ(graph_shape(*torus), nullptr);
  const auto graph = valid(make_graph({.nodes = 2, .vertices = 2, .cables = {{Vertex{0}, Vertex{1}, {4, 0}}}}));
  ASSERT_NE(graph_shape(*graph), nullptr);
  EXPECT_EQ(graph_shape(*graph)->cables.size(), 1U);
}

}  // namespace
}  // namespace rankloom
