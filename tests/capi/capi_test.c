/* SPDX-License-Identifier: Apache-2.0
 * Tests the C library from C11: its results and its errors. Prints failed checks; the exit status is their number. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "rankloom.h"

static int failures = 0;

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

static void check(int holds, const char* condition, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "capi_test.c:%d: %s does not hold (last error: %s: %s (%s))\n", line, condition,
          rankloom_error_where(), rankloom_error(), rankloom_error_hint());
}

/* Whether the call failed with this status and place, and with a message and a hint. */
static int failed_with(int status, int expected, const char* where) {
  return status == expected && strcmp(rankloom_error_where(), where) == 0 && rankloom_error()[0] != '\0' &&
         rankloom_error_hint()[0] != '\0';
}

/* Ranks i and i + 4 communicate. The default placement puts them on different nodes. */
static const uint32_t from[] = {0, 1, 2, 3, 3, 0};
static const uint32_t to[] = {4, 5, 6, 7, 7, 0};
static const double bytes[] = {100, 100, 100, 60, 40, 999};

static void maps_communicating_ranks_onto_one_node(void) {
  rankloom_graph* graph = NULL;
  rankloom_topology* topology = NULL;
  rankloom_mapping* mapping = NULL;
  rankloom_map_options options;
  rankloom_map_result result = {sizeof(result), 0, 0, 0, 0, 0, 0};
  double cost = 0, predicted = 0;
  uint32_t node = 9;
  CHECK(rankloom_graph_from_edges(8, 6, from, to, bytes, NULL, &graph) == RANKLOOM_OK);
  CHECK(rankloom_graph_ranks(graph) == 8 && rankloom_graph_edges(graph) == 4);
  CHECK(rankloom_topology_load("node:4=10 core:2=1", &topology) == RANKLOOM_OK);
  CHECK(rankloom_topology_cores(topology) == 8 && rankloom_topology_nodes(topology) == 4);
  CHECK(rankloom_topology_distance(topology, 0, 1, &cost) == RANKLOOM_OK && cost == 1);
  CHECK(rankloom_topology_distance(topology, 0, 2, &cost) == RANKLOOM_OK && cost == 10);
  CHECK(rankloom_topology_locate(topology, 5, &node, NULL) == RANKLOOM_OK && node == 2);

  CHECK(rankloom_map_options_init(&options, RANKLOOM_MAP_OPTIONS_SIZE) == RANKLOOM_OK);
  options.seed = 7;
  options.threads = 1;
  options.effort = "fast";
  options.model = "bytes";
  options.lower_bound = 1;
  CHECK(rankloom_map(graph, topology, NULL, &options, &mapping) == RANKLOOM_OK);
  CHECK(rankloom_mapping_result(mapping, &result) == RANKLOOM_OK);
  CHECK(result.cost == 400 && result.cost_default == 4000 && result.fell_back == 0);
  CHECK(result.lower_bound <= 400 && result.lower_bound > 0);
  CHECK(rankloom_mapping_ranks(mapping) == 8);
  if (mapping != NULL) {
    const uint32_t* cores = rankloom_mapping_cores(mapping);
    for (uint32_t rank = 0; rank < 4; ++rank) CHECK(cores[rank] / 2 == cores[rank + 4] / 2);
    CHECK(rankloom_evaluate(graph, topology, cores, 8, "bytes", &cost) == RANKLOOM_OK && cost == 400);
    CHECK(rankloom_evaluate(graph, topology, cores, 8, "predicted", &predicted) == RANKLOOM_OK && predicted > 0);
    CHECK(rankloom_evaluate(graph, topology, cores, 8, NULL, &cost) == RANKLOOM_OK && cost == predicted);
    CHECK(rankloom_evaluate(graph, topology, cores, 8, "hopbytes", &cost) == RANKLOOM_OK && cost >= 0);

    /* Starting from its own result with a migration cost, no rank is moved. */
    rankloom_mapping* again = NULL;
    options.effort = NULL;
    options.start = cores;
    options.start_ranks = 8;
    options.migration_cost = 5;
    CHECK(rankloom_map(graph, topology, "refine", &options, &again) == RANKLOOM_OK);
    if (again != NULL) CHECK(memcmp(rankloom_mapping_cores(again), cores, 8 * sizeof(uint32_t)) == 0);
    rankloom_mapping_free(again);
  }
  rankloom_graph_free(graph);
  rankloom_topology_free(topology);
  CHECK(rankloom_mapping_cores(mapping) != NULL); /* a mapping does not refer to its graph */
  rankloom_mapping_free(mapping);
}

