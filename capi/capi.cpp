// SPDX-License-Identifier: Apache-2.0
// capi: the C functions of rankloom.h. They check arguments for NULL, call the bridge, store errors per thread, and
// convert exceptions to a status.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
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
  explicit rankloom_allocator(bridge::JobTable table) : jobs(std::move(table)) {}
  bridge::JobTable jobs;
  mutable std::mutex mutex;  ///< Of `jobs`.
};
struct rankloom_proposal {
  bridge::Proposal proposal;
};

namespace {

// Per thread, so that a caller reads the error of its own call.
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
  return report({Code::usage, at(argument), "the argument is NULL", "pass a valid pointer"});
}

/// Runs the body and converts exceptions to a status. If there is not even memory for the error message, the status
/// alone is returned.
template <class Body>
int catch_exceptions(const Body& body) noexcept {
  try {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return report({Code::environment, at("memory"), "out of memory", "use a smaller problem"});
    } catch (const std::exception& error) {
      return report({Code::environment, at("rankloom"), error.what(), "please report this error"});
    }
  } catch (...) {
    return RANKLOOM_ENVIRONMENT;
  }
}

std::string string_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

template <class T>
std::span<const T> span_of(const T* data, std::size_t count) {
  return data == nullptr ? std::span<const T>() : std::span<const T>(data, count);
}

/// Copies a struct of the caller, which may be older (shorter) or newer (longer) than ours. Missing fields keep their
/// default.
template <class Struct>
Result<Struct> from_caller(const Struct& given, const Struct& defaults, const char* name) {
  if (given.size < sizeof(std::size_t) || given.size > 65536)
    return fail(Code::usage, at(name), fmt::format("the field size is {}", given.size),
                "initialise the struct by rankloom_map_options_init");
  Struct known = defaults;
  std::memcpy(&known, &given, std::min(given.size, sizeof(Struct)));
  known.size = sizeof(Struct);
  return known;
}

template <class Struct>
int to_caller(const Struct& known, Struct* given, const char* name) {
  const std::size_t size = given->size;
  if (size < sizeof(std::size_t) || size > 65536)
    return report({Code::usage, at(name), fmt::format("the field size is {}", size), "set it to sizeof the struct"});
  std::memcpy(given, &known, std::min(size, sizeof(Struct)));
  given->size = size;
  return RANKLOOM_OK;
}

rankloom_map_options default_options() {
  rankloom_map_options options{};
  options.size = sizeof(options);
  return options;
}

Result<bridge::MapRequest> make_request(const char* mapper, const rankloom_map_options* given) {
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
  request.model = string_or_empty(options->model);
  if (options->start != nullptr)
    request.start = std::vector<std::uint32_t>(options->start, options->start + options->start_ranks);
  request.migration_cost = options->migration_cost;
  request.run = {.keep_worse = options->keep_worse != 0, .compute_lower_bound = options->lower_bound != 0};
  return request;
}

template <class Row>
const char* name_at(std::span<const Row> rows, std::size_t row) {
  return row < rows.size() ? rows[row].name.data() : nullptr;  // names are string literals and thus null-terminated
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
  return catch_exceptions([&] {
    if (graph == nullptr) return missing("graph");
    *graph = nullptr;
    if (profile == nullptr) return missing("profile");
    auto loaded = bridge::load_traffic(profile, string_or_empty(format), string_or_empty(collectives));
    if (!loaded) return report(loaded.error());
    *graph = new rankloom_graph{std::move(loaded->graph)};
    return int{RANKLOOM_OK};
  });
}

