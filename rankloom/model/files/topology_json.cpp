// SPDX-License-Identifier: Apache-2.0
// model: a MachineSpec as JSON, both ways.
#include "rankloom/model/files/topology_json.hpp"

#include <fmt/format.h>

#include "rankloom/model/files/json_cursor.hpp"
#include "rankloom/model/graph/fold.hpp"
#include "rankloom/model/machine/network/networks.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t schema_version = 1;
constexpr double most_cores = 0xffff'fffe;
constexpr std::size_t most_levels = 60;

}  // namespace

// Reading: one overload for each type that can be a field. They stand outside the anonymous namespace to be found by
// the templates of json_place.hpp.

static void read(const JsonCursor& place, Vertex& vertex) {
  std::uint32_t number = 0;
  read(place, number);
  vertex = Vertex{number};
}

/// A number is a gap; an object may add a latency.
static void read(const JsonCursor& place, Cost& cost) {
  if (place.value().is_number()) {
    read(place, cost.gap);
  } else {
    place.expect_keys({"gap", "latency"});
    place.need("gap", cost.gap);
    place.may("latency", cost.latency);
  }
  if (!(cost.gap > 0 && cost.latency >= 0)) place.bad("is not a cost", "gap above 0, latency 0 or more");
}

static void read(const JsonCursor& place, ObjectSpec& object) {
  place.expect_keys({"kind", "name", "repeat", "between", "capacity", "os_index", "children"});
  if (place.depth() > 2 * most_levels)
    place.bad("is nested too deep", fmt::format("use at most {} levels", most_levels));
  std::uint32_t repeat = 1;
  place.need("kind", object.kind);
  place.may("name", object.name);
  place.may("repeat", repeat);
  place.may("between", object.between);
  place.may("capacity", object.capacity);
  place.may("os_index", object.os_index);
  place.may("children", object.children);
  if (place.failed()) return;
  object.repeat = repeat;
  if (object.kind.empty()) place.bad("its kind is empty", "name its level, such as \"node\" or \"core\"");
  if (repeat == 0) place.bad("is repeated 0 times", "leave it out, or write 1 or more");
  if (!object.name.empty() && repeat > 1) place.bad("has a name and is repeated", "give each its own name, or none");
  if (!object.children.empty() && (place.has("capacity") || place.has("os_index"))) {
    place.bad("has children, so it is no core and has neither capacity nor os_index", "put them on the cores below it");
  }
}

static void read(const JsonCursor& place, GraphShape::Cable& cable) {
  place.expect_keys({"a", "b", "cost", "one_way"});
  place.need("a", cable.a);
  place.need("b", cable.b);
  place.need("cost", cable.cost);
  place.may("one_way", cable.one_way);
}

namespace {

/// Makes the network of a shape that was read in full; what is wrong with the shape is an error of this place.
template <class Make>
void finish(const JsonCursor& place, NetworkPtr& network, const Make& make) {
  if (place.failed()) return;
  Result<NetworkPtr> made = make();
  if (made) {
    network = std::move(*made);
  } else {
    place.bad(made.error().what, made.error().hint);
  }
}

void read_mesh(const JsonCursor& place, bool torus, NetworkPtr& network) {
  MeshShape shape;
  Cost per_hop;
  place.expect_keys({"kind", "sizes", "per_hop"});
  place.need("sizes", shape.sizes);
  place.need("per_hop", per_hop);
  finish(place, network, [&] { return make_mesh(std::move(shape.sizes), torus, per_hop); });
}

void read_tree(const JsonCursor& place, NetworkPtr& network) {
  TreeShape shape;
  Cost per_hop;
  place.expect_keys({"kind", "nodes", "parent", "per_hop"});
  place.need("nodes", shape.nodes);
  place.need("parent", shape.parent);
  place.need("per_hop", per_hop);
  finish(place, network, [&] { return make_tree(shape.nodes, std::move(shape.parent), per_hop, "tree"); });
}

void read_fat_tree(const JsonCursor& place, NetworkPtr& network) {
  FatTreeShape shape;
  Cost per_hop;
  place.expect_keys({"kind", "children", "parents", "per_hop"});
  place.need("children", shape.children);
  place.need("parents", shape.parents);
  place.need("per_hop", per_hop);
  finish(place, network, [&] { return make_fat_tree(std::move(shape.children), std::move(shape.parents), per_hop); });
}

void read_dragonfly(const JsonCursor& place, NetworkPtr& network) {
  DragonflyShape shape;
  Cost per_hop;
  place.expect_keys({"kind", "groups", "routers", "nodes", "global", "per_hop"});
  place.need("groups", shape.groups);
  place.need("routers", shape.routers);
  place.need("nodes", shape.nodes);
  place.may("global", shape.global);
  place.need("per_hop", per_hop);
  finish(place, network, [&] { return make_dragonfly(shape, per_hop); });
}

void read_graph(const JsonCursor& place, NetworkPtr& network) {
  GraphShape shape;
  place.expect_keys({"kind", "nodes", "vertices", "nodes_forward", "cables", "next"});
  place.need("nodes", shape.nodes);
  shape.vertices = shape.nodes;
  place.may("vertices", shape.vertices);
  place.may("nodes_forward", shape.nodes_forward);
  place.need("cables", shape.cables);
  place.may("next", shape.next);
  finish(place, network, [&] { return make_graph(std::move(shape)); });
}

}  // namespace

