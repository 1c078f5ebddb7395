// SPDX-License-Identifier: Apache-2.0
// capi: the C functions of rankloom.h over the bridge. Nothing is decided here: arguments are checked for NULL, errors
// become a status and three texts of the thread, exceptions stop.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <new>

#include <fmt/format.h>

#include "capi/bridge.hpp"
#include "capi/rankloom.h"
#include "rankloom/discover/discover.hpp"

using namespace rankloom;

struct rankloom_graph {
  CommGraph graph;
};
struct rankloom_topology {
  Topology topology;
};
struct rankloom_mapping {
  MapResult result;
  std::vector<std::uint32_t> cores;
};
struct rankloom_allocator {
  bridge::JobTable jobs;
};

namespace {

// One for each thread, so that what a caller reads is about its own call.
struct LastError {
  std::string what, where, hint;
};
thread_local LastError last_error;

int report(const Error& error) {
  last_error.what = error.what;
  last_error.where =
      error.where.line > 0 ? fmt::format("{}:{}", error.where.source, error.where.line) : error.where.source;
  last_error.hint = error.hint;
  return static_cast<int>(error.code);
}

int missing(const char* argument) {
  return report({Code::usage, at(argument), "is NULL", "this argument has to be given"});
}

/// Runs the body; whatever it throws becomes a status. Text is built where memory may have run out: then only the
/// status tells.
template <class Body>
int guarded(const Body& body) noexcept {
  try {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return report({Code::environment, at("memory"), "there is not enough", "map a smaller problem"});
    } catch (const std::exception& thrown) {
      return report({Code::environment, at("rankloom"), thrown.what(), "please tell the authors how it came to this"});
    }
  } catch (...) {
    return RANKLOOM_ENVIRONMENT;
  }
}

std::string word(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

template <class T>
std::span<const T> span_of(const T* data, std::size_t count) {
  return data == nullptr ? std::span<const T>() : std::span<const T>(data, count);
}

/// The caller's struct, which may be older (shorter) or newer (longer) than ours; what it lacks keeps its default.
template <class Struct>
Result<Struct> from_caller(const Struct& given, const Struct& defaults, const char* name) {
  if (given.size < sizeof(std::size_t) || given.size > 65536)
    return fail(Code::usage, at(name), fmt::format("its size is said to be {}", given.size),
                "fill it by rankloom_map_options_init");
  Struct known = defaults;
  std::memcpy(&known, &given, std::min(given.size, sizeof(Struct)));
  known.size = sizeof(Struct);
  return known;
}

template <class Struct>
int to_caller(const Struct& known, Struct* given, const char* name) {
  const std::size_t size = given->size;
  if (size < sizeof(std::size_t) || size > 65536)
    return report(
        {Code::usage, at(name), fmt::format("its size is said to be {}", size), "set its size to sizeof of its type"});
  std::memcpy(given, &known, std::min(size, sizeof(Struct)));
  given->size = size;
  return RANKLOOM_OK;
}

rankloom_map_options default_options() {
  rankloom_map_options options{};
  options.size = sizeof(options);
  return options;
}

Result<bridge::MapRequest> request_of(const char* mapper, const rankloom_map_options* given) {
  bridge::MapRequest request;
  if (mapper != nullptr) request.mapper = mapper;
  if (given == nullptr) return request;
  auto options = from_caller(*given, default_options(), "options");
  if (!options) return propagate(options);
  request.seed = options->seed;
  request.budget_ms = options->budget_ms;
  request.threads = options->threads;
  request.fit = {.oversubscribe = options->oversubscribe != 0, .imbalance = options->imbalance};
  if (options->effort != nullptr) request.options.emplace_back("effort", options->effort);
  request.model = word(options->model);
  if (options->start != nullptr)
    request.start = std::vector<std::uint32_t>(options->start, options->start + options->start_ranks);
  request.move_price = options->move_price;
  request.run = {.keep_worse = options->keep_worse != 0, .certify = options->lower_bound != 0};
  return request;
}

template <class Row>
const char* name_at(std::span<const Row> rows, std::size_t row) {
  return row < rows.size() ? rows[row].name.data() : nullptr;  // names are literals: an end mark follows
}

}  // namespace

int rankloom_abi_version(void) {
  return RANKLOOM_ABI_VERSION;
}
const char* rankloom_version(void) {
  return RANKLOOM_VERSION;
}
const char* rankloom_error(void) {
  return last_error.what.c_str();
}
const char* rankloom_error_where(void) {
  return last_error.where.c_str();
}
const char* rankloom_error_hint(void) {
  return last_error.hint.c_str();
}

int rankloom_graph_load(const char* profile, const char* format, const char* collectives, rankloom_graph** graph) {
  return guarded([&] {
    if (graph == nullptr) return missing("graph");
    *graph = nullptr;
    if (profile == nullptr) return missing("profile");
    auto loaded = bridge::load_traffic(profile, word(format), word(collectives));
    if (!loaded) return report(loaded.error());
    *graph = new rankloom_graph{std::move(loaded->graph)};
    return int{RANKLOOM_OK};
  });
}

