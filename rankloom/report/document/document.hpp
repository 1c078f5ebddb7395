// SPDX-License-Identifier: Apache-2.0
// report/document: the contents of a report as plain values. Readers fill it from results, layouts add coordinates; the
// web page, SVG files and the terminal present it. docs/report.md describes its JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/evaluate/simulate/timeline.hpp"
#include "rankloom/model/cost/problem_id.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/prediction/bottlenecks.hpp"
#include "rankloom/report/layout/heat_map_layout.hpp"
#include "rankloom/report/layout/machine_layout.hpp"
#include "rankloom/report/layout/network_layout.hpp"
#include "rankloom/report/layout/rank_slots.hpp"

namespace rankloom {

struct Measured {
  std::vector<double> before, after;  ///< Of each run.
  std::string unit = "s";             ///< Of a rate, if the program prints one.
  double speedup = 1, spread = 0;
};

struct Verdict {
  /// "gain" (over the launcher's default placement, by the model or measured), "none", "comparison" (of mappings,
  /// without the default placement), "profile", "machine", "allocation" or "online".
  std::string kind;
  std::string sentence;
  std::vector<std::string> notes;
  std::vector<std::string> commands;                   ///< The commands to type.
  std::optional<double> saved;                         ///< Saved share of the cost, by the model.
  std::optional<std::pair<double, double>> inside;     ///< Share of the bytes within nodes, before and after.
  std::optional<std::pair<double, double>> predicted;  ///< Seconds of communication before and after, analytically.
  std::vector<Bottleneck> bottlenecks_before, bottlenecks_after;  ///< What limits the predicted times.
  std::optional<std::pair<double, double>> simulated;             ///< The same by simulation.
  std::optional<Measured> measured;
};

/// The traffic between ranks. A vertex represents `ranks_per_vertex` consecutive ranks.
struct DisplayedTraffic {
  CommGraph graph;
  std::uint32_t ranks_per_vertex = 1;
  std::uint32_t rank_count = 0;  ///< Ranks of the program.
};

struct PlacementRow {
  std::string id, label;
  std::vector<Core> core_of;
  double cost = 0;
  RankSlots slots = {};  ///< Only if the nodes of the machine are drawn.
};

struct LevelRow {
  std::string label;
  double bytes_before = 0, messages_before = 0;
  double bytes_after = 0, messages_after = 0;
};

/// The bytes by distance and mean message size of a pair.
struct SizeDistanceMap {
  std::vector<std::string> distances;  ///< The farthest first.
  std::vector<std::uint64_t> sizes;    ///< The smallest size of each column, ascending powers of two.
  using Row = std::vector<double>;
  std::vector<Row> before, after;  ///< By distance and size; `after` is empty if nothing is compared.
};

struct LinkRow {
  std::string label;
  double before = 0, after = 0;
};

/// The network with the bytes on its cables.
struct NetworkSection {
  NetworkLayout layout;
  std::vector<std::string> labels;        ///< By vertex.
  std::vector<std::uint32_t> first_core;  ///< By node.
  /// The bytes on each cable, from its first vertex to its second, and back; of several links the busiest.
  struct Loads {
    std::vector<float> there, back;
  };
  Loads before, after;  ///< `after` is empty if nothing is compared, both are empty for a machine without a program.
};

/// A cost or width of the machine, and where it comes from: "between nodes", "10, latency 2.5 us", "measured".
struct NumberRow {
  std::string what, value, origin;
};

struct SizeRow {
  std::uint64_t from = 0, to = 0, messages = 0;
};

struct CollectiveRow {
  std::string operation, communicator;
  std::uint64_t members = 0;
  double count = 0, bytes = 0;  ///< Bytes as given in the calls.
};

struct PhaseRow {
  std::string label;
  double begin = 0, end = 0;
  double bytes = 0, messages = 0;
};

/// A simulated run with one mapping.
struct TimelineRow {
  std::string name;
  Timeline timeline;
  std::vector<std::string> levels;  ///< Of its `path_messages`.
};

struct MapperRow {
  std::string name;
  double cost = 0, cost_spread = 0;
  std::optional<double> time_ms;  ///< None: the mapper was not run.
  std::uint64_t seeds = 1;
  bool chosen = false;
  std::string note;
};

struct JobRow {
  std::string id;
  std::uint32_t size = 0;
  double submit = 0, start = 0, end = 0;
  std::vector<std::uint32_t> nodes;
  bool shares_links = false;
};

struct PolicyRow {
  std::string policy;
  double utilisation = 0, contention_free = 0, bounded_slowdown = 0, mean_wait = 0;
  std::uint64_t jobs_run = 0;
  std::vector<JobRow> jobs;  ///< In order of their start times; empty when the replay recorded none.
  std::string jobs_note;
};

struct AllocationSection {
  std::uint32_t nodes = 0;
  std::string trace;
  std::optional<MachineLayout> machine;
  std::vector<PolicyRow> policies;
  std::optional<double> now = {};       ///< Of a running batch system: the time of the report.
  std::vector<std::string> names = {};  ///< By node; empty: not known.
};

struct OnlineNode {
  std::string name;
  std::vector<std::uint32_t> ranks;
  double seconds = 0;
  struct Interval {
    std::string kind;
    double begin = 0, end = 0;
  };
  std::vector<Interval> phases;
  std::vector<std::pair<double, std::uint32_t>> migrations;  ///< The time, and the number of migrated ranks.
  /// Per second of run time, at each decision.
  std::vector<double> decision_time, cost_without_migration, cost_online;
  /// Of the run.
  double total_cost_without_migration = 0, total_cost_online = 0;
};

struct OnlineSection {
  std::string program;
  std::uint64_t windows = 0;
  double window_seconds = 0;
  std::vector<OnlineNode> nodes;
  std::optional<std::pair<double, double>>
      restart;  ///< Cost of the present placement, and of the one that `auto` computes.
};

struct SourceFile {
  std::string name, sha256;
  std::uint64_t bytes = 0;
};

struct Reproduction {
  std::string version;
  std::uint64_t seed = 0;
  std::vector<std::string> commands;
  std::vector<SourceFile> files;
  std::vector<std::string> libraries;
};

/// The label of the launcher's default placement: "default placement (block)". `name` is its mapper, or "recorded".
std::string label_of_default(std::string_view name);

struct ReportDocument {
  std::string title;
  Verdict verdict;
  std::optional<DisplayedTraffic> traffic;
  std::optional<DisplayedTraffic> traffic_mapped;  ///< Blocks of the mapped placement, where traffic has blocks.
  double total_bytes = 0, total_messages = 0;
  bool undirected = false;
  std::vector<PlacementRow> orders;    ///< Before, after.
  bool default_is_first = true;        ///< The first one is the launcher's default placement.
  std::vector<HeatOrder> heat_orders;  ///< Of the same ids.
  std::optional<MachineLayout> machine;
  std::vector<NumberRow> numbers;  ///< Of a machine without a program.
  std::vector<LevelRow> levels;
  std::optional<SizeDistanceMap> size_distance;
  std::vector<LinkRow> links;
  std::optional<NetworkSection> network;
  std::vector<SizeRow> sizes;
  std::optional<double> point_to_point;
  std::vector<CollectiveRow> collectives;
  std::vector<float> in_mpi, outside;  ///< Seconds, by rank.
  std::vector<PhaseRow> phases;
  std::vector<TimelineRow> timelines;
  std::vector<MapperRow> mappers;
  std::optional<double> lower_bound, cost_default;
  std::string model;  ///< Of all costs.
  /// The problem of all costs and simulated runs, and the first result that has it; empty: no result has any. Without
  /// a model if there are no costs.
  std::optional<std::pair<ProblemId, std::string>> problem;
  std::optional<AllocationSection> allocation;
  std::optional<OnlineSection> online;
  Reproduction reproduce;

  /// Whether larger values of the cost model are better.
  bool larger_is_better() const;
  /// In the unit of the cost model.
  std::string cost_text(double cost) const;
  /// The baseline of the comparison, as part of a sentence.
  std::string baseline() const { return has_default_baseline() ? "the default placement" : orders.front().label; }
  bool has_default_baseline() const { return orders.empty() || default_is_first; }
};

}  // namespace rankloom
