// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/files/topology_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<MachineSpec> read_text(std::string text) {
  return read_machine_json(FileContents("machine.json", std::move(text)));
}

std::string problem(std::string text) {
  const auto read = read_text(std::move(text));
  return read ? "none" : to_string(read.error());
}

/// A complete file with the given machine or network.
std::string file_with(const std::string& machine, const std::string& network = "") {
  return R"({"rankloom": "topology", "version": 1, "machine": )" + machine +
         (network.empty() ? "" : ", \"network\": " + network) + "}";
}
const std::string two_cores = R"({"kind": "machine", "children": [{"kind": "core", "repeat": 2}]})";

/// The machine with every repeated object written individually.
ObjectSpec unfolded(const ObjectSpec& object) {
  ObjectSpec result = object;
  result.repeat = 1;
  result.children.clear();
  for (const ObjectSpec& child : object.children)
    result.children.insert(result.children.end(), child.repeat, unfolded(child));
  return result;
}

ObjectSpec random_object(Random& random, int levels_below) {
  ObjectSpec object;
  object.kind = levels_below == 0 ? "core" : "level" + std::to_string(levels_below);
  if (random.below(3) == 0)
    object.between =
        Cost{0.1 + static_cast<double>(random.below(5)) / 3, static_cast<double>(random.below(2)) * 1e3 / 7};
  if (levels_below == 0) {
    if (random.below(4) == 0) object.capacity = static_cast<std::uint32_t>(random.below(4));
    if (random.below(4) == 0) object.os_index = static_cast<std::uint32_t>(random.below(3));
  }
  if (random.below(6) == 0) {
    object.name = "host \"" + std::to_string(random.below(1000)) + "\" \xc3\xa9";
  } else {
    object.repeat = 1 + random.below(3);
  }
  for (std::uint64_t count = levels_below == 0 ? 0 : 1 + random.below(4); count > 0; --count) {
    object.children.push_back(random_object(random, levels_below - 1));
  }
  return object;
}

TEST(TopologyJson, EveryMachineReadsBackEqual) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    MachineSpec spec;
    spec.root = random_object(random, 1 + i % 4);
    spec.root.repeat = 1;
    spec.text = i % 2 == 0 ? "what the user wrote" : "";
    const std::string text = write_machine_json(spec);
    auto read = read_text(text);
    ASSERT_TRUE(read) << to_string(read.error()) << text;
    EXPECT_TRUE(equal_except_repeat(unfolded(spec.root), unfolded(read->root))) << text;
    EXPECT_EQ(read->text, spec.text.empty() ? "machine.json" : spec.text);
    EXPECT_EQ(read->network, nullptr);
    EXPECT_EQ(write_machine_json({read->root, nullptr, spec.text, {}}), text);
  }
}

TEST(TopologyJson, RailsReadBackEqual) {
  const Topology machine = *load_topology("leaf:2=8 node:2=4 rails:2 numa:2=2 core:3=1 !core:1");
  const auto read = read_text(write_machine_json(machine.spec()));
  ASSERT_TRUE(read) << to_string(read.error());
  const auto built = Topology::build(*read);
  ASSERT_TRUE(built) << to_string(built.error());
  ASSERT_EQ(built->rail_count(), 2U);
  for (const Core core : machine.cores()) ASSERT_EQ(built->rail(core), machine.rail(core));
  EXPECT_TRUE(equal_except_repeat(fold_repeats(machine.spec().root), fold_repeats(read->root)));
}

TEST(TopologyJson, EqualSiblingsAreWrittenOnce) {
  MachineSpec spec;
  spec.root.kind = "machine";
  const ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
  for (int i = 0; i < 10'000; ++i) {
    spec.root.children.push_back(
        {.kind = "node", .name = {}, .between = {}, .os_index = {}, .children = {core, core, core}});
  }
  EXPECT_EQ(write_machine_json(spec),
            R"({
  "rankloom": "topology",
  "version": 1,
  "machine": {"kind": "machine", "children": [{"kind": "node", "repeat": 10000, "children": [{"kind": "core", "repeat": 3}]}]}
}
)");
}

