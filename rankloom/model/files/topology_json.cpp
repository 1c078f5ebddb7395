// SPDX-License-Identifier: Apache-2.0
// model/files: reads and writes a MachineSpec as JSON.
#include "rankloom/model/files/topology_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/model/files/json.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::uint32_t schema_version = 1;
constexpr std::size_t max_levels = 60;

}  // namespace

// Reading: one overload of read() per type of field. They are outside of the anonymous namespace, so that the templates
// of json.hpp find them.

static void read(const JsonCursor& cursor, Vertex& vertex) {
  std::uint32_t number = 0;
  read(cursor, number);
  vertex = Vertex{number};
}

/// A number is the inverse bandwidth; an object may add a latency. Files before version 0.1.0 contain the key "gap".
static void read(const JsonCursor& cursor, Cost& cost) {
  if (cursor.value().is_number()) {
    read(cursor, cost.inverse_bandwidth);
  } else {
    cursor.expect_keys({"inverse_bandwidth", "gap", "latency"});
    cursor.read_required(cursor.has("gap") ? "gap" : "inverse_bandwidth", cost.inverse_bandwidth);
    cursor.read_optional("latency", cost.latency);
  }
  if (!is_valid_cost(cost)) cursor.report_error("is not a valid cost", cost_limits);
}

static void read(const JsonCursor& cursor, DeviceSpec& device) {
  cursor.expect_keys({"kind", "name", "number", "address"});
  cursor.read_required("kind", device.kind);
  cursor.read_optional("name", device.name);
  cursor.read_optional("number", device.number);
  cursor.read_optional("address", device.address);
  constexpr std::size_t max_length = 64;
  if (cursor.failed()) return;
  if (!is_device_kind(device.kind)) cursor.report_error("unknown kind of device", "use gpu or nic");
  if (device.name.size() > max_length || device.address.size() > max_length)
    cursor.report_error("the name or the address of a device is too long", "use at most 64 bytes");
}

static void read(const JsonCursor& cursor, GpuLinkSpec& link) {
  cursor.expect_keys({"gpus", "cost"});
  cursor.read_optional("gpus", link.gpus);
  cursor.read_required("cost", link.cost);
  if (cursor.failed() || !cursor.has("gpus")) return;
  if (link.gpus.size() < 2)
    cursor.report_error("connects fewer than two GPUs", "name two GPUs or more; without \"gpus\", all are linked");
}

static void read(const JsonCursor& cursor, ObjectSpec& object) {
  cursor.expect_keys(
      {"kind", "name", "repeat", "between", "capacity", "os_index", "rail", "children", "devices", "gpu_links"});
  if (cursor.depth() > 2 * max_levels)
    cursor.report_error("is nested too deep", fmt::format("use at most {} levels", max_levels));
  std::uint32_t repeat = 1;
  cursor.read_required("kind", object.kind);
  cursor.read_optional("name", object.name);
  cursor.read_optional("repeat", repeat);
  cursor.read_optional("between", object.between);
  cursor.read_optional("capacity", object.capacity);
  cursor.read_optional("os_index", object.os_index);
  cursor.read_optional("rail", object.rail);
  cursor.read_optional("children", object.children);
  cursor.read_optional("devices", object.devices);
  cursor.read_optional("gpu_links", object.gpu_links);
  if (cursor.failed()) return;
  object.repeat = repeat;
  if (object.kind.empty()) cursor.report_error("the kind is empty", "give the kind, such as \"node\" or \"core\"");
  if (repeat == 0) cursor.report_error("is repeated 0 times", "remove the object, or write 1 or more");
  if (!object.name.empty() && repeat > 1)
    cursor.report_error("has a name and is repeated", "give each object its own name, or none");
  if (!object.children.empty() && (cursor.has("capacity") || cursor.has("os_index") || cursor.has("rail"))) {
    cursor.report_error("has children, so it is not a core and cannot have capacity, os_index or rail",
                        "move them to the cores below");
  }
}

