// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/machine/device_costs.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::topology;

Topology between_gpus(const Topology& machine) {
  auto result = with_gpu_links(machine);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  return *std::move(result);
}

double cost_between(const Topology& machine, std::uint32_t p, std::uint32_t q) {
  return machine.cost(Core{p}, Core{q}).inverse_bandwidth;
}

/// Why a machine with these links is refused.
std::string link_problem(std::string_view text, const std::vector<GpuLinkSpec>& links_of_node = {}) {
  auto spec = parse_topology_string(text);
  if (!spec) return to_string(spec.error());
  auto& links = spec->root.children[0].gpu_links;
  links.insert(links.end(), links_of_node.begin(), links_of_node.end());
  const auto built = Topology::build(*std::move(spec));
  return built ? "none" : to_string(built.error());
}

TEST(DeviceCosts, GpusThatAreAllLinkedHaveOneCostInTheWholeNode) {
  const Topology host = topology("node:4=10,2us gpu-link=0.02,1us numa:4=3 gpu:1 core:16=1");
  ASSERT_EQ(host.gpu_links().size(), 4U);
  EXPECT_EQ(host.gpu_links()[3].gpus, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(host.gpu_links()[3].node, Node{3});
  const Topology devices = between_gpus(host);
  EXPECT_EQ(devices.cost(Core{0}, Core{16}), (Cost{0.02, 1000}));
  EXPECT_EQ(devices.cost(Core{63}, Core{0}), (Cost{0.02, 1000}));
  EXPECT_EQ(devices.cost(Core{0}, Core{1}), (Cost{0.02, 1000})) << "ranks that share a GPU are not farther apart";
  EXPECT_EQ(devices.cost(Core{0}, Core{64}), (Cost{10, 2000})) << "the network stays";
  EXPECT_TRUE(devices.cost_by_bit()) << "the costs do not differ within a level";
  EXPECT_TRUE(devices.gpu_links().empty());
  EXPECT_EQ(host.gpu_links().size(), 4U);
}

TEST(DeviceCosts, MissingCostsAreThoseOfTheMachineWithoutLinks) {
  const Topology devices = between_gpus(topology("node:2 gpu-link=0.5 numa:2 gpu:2 core:4"));
  EXPECT_EQ(cost_between(devices, 0, 8), 100) << "ten times the level of NUMA nodes, which costs 10";
  EXPECT_EQ(cost_between(devices, 0, 4), 0.5);
  EXPECT_EQ(cost_between(devices, 0, 1), 0.5);
  const Topology expensive = between_gpus(topology("node:2 gpu-link=50 numa:2 gpu:2 core:4"));
  EXPECT_EQ(cost_between(expensive, 0, 4), 10) << "the path of the machine is faster than the link";
}

TEST(DeviceCosts, AMachineWithoutLinksStaysAsItIs) {
  const Topology host = topology("node:2=10 numa:2=3 gpu:2 core:4=1");
  const Topology devices = between_gpus(host);
  for (const Core core : host.cores()) EXPECT_EQ(devices.cost(Core{0}, core), host.cost(Core{0}, core));
  const Topology network = between_gpus(topology("torus:2x2=20 gpu-link=0.1 gpu:4 numa:2=3 core:4=1"));
  EXPECT_EQ(cost_between(network, 0, 8), 20);
  EXPECT_EQ(cost_between(network, 0, 4), 0.1);
  EXPECT_EQ(cost_between(network, 0, 1), 0.1);
}

/// Nodes of four MI250X. Each has two GPUs next to one NUMA node; their numbers do not follow those of the NUMA nodes.
/// 200 GB/s connect the GPUs of a package, 100 or 50 GB/s some others.
Topology mi250x_nodes(std::uint64_t nodes) {
  MachineSpec spec = *parse_topology_string("node:1 numa:1=0.3 l3:2=0.12 core:8=0.085");
  ObjectSpec& node = spec.root.children[0];
  spec.root.between = Cost{1, 0};
  node.repeat = nodes;
  const ObjectSpec numa = node.children[0];
  node.children.clear();
  for (const std::uint32_t first : {4U, 2U, 6U, 0U}) {
    node.children.push_back(numa);
    for (const std::uint32_t number : {first, first + 1})
      node.children.back().devices.push_back({.kind = "gpu", .number = number});
    node.gpu_links.push_back({.gpus = {first, first + 1}, .cost = {0.005, 0}});
  }
  using Pair = std::vector<std::uint32_t>;
  for (const Pair& gpus : {Pair{0, 6}, Pair{1, 3}, Pair{2, 4}, Pair{5, 7}})
    node.gpu_links.push_back({.gpus = gpus, .cost = {0.01, 0}});
  for (const Pair& gpus : {Pair{0, 2}, Pair{1, 5}, Pair{3, 7}, Pair{4, 6}})
    node.gpu_links.push_back({.gpus = gpus, .cost = {0.02, 0}});
  return testing::built(std::move(spec));
}

TEST(DeviceCosts, GpusOfAPackageAreNearerThanThoseOfOthers) {
  const Topology host = mi250x_nodes(3), devices = between_gpus(host);
  EXPECT_EQ(cost_between(devices, 0, 1), 0.005) << "cores of one cache";
  EXPECT_EQ(cost_between(devices, 0, 8), 0.005) << "two caches of a NUMA node, which has two GPUs";
  // Of the 24 pairs of GPUs next to different NUMA nodes, 4 have 100 GB/s, 4 have 50 GB/s, and 16 have no link.
  for (const std::uint32_t other : {16U, 32U, 48U})
    EXPECT_NEAR(cost_between(devices, 0, other), (4 * 0.01 + 4 * 0.02 + 16 * 0.3) / 24, 1e-12);
  EXPECT_EQ(cost_between(devices, 0, 64), 1);
  EXPECT_TRUE(devices.cost_by_bit());
  const SlotShape shape{.cores = 8, .threads_per_core = 0, .gpus = 1};
  const auto before = Slots::cut(host, 24, shape), after = Slots::cut(devices, 24, shape);
  ASSERT_TRUE(before && after);
  ASSERT_EQ(before->count(), 24U);
  ASSERT_EQ(after->count(), before->count());
  for (std::size_t slot = 0; slot < after->count(); ++slot) {
    EXPECT_EQ(after->leaves(slot)[0], before->leaves(slot)[0]);
    EXPECT_EQ(after->gpus(slot)[0], before->gpus(slot)[0]);
  }
}

TEST(DeviceCosts, TheHalvesOfAHybridCubeMeshAreExact) {
  MachineSpec spec = *parse_topology_string("node:2=1 package:2=0.3 gpu:4 core:20=0.18");
  auto& links = spec.root.children[0].gpu_links;
  links = {{.gpus = {0, 1, 2, 3}, .cost = {0.05, 0}}, {.gpus = {4, 5, 6, 7}, .cost = {0.05, 0}}};
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) links.push_back({.gpus = {gpu, gpu + 4}, .cost = {0.05, 0}});
  const Topology devices = between_gpus(testing::built(std::move(spec)));
  EXPECT_EQ(cost_between(devices, 0, 1), 0.05);
  EXPECT_NEAR(cost_between(devices, 0, 20), (4 * 0.05 + 12 * 0.3) / 16, 1e-12);
  EXPECT_EQ(cost_between(devices, 0, 40), 1);
}