TEST(TopologyJson, EveryNetworkReadsBackEqual) {
  const Cost cost{0.1, 250.5};
  const GraphShape ring{.nodes = 3,
                        .vertices = 4,
                        .cables = {{Vertex{0}, Vertex{1}, {1, 0}},
                                   {Vertex{1}, Vertex{2}, {2, 3}},
                                   {Vertex{2}, Vertex{0}, {0.3, 0}},
                                   {Vertex{0}, Vertex{3}, cost, true}},
                        .nodes_forward = true,
                        .next = {{Vertex{0}, Vertex{2}, Vertex{0}, Vertex{3}},
                                 {Vertex{1}, Vertex{1}, Vertex{1}, Vertex{3}},
                                 {Vertex{1}, Vertex{2}, Vertex{2}, Vertex{3}}}};
  GraphShape plain = ring;
  plain.next.clear();
  plain.nodes_forward = false;
  for (const auto& made : {make_mesh({2, 1, 3}, false, cost), make_mesh({3, 3}, true, {10, 0}),
                           make_fat_tree({2, 3}, {2, 1}, cost), make_dragonfly({3, 2, 2, 1}, cost),
                           make_tree(3, {Vertex{3}, Vertex{4}, Vertex{4}, Vertex{4}, Vertex{4}}, cost, "tree"),
                           make_graph(ring), make_graph(plain)}) {
    ASSERT_TRUE(made) << to_string(made.error());
    MachineSpec spec;
    spec.root = {.kind = "machine", .name = {}, .between = {}, .os_index = {}, .children = {}};
    spec.root.children.push_back(
        {.kind = "node", .name = {}, .repeat = (*made)->node_count(), .between = {}, .os_index = {}, .children = {}});
    spec.network = *made;
    spec.text = (*made)->text();
    const std::string text = write_machine_json(spec);
    const auto read = read_text(text);
    ASSERT_TRUE(read) << to_string(read.error()) << text;
    ASSERT_NE(read->network, nullptr);
    EXPECT_EQ(write_machine_json(*read), text);
    EXPECT_EQ(read->network->text(), (*made)->text());
    EXPECT_EQ(read->network->link_count(), (*made)->link_count());
    for (std::uint32_t a = 0; a < (*made)->node_count(); ++a) {
      for (std::uint32_t b = 0; b < (*made)->node_count(); ++b) {
        std::vector<Link> before, after;
        (*made)->route(Node{a}, Node{b}, before);
        read->network->route(Node{a}, Node{b}, after);
        EXPECT_EQ(before, after);
        EXPECT_EQ((*made)->cost(Node{a}, Node{b}), read->network->cost(Node{a}, Node{b}));
      }
    }
  }
}

TEST(TopologyJson, ACostIsANumberOrAnObject) {
  const auto read = read_text(file_with(R"({"kind": "machine", "between": {"inverse_bandwidth": 2.5, "latency": 100},
                                            "children": [{"kind": "node", "between": 1, "repeat": 2, "children": [{"kind": "core", "repeat": 4}]}]})"));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->root.between, (Cost{2.5, 100}));
  EXPECT_EQ(read->root.children[0].between, (Cost{1, 0}));
  EXPECT_EQ(read->root.children[0].children[0].between, std::nullopt);
}

TEST(TopologyJson, TheFormerKeyGapIsReadButNotWritten) {
  const auto read = read_text(file_with(R"({"kind": "machine", "between": {"gap": 2.5, "latency": 100},
                                            "children": [{"kind": "core", "repeat": 2}]})"));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->root.between, (Cost{2.5, 100}));
  EXPECT_THAT(write_machine_json(*read), Not(HasSubstr("gap")));
  EXPECT_THAT(write_machine_json(*read), HasSubstr(R"("between": {"inverse_bandwidth": 2.5, "latency": 100.0})"));
}

