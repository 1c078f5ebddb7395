// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the input options that many verbs share: a profile (the communication pattern), a machine, and what
// to do if there are more ranks than slots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/output.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/cost/problem_id.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/model/rank_limits.hpp"
#include "rankloom/place/launchers.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// A file of any format, "-" for standard input, or "gen:SPEC" for a generated pattern.
struct ProfileArguments {
  std::string profile;
  std::string from;
  CollectiveModel collectives = CollectiveModel::automatic;

  /// `names` is "PROFILE" where it is an argument, "--profile" where it is an option.
  void describe(CLI::App& app, const std::string& names, bool required = true);
  /// For verbs that take several profiles, which they read one after the other.
  void describe_several(CLI::App& app, const std::string& names, std::vector<std::string>& profiles);
  void describe_format(CLI::App& app);
  bool is_pattern() const { return profile.starts_with("gen:"); }
  Result<Imported> load() const;

 private:
  void describe_collectives(CLI::App& app);
};

/// A topology file or string, or --hierarchy and --distance as in the partitioning literature.
struct TopologyArguments {
  std::string topology;
  std::string hierarchy;
  std::string distance;
  ChannelSpec channels = {};  ///< What the options say; the rest is as in the machine.

  void describe(CLI::App& app);
  bool given() const { return !topology.empty() || !hierarchy.empty(); }
  /// The options that give this machine: "-t cluster.json".
  std::string text() const;
  Result<Topology> load() const;
};

/// What a rank occupies, as options.
struct SlotArguments {
  SlotNumbers numbers = {};

  void describe(CLI::App& app);
  /// What the options do not say is as in `otherwise`.
  SlotShapes shapes(const SlotShapes& otherwise = {}) const { return SlotShapes::combine(numbers, otherwise); }
  static SlotArguments of(const SlotShapes& shapes) { return {shapes.numbers()}; }
};

/// A loaded mapping problem.
struct Instance {
  CommGraph graph;
  Topology topology;
  Capacities capacities;
  double profile_seconds = 0;
  double topology_seconds = 0;
  std::optional<Profile> profile = {};  ///< The profile that `graph` was computed from, if the caller asked for it.
  std::string_view format = {};         ///< The row of `rankloom list formats` that read it.
  /// What mappings are compared with: the placement when the profile was recorded, or that of the mapper with this
  /// name, which places ranks as a launcher does by default.
  std::vector<Core> default_placement = {};
  std::string default_name = "block";
  std::string not_recorded = {};  ///< Why the recorded placement is not known; empty: it is.
  RankLimits limits = {};         ///< With which `capacities` are fewer than the slots of the machine.

  bool has_recorded() const { return not_recorded.empty(); }

  /// What identifies the problem. O(edges).
  ProblemId id(CostModel model) const;
  /// For mappings that are read, not computed: any number of ranks on a core, if --oversubscribe allows several.
  Capacities capacities_of_given(const Capacities::Options& fit) const;
};

/// How ranks are spread over nodes, packages and NUMA nodes if there are fewer ranks than slots.
enum class Spread : std::uint8_t {
  as_recorded,  ///< At most as many ranks per NUMA node as when the profile was recorded; pack if that is not known.
  even,         ///< Over all of them.
  pack,         ///< As the traffic says.
};

/// Profile, machine, what a rank occupies, and whether cores may be oversubscribed.
struct ProblemArguments {
  ProfileArguments profile;
  TopologyArguments topology;
  SlotArguments slot;
  bool oversubscribe = false;
  double imbalance = 0;
  const Launcher* launcher = nullptr;  ///< Whose default placement counts if none is recorded; nullptr: block.
  std::optional<std::uint32_t> ranks_per_node = {};
  std::optional<Spread> spread = {};  ///< By default as recorded, unless the number of ranks per node is given.
  bool device_traffic = false;        ///< Ranks exchange the memory of their GPUs: costs are those of with_gpu_links.

  void describe(CLI::App& app, const std::string& profile_names, bool profile_required = true);
  /// All options but the profile.
  void describe_without_profile(CLI::App& app);
  /// The options that give this problem, for printed commands: "--profile app.prof -t cluster.json".
  std::string command_line(const std::string& before_profile) const;
  Capacities::Options fit() const {
    return {.oversubscribe = oversubscribe, .imbalance = imbalance, .shapes = slot.shapes()};
  }
  /// The given machine, with the costs between GPUs if ranks exchange their memory.
  Result<Topology> load_machine() const;
  Result<Instance> load(Progress& progress, bool keep_profile = false) const;
  /// The part of every result that says what it is about: the version of the program, the profile and the machine as
  /// given, their sizes, and their digests.
  Json json(const Instance& instance, CostModel model) const;

 private:
  Result<Topology> apply_device_traffic(const Topology& machine) const;
  /// Limits the capacities, and sets the default placement. A recorded one that exceeds the limits is not used.
  Result<void> set_default(Instance& instance, Result<std::vector<Core>> recorded) const;
};

}  // namespace rankloom::app