int rankloom_graph_from_edges(uint32_t ranks, size_t edges, const uint32_t* from, const uint32_t* to,
                              const double* bytes, const double* messages, rankloom_graph** graph) {
  return catch_exceptions([&] {
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
    auto built = bridge::build_graph(ranks, given);
    if (!built) return report(built.error());
    *graph = new rankloom_graph{std::move(*built)};
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
  return catch_exceptions([&] {
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

int out_of_range(const char* argument, std::uint32_t number, std::uint32_t count) {
  return report({Code::bad_input, at(argument), fmt::format("the machine has no {} {}", argument, number),
                 fmt::format("use a number from 0 to {}", count - 1)});
}

}  // namespace

int rankloom_topology_locate(const rankloom_topology* topology, uint32_t core, uint32_t* node, uint32_t* os_index) {
  return catch_exceptions([&] {
    if (topology == nullptr) return missing("topology");
    const Topology& machine = topology->topology;
    if (core >= machine.core_count()) return out_of_range("core", core, machine.core_count());
    if (node != nullptr) *node = index(machine.node_of(Core{core}));
    if (os_index != nullptr) *os_index = machine.os_index(Core{core});
    return int{RANKLOOM_OK};
  });
}

int rankloom_topology_node_name(const rankloom_topology* topology, uint32_t node, char* name, size_t size,
                                size_t* length) {
  return catch_exceptions([&] {
    if (topology == nullptr) return missing("topology");
    if (name == nullptr && size > 0) return missing("name");
    const Topology& machine = topology->topology;
    if (node >= machine.node_count()) return out_of_range("node", node, machine.node_count());
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
  return catch_exceptions([&] {
    if (topology == nullptr) return missing("topology");
    if (distance == nullptr) return missing("distance");
    const Topology& machine = topology->topology;
    if (from >= machine.core_count()) return out_of_range("core", from, machine.core_count());
    if (to >= machine.core_count()) return out_of_range("core", to, machine.core_count());
    *distance = machine.cost(Core{from}, Core{to}).inverse_bandwidth;
    return int{RANKLOOM_OK};
  });
}

void rankloom_topology_free(rankloom_topology* topology) {
  delete topology;
}

int rankloom_map_options_init(rankloom_map_options* options, size_t size) {
  return catch_exceptions([&] {
    if (options == nullptr) return missing("options");
    options->size = size;
    return to_caller(default_options(), options, "size");
  });
}

int rankloom_map(const rankloom_graph* graph, const rankloom_topology* topology, const char* mapper,
                 const rankloom_map_options* options, rankloom_mapping** mapping) {
  return catch_exceptions([&] {
    if (mapping == nullptr) return missing("mapping");
    *mapping = nullptr;
    if (graph == nullptr) return missing("graph");
    if (topology == nullptr) return missing("topology");
    auto request = make_request(mapper, options);
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
  return catch_exceptions([&] {
    if (mapping == nullptr) return missing("mapping");
    if (result == nullptr) return missing("result");
    const MapResult& map_result = mapping->result;
    const rankloom_map_result known{
        .size = sizeof(rankloom_map_result),
        .cost = map_result.cost,
        .cost_default = map_result.cost_default,
        .lower_bound = map_result.lower_bound.value_or(std::numeric_limits<double>::quiet_NaN()),
        .time_ms = map_result.time_ms,
        .fell_back = map_result.fell_back ? 1 : 0,
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
  return catch_exceptions([&] {
    if (graph == nullptr) return missing("graph");
    if (topology == nullptr) return missing("topology");
    if (cores == nullptr && ranks > 0) return missing("cores");
    if (cost == nullptr) return missing("cost");
    auto cost_model = bridge::cost_model(string_or_empty(model), graph->graph, topology->topology);
    if (!cost_model) return report(cost_model.error());
    auto placed = bridge::placement(span_of(cores, ranks), graph->graph, topology->topology);
    if (!placed) return report(placed.error());
    *cost = evaluate(graph->graph, topology->topology, *placed, *cost_model);
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
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    *allocator = nullptr;
    if (topology == nullptr) return missing("topology");
    auto jobs = bridge::JobTable::of(topology->topology, string_or_empty(policy), string_or_empty(exclusive));
    if (!jobs) return report(jobs.error());
    *allocator = new rankloom_allocator(std::move(*jobs));
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_request(rankloom_allocator* allocator, uint32_t nodes, const char* policy, const char* fallback,
                               uint64_t* job) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    if (job == nullptr) return missing("job");
    const std::lock_guard lock(allocator->mutex);
    auto placed = allocator->jobs.request(nodes, string_or_empty(policy), string_or_empty(fallback));
    if (!placed) return report(placed.error());
    if (!*placed) return int{RANKLOOM_WAIT};
    *job = **placed;
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_job(const rankloom_allocator* allocator, uint64_t job, rankloom_job_info* info) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    if (info == nullptr) return missing("info");
    const std::lock_guard lock(allocator->mutex);
    auto found = allocator->jobs.find(job);
    if (!found) return report(found.error());
    const Allocation& allocation = **found;
    const rankloom_job_info known{.size = sizeof(rankloom_job_info),
                                  .nodes = static_cast<std::uint32_t>(allocation.nodes.size()),
                                  .reserved_nodes = static_cast<std::uint32_t>(allocation.reserved.size()),
                                  .diameter = allocation.diameter,
                                  .isolated = allocation.isolated ? 1 : 0};
    return to_caller(known, info, "info");
  });
}

int rankloom_allocator_job_nodes(const rankloom_allocator* allocator, uint64_t job, uint32_t* nodes, size_t capacity) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    if (nodes == nullptr && capacity > 0) return missing("nodes");
    const std::lock_guard lock(allocator->mutex);
    auto found = allocator->jobs.find(job);
    if (!found) return report(found.error());
    const std::vector<Node>& allocated = (*found)->nodes;
    for (std::size_t i = 0; i < std::min(capacity, allocated.size()); ++i) nodes[i] = index(allocated[i]);
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_release(rankloom_allocator* allocator, uint64_t job) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    const std::lock_guard lock(allocator->mutex);
    auto done = allocator->jobs.release(job);
    return done ? int{RANKLOOM_OK} : report(done.error());
  });
}

int rankloom_allocator_drain(rankloom_allocator* allocator, uint32_t node, int failed) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    const std::lock_guard lock(allocator->mutex);
    auto done = allocator->jobs.drain(node, failed != 0);
    return done ? int{RANKLOOM_OK} : report(done.error());
  });
}

int rankloom_allocator_resume(rankloom_allocator* allocator, uint32_t node) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    const std::lock_guard lock(allocator->mutex);
    auto done = allocator->jobs.resume(node);
    return done ? int{RANKLOOM_OK} : report(done.error());
  });
}

uint32_t rankloom_allocator_free_nodes(const rankloom_allocator* allocator) {
  if (allocator == nullptr) return 0;
  const std::lock_guard lock(allocator->mutex);
  return allocator->jobs.free_nodes();
}
void rankloom_allocator_free(rankloom_allocator* allocator) {
  delete allocator;
}

namespace {

rankloom_propose_options default_propose_options() {
  rankloom_propose_options options{};
  options.size = sizeof(options);
  options.limit_ms = bridge::ProposalRequest().limit_ms;
  return options;
}

Result<bridge::ProposalRequest> make_proposal_request(const rankloom_propose_options* given) {
  if (given == nullptr) return bridge::ProposalRequest();
  auto options = from_caller(*given, default_propose_options(), "options");
  if (!options) return propagate(options);
  return bridge::ProposalRequest{.nodes = options->nodes,
                                 .prefer = string_or_empty(options->prefer),
                                 .communication = options->communication,
                                 .limit_ms = options->limit_ms};
}

}  // namespace

int rankloom_propose_options_init(rankloom_propose_options* options, size_t size) {
  return catch_exceptions([&] {
    if (options == nullptr) return missing("options");
    options->size = size;
    return to_caller(default_propose_options(), options, "size");
  });
}

int rankloom_allocator_propose(const rankloom_allocator* allocator, const rankloom_graph* graph,
                               const rankloom_propose_options* options, rankloom_proposal** proposal) {
  return catch_exceptions([&] {
    if (proposal == nullptr) return missing("proposal");
    *proposal = nullptr;
    if (allocator == nullptr) return missing("allocator");
    if (graph == nullptr) return missing("graph");
    auto request = make_proposal_request(options);
    if (!request) return report(request.error());
    std::unique_lock lock(allocator->mutex);
    const Occupancy occupancy = allocator->jobs.occupancy();
    lock.unlock();
    auto made = allocator->jobs.planner()->propose(allocator->jobs.allocator(), occupancy, graph->graph, *request);
    if (!made) return report(made.error());
    if (!*made) return int{RANKLOOM_WAIT};
    *proposal = new rankloom_proposal{**std::move(made)};
    return int{RANKLOOM_OK};
  });
}

uint32_t rankloom_proposal_node_count(const rankloom_proposal* proposal) {
  return proposal == nullptr ? 0 : static_cast<std::uint32_t>(proposal->proposal.nodes.size());
}
const uint32_t* rankloom_proposal_nodes(const rankloom_proposal* proposal) {
  return proposal == nullptr ? nullptr : proposal->proposal.nodes.data();
}
uint32_t rankloom_proposal_ranks(const rankloom_proposal* proposal) {
  return proposal == nullptr ? 0 : static_cast<std::uint32_t>(proposal->proposal.cores.size());
}
const uint32_t* rankloom_proposal_cores(const rankloom_proposal* proposal) {
  return proposal == nullptr ? nullptr : proposal->proposal.cores.data();
}
const char* rankloom_proposal_reason(const rankloom_proposal* proposal) {
  return proposal == nullptr ? "" : proposal->proposal.reason.c_str();
}

int rankloom_proposal_seconds(const rankloom_proposal* proposal, double* seconds, double* seconds_default) {
  return catch_exceptions([&] {
    if (proposal == nullptr) return missing("proposal");
    if (seconds != nullptr) *seconds = proposal->proposal.seconds;
    if (seconds_default != nullptr) *seconds_default = proposal->proposal.seconds_default;
    return int{RANKLOOM_OK};
  });
}

int rankloom_allocator_commit(rankloom_allocator* allocator, const rankloom_proposal* proposal, uint64_t* job) {
  return catch_exceptions([&] {
    if (allocator == nullptr) return missing("allocator");
    if (proposal == nullptr) return missing("proposal");
    if (job == nullptr) return missing("job");
    const std::lock_guard lock(allocator->mutex);
    auto committed = allocator->jobs.commit(proposal->proposal);
    if (!committed) return report(committed.error());
    if (!*committed) return int{RANKLOOM_WAIT};
    *job = **committed;
    return int{RANKLOOM_OK};
  });
}

void rankloom_proposal_free(rankloom_proposal* proposal) {
  delete proposal;
}