TEST(TopologyJson, ErrorsNameThePathOfTheValue) {
  const auto with_core = [](const std::string& core) {
    return problem(file_with(R"({"kind": "machine", "children": [{"kind": "core"}, {"kind": "node", "children": [)" +
                             core + "]}]}"));
  };
  EXPECT_THAT(with_core(R"({"kind": "core", "repeat": -1})"),
              HasSubstr("machine.json: machine.children[1].children[0].repeat: -1 is not a whole number"));
  EXPECT_THAT(with_core(R"({"kind": "core", "repeat": 2.5})"), HasSubstr("repeat: 2.5 is not a whole number"));
  EXPECT_THAT(with_core(R"({"kind": "core", "repeat": "2"})"), HasSubstr("repeat: \"2\" is not a whole number"));
  EXPECT_THAT(with_core(R"({"kind": "core", "repeat": 0})"),
              HasSubstr("machine.children[1].children[0]: is repeated 0 times"));
  EXPECT_THAT(with_core(R"({"kind": "core", "repeat": 99999999999999999999999})"), HasSubstr("is not a whole number"));
  EXPECT_THAT(with_core(R"({"kind": "core", "capacity": true})"), HasSubstr("capacity: true is not a whole number"));
  EXPECT_THAT(with_core(R"({"kind": "core", "between": -3})"), HasSubstr("between: is not a valid cost"));
  EXPECT_THAT(with_core(R"({"kind": "core", "between": {"latency": 3}})"),
              HasSubstr("between: the key \"inverse_bandwidth\" is missing"));
  EXPECT_THAT(with_core(R"({"kind": "core", "between": "3"})"), HasSubstr("between: must be an object"));
  EXPECT_THAT(with_core(R"({"kind": 7})"), HasSubstr("kind: 7 is not a string"));
  EXPECT_THAT(with_core(R"({"kind": ""})"), HasSubstr("the kind is empty"));
  EXPECT_THAT(with_core(R"({"name": "a"})"), HasSubstr("machine.children[1].children[0]: the key \"kind\" is missing"));
  EXPECT_THAT(with_core(R"({"kind": "core", "name": "a", "repeat": 2})"), HasSubstr("has a name and is repeated"));
  EXPECT_THAT(with_core(R"("core")"), HasSubstr("machine.children[1].children[0]: must be an object"));
  EXPECT_THAT(with_core(R"({"kind": "core", "children": {}})"), HasSubstr("children: must be an array"));
  EXPECT_THAT(with_core(R"({"kind": "package", "capacity": 2, "children": [{"kind": "core"}]})"),
              HasSubstr("move them to the cores below"));
}

TEST(TopologyJson, UnknownKeysSuggestTheMostSimilarKnownKey) {
  EXPECT_THAT(problem(file_with(R"({"kind": "machine", "childs": []})")),
              HasSubstr("machine: unknown key \"childs\"\n  hint: did you mean children?"));
  EXPECT_THAT(problem(file_with(R"({"kind": "machine", "os-index": 3})")), HasSubstr("did you mean os_index?"));
  EXPECT_THAT(problem(file_with(R"({"kind": "machine", "colour": "red"})")),
              HasSubstr("hint: one of: kind, name, repeat"));
  EXPECT_THAT(problem(R"({"rankloom": "topology", "version": 1, "mashine": {}})"), HasSubstr("did you mean machine?"));
}

TEST(TopologyJson, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(problem("{\"rankloom\": \"topology\",\n \"version\": 1,,\n}"),
              HasSubstr("machine.json:2: this is not valid JSON"));
  EXPECT_THAT(problem("{\"rankloom\": \"topology\",\r\n \"version\": 1,\r\n"),
              HasSubstr("machine.json:3: the JSON ends too early"));
  EXPECT_THAT(problem(""), HasSubstr("machine.json:1: the JSON ends too early"));
  EXPECT_THAT(problem("{\"rankloom\":\n 1e999}"), HasSubstr("machine.json:2: the number 1e999 is too large"));
  EXPECT_THAT(problem("{\"a\": \"\xff\"}"), HasSubstr("not valid JSON"));
}

TEST(TopologyJson, RejectsFilesOfOtherKindsAndVersions) {
  EXPECT_THAT(problem(R"({"mapping": [1, 2]})"), HasSubstr("is JSON, but not a topology"));
  EXPECT_THAT(problem("[1, 2]"), HasSubstr("is JSON, but not a topology"));
  EXPECT_THAT(problem(R"({"rankloom": "mapping", "version": 1})"), HasSubstr("is a mapping file, not a topology"));
  EXPECT_THAT(problem(R"({"rankloom": "topology", "machine": {}})"), HasSubstr("the key \"version\" is missing"));
  EXPECT_THAT(problem(R"({"rankloom": "topology", "version": 2, "new": 3})"),
              HasSubstr("has version 2 of the format; this program reads version 1\n  hint: use a newer version"));
  EXPECT_THAT(problem(R"({"rankloom": "topology", "version": 1})"), HasSubstr("the key \"machine\" is missing"));
}

TEST(TopologyJson, RejectsAbsurdCountsBeforeAnythingIsBuilt) {
  std::string machine = R"({"kind": "core"})";
  for (int level = 0; level < 50; ++level)
    machine = R"({"kind": "group", "repeat": 4000000000, "children": [)" + machine + "]}";
  EXPECT_THAT(problem(file_with(R"({"kind": "machine", "children": [)" + machine + "]}")),
              HasSubstr("too many: the maximum is 16777216"));
  EXPECT_THAT(problem(file_with(R"({"kind": "machine"})")), HasSubstr("no cores"));
  EXPECT_THAT(problem(file_with(R"({"kind": "machine", "repeat": 2, "children": [{"kind": "core"}]})")),
              HasSubstr("machine: is repeated"));
}