static void reads_patterns_and_counts_messages(void) {
  rankloom_graph* graph = NULL;
  rankloom_topology* topology = NULL;
  const double messages[] = {1, 2, 3, 4, 5, 6};
  const uint32_t cores[] = {0, 1, 2, 3, 4, 5, 6, 7};
  double cost = 0;
  CHECK(rankloom_graph_load("gen:groups:groups=4,per-group=4", NULL, NULL, &graph) == RANKLOOM_OK);
  CHECK(rankloom_graph_ranks(graph) == 16);
  rankloom_graph_free(graph);
  CHECK(rankloom_graph_from_edges(8, 6, from, to, bytes, messages, &graph) == RANKLOOM_OK);
  /* 400 bytes at 10 each, 15 messages at 100 each. */
  CHECK(rankloom_topology_load("node:4=10,100 core:2=1", &topology) == RANKLOOM_OK);
  CHECK(rankloom_evaluate(graph, topology, cores, 8, "time", &cost) == RANKLOOM_OK && cost == 5500);
  rankloom_topology_free(topology);
  rankloom_graph_free(graph);
  CHECK(rankloom_graph_from_edges(3, 0, NULL, NULL, NULL, NULL, &graph) == RANKLOOM_OK);
  CHECK(rankloom_graph_ranks(graph) == 3 && rankloom_graph_edges(graph) == 0);
  rankloom_graph_free(graph);
}

static void allocates_nodes_to_jobs(void) {
  rankloom_topology* topology = NULL;
  rankloom_allocator* allocator = NULL;
  rankloom_job_info info = {sizeof(info), 0, 0, 0, 0};
  uint64_t first = 0, second = 0, third = 0;
  uint32_t nodes[4] = {99, 99, 99, 99};
  CHECK(rankloom_topology_load("mesh:4x4 core:2", &topology) == RANKLOOM_OK);
  CHECK(rankloom_allocator_create(topology, NULL, NULL, &allocator) == RANKLOOM_OK);
  rankloom_topology_free(topology); /* the allocator does not refer to it */
  CHECK(rankloom_allocator_free_nodes(allocator) == 16);
  CHECK(rankloom_allocator_request(allocator, 4, NULL, NULL, &first) == RANKLOOM_OK);
  CHECK(rankloom_allocator_job(allocator, first, &info) == RANKLOOM_OK);
  CHECK(info.nodes == 4 && info.isolated == 1 && info.diameter == 2);
  CHECK(rankloom_allocator_job_nodes(allocator, first, nodes, 3) == RANKLOOM_OK);
  CHECK(nodes[0] < nodes[1] && nodes[1] < nodes[2] && nodes[2] < 16 && nodes[3] == 99);
  CHECK(rankloom_allocator_request(allocator, 13, NULL, NULL, &second) == RANKLOOM_WAIT && second == 0);
  CHECK(rankloom_allocator_request(allocator, 8, NULL, NULL, &second) == RANKLOOM_OK && second != first);
  CHECK(rankloom_allocator_free_nodes(allocator) == 4);
  CHECK(rankloom_allocator_release(allocator, first) == RANKLOOM_OK);
  CHECK(rankloom_allocator_free_nodes(allocator) == 8);
  CHECK(failed_with(rankloom_allocator_release(allocator, first), RANKLOOM_BAD_INPUT, "job"));
  CHECK(rankloom_allocator_release(allocator, second) == RANKLOOM_OK);
  CHECK(rankloom_allocator_drain(allocator, 5, 1) == RANKLOOM_OK && rankloom_allocator_free_nodes(allocator) == 15);
  CHECK(rankloom_allocator_drain(allocator, 5, 0) == RANKLOOM_OK && rankloom_allocator_free_nodes(allocator) == 15);
  CHECK(rankloom_allocator_request(allocator, 16, NULL, NULL, &third) == RANKLOOM_WAIT);
  CHECK(rankloom_allocator_resume(allocator, 5) == RANKLOOM_OK);
  CHECK(rankloom_allocator_request(allocator, 16, NULL, NULL, &third) == RANKLOOM_OK);
  CHECK(failed_with(rankloom_allocator_request(allocator, 17, NULL, NULL, &third), RANKLOOM_INFEASIBLE, "nodes"));
  CHECK(failed_with(rankloom_allocator_request(allocator, 0, NULL, NULL, &third), RANKLOOM_USAGE, "nodes"));
  CHECK(failed_with(rankloom_allocator_request(allocator, 1, NULL, "no-such-fallback", &third), RANKLOOM_USAGE,
                    "fallback"));
  CHECK(rankloom_allocator_request(allocator, 1, "no-such-policy", NULL, &third) == RANKLOOM_USAGE);
  CHECK(failed_with(rankloom_allocator_drain(allocator, 16, 0), RANKLOOM_BAD_INPUT, "node"));
  info.size = 3;
  CHECK(failed_with(rankloom_allocator_job(allocator, third, &info), RANKLOOM_USAGE, "info"));
  rankloom_allocator_free(allocator);
}