/// An object with the kinds as keys.
static void read(const JsonCursor& cursor, std::vector<ChannelSpec::Width>& widths) {
  if (!cursor.value().is_object()) return cursor.report_error("must be an object in { }", "such as {\"node\": 2}");
  for (const auto& [kind, value] : cursor.value().items())  // in ascending order
    cursor.read_required(kind, widths.emplace_back(ChannelSpec::Width{.kind = kind}).messages);
}

static void read(const JsonCursor& cursor, Origin& origin) {
  std::string name;
  read(cursor, name);
  if (cursor.failed()) return;
  if (const auto known = parse_origin(name)) {
    origin = *known;
  } else {
    cursor.report_error("unknown origin", "use measured, stated, discovered or assumed");
  }
}

/// An object with the kinds as keys.
static void read(const JsonCursor& cursor, std::vector<ChannelSpec::CostOrigin>& origins) {
  if (!cursor.value().is_object())
    return cursor.report_error("must be an object in { }", "such as {\"node\": \"measured\"}");
  for (const auto& [kind, value] : cursor.value().items())  // in ascending order
    cursor.read_required(kind, origins.emplace_back(ChannelSpec::CostOrigin{.kind = kind}).origin);
}

/// Where widths and costs come from; files of earlier versions do not say it.
struct ChannelOrigins {
  std::vector<ChannelSpec::CostOrigin> width, cost;
};

static void read(const JsonCursor& cursor, ChannelOrigins& origins) {
  cursor.expect_keys({"width", "cost"});
  cursor.read_optional("width", origins.width);
  cursor.read_optional("cost", origins.cost);
}

static void read(const JsonCursor& cursor, ChannelSpec& channels) {
  ChannelOrigins origins;
  cursor.expect_keys({"base_rate", "base_latency", "width", "card_rate", "origin"});
  cursor.read_optional("base_rate", channels.base_rate);
  cursor.read_optional("base_latency", channels.base_latency);
  cursor.read_optional("width", channels.widths);
  cursor.read_optional("card_rate", channels.card_rate);
  cursor.read_optional("origin", origins);
  if (cursor.failed()) return;
  for (const auto& [kind, origin] : origins.width) {
    const auto width = channels.width(kind);
    if (!width)
      return cursor.report_error(fmt::format("has an origin of the width of {}, but no such width", kind),
                                 "remove the origin, or add the width");
    channels.set_width(kind, *width, origin);
  }
  channels.cost_origins = std::move(origins.cost);
  const auto valid = [](double value) { return value >= 0 && value <= max_valid_cost; };
  if (!valid(channels.base_rate) || !valid(channels.base_latency) || !valid(channels.card_rate)) {
    cursor.report_error("has a rate or a latency that is negative or above 1e40",
                        "give bytes per second and seconds, or leave them out");
  }
}

static void read(const JsonCursor& cursor, GraphShape::Cable& cable) {
  cursor.expect_keys({"a", "b", "cost", "one_way"});
  cursor.read_required("a", cable.a);
  cursor.read_required("b", cable.b);
  cursor.read_required("cost", cable.cost);
  cursor.read_optional("one_way", cable.one_way);
}