static void read(const JsonCursor& place, NetworkPtr& network) {
  std::string kind;
  if (!place.value().is_object()) return place.bad("must be an object in { }", "with the key \"kind\"");
  place.need("kind", kind);
  if (place.failed()) return;
  if (kind == "mesh" || kind == "torus") return read_mesh(place, kind == "torus", network);
  if (kind == "tree") return read_tree(place, network);
  if (kind == "fattree") return read_fat_tree(place, network);
  if (kind == "dragonfly") return read_dragonfly(place, network);
  if (kind == "graph") return read_graph(place, network);
  place.bad("no network of this kind is known", "use mesh, torus, tree, fattree, dragonfly or graph");
}

namespace {

/// That it is a file of ours, of a version that this program knows.
void check_header(const JsonCursor& place) {
  std::string what;
  std::uint32_t version = 0;
  if (!place.value().is_object() || !place.has("rankloom")) {
    return place.bad("is JSON, but no topology",
                     R"(a topology begins with {"rankloom": "topology", "version": 1, "machine": …)");
  }
  place.need("rankloom", what);
  if (!place.failed() && what != "topology")
    return place.bad(fmt::format("is a {} file, not a topology", what), "give it where that is asked for");
  place.need("version", version);
  if (place.failed() || version == schema_version) return;
  place.bad(fmt::format("has version {} of the format, this program reads version {}", version, schema_version),
            version > schema_version ? "use a newer version of this program" : "write 1, or make the file anew");
}

/// A double, because the repeat counts of a bad file multiply beyond all integers.
double count_cores(const ObjectSpec& object) {
  double below = object.children.empty() ? 1 : 0;
  for (const ObjectSpec& child : object.children) below += count_cores(child);
  return below * static_cast<double>(object.repeat);
}

void check_machine(const JsonCursor& place, const ObjectSpec& root) {
  if (place.failed()) return;
  if (root.children.empty())
    return place.bad("machine: has no children, so no cores", "describe at least one core below it");
  if (root.repeat != 1) return place.bad("machine: is repeated", "repeat what is below it");
  if (const double cores = count_cores(root); cores > most_cores) {
    place.bad(fmt::format("machine: its {:.4g} cores are more than the {} that can be numbered", cores, most_cores),
              "lower the repeat counts");
  }
}

// Writing. -----------------------------------------------------------------------------------------------------------

Json to_json(Cost cost) {
  if (cost.latency == 0) return cost.gap;
  return {{"gap", cost.gap}, {"latency", cost.latency}};
}

Json to_json(const ObjectSpec& object) {
  Json json{{"kind", object.kind}};
  if (!object.name.empty()) json["name"] = object.name;
  if (object.repeat != 1) json["repeat"] = object.repeat;
  if (object.between) json["between"] = to_json(*object.between);
  if (object.children.empty()) {
    if (object.capacity != 1) json["capacity"] = object.capacity;
    if (object.os_index) json["os_index"] = *object.os_index;
    return json;
  }
  Json& children = json["children"] = Json::array();
  for (const ObjectSpec& child : object.children) children.push_back(to_json(child));
  return json;
}

Json to_json(std::span<const Vertex> vertices) {
  Json json = Json::array();
  for (const Vertex vertex : vertices) json.push_back(index(vertex));
  return json;
}

struct ShapeWriter {
  Json per_hop;