TEST(TopologyJson, RejectsDeepNesting) {
  const auto nested = [](int levels) {
    std::string machine = R"({"kind": "core"})";
    for (int level = 0; level < levels; ++level) machine = R"({"kind": "group", "children": [)" + machine + "]}";
    return file_with(machine);
  };
  EXPECT_THAT(problem(nested(70)), HasSubstr("is nested too deep"));
  EXPECT_THAT(problem(nested(20'000)), HasSubstr("the brackets are nested more than 256 levels deep"));
}

TEST(TopologyJson, RejectsCostsWhoseSumsCouldBeInfinite) {
  const auto with_cost = [](const std::string& cost) {
    return problem(
        file_with(R"({"kind": "machine", "between": )" + cost + R"(, "children": [{"kind": "core", "repeat": 2}]})"));
  };
  EXPECT_EQ(with_cost("1e40"), "none");
  for (const std::string cost : {"1e41", "1e300", "1e-300", "0", "-1", R"({"inverse_bandwidth": 1, "latency": 1e300})"})
    EXPECT_THAT(with_cost(cost), HasSubstr("is not a valid cost")) << cost;
  EXPECT_THAT(with_cost("1e999"), HasSubstr("too large"));
}

TEST(TopologyJson, RejectsInvalidNetworks) {
  const auto with_network = [](const std::string& network) { return problem(file_with(two_cores, network)); };
  EXPECT_EQ(with_network(R"({"kind": "mesh", "sizes": [2], "per_hop": 1})"), "none");
  EXPECT_THAT(with_network(R"("mesh")"), HasSubstr("network: must be an object"));
  EXPECT_THAT(with_network(R"({"sizes": [2]})"), HasSubstr("network: the key \"kind\" is missing"));
  EXPECT_THAT(with_network(R"({"kind": "star"})"), HasSubstr("unknown kind of network"));
  EXPECT_THAT(with_network(R"({"kind": "mesh", "size": [2], "per_hop": 1})"), HasSubstr("did you mean sizes?"));
  EXPECT_THAT(with_network(R"({"kind": "mesh", "sizes": [2, -1], "per_hop": 1})"),
              HasSubstr("network.sizes[1]: -1 is not"));
  EXPECT_THAT(with_network(R"({"kind": "torus", "sizes": [2, 0], "per_hop": 1})"),
              HasSubstr("network: a torus cannot have a size of 0"));
  EXPECT_THAT(with_network(R"({"kind": "mesh", "sizes": [2]})"), HasSubstr("network: the key \"per_hop\" is missing"));
  EXPECT_THAT(with_network(R"({"kind": "graph", "nodes": 2, "cables": [{"a": 0, "b": 5, "cost": 1}]})"),
              HasSubstr("network: cable 0"));
  EXPECT_THAT(with_network(R"({"kind": "graph", "nodes": 2, "cables": [{"a": 0, "b": 1, "cost": 1, "one_way": 1}]})"),
              HasSubstr("network.cables[0].one_way: 1 is neither true nor false"));
  EXPECT_THAT(with_network(R"({"kind": "graph", "nodes": 2, "vertices": 4000000000, "cables": []})"),
              HasSubstr("0 cables cannot connect"));
}

TEST(TopologyJson, DamagedFilesAreErrorsAndNeverCrash) {
  MachineSpec spec;
  Random random(2);
  spec.root = random_object(random, 3);
  spec.network = *make_dragonfly({3, 2, 2, 1}, {1, 0});
  const std::string text = write_machine_json(spec);
  EXPECT_THAT(problem(text.substr(0, text.size() / 2)), HasSubstr("ends too early"));
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      damaged[random.below(damaged.size())] = static_cast<char>(random.next());
    const std::string what = problem(damaged);
    EXPECT_THAT(what, Not(HasSubstr("[json.exception"))) << damaged;
  }
}

TEST(TopologyJson, KeepsDevices) {
  const std::string text = R"({
  "rankloom": "topology",
  "version": 1,
  "text": "a host",
  "machine": {
    "kind": "machine",
    "children": [
      {
        "kind": "node",
        "devices": [{"kind": "nic", "name": "mlx5_0", "number": 0, "address": "0000:01:00.0"}],
        "children": [
          {
            "kind": "numa",
            "devices": [{"kind": "gpu", "number": 1}, {"kind": "gpu", "name": "A \"100\"", "number": 0}],
            "children": [{"kind": "core", "repeat": 4}]
          }
        ]
      }
    ]
  }
}
)";
  const auto machine = read_machine_json(FileContents("m.json", text));
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_EQ(write_machine_json(*read_machine_json(FileContents("again", write_machine_json(*machine)))),
            write_machine_json(*machine));
  const auto topology = Topology::build(*machine);
  ASSERT_TRUE(topology) << to_string(topology.error());
  std::vector<std::string> devices;
  for (const Topology::Device& device : topology->devices())
    devices.push_back(device.kind + " " + std::to_string(device.number) + " " + device.name);
  EXPECT_THAT(devices, ::testing::UnorderedElementsAre("nic 0 mlx5_0", "gpu 1 ", "gpu 0 A \"100\""));
  const auto error_with = [&](const char* from, const char* to) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    auto read = read_machine_json(FileContents("m.json", changed));
    if (!read) return read.error().what;
    auto built = Topology::build(*read);
    return built ? std::string("none") : built.error().what;
  };
  EXPECT_THAT(error_with("\"gpu\"", "\"fpga\""), ::testing::HasSubstr("unknown kind of device"));
  EXPECT_THAT(error_with("\"number\": 1", "\"number\": 0"), ::testing::HasSubstr("have the number 0"));
}

