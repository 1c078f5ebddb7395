// SPDX-License-Identifier: Apache-2.0
// discover: the word of a topology string that says how the nodes are wired.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

using Sizes = std::vector<std::uint32_t>;

/// A network word in its parts.
struct Pieces {
  std::string_view token;
  std::string_view body;  // between ":" and the "=" of the cost
  Cost per_hop;
};

Result<Sizes> parse_sizes(const Pieces& pieces, std::string_view text, char separator) {
  Sizes sizes;
  for (const std::string_view item : split(text, separator)) {
    const auto size = parse_size(item);
    if (!size) return bad_token(pieces.token, fmt::format("\"{}\" is not a size", shown(item)));
    sizes.push_back(*size);
  }
  return sizes;
}

/// The routed network and one node for each of its places.
Result<NetworkWords> wired(const Pieces& pieces, Result<NetworkPtr> network) {
  if (!network) return bad_token(pieces.token, network.error().what);
  LevelWords nodes{
      .kind = "node", .counts = {{.objects = (*network)->node_count()}}, .cost = {}, .token = shown(pieces.token)};
  return NetworkWords{.network = std::move(*network), .levels = {std::move(nodes)}};
}

Result<NetworkWords> parse_mesh(const Pieces& pieces) {
  auto sizes = parse_sizes(pieces, pieces.body, 'x');
  if (!sizes) return propagate(sizes);
  return wired(pieces, make_mesh(std::move(*sizes), pieces.token.starts_with('t'), pieces.per_hop));
}

/// A tree is a hierarchy whose costs are hops: 2 below one leaf switch, 4 below the next one up, and so on.
Result<NetworkWords> parse_tree(const Pieces& pieces) {
  auto arities = parse_sizes(pieces, pieces.body, ',');
  if (!arities) return propagate(arities);
  if (arities->size() >= most_levels) return bad_token(pieces.token, "this tree is too deep");
  NetworkWords words;
  for (std::size_t level = 0; level < arities->size(); ++level) {
    const auto hops = static_cast<double>(2 * (arities->size() - level));
    words.levels.push_back({.kind = level + 1 < arities->size() ? "switch" : "node",
                            .counts = {{.objects = (*arities)[level]}},
                            .cost = Cost{hops * pieces.per_hop.inverse_bandwidth, hops * pieces.per_hop.latency},
                            .token = shown(pieces.token)});
  }
  return words;
}

/// "k=8": all switches have k ports, three levels.
Result<FatTreeShape> parse_ports(const Pieces& pieces) {
  const auto ports = parse_size(pieces.body.substr(2));
  if (!ports || *ports % 2 != 0) return bad_token(pieces.token, "k, the ports of a switch, is an even number");
  return FatTreeShape{.children = {*ports, *ports / 2, *ports / 2}, .parents = {*ports / 2, *ports / 2, 1}};
}

/// "children/parents", or children alone: then a switch has as many links up as down.
Result<FatTreeShape> parse_levels(const Pieces& pieces) {
  const auto halves = split(pieces.body, '/');
  if (halves.size() > 2) return bad_token(pieces.token, "only one / divides children from parents");
  auto children = parse_sizes(pieces, halves[0], ',');
  if (!children) return propagate(children);
  FatTreeShape shape{.children = std::move(*children), .parents = {}};
  if (halves.size() == 2) {
    auto parents = parse_sizes(pieces, halves[1], ',');
    if (!parents) return propagate(parents);
    shape.parents = std::move(*parents);
  } else {
    shape.parents.assign(shape.children.begin() + 1, shape.children.end());
    shape.parents.push_back(1);
  }
  return shape;
}

Result<NetworkWords> parse_fat_tree(const Pieces& pieces) {
  auto shape = pieces.body.starts_with("k=") ? parse_ports(pieces) : parse_levels(pieces);
  if (!shape) return propagate(shape);
  return wired(pieces, make_fat_tree(std::move(shape->children), std::move(shape->parents), pieces.per_hop));
}

Result<NetworkWords> parse_dragonfly(const Pieces& pieces) {
  auto sizes = parse_sizes(pieces, pieces.body, ',');
  if (!sizes) return propagate(sizes);
  if (sizes->size() != 3 && sizes->size() != 4) {
    return bad_token(pieces.token, "a dragonfly has groups,routers,nodes and perhaps global links a router");
  }
  const std::uint32_t global = sizes->size() == 4 ? (*sizes)[3] : 0;
  return wired(pieces, make_dragonfly({(*sizes)[0], (*sizes)[1], (*sizes)[2], global}, pieces.per_hop));
}

struct NetworkKind {
  std::string_view name;
  Result<NetworkWords> (*parse)(const Pieces&);
};
constexpr std::array<NetworkKind, 5> kinds{{{"mesh", parse_mesh},
                                            {"torus", parse_mesh},
                                            {"tree", parse_tree},
                                            {"fattree", parse_fat_tree},
                                            {"dragonfly", parse_dragonfly}}};

const NetworkKind* find_kind(std::string_view token) {
  const std::string name = lower_case(token.substr(0, token.find(':')));
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const NetworkKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

bool is_network(std::string_view token) {
  return find_kind(token) != nullptr;
}

Result<NetworkWords> parse_network(std::string_view token, Cost default_per_hop) {
  const auto colon = token.find(':');
  if (colon == std::string_view::npos) return bad_token(token, "does not say how large the network is");
  Pieces pieces{.token = token, .body = token.substr(colon + 1), .per_hop = default_per_hop};
  const auto equals = pieces.body.find('=', pieces.body.starts_with("k=") ? 2 : 0);
  if (equals != std::string_view::npos) {
    auto cost = parse_cost(token, pieces.body.substr(equals + 1));
    if (!cost) return propagate(cost);
    pieces.per_hop = *cost;
    pieces.body = pieces.body.substr(0, equals);
  }
  return find_kind(token)->parse(pieces);
}

}  // namespace rankloom
