// SPDX-License-Identifier: Apache-2.0
// capi: traffic and mappings for the C library and the Python module.
#include "capi/bridge.hpp"

#include <chrono>

#include <fmt/format.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/text/suggest.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom::bridge {

namespace {

Result<CollectiveModel> collective_model(std::string_view name) {
  if (name.empty()) return CollectiveModel::automatic;
  std::vector<std::string_view> known;
  for (const auto& row : collective_models()) {
    if (row.name == name) return row.model;
    known.push_back(row.name);
  }
  return fail(Code::usage, at("collectives"), fmt::format("'{}' is not a known model of collectives", name),
              suggest(name, known));
}

Result<Imported> load_profile(const std::string& profile, const std::string& format) {
  if (profile.empty()) return fail(Code::usage, at("profile"), "the profile is missing", "name a file or gen:PATTERN");
  if (profile == "-")
    return fail(Code::usage, at("profile"), "the library does not read standard input", "write the profile to a file");
  if (!profile.starts_with("gen:")) return import_path(profile, format);
  if (!format.empty())
    return fail(Code::usage, at("format"), "a generated pattern has no format", "leave the format out");
  auto generated = generate(std::string_view(profile).substr(4));
  if (!generated) return propagate(generated);
  return Imported{.profile = std::move(*generated), .topology = std::nullopt, .format = "gen"};
}

Failure wrong_size(const char* what, std::size_t size, std::size_t expected) {
  return fail(Code::bad_input, at(what), fmt::format("the array has {} entries instead of {}", size, expected),
              "pass arrays of matching sizes");
}

Result<void> check_edges(std::uint32_t ranks, const Edges& edges) {
  const std::size_t count = edges.from.size();
  if (edges.to.size() != count) return wrong_size("to", edges.to.size(), count);
  if (edges.bytes.size() != count) return wrong_size("bytes", edges.bytes.size(), count);
  if (!edges.messages.empty() && edges.messages.size() != count)
    return wrong_size("messages", edges.messages.size(), count);
  if (!edges.loads.empty() && edges.loads.size() != ranks) return wrong_size("loads", edges.loads.size(), ranks);
  for (std::size_t i = 0; i < count; ++i) {
    const auto wrong = [&](const char* source, const std::string& what) {
      return fail(
          Code::bad_input, at(source), fmt::format("entry {}: {}", i, what),
          fmt::format("use ranks from 0 to {} and amounts from 0 to {:g}", std::int64_t{ranks} - 1, max_amount));
    };
    if (edges.from[i] >= ranks) return wrong("from", fmt::format("{} is not a rank", edges.from[i]));
    if (edges.to[i] >= ranks) return wrong("to", fmt::format("{} is not a rank", edges.to[i]));
    if (!is_amount(edges.bytes[i])) return wrong("bytes", fmt::format("{} is not an amount", edges.bytes[i]));
    if (!edges.messages.empty() && !is_amount(edges.messages[i]))
      return wrong("messages", fmt::format("{} is not an amount", edges.messages[i]));
  }
  for (std::size_t i = 0; i < edges.loads.size(); ++i) {
    if (!is_amount(edges.loads[i]))
      return fail(Code::bad_input, at("loads"), fmt::format("rank {}: {} is not an amount", i, edges.loads[i]),
                  fmt::format("use amounts from 0 to {:g}", max_amount));
  }
  return {};
}

Result<ConfiguredMapper> configure_mapper(const MapRequest& request) {
  auto mapper = make_mapper(request.mapper);
  if (!mapper) return mapper;
  OptionList list;
  mapper->mapper->describe(list);
  for (const auto& [name, value] : request.options) {
    if (auto done = list.set(name, value, mapper->info->name); !done) return propagate(done);
    mapper->spec += fmt::format("{}{}={}", mapper->spec.find(':') == std::string::npos ? ':' : ',', name, value);
  }
  return mapper;
}

}  // namespace

Result<Traffic> load_traffic(const std::string& profile, const std::string& format, std::string_view collectives) {
  auto model = collective_model(collectives);
  if (!model) return propagate(model);
  auto imported = load_profile(profile, format);
  if (!imported) return propagate(imported);
  if (auto fits = check_traffic_fits(imported->profile, *model); !fits) return propagate(fits);
  return Traffic{traffic(std::move(imported->profile), *model), std::move(imported->topology)};
}