namespace {

/// Builds the network from a shape; an invalid shape is an error at this cursor.
template <class Make>
void finish(const JsonCursor& cursor, NetworkPtr& network, const Make& make) {
  if (cursor.failed()) return;
  Result<NetworkPtr> made = make();
  if (made) {
    network = std::move(*made);
  } else {
    cursor.report_error(made.error().what, made.error().hint);
  }
}

void read_mesh(const JsonCursor& cursor, bool torus, NetworkPtr& network) {
  MeshShape shape;
  Cost per_hop;
  cursor.expect_keys({"kind", "sizes", "per_hop"});
  cursor.read_required("sizes", shape.sizes);
  cursor.read_required("per_hop", per_hop);
  finish(cursor, network, [&] { return make_mesh(std::move(shape.sizes), torus, per_hop); });
}

void read_tree(const JsonCursor& cursor, NetworkPtr& network) {
  TreeShape shape;
  Cost per_hop;
  cursor.expect_keys({"kind", "nodes", "parent", "per_hop"});
  cursor.read_required("nodes", shape.nodes);
  cursor.read_required("parent", shape.parent);
  cursor.read_required("per_hop", per_hop);
  finish(cursor, network, [&] { return make_tree(shape.nodes, std::move(shape.parent), per_hop, "tree"); });
}

void read_fat_tree(const JsonCursor& cursor, NetworkPtr& network) {
  FatTreeShape shape;
  Cost per_hop;
  cursor.expect_keys({"kind", "children", "parents", "per_hop"});
  cursor.read_required("children", shape.children);
  cursor.read_required("parents", shape.parents);
  cursor.read_required("per_hop", per_hop);
  finish(cursor, network, [&] { return make_fat_tree(std::move(shape.children), std::move(shape.parents), per_hop); });
}

void read_dragonfly(const JsonCursor& cursor, NetworkPtr& network) {
  DragonflyShape shape;
  Cost per_hop;
  cursor.expect_keys({"kind", "groups", "routers", "nodes", "global", "per_hop"});
  cursor.read_required("groups", shape.groups);
  cursor.read_required("routers", shape.routers);
  cursor.read_required("nodes", shape.nodes);
  cursor.read_optional("global", shape.global);
  cursor.read_required("per_hop", per_hop);
  finish(cursor, network, [&] { return make_dragonfly(shape, per_hop); });
}

void read_graph(const JsonCursor& cursor, NetworkPtr& network) {
  GraphShape shape;
  cursor.expect_keys({"kind", "nodes", "vertices", "nodes_forward", "cables", "next"});
  cursor.read_required("nodes", shape.nodes);
  shape.vertices = shape.nodes;
  cursor.read_optional("vertices", shape.vertices);
  cursor.read_optional("nodes_forward", shape.nodes_forward);
  cursor.read_required("cables", shape.cables);
  cursor.read_optional("next", shape.next);
  finish(cursor, network, [&] { return make_graph(std::move(shape)); });
}

}  // namespace

static void read(const JsonCursor& cursor, NetworkPtr& network) {
  std::string kind;
  if (!cursor.value().is_object()) return cursor.report_error("must be an object in { }", "with the key \"kind\"");
  cursor.read_required("kind", kind);
  if (cursor.failed()) return;
  if (kind == "mesh" || kind == "torus") return read_mesh(cursor, kind == "torus", network);
  if (kind == "tree") return read_tree(cursor, network);
  if (kind == "fattree") return read_fat_tree(cursor, network);
  if (kind == "dragonfly") return read_dragonfly(cursor, network);
  if (kind == "graph") return read_graph(cursor, network);
  cursor.report_error("unknown kind of network", "use mesh, torus, tree, fattree, dragonfly or graph");
}

