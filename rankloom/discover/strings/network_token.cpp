// SPDX-License-Identifier: Apache-2.0
// discover/strings: the network token of a topology string, such as "torus:8x8".
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

using Sizes = std::vector<std::uint32_t>;

/// The parts of a network token.
struct TokenParts {
  std::string_view token;
  std::string_view body;  // between ":" and the "=" of the cost
  Cost per_hop;
};

Result<Sizes> parse_sizes(const TokenParts& parts, std::string_view text, char separator) {
  Sizes sizes;
  for (const std::string_view item : split(text, separator)) {
    const auto size = parse_size(item);
    if (!size) return bad_token(parts.token, fmt::format("\"{}\" is not a size", printable(item)));
    sizes.push_back(*size);
  }
  return sizes;
}

/// The routed network and the level of its nodes.
Result<NetworkSpec> with_nodes(const TokenParts& parts, Result<NetworkPtr> network) {
  if (!network) return bad_token(parts.token, network.error().what);
  LevelSpec nodes{
      .kind = "node", .counts = {{.objects = (*network)->node_count()}}, .cost = {}, .token = printable(parts.token)};
  return NetworkSpec{.network = std::move(*network), .levels = {std::move(nodes)}};
}

Result<NetworkSpec> parse_mesh(const TokenParts& parts) {
  auto sizes = parse_sizes(parts, parts.body, 'x');
  if (!sizes) return propagate(sizes);
  return with_nodes(parts, make_mesh(std::move(*sizes), parts.token.starts_with('t'), parts.per_hop));
}

/// A tree is a hierarchy whose costs are proportional to the hops: 2 below a leaf switch, 4 one level higher, and so
/// on.
Result<NetworkSpec> parse_tree(const TokenParts& parts) {
  auto arities = parse_sizes(parts, parts.body, ',');
  if (!arities) return propagate(arities);
  if (arities->size() >= max_levels) return bad_token(parts.token, "the tree has too many levels");
  NetworkSpec network;
  for (std::size_t level = 0; level < arities->size(); ++level) {
    const auto hops = static_cast<double>(2 * (arities->size() - level));
    network.levels.push_back({.kind = level + 1 < arities->size() ? "switch" : "node",
                              .counts = {{.objects = (*arities)[level]}},
                              .cost = Cost{hops * parts.per_hop.inverse_bandwidth, hops * parts.per_hop.latency},
                              .token = printable(parts.token)});
  }
  return network;
}

/// "k=8": three levels of switches with k ports.
Result<FatTreeShape> parse_port_count(const TokenParts& parts) {
  const auto ports = parse_size(parts.body.substr(2));
  if (!ports || *ports % 2 != 0)
    return bad_token(parts.token, "k, the number of ports of a switch, must be an even number");
  return FatTreeShape{.children = {*ports, *ports / 2, *ports / 2}, .parents = {*ports / 2, *ports / 2, 1}};
}

/// "children/parents", or only children: then each switch has as many links up as down.
Result<FatTreeShape> parse_tree_levels(const TokenParts& parts) {
  const auto halves = split(parts.body, '/');
  if (halves.size() > 2) return bad_token(parts.token, "only one / is allowed, between children and parents");
  auto children = parse_sizes(parts, halves[0], ',');
  if (!children) return propagate(children);
  FatTreeShape shape{.children = std::move(*children), .parents = {}};
  if (halves.size() == 2) {
    auto parents = parse_sizes(parts, halves[1], ',');
    if (!parents) return propagate(parents);
    shape.parents = std::move(*parents);
  } else {
    shape.parents.assign(shape.children.begin() + 1, shape.children.end());
    shape.parents.push_back(1);
  }
  return shape;
}

Result<NetworkSpec> parse_fat_tree(const TokenParts& parts) {
  auto shape = parts.body.starts_with("k=") ? parse_port_count(parts) : parse_tree_levels(parts);
  if (!shape) return propagate(shape);
  return with_nodes(parts, make_fat_tree(std::move(shape->children), std::move(shape->parents), parts.per_hop));
}

Result<NetworkSpec> parse_dragonfly(const TokenParts& parts) {
  auto sizes = parse_sizes(parts, parts.body, ',');
  if (!sizes) return propagate(sizes);
  if (sizes->size() != 3 && sizes->size() != 4) {
    return bad_token(parts.token, "a dragonfly needs groups,routers,nodes and optionally the global links per router");
  }
  const std::uint32_t global = sizes->size() == 4 ? (*sizes)[3] : 0;
  return with_nodes(parts, make_dragonfly({(*sizes)[0], (*sizes)[1], (*sizes)[2], global}, parts.per_hop));
}

struct NetworkKind {
  std::string_view name;
  Result<NetworkSpec> (*parse)(const TokenParts&);
};
constexpr std::array<NetworkKind, 5> kinds{{{"mesh", parse_mesh},
                                            {"torus", parse_mesh},
                                            {"tree", parse_tree},
                                            {"fattree", parse_fat_tree},
                                            {"dragonfly", parse_dragonfly}}};

const NetworkKind* find_kind(std::string_view token) {
  const std::string name = lower_case(token.substr(0, token.find(':')));
  const auto row = std::find_if(kinds.begin(), kinds.end(), [&](const NetworkKind& kind) { return kind.name == name; });
  return row == kinds.end() ? nullptr : &*row;
}

}  // namespace

bool is_network_token(std::string_view token) {
  return find_kind(token) != nullptr;
}

Result<NetworkSpec> parse_network_token(std::string_view token, Cost default_per_hop) {
  const auto colon = token.find(':');
  if (colon == std::string_view::npos) return bad_token(token, "the size of the network is missing");
  TokenParts parts{.token = token, .body = token.substr(colon + 1), .per_hop = default_per_hop};
  const auto equals = parts.body.find('=', parts.body.starts_with("k=") ? 2 : 0);
  if (equals != std::string_view::npos) {
    auto cost = parse_cost(token, parts.body.substr(equals + 1));
    if (!cost) return propagate(cost);
    parts.per_hop = *cost;
    parts.body = parts.body.substr(0, equals);
  }
  return find_kind(token)->parse(parts);
}

}  // namespace rankloom