Result<CommGraph> build_graph(std::uint32_t ranks, const Edges& edges) {
  if (auto valid = check_edges(ranks, edges); !valid) return propagate(valid);
  CommGraphBuilder builder(ranks);
  builder.reserve(edges.from.size());
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    if (edges.from[i] == edges.to[i]) continue;
    builder.add(Rank{edges.from[i]}, Rank{edges.to[i]}, edges.bytes[i],
                edges.messages.empty() ? 1.0 : edges.messages[i]);
  }
  if (!edges.loads.empty()) builder.set_loads({edges.loads.begin(), edges.loads.end()});
  return std::move(builder).build(!edges.messages.empty(), edges.undirected);
}

Result<CostModel> cost_model(std::string_view name, const CommGraph& graph, const Topology& topology) {
  if (name.empty()) return default_model(graph, topology);
  if (const auto found = find_cost_model(name)) return *found;
  std::vector<std::string_view> known;
  for (const auto& row : cost_models()) known.push_back(row.name);
  return fail(Code::usage, at("model"), fmt::format("'{}' is not a known cost model", name), suggest(name, known));
}

Result<MapResult> map(const CommGraph& graph, const Topology& topology, const MapRequest& request) {
  auto model = cost_model(request.model, graph, topology);
  if (!model) return propagate(model);
  auto mapper = configure_mapper(request);
  if (!mapper) return propagate(mapper);
  if (!is_amount(request.fit.imbalance) || request.fit.imbalance > 1000)
    return fail(Code::usage, at("imbalance"), fmt::format("{} is not a valid imbalance", request.fit.imbalance),
                "use a number from 0 to 1000, such as 0.03 for 3 %");
  if (!is_amount(request.migration_cost))
    return fail(Code::usage, at("migration_cost"), fmt::format("{} is not a valid cost", request.migration_cost),
                fmt::format("use a number from 0 to {:g}", max_amount));
  if (request.threads > 4096)
    return fail(Code::usage, at("threads"), fmt::format("{} threads are too many", request.threads),
                "use at most 4096");
  if (request.budget_ms > 1'000'000'000'000)
    return fail(Code::usage, at("budget"), "the time budget exceeds 30 years",
                "give a time in milliseconds, or 0 for no limit");
  if (request.migration_cost > 0 && !request.start)
    return fail(Code::usage, at("migration_cost"), "a migration cost needs an initial mapping",
                "pass the initial mapping as start");
  if (request.start && !mapper->info->takes_start)
    return fail(Code::usage, at("start"),
                fmt::format("the mapper {} does not use an initial mapping", mapper->info->name),
                "choose another mapper, such as refine");
  auto capacities = Capacities::of(topology, graph.rank_count(), request.fit);
  if (!capacities) return propagate(capacities);
  std::vector<Core> start;
  if (request.start) {
    auto cores = placement(*request.start, graph, topology);
    if (!cores) return propagate(cores);
    auto checked = Mapping::create(std::move(*cores), topology, *capacities, "start");
    if (!checked) return propagate(checked);
    start.assign(checked->cores().begin(), checked->cores().end());
  }
  const ThreadLimit limit(request.threads);
  const Deadline deadline = request.budget_ms > 0
                                ? Deadline::in(std::chrono::milliseconds(static_cast<std::int64_t>(request.budget_ms)))
                                : Deadline();
  const MapProblem problem{graph, topology, *capacities, *model, start, request.migration_cost};
  return run_mapper(*mapper, problem, {.seed = request.seed, .deadline = deadline}, request.run);
}

Result<std::vector<Core>> placement(std::span<const std::uint32_t> cores, const CommGraph& graph,
                                    const Topology& topology) {
  if (cores.size() != graph.rank_count()) {
    return fail(Code::bad_input, at("mapping"),
                fmt::format("the mapping has {} ranks, but the graph has {}", cores.size(), graph.rank_count()),
                "use a mapping for this graph");
  }
  std::vector<Core> placed(cores.size());
  for (std::size_t rank = 0; rank < cores.size(); ++rank) {
    if (cores[rank] >= topology.core_count())
      return fail(Code::bad_input, at("mapping"),
                  fmt::format("rank {} is on core {}, which does not exist", rank, cores[rank]),
                  fmt::format("the cores are 0 to {}", topology.core_count() - 1));
    placed[rank] = Core{cores[rank]};
  }
  return placed;
}

}  // namespace rankloom::bridge