TEST(DeviceCosts, MayDifferBetweenPartsOfANode) {
  MachineSpec spec = *parse_topology_string("node:2=10 numa:2=3 gpu:2 core:4=1");
  spec.root.children[0].gpu_links = {{.gpus = {2, 3}, .cost = {0.1, 0}}};
  const Topology devices = between_gpus(testing::built(std::move(spec)));
  for (const std::uint32_t node : {0U, 8U}) {
    EXPECT_EQ(cost_between(devices, node, node + 1), 1);
    EXPECT_EQ(cost_between(devices, node + 4, node + 5), 0.1);
    EXPECT_EQ(cost_between(devices, node, node + 4), 3);
  }
  EXPECT_EQ(devices.spec().root.children.size(), 1U) << "equal nodes are described once";
}

TEST(DeviceCosts, RanksWithoutAGpuNearThemUseThoseOfTheNode) {
  // Two GPUs next to the first NUMA node only: a rank of the other NUMA node uses them, too.
  MachineSpec spec = *parse_topology_string("node:1 numa:2=3 core:4=1");
  ObjectSpec& node = spec.root.children[0];
  const ObjectSpec numa = [&] {
    ObjectSpec one = node.children[0];
    one.repeat = 1;
    return one;
  }();
  node.children = {numa, numa};
  node.children[0].devices.assign(2, {.kind = "gpu"});
  node.gpu_links.push_back({.cost = {0.1, 0}});
  const Topology devices = between_gpus(testing::built(std::move(spec)));
  EXPECT_EQ(cost_between(devices, 0, 4), 0.1);
  EXPECT_EQ(cost_between(devices, 0, 1), 0.1);
  EXPECT_EQ(cost_between(devices, 4, 5), 0.1);
}