int rankloom_graph_from_edges(uint32_t ranks, size_t edges, const uint32_t* from, const uint32_t* to,
                              const double* bytes, const double* messages, rankloom_graph** graph) {
  return guarded([&] {
    if (graph == nullptr) return missing("graph");
    *graph = nullptr;
    if (edges > 0 && from == nullptr) return missing("from");
    if (edges > 0 && to == nullptr) return missing("to");
    if (edges > 0 && bytes == nullptr) return missing("bytes");
    bridge::Edges given;
    given.from = span_of(from, edges);
    given.to = span_of(to, edges);
    given.bytes = span_of(bytes, edges);
    given.messages = span_of(messages, edges);
    auto made = bridge::graph_of(ranks, given);
    if (!made) return report(made.error());
    *graph = new rankloom_graph{std::move(*made)};
    return int{RANKLOOM_OK};
  });
}

uint32_t rankloom_graph_ranks(const rankloom_graph* graph) {
  return graph == nullptr ? 0 : graph->graph.rank_count();
}
uint64_t rankloom_graph_edges(const rankloom_graph* graph) {
  return graph == nullptr ? 0 : graph->graph.edge_count();
}
void rankloom_graph_free(rankloom_graph* graph) {
  delete graph;
}

int rankloom_topology_load(const char* file_or_string, rankloom_topology** topology) {
  return guarded([&] {
    if (topology == nullptr) return missing("topology");
    *topology = nullptr;
    if (file_or_string == nullptr) return missing("file_or_string");
    auto loaded = load_topology(file_or_string);
    if (!loaded) return report(loaded.error());
    *topology = new rankloom_topology{std::move(*loaded)};
    return int{RANKLOOM_OK};
  });
}

uint32_t rankloom_topology_cores(const rankloom_topology* topology) {
  return topology == nullptr ? 0 : topology->topology.core_count();
}
uint32_t rankloom_topology_nodes(const rankloom_topology* topology) {
  return topology == nullptr ? 0 : topology->topology.node_count();
}

namespace {

int no_such(const char* argument, std::uint32_t number, std::uint32_t count) {
  return report({Code::bad_input, at(argument), fmt::format("the machine has no {} {}", argument, number),
                 fmt::format("they are 0 to {}", count - 1)});
}

}  // namespace

int rankloom_topology_locate(const rankloom_topology* topology, uint32_t core, uint32_t* node, uint32_t* os_index) {
  return guarded([&] {
    if (topology == nullptr) return missing("topology");
    const Topology& machine = topology->topology;
    if (core >= machine.core_count()) return no_such("core", core, machine.core_count());
    if (node != nullptr) *node = index(machine.node_of(Core{core}));
    if (os_index != nullptr) *os_index = machine.os_index(Core{core});
    return int{RANKLOOM_OK};
  });
}

int rankloom_topology_node_name(const rankloom_topology* topology, uint32_t node, char* name, size_t size,
                                size_t* length) {
  return guarded([&] {
    if (topology == nullptr) return missing("topology");
    if (name == nullptr && size > 0) return missing("name");
    const Topology& machine = topology->topology;
    if (node >= machine.node_count()) return no_such("node", node, machine.node_count());
    const std::string text = machine.node_name(Node{node});
    if (size > 0) {
      const std::size_t copied = std::min(size - 1, text.size());
      std::memcpy(name, text.data(), copied);
      name[copied] = '\0';
    }
    if (length != nullptr) *length = text.size();
    return int{RANKLOOM_OK};
  });
}

int rankloom_topology_distance(const rankloom_topology* topology, uint32_t from, uint32_t to, double* distance) {
  return guarded([&] {
    if (topology == nullptr) return missing("topology");
    if (distance == nullptr) return missing("distance");
    const Topology& machine = topology->topology;
    if (from >= machine.core_count()) return no_such("core", from, machine.core_count());
    if (to >= machine.core_count()) return no_such("core", to, machine.core_count());
    *distance = machine.cost(Core{from}, Core{to}).gap;
    return int{RANKLOOM_OK};
  });
}

void rankloom_topology_free(rankloom_topology* topology) {
  delete topology;
}

int rankloom_map_options_init(rankloom_map_options* options, size_t size) {
  return guarded([&] {
    if (options == nullptr) return missing("options");
    options->size = size;
    return to_caller(default_options(), options, "size");
  });
}

int rankloom_map(const rankloom_graph* graph, const rankloom_topology* topology, const char* mapper,
                 const rankloom_map_options* options, rankloom_mapping** mapping) {
  return guarded([&] {
    if (mapping == nullptr) return missing("mapping");
    *mapping = nullptr;
    if (graph == nullptr) return missing("graph");
    if (topology == nullptr) return missing("topology");
    auto request = request_of(mapper, options);
    if (!request) return report(request.error());
    auto result = bridge::map(graph->graph, topology->topology, *request);
    if (!result) return report(result.error());
    std::vector<std::uint32_t> cores;
    for (const Core core : result->mapping.cores()) cores.push_back(index(core));
    *mapping = new rankloom_mapping{std::move(*result), std::move(cores)};
    return int{RANKLOOM_OK};
  });
}

