// SPDX-License-Identifier: Apache-2.0
// apps: several jobs in words.
#include "apps/rankloom/arguments/job_arguments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/json_cursor.hpp"
#include "rankloom/model/files/mapping_file.hpp"

namespace rankloom::app {

namespace {

/// "0-3,8" → 0, 1, 2, 3, 8
Result<std::vector<Node>> parse_nodes(const std::string& name, std::string_view text, const Topology& topology) {
  std::vector<Node> nodes;
  const auto wrong = [&](std::string_view part) {
    return fail(Code::usage, at(name), fmt::format("\"{}\" names no nodes of this machine", part),
                fmt::format("give numbers and ranges from 0 to {}, such as nodes:0-3,8", topology.node_count() - 1));
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *first > *last || *last >= topology.node_count()) return wrong(part);
    for (auto node = static_cast<std::uint32_t>(*first); node <= static_cast<std::uint32_t>(*last); ++node)
      nodes.push_back(Node{node});
    begin = end + 1;
  }
  return nodes;
}

Result<std::vector<Core>> on_nodes(const JobWords& job, std::uint32_t ranks, std::span<const Node> nodes,
                                   const Topology& topology) {
  std::vector<Core> cores;
  for (const Node node : nodes) {
    const Core end = topology.first_core(topology.node_level(), index(node) + 1);
    for (Core core = topology.first_core(topology.node_level(), index(node)); core != end;
         core = Core{index(core) + 1}) {
      for (std::uint32_t i = 0; i < topology.capacity(core) && cores.size() < ranks; ++i) cores.push_back(core);
    }
  }
  if (cores.size() < ranks) {
    return fail(Code::infeasible, at(job.name),
                fmt::format("{} ranks, and {} nodes with room for {}", ranks, nodes.size(), cores.size()),
                "give it more nodes");
  }
  return cores;
}

}  // namespace

Result<JobWords> parse_job(std::string_view text, std::size_t number) {
  const std::size_t first = text.find('@');
  const std::size_t second = first == std::string_view::npos ? first : text.find('@', first + 1);
  JobWords job;
  job.profile = text.substr(0, first);
  if (first != std::string_view::npos) job.place = text.substr(first + 1, second - first - 1);
  job.name = fmt::format("job{}", number);
  const auto start = second == std::string_view::npos ? 0.0 : parse_nanoseconds(text.substr(second + 1), 1e9);
  if (job.profile.empty() || job.place.empty() || !start || *start < 0) {
    return fail(Code::usage, at("--job"), fmt::format("\"{}\" is no job", text),
                "write PROFILE@MAPPING, PROFILE@nodes:0-3,8, or with a time to start: PROFILE@MAPPING@1.5s");
  }
  job.start = *start * 1e-9;
  return job;
}

Result<std::vector<JobWords>> read_jobs(const std::string& path) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  auto json = parse_json(*file);
  if (!json) return propagate(json);
  std::vector<JobWords> jobs;
  const auto wrong = [&](std::string what) {
    return fail(Code::bad_input, at(path), std::move(what),
                "it is a list: [{\"name\": \"a\", \"profile\": \"a.prof\", \"nodes\": [0, 1], \"start\": 0}, ..]");
  };
  if (!json->is_array() || json->empty()) return wrong("no list of jobs is in it");
  for (const auto& entry : *json) {
    JobWords job;
    job.name = fmt::format("job{}", jobs.size());
    if (!entry.is_object()) return wrong(fmt::format("{} is no object", job.name));
    for (const auto& [key, value] : entry.items()) {
      if (key == "name" && value.is_string()) {
        job.name = value;
      } else if (key == "profile" && value.is_string()) {
        job.profile = value;
      } else if (key == "mapping" && value.is_string()) {
        job.place = value;
      } else if (key == "nodes" && value.is_string()) {
        job.place = "nodes:" + value.get<std::string>();
      } else if (key == "nodes" && value.is_array()) {
        for (const auto& node : value) {
          if (!node.is_number_unsigned()) return wrong(fmt::format("{}: a node is no number", job.name));
          job.place += fmt::format("{}{}", job.place.empty() ? "nodes:" : ",", node.get<std::uint64_t>());
        }
      } else if (key == "start" && value.is_number() && value >= 0) {
        job.start = value;
      } else if (key == "compute" && value.is_number() && value >= 0) {
        job.compute = value;
      } else if (key == "iterations" && value.is_number_unsigned() && value > 0) {
        job.iterations = value;
      } else {
        return wrong(fmt::format("{}: \"{}\" is unknown, or its value is not of its kind", job.name, key));
      }
    }
    if (job.profile.empty()) return wrong(fmt::format("{} has no profile", job.name));
    if (job.place.empty()) return wrong(fmt::format("{} has neither a mapping nor nodes", job.name));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<std::vector<Core>> place_job(const JobWords& job, std::uint32_t ranks, const Topology& topology) {
  constexpr std::string_view prefix = "nodes:";
  if (job.place.starts_with(prefix)) {
    auto nodes = parse_nodes(job.name, std::string_view(job.place).substr(prefix.size()), topology);
    if (!nodes) return propagate(nodes);
    return on_nodes(job, ranks, *nodes, topology);
  }
  auto file = read_file(job.place);
  if (!file) return propagate(file);
  auto core_of = read_mapping(*file);
  if (!core_of) return propagate(core_of);
  if (core_of->size() != ranks) {
    return fail(Code::bad_input, at(job.place),
                fmt::format("places {} ranks, but the profile has {}", core_of->size(), ranks),
                "is it a mapping of another program?");
  }
  return core_of;
}

}  // namespace rankloom::app