TEST(DeviceCosts, LinksThatCannotBeAreErrors) {
  EXPECT_EQ(link_problem("node:2 gpu-link=0.1 gpu:2 core:4"), "none");
  EXPECT_THAT(link_problem("switch:2 gpu-link=0.1 node:2 gpu:2 core:4"), HasSubstr("above the level of nodes"));
  EXPECT_THAT(link_problem("node:2 gpu-link=0.1 gpu:1 core:4"), HasSubstr("connects fewer than two GPUs"));
  EXPECT_THAT(link_problem("node:2 numa:2 gpu-link=0.1 gpu:1 core:4"), HasSubstr("a link of level numa connects"));
  EXPECT_THAT(link_problem("node:1 gpu-link=0.1 gpu:300 core:4"), HasSubstr("300 GPUs: the maximum is 256"));
  EXPECT_EQ(link_problem("node:1 gpu:300 core:4"), "none");
  EXPECT_THAT(link_problem("node:2 gpu:2 core:4", {{.gpus = {1, 2}, .cost = {1, 0}}}), HasSubstr("names GPU 2, which"));
  EXPECT_THAT(link_problem("node:2 gpu:2 core:4", {{.gpus = {1, 1}, .cost = {1, 0}}}), HasSubstr("GPU 1 twice"));
  EXPECT_THAT(link_problem("node:2 gpu:2 core:4", {{.gpus = {1}, .cost = {1, 0}}}), HasSubstr("fewer than two"));
  EXPECT_THAT(link_problem("node:2 gpu:2 core:4", {{.cost = {0, 0}}}), HasSubstr("the cost 0,0 of a link"));
  EXPECT_THAT(link_problem("node:1000000 gpu:1 core:1", std::vector<GpuLinkSpec>(3, {.gpus = {0, 1}, .cost = {1, 0}})),
              HasSubstr("ends are too many"));
  // Both copies of the NUMA node would have the same link.
  MachineSpec spec = *parse_topology_string("node:1 numa:2 gpu:2 core:4");
  spec.root.children[0].children[0].gpu_links = {{.gpus = {0, 1}, .cost = {1, 0}}};
  const auto twice = Topology::build(std::move(spec));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().what, HasSubstr("a link of level numa names GPU 0, which is not below it"));
}

/// The GPUs that ranks below an object of a level may use, found in the whole machine.
std::set<std::uint32_t> reference_gpus(const Topology& machine, std::size_t level, Core core) {
  std::set<std::uint32_t> gpus;
  for (; gpus.empty() && level >= machine.node_level(); --level) {
    const std::uint32_t object = machine.object_of(level, core);
    const Core first = machine.first_core(level, object), end = machine.first_core(level, object + 1);
    for (const Topology::Device& device : machine.devices()) {
      if (device.kind == "gpu" && device.first < end && first < device.end) gpus.insert(device.number);
    }
    if (level == 0) break;
  }
  return gpus;
}

double reference_link(const Topology& machine, Node node, std::uint32_t a, std::uint32_t b) {
  double cheapest = std::numeric_limits<double>::infinity();
  for (const Topology::GpuLink& link : machine.gpu_links()) {
    const auto has = [&](std::uint32_t gpu) { return std::count(link.gpus.begin(), link.gpus.end(), gpu) > 0; };
    if (link.node == node && has(a) && has(b)) cheapest = std::min(cheapest, link.cost.inverse_bandwidth);
  }
  return cheapest;
}