/* Whether every rank has a core of its own on one of the nodes, which are in increasing order. */
static int is_valid_proposal(const rankloom_topology* topology, const rankloom_proposal* proposal) {
  const uint32_t* nodes = rankloom_proposal_nodes(proposal);
  const uint32_t* cores = rankloom_proposal_cores(proposal);
  for (uint32_t i = 1; i < rankloom_proposal_node_count(proposal); ++i) {
    if (nodes[i - 1] >= nodes[i]) return 0;
  }
  for (uint32_t rank = 0; rank < rankloom_proposal_ranks(proposal); ++rank) {
    uint32_t node = 0, found = 0;
    if (rankloom_topology_locate(topology, cores[rank], &node, NULL) != RANKLOOM_OK) return 0;
    for (uint32_t i = 0; i < rankloom_proposal_node_count(proposal); ++i) found += nodes[i] == node;
    for (uint32_t other = 0; other < rank; ++other) found -= cores[other] == cores[rank];
    if (found != 1) return 0;
  }
  return 1;
}

static void proposes_nodes_and_a_mapping_for_the_traffic_of_a_job(void) {
  rankloom_topology* topology = NULL;
  rankloom_allocator* allocator = NULL;
  rankloom_graph* stencil = NULL;
  rankloom_graph* exchange = NULL;
  rankloom_proposal* proposal = NULL;
  rankloom_proposal* rival = NULL;
  rankloom_propose_options options;
  rankloom_job_info info = {sizeof(info), 0, 0, 0, 0};
  uint64_t job = 0, other = 0;
  uint32_t nodes[16];
  double seconds = 0, seconds_default = 0;
  CHECK(rankloom_topology_load("torus:8x8 core:2", &topology) == RANKLOOM_OK);
  CHECK(rankloom_allocator_create(topology, NULL, NULL, &allocator) == RANKLOOM_OK);
  CHECK(rankloom_graph_load("gen:stencil2d:ranks=32,shuffle=true", NULL, NULL, &stencil) == RANKLOOM_OK);
  CHECK(rankloom_graph_load("gen:alltoall:ranks=32", NULL, NULL, &exchange) == RANKLOOM_OK);
  CHECK(rankloom_propose_options_init(&options, RANKLOOM_PROPOSE_OPTIONS_SIZE) == RANKLOOM_OK);
  CHECK(options.limit_ms == 50 && options.nodes == 0);
  options.limit_ms = 0; /* the result does not depend on the speed of this machine */
  CHECK(rankloom_allocator_propose(allocator, stencil, &options, &proposal) == RANKLOOM_OK);
  CHECK(rankloom_proposal_ranks(proposal) == 32 && rankloom_proposal_node_count(proposal) == 16);
  CHECK(is_valid_proposal(topology, proposal));
  CHECK(rankloom_proposal_seconds(proposal, &seconds, &seconds_default) == RANKLOOM_OK);
  CHECK(seconds > 0 && seconds < seconds_default); /* the ranks are in a random order */
  CHECK(strstr(rankloom_proposal_reason(proposal), "box") != NULL);
  CHECK(rankloom_allocator_free_nodes(allocator) == 64); /* a proposal reserves nothing */

  options.prefer = "job";
  CHECK(rankloom_allocator_propose(allocator, exchange, &options, &rival) == RANKLOOM_OK);
  CHECK(strncmp(rankloom_proposal_reason(rival), "box 4x4", 7) == 0); /* the smallest bisection of all boxes */
  CHECK(rankloom_allocator_commit(allocator, proposal, &job) == RANKLOOM_OK);
  CHECK(rankloom_allocator_job(allocator, job, &info) == RANKLOOM_OK && info.nodes == 16 && info.isolated == 1);
  CHECK(rankloom_allocator_job_nodes(allocator, job, nodes, 16) == RANKLOOM_OK);
  CHECK(memcmp(nodes, rankloom_proposal_nodes(proposal), sizeof(nodes)) == 0);
  CHECK(rankloom_allocator_commit(allocator, proposal, &other) == RANKLOOM_WAIT && other == 0); /* its nodes are used */
  CHECK(rankloom_allocator_release(allocator, job) == RANKLOOM_OK);
  CHECK(rankloom_allocator_commit(allocator, proposal, &job) == RANKLOOM_OK);
  rankloom_proposal_free(rival);

  options.nodes = 64;
  rival = (rankloom_proposal*)&failures; /* must be set to NULL */
  CHECK(rankloom_allocator_propose(allocator, stencil, &options, &rival) == RANKLOOM_WAIT && rival == NULL);
  CHECK(rankloom_allocator_release(allocator, job) == RANKLOOM_OK);
  CHECK(rankloom_allocator_propose(allocator, stencil, &options, &rival) == RANKLOOM_OK);
  CHECK(rankloom_proposal_node_count(rival) == 64);
  rankloom_proposal_free(rival);
  rankloom_proposal_free(proposal);
  rankloom_graph_free(stencil);
  rankloom_graph_free(exchange);
  rankloom_allocator_free(allocator);
  rankloom_topology_free(topology);
}

