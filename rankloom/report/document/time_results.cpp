// SPDX-License-Identifier: Apache-2.0
// report/document: results that go over time: a replayed workload, a program whose ranks were moved.
#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "rankloom/model/files/json_cursor.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/report/document/result_reading.hpp"
#include "rankloom/report/document/results.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::json;

constexpr std::size_t most_jobs = 20'000;

/// "0-3,8" → 0 1 2 3 8; what is no number or above `nodes` is an error.
Result<std::vector<std::uint32_t>> parse_ranges(std::string_view text, std::uint32_t nodes, const std::string& source) {
  const auto bad = [&] {
    return fail(Code::bad_input, at(source), fmt::format("'{}' is no list of nodes of {}", text, nodes),
                "make it anew with `rankloom alloc replay --detail --json`");
  };
  std::vector<std::uint32_t> numbers;
  const char* place = text.data();
  const char* const end = place + text.size();
  while (place < end) {
    std::uint32_t first = 0, last = 0;
    auto read = std::from_chars(place, end, first);
    if (read.ec != std::errc()) return bad();
    last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc()) return bad();
    }
    if (last < first || last >= nodes || (read.ptr < end && *read.ptr != ',')) return bad();
    for (std::uint32_t node = first; node <= last; ++node) numbers.push_back(node);
    place = read.ptr < end ? read.ptr + 1 : end;
  }
  return numbers;
}

Result<void> read_jobs(const Json& list, std::uint32_t nodes, const std::string& source, PolicyRow& policy) {
  for (const Json& row : list) {
    if (policy.jobs.size() == most_jobs) {
      policy.jobs_note = fmt::format("the first {} of {} jobs to start", most_jobs, list.size());
      break;
    }
    auto where = parse_ranges(row.at("nodes").get<std::string>(), nodes, source);
    if (!where) return propagate(where);
    policy.jobs.push_back({row.at("id"), row.at("size"), row.at("submit"), row.at("start"), row.at("end"),
                           std::move(*where), row.at("shares_links")});
  }
  return {};
}

OnlineNode online_node(const Json& json) {
  OnlineNode node;
  node.name = json.at("host");
  node.ranks = json.at("ranks").get<std::vector<std::uint32_t>>();
  node.seconds = json.at("seconds");
  if (!json.contains("phases")) return node;  // its agent had nothing to plan
  for (const Json& phase : json.at("phases"))
    node.phases.push_back({phase.at("kind"), phase.at("begin"), phase.at("end")});
  for (const Json& burst : json.at("migrations")) node.bursts.emplace_back(burst.at("time"), burst.at("bound"));
  for (const Json& decision : json.at("decisions")) {
    const double stayed = decision.at("cost_per_second"), moved = decision.at("cost_per_second_moved");
    node.decision_time.push_back(decision.at("time"));
    node.cost_stayed.push_back(stayed);
    node.cost_online.push_back(decision.at("moves").get<bool>() ? moved : stayed);
  }
  node.stayed = json.at("effect").at("stayed");
  node.online = json.at("effect").at("online");
  return node;
}

}  // namespace

Result<void> read_replay(const Json& json, const std::string& source, ReportDocument& document) {
  Result<void> inside;
  auto read = reading(source, "rankloom alloc replay --detail --json", [&] {
    AllocationSection section;
    section.nodes = json.at("nodes");
    section.trace = json.at("trace");
    for (const Json& row : json.at("policies")) {
      PolicyRow policy{row.at("policy"),
                       row.at("utilisation"),
                       row.at("contention_free"),
                       row.at("bounded_slowdown"),
                       row.at("mean_wait_s"),
                       row.at("jobs"),
                       {},
                       {}};
      if (row.contains("job_list")) inside = read_jobs(row["job_list"], section.nodes, source, policy);
      if (!inside) return;
      section.policies.push_back(std::move(policy));
    }
    if (json.contains("machine")) {
      auto spec = read_machine_json(FileContents(source, dump_json(json["machine"])));
      auto topology = spec ? Topology::build(*std::move(spec)) : Result<Topology>(propagate(spec));
      if (!topology) {
        inside = propagate(topology);
        return;
      }
      section.machine = lay_out_machine(*topology);
    }
    if (document.title.empty())
      document.title = fmt::format("{} on {} nodes", section.trace.substr(section.trace.rfind('/') + 1), section.nodes);
    document.allocation = std::move(section);
  });
  return read ? inside : read;
}

Result<void> read_online(const Json& json, const std::string& source, ReportDocument& document) {
  return reading(source, "rankloom online", [&] {
    OnlineSection section;
    section.program = json.at("program");
    for (const Json& node : json.at("nodes")) {
      section.nodes.push_back(online_node(node));
      section.window_seconds = node.at("window");
      if (node.contains("windows")) section.windows = std::max(section.windows, node["windows"].get<std::uint64_t>());
    }
    const Json& restart = json.at("restart");
    if (restart.is_object() && restart.contains("cost"))
      section.restart = {restart.at("cost"), restart.at("cost_mapped")};
    for (const Json& host : json.at("silent_agents"))
      document.verdict.notes.push_back(fmt::format("The agent of {} left no log.", host.get<std::string>()));
    if (document.title.empty()) document.title = fmt::format("{} while it ran", section.program);
    document.online = std::move(section);
  });
}

}  // namespace rankloom