namespace {

/// Checks that this is a topology file of a known version.
void check_header(const JsonCursor& cursor) {
  std::string what;
  std::uint32_t file_version = 0;
  if (!cursor.value().is_object() || !cursor.has("rankloom")) {
    return cursor.report_error("is JSON, but not a topology",
                               R"(a topology begins with {"rankloom": "topology", "version": 1, "machine": …)");
  }
  cursor.read_required("rankloom", what);
  if (!cursor.failed() && what != "topology")
    return cursor.report_error(fmt::format("is a {} file, not a topology", what), "give a topology file");
  cursor.read_required("version", file_version);
  if (cursor.failed() || file_version == schema_version) return;
  cursor.report_error(
      fmt::format("has version {} of the format; this program reads version {}", file_version, schema_version),
      file_version > schema_version ? "use a newer version of this program" : "write 1, or create the file again");
}

/// A double, because the product of invalid repeat counts may exceed all integers.
double count_cores(const ObjectSpec& object) {
  double below = object.children.empty() ? 1 : 0;
  for (const ObjectSpec& child : object.children) below += count_cores(child);
  return below * static_cast<double>(object.repeat);
}

void check_machine(const JsonCursor& cursor, const ObjectSpec& root) {
  if (cursor.failed()) return;
  if (root.children.empty())
    return cursor.report_error("machine: has no children, so there are no cores", "describe at least one core");
  if (root.repeat != 1) return cursor.report_error("machine: is repeated", "repeat an object below the machine");
  if (const double cores = count_cores(root); cores > static_cast<double>(max_cores)) {
    cursor.report_error(fmt::format("machine: {:.4g} cores are too many: the maximum is {}", cores, max_cores),
                        "reduce the repeat counts");
  }
}

// Writing. -----------------------------------------------------------------------------------------------------------

OrderedJson to_json(Cost cost) {
  if (cost.latency == 0) return cost.inverse_bandwidth;
  return {{"inverse_bandwidth", cost.inverse_bandwidth}, {"latency", cost.latency}};
}

OrderedJson to_json(const ObjectSpec& object) {
  OrderedJson json{{"kind", object.kind}};
  if (!object.name.empty()) json["name"] = object.name;
  if (object.repeat != 1) json["repeat"] = object.repeat;
  if (object.between) json["between"] = to_json(*object.between);
  for (const DeviceSpec& device : object.devices) {
    OrderedJson entry{{"kind", device.kind}};
    if (!device.name.empty()) entry["name"] = device.name;
    if (device.number) entry["number"] = *device.number;
    if (!device.address.empty()) entry["address"] = device.address;
    json["devices"].push_back(std::move(entry));
  }
  for (const GpuLinkSpec& link : object.gpu_links) {
    OrderedJson entry = OrderedJson::object();
    if (!link.gpus.empty()) entry["gpus"] = link.gpus;
    entry["cost"] = to_json(link.cost);
    json["gpu_links"].push_back(std::move(entry));
  }
  if (object.children.empty()) {
    if (object.capacity != 1) json["capacity"] = object.capacity;
    if (object.os_index) json["os_index"] = *object.os_index;
    if (object.rail) json["rail"] = *object.rail;
    return json;
  }
  OrderedJson& children = json["children"] = OrderedJson::array();
  for (const ObjectSpec& child : object.children) children.push_back(to_json(child));
  return json;
}

OrderedJson to_json(const ChannelSpec& channels) {
  OrderedJson json = OrderedJson::object();
  if (channels.base_rate > 0) json["base_rate"] = channels.base_rate;
  if (channels.base_latency > 0) json["base_latency"] = channels.base_latency;
  for (const ChannelSpec::Width& width : channels.widths) json["width"][width.kind] = width.messages;
  if (channels.card_rate > 0) json["card_rate"] = channels.card_rate;
  for (const ChannelSpec::Width& width : channels.widths) {
    if (width.origin != Origin::stated) json["origin"]["width"][width.kind] = to_string(width.origin);
  }
  for (const auto& [kind, origin] : channels.cost_origins) json["origin"]["cost"][kind] = to_string(origin);
  return json;
}

OrderedJson to_json(std::span<const Vertex> vertices) {
  OrderedJson json = OrderedJson::array();
  for (const Vertex vertex : vertices) json.push_back(index(vertex));
  return json;
}

struct ShapeWriter {
  OrderedJson per_hop;

