// SPDX-License-Identifier: Apache-2.0
// apps: the arguments by which every verb takes its inputs: a profile, a machine, and how the one fits the other.
#pragma once

#include <optional>
#include <string>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/model/profile.hpp"
#include "rankloom/model/topology.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// A file of any format, "-" for a pipe, or "gen:SPEC" for a pattern made on the fly.
struct ProfileArguments {
  std::string profile;
  std::string from;
  CollectiveModel collectives = CollectiveModel::tree;

  /// `names` is "PROFILE" where it is an argument, "--profile" where it is an option.
  void describe(CLI::App& app, const std::string& names, bool required = true);
  void describe_format(CLI::App& app);
  bool is_pattern() const { return profile.starts_with("gen:"); }
  Result<Imported> load() const;
};

/// A file or a string, or the notation of the partitioning literature.
struct TopologyArguments {
  std::string topology;
  std::string hierarchy;
  std::string distance;

  void describe(CLI::App& app);
  bool given() const { return !topology.empty() || !hierarchy.empty(); }
  /// As it can be typed again.
  std::string text() const;
  Result<Topology> load() const;
};

/// What a problem is made of, loaded: one copy of the traffic, the machine, the room on its cores.
struct Instance {
  CommGraph graph;
  Topology topology;
  Capacities capacities;
  double profile_seconds = 0;
  double topology_seconds = 0;
  std::optional<Profile> profile = {};  ///< What the traffic was added up from, for those who asked to keep it.
  std::string_view format = {};         ///< The row of `rankloom list formats` that read it.
};

/// All of the above, and what may be bent to make the ranks fit.
struct ProblemArguments {
  ProfileArguments profile;
  TopologyArguments topology;
  Capacities::Options fit;

  void describe(CLI::App& app, const std::string& profile_names, bool profile_required = true);
  /// "--profile P -t T" as it can be typed again, for what to type next.
  std::string words(const std::string& before_profile) const;
  Result<Instance> load(Progress& progress, bool keep_profile = false) const;
};

}  // namespace rankloom::app
