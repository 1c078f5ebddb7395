// SPDX-License-Identifier: Apache-2.0
// model/graph: collectives with two levels: inside the nodes, and between their leaders.
#include <algorithm>
#include <map>
#include <utility>

#include "rankloom/model/graph/collective_steps.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {

namespace {

bool has_all_ranks(const Communicator& communicator, std::uint32_t ranks) {
  return communicator.members.empty() || communicator.members.size() == ranks;
}

bool has_two_levels(const Collective& call, const Profile& profile, CollectiveModel model) {
  return has_all_ranks(profile.communicators[call.communicator], profile.rank_count()) &&
         is_two_level(call.op, model, profile.rank_count(), call.bytes);
}

/// The communicators of the nodes and of their leaders, for calls on one communicator with one root.
struct Levels {
  struct OfNode {
    std::uint32_t communicator;
    std::uint32_t leader;  ///< Position in the communicator.
  };
  std::vector<OfNode> nodes;  ///< With several members.
  std::uint32_t leaders = 0;  ///< The communicator.
  std::uint32_t root = 0;     ///< Position among the leaders.
  double per_node = 1;        ///< Mean number of members.
};

/// Replaces calls by calls on smaller communicators, which it adds to the profile.
class Splitter {
 public:
  Splitter(Profile& profile, std::span<const std::uint32_t> node_of) : profile_(profile), node_of_(node_of) {}

  void split(const Collective& call) {
    const auto [at, is_new] = levels_.try_emplace({call.communicator, call.root});
    if (is_new) at->second = make_levels(call);
    const Levels& levels = at->second;
    const double all = profile_.rank_count();
    const auto inside = [&](CollectiveOp op, double bytes) {
      for (const Levels::OfNode& node : levels.nodes)
        profile_.collectives.push_back({node.communicator, op, node.leader, bytes, call.count});
    };
    const auto between = [&](double bytes) {
      profile_.collectives.push_back({levels.leaders, call.op, levels.root, bytes, call.count});
    };
    switch (call.op) {
      case CollectiveOp::bcast:
        between(call.bytes);
        return inside(CollectiveOp::bcast, call.bytes);
      case CollectiveOp::reduce:
        inside(CollectiveOp::reduce, call.bytes);
        return between(call.bytes);
      case CollectiveOp::gather:
        inside(CollectiveOp::gather, call.bytes);
        return between(call.bytes * levels.per_node);
      case CollectiveOp::scatter:
        between(call.bytes * levels.per_node);
        return inside(CollectiveOp::scatter, call.bytes);
      case CollectiveOp::allgather:
        inside(CollectiveOp::gather, call.bytes);
        between(call.bytes * levels.per_node);
        return inside(CollectiveOp::bcast, call.bytes * all);
      default:  // barrier, allreduce
        inside(CollectiveOp::reduce, call.bytes);
        between(call.bytes);
        return inside(CollectiveOp::bcast, call.bytes);
    }
  }

 private:
  Levels make_levels(const Collective& call) {
    const std::vector<Rank> members = profile_.communicators[call.communicator].members;
    const auto rank_at = [&](std::uint32_t at) { return members.empty() ? Rank{at} : members[at]; };
    const Rank root = rank_at(call.root);
    std::vector<std::vector<Rank>> nodes;  // in order of their first member
    std::map<std::uint32_t, std::size_t> number;
    for (std::uint32_t at = 0; at < profile_.rank_count(); ++at) {
      const auto [found, is_new] = number.try_emplace(node_of_[index(rank_at(at))], nodes.size());
      if (is_new) nodes.emplace_back();
      nodes[found->second].push_back(rank_at(at));
    }
    Levels levels;
    levels.per_node = static_cast<double>(profile_.rank_count()) / static_cast<double>(nodes.size());
    std::vector<Rank> leaders;
    for (std::vector<Rank>& node : nodes) {
      const auto found = std::find(node.begin(), node.end(), root);
      const auto leader = static_cast<std::uint32_t>(found == node.end() ? 0 : found - node.begin());
      if (found != node.end()) levels.root = static_cast<std::uint32_t>(leaders.size());
      leaders.push_back(node[leader]);
      if (node.size() > 1) levels.nodes.push_back({add(std::move(node)), leader});
    }
    levels.leaders = add(std::move(leaders));
    return levels;
  }

  std::uint32_t add(std::vector<Rank> members) {
    profile_.communicators.push_back({.name = {}, .members = std::move(members)});
    return static_cast<std::uint32_t>(profile_.communicators.size() - 1);
  }

  Profile& profile_;
  std::span<const std::uint32_t> node_of_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Levels> levels_;  // by communicator and root
};

}  // namespace

bool has_node_collectives(const Profile& profile, CollectiveModel model) {
  model = collective_model(model, profile);
  return std::any_of(profile.collectives.begin(), profile.collectives.end(),
                     [&](const Collective& call) { return has_two_levels(call, profile, model); });
}

NodeCollectives take_node_collectives(Profile& profile, CollectiveModel model) {
  NodeCollectives taken{.model = model, .communicators = {}, .calls = {}};
  std::erase_if(profile.collectives, [&](const Collective& call) {
    if (!has_two_levels(call, profile, model)) return false;
    taken.calls.push_back(call);
    return true;
  });
  if (!taken.calls.empty()) taken.communicators = profile.communicators;
  return taken;
}

Profile split_by_nodes(Profile profile, CollectiveModel model, std::span<const std::uint32_t> node_of) {
  model = collective_model(model, profile);
  const auto on_first_node = [&](std::uint32_t node) { return node == node_of.front(); };
  if (std::all_of(node_of.begin(), node_of.end(), on_first_node)) return profile;
  const std::vector<Collective> calls = std::move(profile.collectives);
  profile.collectives.clear();
  Splitter splitter(profile, node_of);
  for (const Collective& call : calls) {
    if (has_two_levels(call, profile, model)) {
      splitter.split(call);
    } else {
      profile.collectives.push_back(call);
    }
  }
  return profile;
}

CommGraph node_traffic(const CommGraph& graph, std::span<const std::uint32_t> node_of) {
  Profile profile;
  profile.point_to_point = CommGraphBuilder(graph.rank_count()).build(true);
  if (graph.parts() == nullptr || graph.parts()->node_collectives.calls.empty())
    return std::move(profile.point_to_point);
  const NodeCollectives& collectives = graph.parts()->node_collectives;
  profile.communicators = collectives.communicators;
  profile.collectives = collectives.calls;
  return expand_collectives(split_by_nodes(std::move(profile), collectives.model, node_of), collectives.model);
}

}  // namespace rankloom