  OrderedJson operator()(const MeshShape& shape) const {
    return {{"kind", shape.torus ? "torus" : "mesh"}, {"sizes", shape.sizes}, {"per_hop", per_hop}};
  }
  OrderedJson operator()(const TreeShape& shape) const {
    return {{"kind", "tree"}, {"nodes", shape.nodes}, {"parent", to_json(shape.parent)}, {"per_hop", per_hop}};
  }
  OrderedJson operator()(const FatTreeShape& shape) const {
    return {{"kind", "fattree"}, {"children", shape.children}, {"parents", shape.parents}, {"per_hop", per_hop}};
  }
  OrderedJson operator()(const DragonflyShape& shape) const {
    return {{"kind", "dragonfly"},  {"groups", shape.groups}, {"routers", shape.routers},
            {"nodes", shape.nodes}, {"global", shape.global}, {"per_hop", per_hop}};
  }
  OrderedJson operator()(const GraphShape& shape) const {
    OrderedJson json{{"kind", "graph"},
                     {"nodes", shape.nodes},
                     {"vertices", shape.vertices},
                     {"nodes_forward", shape.nodes_forward}};
    OrderedJson& cables = json["cables"] = OrderedJson::array();
    for (const auto& [a, b, cost, one_way] : shape.cables) {
      OrderedJson cable{{"a", index(a)}, {"b", index(b)}, {"cost", to_json(cost)}};
      if (one_way) cable["one_way"] = true;
      cables.push_back(std::move(cable));
    }
    for (const auto& table : shape.next) json["next"].push_back(to_json(table));
    return json;
  }
};

/// Prints the elements between brackets, separated by `separator`.
template <class Print>
void print_parts(const OrderedJson& json, std::string_view begin, std::string_view separator, std::string& out,
                 const Print& print_part) {
  std::string_view before = begin;
  out += json.is_array() ? '[' : '{';
  for (const auto& [key, value] : json.items()) {
    out += std::exchange(before, separator);
    if (json.is_object()) out += dump_json(OrderedJson(key)) + ": ";
    print_part(value);
  }
}

void print_flat(const OrderedJson& json, std::string& out) {
  if (!json.is_structured()) {
    out += dump_json(json);
    return;
  }
  print_parts(json, "", ", ", out, [&](const OrderedJson& part) { print_flat(part, out); });
  out += json.is_array() ? ']' : '}';
}

/// Values that fit into a line, and lists of numbers of any length, are printed on one line.
void print(const OrderedJson& json, std::size_t indent, std::string& out) {
  constexpr std::size_t line_width = 120;
  std::string flat;
  print_flat(json, flat);
  const bool numbers = json.is_array() && !json.empty() && json[0].is_number();
  if (!json.is_structured() || numbers || indent + flat.size() <= line_width) {
    out += flat;
    return;
  }
  const std::string line = "\n" + std::string(indent + 2, ' ');
  print_parts(json, line, "," + line, out, [&](const OrderedJson& part) { print(part, indent + 2, out); });
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
  if (!top.failed()) top.expect_keys({"rankloom", "version", "text", "machine", "network", "channels"});
  top.read_optional("text", spec.text);
  if (spec.text.empty()) spec.text = file.name();
  top.read_required("machine", spec.root);
  check_machine(top, spec.root);
  top.read_optional("network", network);
  top.read_optional("channels", spec.channels);
  if (document.error) return Failure(std::move(*document.error));
  spec.network = std::move(network);
  return spec;
}

std::string write_machine_json(const MachineSpec& spec) {
  OrderedJson written{{"rankloom", "topology"}, {"version", schema_version}};
  if (!spec.text.empty()) written["text"] = spec.text;
  written["machine"] = to_json(fold_repeats(spec.root));
  if (spec.network) {
    const ShapeWriter writer{to_json(spec.network->per_hop())};
    written["network"] = std::visit(writer, static_cast<const NetworkShape::variant&>(spec.network->shape()));
  }
  if (!spec.channels.is_default()) written["channels"] = to_json(spec.channels);
  std::string text;
  print(written, 0, text);
  return text + "\n";
}

}  // namespace rankloom