static void proposes_within_the_time_limit(void) {
  rankloom_topology* topology = NULL;
  rankloom_allocator* allocator = NULL;
  rankloom_graph* graph = NULL;
  rankloom_proposal* proposal = NULL;
  rankloom_propose_options options;
  double seconds = 0;
  CHECK(rankloom_topology_load("torus:32x32 core:1", &topology) == RANKLOOM_OK);
  CHECK(rankloom_allocator_create(topology, NULL, NULL, &allocator) == RANKLOOM_OK);
  CHECK(rankloom_graph_load("gen:alltoall:ranks=512", NULL, NULL, &graph) == RANKLOOM_OK);
  CHECK(rankloom_propose_options_init(&options, RANKLOOM_PROPOSE_OPTIONS_SIZE) == RANKLOOM_OK);
  options.limit_ms = 2; /* not enough for the prediction of 261,632 pairs of ranks */
  CHECK(rankloom_allocator_propose(allocator, graph, &options, &proposal) == RANKLOOM_OK);
  CHECK(strstr(rankloom_proposal_reason(proposal), "too many for 2 ms") != NULL);
  CHECK(rankloom_proposal_node_count(proposal) == 512 && is_valid_proposal(topology, proposal));
  CHECK(rankloom_proposal_seconds(proposal, &seconds, NULL) == RANKLOOM_OK && isnan(seconds));
  rankloom_proposal_free(proposal);
  rankloom_graph_free(graph);
  rankloom_allocator_free(allocator);
  rankloom_topology_free(topology);
}