TEST(TopologyJson, LinksBetweenGpusAreRestored) {
  const std::string text = R"({
  "rankloom": "topology",
  "version": 1,
  "machine": {
    "kind": "machine",
    "children": [
      {
        "kind": "node",
        "repeat": 2,
        "gpu_links": [{"cost": 0.04}, {"gpus": [0, 2], "cost": {"inverse_bandwidth": 0.02, "latency": 1000}}],
        "children": [
          {
            "kind": "numa",
            "devices": [{"kind": "gpu", "number": 2}, {"kind": "gpu", "number": 0}, {"kind": "gpu", "number": 1}],
            "children": [{"kind": "core", "repeat": 4}]
          }
        ]
      }
    ]
  }
})";
  const auto machine = read_machine_json(FileContents("m.json", text));
  ASSERT_TRUE(machine) << to_string(machine.error());
  const auto again = read_machine_json(FileContents("again", write_machine_json(*machine)));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(equal_except_repeat(machine->root, again->root));
  EXPECT_EQ(again->root.children[0].gpu_links, machine->root.children[0].gpu_links);
  const auto topology = Topology::build(*machine);
  ASSERT_TRUE(topology) << to_string(topology.error());
  ASSERT_EQ(topology->gpu_links().size(), 4U);
  EXPECT_EQ(topology->gpu_links()[0].gpus, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(topology->gpu_links()[0].cost, (Cost{0.04, 0}));
  EXPECT_EQ(topology->gpu_links()[3].node, Node{1});
  EXPECT_EQ(topology->gpu_links()[3].gpus, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(topology->gpu_links()[3].cost, (Cost{0.02, 1000}));
  const auto error_with = [&](const char* from, const char* to) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    auto read = read_machine_json(FileContents("m.json", changed));
    return read ? std::string("none") : read.error().what;
  };
  EXPECT_THAT(error_with("{\"cost\": 0.04}", "{}"), HasSubstr("gpu_links[0]: the key \"cost\" is missing"));
  EXPECT_THAT(error_with("\"cost\": 0.04", "\"cost\": 0"), HasSubstr("gpu_links[0].cost: is not a valid cost"));
  EXPECT_THAT(error_with("[0, 2]", "[0]"), HasSubstr("gpu_links[1]: connects fewer than two GPUs"));
  EXPECT_THAT(error_with("[0, 2]", "[]"), HasSubstr("gpu_links[1]: connects fewer than two GPUs"));
  EXPECT_THAT(error_with("[0, 2]", "[0, -2]"), HasSubstr("gpu_links[1].gpus[1]: -2 is not a whole number"));
  EXPECT_THAT(error_with("\"gpus\": [0, 2]", "\"gpu\": [0, 2]"), HasSubstr("gpu_links[1]: unknown key \"gpu\""));
}

TEST(TopologyJson, NodesWithDifferentLinksAreNotEqual) {
  MachineSpec spec;
  spec.root.kind = "machine";
  ObjectSpec node{.kind = "node", .name = {}, .between = {}, .os_index = {}, .children = {}};
  node.children.push_back({.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}});
  node.devices.assign(2, {.kind = "gpu"});
  for (const double cost : {0.1, 0.1, 0.2}) {
    node.gpu_links = {{.cost = {cost, 0}}};
    spec.root.children.push_back(node);
  }
  const ObjectSpec folded = fold_repeats(spec.root);
  ASSERT_EQ(folded.children.size(), 2U);
  EXPECT_EQ(folded.children[0].repeat, 2U);
}

}  // namespace
}  // namespace rankloom