  Json operator()(const MeshShape& shape) const {
    return {{"kind", shape.torus ? "torus" : "mesh"}, {"sizes", shape.sizes}, {"per_hop", per_hop}};
  }
  Json operator()(const TreeShape& shape) const {
    return {{"kind", "tree"}, {"nodes", shape.nodes}, {"parent", to_json(shape.parent)}, {"per_hop", per_hop}};
  }
  Json operator()(const FatTreeShape& shape) const {
    return {{"kind", "fattree"}, {"children", shape.children}, {"parents", shape.parents}, {"per_hop", per_hop}};
  }
  Json operator()(const DragonflyShape& shape) const {
    return {{"kind", "dragonfly"},  {"groups", shape.groups}, {"routers", shape.routers},
            {"nodes", shape.nodes}, {"global", shape.global}, {"per_hop", per_hop}};
  }
  Json operator()(const GraphShape& shape) const {
    Json json{{"kind", "graph"},
              {"nodes", shape.nodes},
              {"vertices", shape.vertices},
              {"nodes_forward", shape.nodes_forward}};
    Json& cables = json["cables"] = Json::array();
    for (const auto& [a, b, cost, one_way] : shape.cables) {
      Json cable{{"a", index(a)}, {"b", index(b)}, {"cost", to_json(cost)}};
      if (one_way) cable["one_way"] = true;
      cables.push_back(std::move(cable));
    }
    for (const auto& table : shape.next) json["next"].push_back(to_json(table));
    return json;
  }
};

/// The value between brackets, its parts apart by `separator`.
template <class Print>
void print_parts(const Json& json, std::string_view begin, std::string_view separator, std::string& out,
                 const Print& print_part) {
  std::string_view before = begin;
  out += json.is_array() ? '[' : '{';
  for (const auto& [key, value] : json.items()) {
    out += std::exchange(before, separator);
    if (json.is_object()) out += Json(key).dump() + ": ";
    print_part(value);
  }
}

void print_flat(const Json& json, std::string& out) {
  if (!json.is_structured()) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  print_parts(json, "", ", ", out, [&](const Json& part) { print_flat(part, out); });
  out += json.is_array() ? ']' : '}';
}

/// What fits a line stands on one line, and so do lists of numbers, however long.
void print(const Json& json, std::size_t indent, std::string& out) {
  constexpr std::size_t line_width = 120;
  std::string flat;
  print_flat(json, flat);
  const bool numbers = json.is_array() && !json.empty() && json[0].is_number();
  if (!json.is_structured() || numbers || indent + flat.size() <= line_width) {
    out += flat;
    return;
  }
  const std::string line = "\n" + std::string(indent + 2, ' ');
  print_parts(json, line, "," + line, out, [&](const Json& part) { print(part, indent + 2, out); });
  out += "\n" + std::string(indent, ' ') + (json.is_array() ? ']' : '}');
}

}  // namespace

Result<MachineSpec> read_machine_json(const FileContents& file) {
  auto parsed = parse_json(file);
  if (!parsed) return propagate(parsed);
  JsonCursor::Document document{.value = *parsed, .source = file.name()};
  const JsonCursor top(document);
  MachineSpec spec;
  NetworkPtr network;
  check_header(top);
  if (!top.failed()) top.expect_keys({"rankloom", "version", "text", "machine", "network"});
  spec.text = file.name();
  top.may("text", spec.text);
  top.need("machine", spec.root);
  check_machine(top, spec.root);
  top.may("network", network);
  if (document.error) return Failure(std::move(*document.error));
  spec.network = std::move(network);
  return spec;
}

std::string write_machine_json(const MachineSpec& spec) {
  Json json{{"rankloom", "topology"}, {"version", schema_version}};
  if (!spec.text.empty()) json["text"] = spec.text;
  json["machine"] = to_json(folded(spec.root));
  if (spec.network) {
    const ShapeWriter writer{to_json(spec.network->per_hop())};
    json["network"] = std::visit(writer, static_cast<const NetworkShape::variant&>(spec.network->shape()));
  }
  std::string text;
  print(json, 0, text);
  return text + "\n";
}

}  // namespace rankloom