static void refuses_bad_proposals(void) {
  rankloom_topology* topology = NULL;
  rankloom_allocator* allocator = NULL;
  rankloom_allocator* second = NULL;
  rankloom_graph* graph = NULL;
  rankloom_proposal* proposal = NULL;
  rankloom_proposal* other = NULL;
  rankloom_propose_options options;
  uint64_t job = 0;
  CHECK(rankloom_topology_load("mesh:4x4 core:2", &topology) == RANKLOOM_OK);
  CHECK(rankloom_allocator_create(topology, NULL, NULL, &allocator) == RANKLOOM_OK);
  CHECK(rankloom_allocator_create(topology, NULL, NULL, &second) == RANKLOOM_OK);
  CHECK(rankloom_graph_load("gen:ring:ranks=8", NULL, NULL, &graph) == RANKLOOM_OK);
  CHECK(failed_with(rankloom_propose_options_init(NULL, RANKLOOM_PROPOSE_OPTIONS_SIZE), RANKLOOM_USAGE, "options"));
  const struct {
    rankloom_propose_options options;
    int status;
    const char* where;
  } wrong[] = {
      {{sizeof(options), 17, 0, NULL, 0, 50}, RANKLOOM_INFEASIBLE, "nodes"},
      {{sizeof(options), 3, 0, NULL, 0, 50}, RANKLOOM_INFEASIBLE, "nodes"}, /* 6 cores */
      {{sizeof(options), 0, 0, "everything", 0, 50}, RANKLOOM_USAGE, "prefer"},
      {{sizeof(options), 0, 0, NULL, 1.5, 50}, RANKLOOM_USAGE, "communication"},
      {{sizeof(options), 0, 0, NULL, NAN, 50}, RANKLOOM_USAGE, "communication"},
      {{sizeof(options), 0, 0, NULL, 0, -1}, RANKLOOM_USAGE, "limit_ms"},
      {{sizeof(options), 0, 0, NULL, 0, NAN}, RANKLOOM_USAGE, "limit_ms"},
      {{1, 0, 0, NULL, 0, 50}, RANKLOOM_USAGE, "options"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i)
    CHECK(failed_with(rankloom_allocator_propose(allocator, graph, &wrong[i].options, &proposal), wrong[i].status,
                      wrong[i].where) &&
          proposal == NULL);
  CHECK(failed_with(rankloom_allocator_propose(NULL, graph, NULL, &proposal), RANKLOOM_USAGE, "allocator"));
  CHECK(failed_with(rankloom_allocator_propose(allocator, NULL, NULL, &proposal), RANKLOOM_USAGE, "graph"));
  CHECK(failed_with(rankloom_allocator_propose(allocator, graph, NULL, NULL), RANKLOOM_USAGE, "proposal"));
  CHECK(rankloom_allocator_propose(allocator, graph, NULL, &proposal) == RANKLOOM_OK);
  CHECK(failed_with(rankloom_allocator_commit(second, proposal, &job), RANKLOOM_USAGE, "proposal"));
  CHECK(failed_with(rankloom_allocator_commit(allocator, NULL, &job), RANKLOOM_USAGE, "proposal"));
  CHECK(failed_with(rankloom_allocator_commit(allocator, proposal, NULL), RANKLOOM_USAGE, "job"));
  CHECK(rankloom_allocator_drain(allocator, rankloom_proposal_nodes(proposal)[0], 0) == RANKLOOM_OK);
  CHECK(rankloom_allocator_commit(allocator, proposal, &job) == RANKLOOM_WAIT && job == 0);
  CHECK(rankloom_allocator_propose(allocator, graph, NULL, &other) == RANKLOOM_OK);
  rankloom_allocator_free(allocator);
  CHECK(rankloom_proposal_node_count(proposal) == 4); /* a proposal does not refer to its allocator */
  CHECK(rankloom_proposal_node_count(NULL) == 0 && rankloom_proposal_ranks(NULL) == 0);
  CHECK(rankloom_proposal_nodes(NULL) == NULL && rankloom_proposal_cores(NULL) == NULL);
  CHECK(strcmp(rankloom_proposal_reason(NULL), "") == 0);
  CHECK(failed_with(rankloom_proposal_seconds(NULL, NULL, NULL), RANKLOOM_USAGE, "proposal"));
  rankloom_proposal_free(proposal);
  rankloom_proposal_free(other);
  rankloom_proposal_free(NULL);
  rankloom_allocator_free(second);
  rankloom_graph_free(graph);
  rankloom_topology_free(topology);
}

enum { shared_nodes = 36, schedulers = 4, rounds = 60 };

static struct {
  rankloom_allocator* allocator;
  rankloom_graph* graphs[schedulers];
  atomic_int jobs_on_node[shared_nodes];
  atomic_int mistakes, committed;
} shared;

/* Proposes, commits and releases jobs. A node that two jobs have at the same time is a mistake. */
static int schedule(void* number) {
  const rankloom_graph* graph = shared.graphs[*(const int*)number];
  for (int round = 0; round < rounds; ++round) {
    rankloom_proposal* proposal = NULL;
    uint64_t job = 0;
    int status = rankloom_allocator_propose(shared.allocator, graph, NULL, &proposal);
    if (status == RANKLOOM_OK) status = rankloom_allocator_commit(shared.allocator, proposal, &job);
    if (status == RANKLOOM_OK) {
      const uint32_t* nodes = rankloom_proposal_nodes(proposal);
      const uint32_t count = rankloom_proposal_node_count(proposal);
      ++shared.committed;
      for (uint32_t i = 0; i < count; ++i) shared.mistakes += atomic_fetch_add(&shared.jobs_on_node[nodes[i]], 1) != 0;
      thrd_yield();
      for (uint32_t i = 0; i < count; ++i) atomic_fetch_sub(&shared.jobs_on_node[nodes[i]], 1);
      status = rankloom_allocator_release(shared.allocator, job);
    }
    shared.mistakes += status != RANKLOOM_OK && status != RANKLOOM_WAIT;
    rankloom_proposal_free(proposal);
  }
  return 0;
}

static void several_threads_schedule_at_the_same_time(void) {
  static const char* const patterns[schedulers] = {"gen:ring:ranks=18", "gen:stencil2d:ranks=32",
                                                   "gen:alltoall:ranks=12", "gen:ring:ranks=8"};
  rankloom_topology* topology = NULL;
  thrd_t threads[schedulers];
  int numbers[schedulers];
  CHECK(rankloom_topology_load("torus:6x6 core:2", &topology) == RANKLOOM_OK);
  CHECK(rankloom_allocator_create(topology, NULL, NULL, &shared.allocator) == RANKLOOM_OK);
  for (int i = 0; i < schedulers; ++i) {
    numbers[i] = i;
    CHECK(rankloom_graph_load(patterns[i], NULL, NULL, &shared.graphs[i]) == RANKLOOM_OK);
  }
  for (int i = 0; i < schedulers; ++i) CHECK(thrd_create(&threads[i], schedule, &numbers[i]) == thrd_success);
  for (int i = 0; i < schedulers; ++i) CHECK(thrd_join(threads[i], NULL) == thrd_success);
  CHECK(shared.mistakes == 0 && shared.committed > schedulers);
  CHECK(rankloom_allocator_free_nodes(shared.allocator) == shared_nodes);
  for (int i = 0; i < schedulers; ++i) rankloom_graph_free(shared.graphs[i]);
  rankloom_allocator_free(shared.allocator);
  rankloom_topology_free(topology);
}

static void returns_node_names(void) {
  rankloom_topology* topology = NULL;
  char name[64] = "";
  char cut[3] = "";
  size_t length = 0, rows = 0;
  CHECK(rankloom_topology_load("node:2=5 core:2=1", &topology) == RANKLOOM_OK);
  CHECK(rankloom_topology_node_name(topology, 1, NULL, 0, &length) == RANKLOOM_OK && length > 2);
  CHECK(rankloom_topology_node_name(topology, 1, name, sizeof(name), NULL) == RANKLOOM_OK && strlen(name) == length);
  CHECK(rankloom_topology_node_name(topology, 1, cut, sizeof(cut), NULL) == RANKLOOM_OK && strncmp(cut, name, 2) == 0 &&
        cut[2] == '\0');
  CHECK(failed_with(rankloom_topology_node_name(topology, 2, name, sizeof(name), NULL), RANKLOOM_BAD_INPUT, "node"));
  rankloom_topology_free(topology);
  while (rankloom_mapper_name(rows) != NULL) ++rows;
  CHECK(rows >= 10 && strcmp(rankloom_mapper_name(0), "auto") == 0);
  rows = 0;
  while (rankloom_policy_name(rows) != NULL) ++rows;
  CHECK(rows >= 2);
}

static void refuses_bad_input(void) {
  rankloom_graph* graph = NULL;
  rankloom_topology* topology = NULL;
  rankloom_mapping* mapping = (rankloom_mapping*)&failures; /* must be set to NULL */
  rankloom_map_options options;
  const double negative[] = {1, 1, -1, 1, 1, 1};
  const double nan_bytes[] = {1, 1, NAN, 1, 1, 1};
  uint32_t cores[] = {0, 1, 2, 3, 4, 5, 6, 8};
  double cost = 0;
  CHECK(failed_with(rankloom_graph_from_edges(8, 6, NULL, to, bytes, NULL, &graph), RANKLOOM_USAGE, "from"));
  CHECK(failed_with(rankloom_graph_from_edges(8, 6, from, to, NULL, NULL, &graph), RANKLOOM_USAGE, "bytes"));
  CHECK(failed_with(rankloom_graph_from_edges(8, 6, from, to, bytes, NULL, NULL), RANKLOOM_USAGE, "graph"));
  CHECK(failed_with(rankloom_graph_from_edges(7, 6, from, to, bytes, NULL, &graph), RANKLOOM_BAD_INPUT, "to"));
  CHECK(failed_with(rankloom_graph_from_edges(8, 6, from, to, negative, NULL, &graph), RANKLOOM_BAD_INPUT, "bytes"));
  CHECK(failed_with(rankloom_graph_from_edges(8, 6, from, to, nan_bytes, NULL, &graph), RANKLOOM_BAD_INPUT, "bytes"));
  CHECK(
      failed_with(rankloom_graph_from_edges(8, 6, from, to, bytes, negative, &graph), RANKLOOM_BAD_INPUT, "messages"));
  CHECK(graph == NULL);
  CHECK(failed_with(rankloom_graph_load(NULL, NULL, NULL, &graph), RANKLOOM_USAGE, "profile"));
  CHECK(failed_with(rankloom_graph_load("/no/such/file", NULL, NULL, &graph), RANKLOOM_BAD_INPUT, "/no/such/file"));
  CHECK(rankloom_graph_load("gen:no-such-pattern", NULL, NULL, &graph) != RANKLOOM_OK);
  CHECK(failed_with(rankloom_graph_load("gen:groups", NULL, "sideways", &graph), RANKLOOM_USAGE, "collectives"));
  CHECK(failed_with(rankloom_graph_load("-", NULL, NULL, &graph), RANKLOOM_USAGE, "profile"));
  CHECK(rankloom_topology_load("no machine at all", &topology) != RANKLOOM_OK && topology == NULL);
  CHECK(failed_with(rankloom_topology_load(NULL, &topology), RANKLOOM_USAGE, "file_or_string"));

  CHECK(rankloom_graph_from_edges(8, 6, from, to, bytes, NULL, &graph) == RANKLOOM_OK);
  CHECK(failed_with(rankloom_map(graph, NULL, NULL, NULL, &mapping), RANKLOOM_USAGE, "topology") && mapping == NULL);
  CHECK(rankloom_topology_load("node:2=10 core:2=1", &topology) == RANKLOOM_OK);
  CHECK(rankloom_map(graph, topology, NULL, NULL, &mapping) == RANKLOOM_INFEASIBLE); /* 8 ranks, 4 cores */
  CHECK(rankloom_evaluate(graph, topology, cores, 8, NULL, &cost) == RANKLOOM_BAD_INPUT);
  CHECK(failed_with(rankloom_evaluate(graph, topology, cores, 7, NULL, &cost), RANKLOOM_BAD_INPUT, "mapping"));
  CHECK(failed_with(rankloom_evaluate(graph, topology, NULL, 8, NULL, &cost), RANKLOOM_USAGE, "cores"));
  rankloom_topology_free(topology);
  CHECK(rankloom_topology_load("node:4=10 core:2=1", &topology) == RANKLOOM_OK);
  CHECK(rankloom_map(graph, topology, "no-such-mapper", NULL, &mapping) == RANKLOOM_USAGE);
  CHECK(failed_with(rankloom_evaluate(graph, topology, cores, 8, NULL, &cost), RANKLOOM_BAD_INPUT,
                    "mapping")); /* core 8 */
  cores[7] = 7;
  CHECK(failed_with(rankloom_evaluate(graph, topology, cores, 8, "beauty", &cost), RANKLOOM_USAGE, "model"));
  CHECK(failed_with(rankloom_topology_distance(topology, 0, 8, &cost), RANKLOOM_BAD_INPUT, "core"));

  memset(&options, 0, sizeof(options)); /* not initialised: size 0 */
  CHECK(failed_with(rankloom_map(graph, topology, NULL, &options, &mapping), RANKLOOM_USAGE, "options"));
  CHECK(failed_with(rankloom_map_options_init(NULL, 8), RANKLOOM_USAGE, "options"));
  CHECK(failed_with(rankloom_map_options_init(&options, 1), RANKLOOM_USAGE, "size"));
  /* A program with an older, shorter struct: the rest has its defaults. */
  CHECK(rankloom_map_options_init(&options, offsetof(rankloom_map_options, threads)) == RANKLOOM_OK);
  options.threads = 5000; /* beyond what it says to have: not looked at */
  CHECK(rankloom_map(graph, topology, "block", &options, &mapping) == RANKLOOM_OK);
  rankloom_mapping_free(mapping);
  CHECK(rankloom_map_options_init(&options, RANKLOOM_MAP_OPTIONS_SIZE) == RANKLOOM_OK);
  options.imbalance = NAN;
  CHECK(failed_with(rankloom_map(graph, topology, NULL, &options, &mapping), RANKLOOM_USAGE, "imbalance"));
  options.imbalance = 0;
  options.migration_cost = 1;
  CHECK(failed_with(rankloom_map(graph, topology, NULL, &options, &mapping), RANKLOOM_USAGE, "migration_cost"));
  options.start = cores;
  options.start_ranks = 7;
  CHECK(failed_with(rankloom_map(graph, topology, NULL, &options, &mapping), RANKLOOM_BAD_INPUT, "mapping"));
  options.start_ranks = 8;
  CHECK(failed_with(rankloom_map(graph, topology, "block", &options, &mapping), RANKLOOM_USAGE, "start"));
  options.migration_cost = 0;
  options.start = NULL;
  options.effort = "heroic";
  CHECK(rankloom_map(graph, topology, NULL, &options, &mapping) == RANKLOOM_USAGE && mapping == NULL);
  rankloom_graph_free(graph);
  rankloom_topology_free(topology);

  rankloom_graph_free(NULL);
  rankloom_topology_free(NULL);
  rankloom_mapping_free(NULL);
  rankloom_allocator_free(NULL);
  CHECK(rankloom_graph_ranks(NULL) == 0 && rankloom_topology_cores(NULL) == 0 && rankloom_mapping_cores(NULL) == NULL);
  CHECK(failed_with(rankloom_allocator_release(NULL, 1), RANKLOOM_USAGE, "allocator"));
  CHECK(failed_with(rankloom_mapping_result(NULL, NULL), RANKLOOM_USAGE, "mapping"));
}

static int fail_elsewhere(void* unused) {
  rankloom_topology* topology = NULL;
  (void)unused;
  return rankloom_error()[0] == '\0' &&
         failed_with(rankloom_topology_load(NULL, &topology), RANKLOOM_USAGE, "file_or_string");
}

static void keeps_the_errors_of_threads_apart(void) {
  thrd_t thread;
  int as_expected = 0;
  CHECK(failed_with(rankloom_allocator_release(NULL, 1), RANKLOOM_USAGE, "allocator"));
  CHECK(thrd_create(&thread, fail_elsewhere, NULL) == thrd_success && thrd_join(thread, &as_expected) == thrd_success);
  CHECK(as_expected);
  CHECK(strcmp(rankloom_error_where(), "allocator") == 0);
}

int main(void) {
  CHECK(rankloom_abi_version() == RANKLOOM_ABI_VERSION);
  CHECK(rankloom_error()[0] == '\0');
  maps_communicating_ranks_onto_one_node();
  reads_patterns_and_counts_messages();
  allocates_nodes_to_jobs();
  proposes_nodes_and_a_mapping_for_the_traffic_of_a_job();
  proposes_within_the_time_limit();
  refuses_bad_proposals();
  several_threads_schedule_at_the_same_time();
  returns_node_names();
  refuses_bad_input();
  keeps_the_errors_of_threads_apart();
  if (failures == 0) printf("rankloom %s from C: all holds\n", rankloom_version());
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