/// The cost between the objects of a level inside the node that have the same parent as the one around the core.
double reference_cost(const Topology& machine, std::size_t level, Core core) {
  const std::uint32_t parent = machine.object_of(level - 1, core);
  std::vector<Core> children;
  for (std::uint32_t object = 0; object < machine.levels()[level].objects; ++object) {
    const Core first = machine.first_core(level, object);
    if (machine.object_of(level - 1, first) == parent) children.push_back(first);
  }
  const bool top = level == machine.node_level() + 1;
  const double above = top ? std::numeric_limits<double>::infinity() : reference_cost(machine, level - 1, core);
  if (children.size() == 1) return above;
  const double own = machine.cost(children[0], children[1]).inverse_bandwidth;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Core p : children) {
    for (const Core q : children) {
      if (p == q) continue;
      for (const std::uint32_t a : reference_gpus(machine, level, p)) {
        for (const std::uint32_t b : reference_gpus(machine, level, q))
          if (a < b) pairs.emplace(a, b);
      }
    }
  }
  if (pairs.empty()) return std::min(own, above);
  double sum = 0;
  for (const auto& [a, b] : pairs) sum += std::min(own, reference_link(machine, machine.node_of(core), a, b));
  return sum / static_cast<double>(pairs.size());
}

/// One to two nodes whose GPUs belong to nodes, packages and NUMA nodes, with random links.
std::optional<Topology> random_linked_machine(Random& random) {
  const auto devices = [&] { return random.below(2) == 0 ? "" : fmt::format(" gpu:{}", 1 + random.below(2)); };
  std::string text = fmt::format("node:{}{}{}", 1 + random.below(2), random.below(2) == 0 ? "" : "=500", devices());
  if (random.below(2) == 0) text += fmt::format(" package:{}=70{}", 1 + random.below(3), devices());
  text += fmt::format(" numa:{}{}{}", 1 + random.below(3), random.below(2) == 0 ? "" : "=20", devices());
  text += fmt::format(" core:{}", 1 + random.below(4));
  auto spec = parse_topology_string(text);
  EXPECT_TRUE(spec) << text;
  const auto plain = Topology::build(*spec);
  EXPECT_TRUE(plain) << text;
  const auto gpus =
      static_cast<std::uint32_t>(std::count_if(plain->devices().begin(), plain->devices().end(),
                                               [](const Topology::Device& device) { return index(device.node) == 0; }));
  if (gpus < 2) return std::nullopt;
  for (std::uint64_t links = 1 + random.below(4); links > 0; --links) {
    GpuLinkSpec link{.cost = {0.25 * static_cast<double>(1 + random.below(100)), 0}};
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      if (random.below(2) == 0) link.gpus.push_back(gpu);
    if (link.gpus.size() < 2) link.gpus.clear();
    spec->root.children[0].gpu_links.push_back(std::move(link));
  }
  auto machine = Topology::build(*std::move(spec));
  EXPECT_TRUE(machine) << text << ": " << (machine ? "" : to_string(machine.error()));
  if (!machine) return std::nullopt;
  return *std::move(machine);
}

TEST(DeviceCosts, OfRandomMachinesAgreeWithAReferenceImplementation) {
  Random random(5);
  int compared = 0;
  for (int instance = 0; instance < 400; ++instance) {
    const auto host = random_linked_machine(random);
    if (!host) continue;
    SCOPED_TRACE(fmt::format("instance {}: {}", instance, host->spec().text));
    const Topology devices = between_gpus(*host);
    ASSERT_EQ(devices.core_count(), host->core_count());
    ASSERT_EQ(devices.node_count(), host->node_count());
    ASSERT_EQ(devices.levels().size(), host->levels().size());
    ASSERT_EQ(devices.devices().size(), host->devices().size());
    for (std::size_t i = 0; i < host->devices().size(); ++i) {
      ASSERT_EQ(devices.devices()[i].number, host->devices()[i].number);
      ASSERT_EQ(devices.devices()[i].first, host->devices()[i].first);
    }
    for (std::size_t level = 0; level < host->levels().size(); ++level) {
      ASSERT_EQ(devices.levels()[level].kind, host->levels()[level].kind);
      const std::uint64_t parents = level == 0 ? 1 : host->levels()[level - 1].objects;
      for (std::uint32_t parent = 0; parent < parents; ++parent) {
        const Core first = level == 0 ? Core{0} : host->first_core(level - 1, parent);
        const Core end = level == 0 ? Core{host->core_count()} : host->first_core(level - 1, parent + 1);
        const std::uint32_t child = host->object_of(level, first) + 1;
        if (child >= host->levels()[level].objects || host->first_core(level, child) >= end) continue;
        const Core other = host->first_core(level, child);
        const double expected = level <= host->node_level() ? cost_between(*host, index(first), index(other))
                                                            : reference_cost(*host, level, first);
        ASSERT_NEAR(cost_between(devices, index(first), index(other)), expected, 1e-9 * expected) << "level " << level;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace rankloom