uint32_t rankloom_mapping_ranks(const rankloom_mapping* mapping) {
  return mapping == nullptr ? 0 : static_cast<std::uint32_t>(mapping->cores.size());
}
const uint32_t* rankloom_mapping_cores(const rankloom_mapping* mapping) {
  return mapping == nullptr ? nullptr : mapping->cores.data();
}

int rankloom_mapping_result(const rankloom_mapping* mapping, rankloom_map_result* result) {
  return guarded([&] {
    if (mapping == nullptr) return missing("mapping");
    if (result == nullptr) return missing("result");
    const MapResult& own = mapping->result;
    const rankloom_map_result known{.size = sizeof(rankloom_map_result),
                                    .cost = own.cost,
                                    .cost_default = own.cost_default,
                                    .lower_bound = own.lower_bound.value_or(std::numeric_limits<double>::quiet_NaN()),
                                    .time_ms = own.time_ms,
                                    .fell_back = own.fell_back ? 1 : 0,
                                    .reserved = 0};
    return to_caller(known, result, "result");
  });
}

const char* rankloom_mapping_note(const rankloom_mapping* mapping) {
  return mapping == nullptr ? "" : mapping->result.note.c_str();
}
void rankloom_mapping_free(rankloom_mapping* mapping) {
  delete mapping;
}

int rankloom_evaluate(const rankloom_graph* graph, const rankloom_topology* topology, const uint32_t* cores,
                      size_t ranks, const char* model, double* cost) {
  return guarded([&] {
    if (graph == nullptr) return missing("graph");
    if (topology == nullptr) return missing("topology");
    if (cores == nullptr && ranks > 0) return missing("cores");
    if (cost == nullptr) return missing("cost");
    auto chosen = bridge::cost_model(word(model));
    if (!chosen) return report(chosen.error());
    auto placed = bridge::placement(span_of(cores, ranks), graph->graph, topology->topology);
    if (!placed) return report(placed.error());
    *cost = evaluate(graph->graph, topology->topology, *placed, *chosen);
    return int{RANKLOOM_OK};
  });
}

const char* rankloom_mapper_name(size_t row) {
  return name_at(mappers(), row);
}
const char* rankloom_policy_name(size_t row) {
  return name_at(policies(), row);
}

int rankloom_allocator_create(const rankloom_topology* topology, const char* policy, const char* exclusive,
                              rankloom_allocator** allocator) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    *allocator = nullptr;
    if (topology == nullptr) return missing("topology");
    auto made = bridge::JobTable::of(topology->topology, word(policy), word(exclusive));
    if (!made) return report(made.error());
    *allocator = new rankloom_allocator{std::move(*made)};
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_request(rankloom_allocator* allocator, uint32_t nodes, const char* policy, const char* fallback,
                               uint64_t* job) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    if (job == nullptr) return missing("job");
    auto placed = allocator->jobs.request(nodes, word(policy), word(fallback));
    if (!placed) return report(placed.error());
    if (!*placed) return int{RANKLOOM_WAIT};
    *job = **placed;
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_job(const rankloom_allocator* allocator, uint64_t job, rankloom_job_info* info) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    if (info == nullptr) return missing("info");
    auto found = allocator->jobs.find(job);
    if (!found) return report(found.error());
    const Allotment& own = **found;
    const rankloom_job_info known{.size = sizeof(rankloom_job_info),
                                  .nodes = static_cast<std::uint32_t>(own.nodes.size()),
                                  .kept = static_cast<std::uint32_t>(own.kept.size()),
                                  .diameter = own.diameter,
                                  .closed = own.closed ? 1 : 0};
    return to_caller(known, info, "info");
  });
}

int rankloom_allocator_job_nodes(const rankloom_allocator* allocator, uint64_t job, uint32_t* nodes, size_t room) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    if (nodes == nullptr && room > 0) return missing("nodes");
    auto found = allocator->jobs.find(job);
    if (!found) return report(found.error());
    const std::vector<Node>& own = (*found)->nodes;
    for (std::size_t i = 0; i < std::min(room, own.size()); ++i) nodes[i] = index(own[i]);
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_release(rankloom_allocator* allocator, uint64_t job) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    auto done = allocator->jobs.release(job);
    return done ? int{RANKLOOM_OK} : report(done.error());
  });
}

int rankloom_allocator_drain(rankloom_allocator* allocator, uint32_t node, int failed) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    auto done = allocator->jobs.drain(node, failed != 0);
    return done ? int{RANKLOOM_OK} : report(done.error());
  });
}

int rankloom_allocator_resume(rankloom_allocator* allocator, uint32_t node) {
  return guarded([&] {
    if (allocator == nullptr) return missing("allocator");
    auto done = allocator->jobs.resume(node);
    return done ? int{RANKLOOM_OK} : report(done.error());
  });
}

uint32_t rankloom_allocator_free_nodes(const rankloom_allocator* allocator) {
  return allocator == nullptr ? 0 : allocator->jobs.free_nodes();
}
void rankloom_allocator_free(rankloom_allocator* allocator) {
  delete allocator;
}
