/* SPDX-License-Identifier: Apache-2.0
 *
 * rankloom.h: rankloom as a C library, for MPI libraries, schedulers and whoever else decides where processes run.
 *
 * In one breath: who talks to whom (a graph), what is near what (a topology), who should sit where (a mapping); and, for
 * schedulers, nodes for several jobs at once (an allocator).
 *
 * - Handles are opaque; each is freed by its own rankloom_*_free, which takes NULL. A graph or topology may be freed as
 *   soon as no call is using it: mappings and allocators keep what they need.
 * - Functions return a status, RANKLOOM_OK or one of the others, and hand results out by the pointers at the end of the
 *   argument list, which are left alone (handles: set to NULL) on failure. No C++ exception leaves the library, nothing
 *   is printed, nothing exits.
 * - What went wrong, where, and what to do about it is kept for each thread: rankloom_error() and its sisters.
 * - Graphs, topologies and mappings never change and may be used by many threads at once; an allocator by one at a time.
 * - Same input, options and seed: same mapping, whatever the number of threads.
 * - The ABI: functions and fields are added, never changed. Structs begin with their size, so that programs built with an
 *   older header go on; a change that breaks them changes RANKLOOM_ABI_VERSION and the SONAME.
 */
#ifndef RANKLOOM_H
#define RANKLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RANKLOOM_API __attribute__((visibility("default")))
#else
#define RANKLOOM_API
#endif

#define RANKLOOM_ABI_VERSION 1

/* The ABI of the library that is loaded; compare it with RANKLOOM_ABI_VERSION after dlopen. */
RANKLOOM_API int rankloom_abi_version(void);
/* "0.1.0" */
RANKLOOM_API const char* rankloom_version(void);

/* ---- status and errors ------------------------------------------------------------------------------------------ */

enum {
  RANKLOOM_OK = 0,
  RANKLOOM_WAIT = 1,        /* no place for this job now; no error */
  RANKLOOM_USAGE = 2,       /* the call is wrong: a NULL, a word that is not known */
  RANKLOOM_BAD_INPUT = 3,   /* a file, string or array does not say what it should */
  RANKLOOM_INFEASIBLE = 4,  /* the question has no answer, such as more ranks than places */
  RANKLOOM_ENVIRONMENT = 5  /* the machine lacks something: a file, a permission, memory */
};

/* Of the last call in this thread that failed; "" when none did. Valid until the next call that fails in this thread. */
RANKLOOM_API const char* rankloom_error(void);       /* what went wrong */
RANKLOOM_API const char* rankloom_error_where(void); /* "file", "file:12", or the name of an argument */
RANKLOOM_API const char* rankloom_error_hint(void);  /* a remedy */

/* ---- who talks to whom ------------------------------------------------------------------------------------------ */

typedef struct rankloom_graph rankloom_graph;

/* A file of any format of `rankloom list formats`, or "gen:PATTERN". format: NULL, the content tells. collectives: how
 * collective operations become traffic between pairs: "none", "logical", "tree" (NULL), "flat". */
RANKLOOM_API int rankloom_graph_load(const char* profile, const char* format, const char* collectives,
                                     rankloom_graph** graph);
/* Edge i: from[i] sends bytes[i] in messages[i] messages to to[i]. messages: NULL, not known. In any order; repeated
 * pairs are added up, what a rank sends to itself is left out. */
RANKLOOM_API int rankloom_graph_from_edges(uint32_t ranks, size_t edges, const uint32_t* from, const uint32_t* to,
                                           const double* bytes, const double* messages, rankloom_graph** graph);
RANKLOOM_API uint32_t rankloom_graph_ranks(const rankloom_graph* graph); /* 0 for NULL */
RANKLOOM_API uint64_t rankloom_graph_edges(const rankloom_graph* graph); /* ordered pairs that talk */
RANKLOOM_API void rankloom_graph_free(rankloom_graph* graph);

/* ---- what is near what ------------------------------------------------------------------------------------------ */

typedef struct rankloom_topology rankloom_topology;

/* What every -t takes: a topology file, or a string such as "switch:2=4.1 node:6=3.7 core:16=1". */
RANKLOOM_API int rankloom_topology_load(const char* file_or_string, rankloom_topology** topology);
RANKLOOM_API uint32_t rankloom_topology_cores(const rankloom_topology* topology);
RANKLOOM_API uint32_t rankloom_topology_nodes(const rankloom_topology* topology);
/* Which node holds the core, and the number by which that node's operating system knows the core. Either may be NULL. */
RANKLOOM_API int rankloom_topology_locate(const rankloom_topology* topology, uint32_t core, uint32_t* node,
                                          uint32_t* os_index);
/* The node's name with its end mark. *length is the name's length without it; a buffer of another *length + 1 bytes holds
 * it. A buffer that is too small is filled as far as it goes. length may be NULL; so may name, when size is 0. */
RANKLOOM_API int rankloom_topology_node_name(const rankloom_topology* topology, uint32_t node, char* name, size_t size,
                                             size_t* length);
/* Of a byte between two cores: what the model "bytes" multiplies traffic with. */
RANKLOOM_API int rankloom_topology_distance(const rankloom_topology* topology, uint32_t from, uint32_t to,
                                            double* distance);
RANKLOOM_API void rankloom_topology_free(rankloom_topology* topology);

/* ---- who should sit where --------------------------------------------------------------------------------------- */

/* Fill it by rankloom_map_options_init, then change what you like. */
typedef struct rankloom_map_options {
  size_t size;            /* of this struct as your program knows it */
  uint64_t seed;          /* 0 */
  uint64_t budget_ms;     /* soft time limit; the best mapping found by then is kept. 0: none */
  uint32_t threads;       /* at most; 0: all cores */
  int32_t oversubscribe;  /* allow several ranks on a core when there are more ranks than places. 0 */
  double imbalance;       /* then: how much more than its fair share a core may hold. 0 */
  const char* effort;     /* "fast", "balanced", "best", for the mapper auto; NULL: its default */
  const char* model;      /* a row of `rankloom list models`; NULL: "bytes" */
  const uint32_t* start;  /* a core for every rank to begin from, for mappers that take it; NULL: none */
  size_t start_ranks;     /* how many */
  double move_price;      /* cost of each rank that leaves its core of start. 0 */
  int32_t keep_worse;     /* hand out a result that costs more than the launcher's order. 0 */
  int32_t lower_bound;    /* say how low the cost can be at best. 0: only if the mapper knows anyway */
} rankloom_map_options;

#define RANKLOOM_MAP_OPTIONS_SIZE sizeof(rankloom_map_options)

/* Defaults. size: RANKLOOM_MAP_OPTIONS_SIZE. */
RANKLOOM_API int rankloom_map_options_init(rankloom_map_options* options, size_t size);

typedef struct rankloom_mapping rankloom_mapping;

/* mapper: a row of `rankloom list mappers`, with options after a colon: "auto", "pair-exchange:tries=1000"; NULL: "auto".
 * options: NULL, all defaults. The result is checked and never costs more than the launcher's order (but see keep_worse). */
RANKLOOM_API int rankloom_map(const rankloom_graph* graph, const rankloom_topology* topology, const char* mapper,
                              const rankloom_map_options* options, rankloom_mapping** mapping);
RANKLOOM_API uint32_t rankloom_mapping_ranks(const rankloom_mapping* mapping);
/* The core of every rank; lives as long as the mapping. */
RANKLOOM_API const uint32_t* rankloom_mapping_cores(const rankloom_mapping* mapping);

typedef struct rankloom_map_result {
  size_t size; /* set it to sizeof(rankloom_map_result) before the call */
  double cost;
  double cost_default; /* of the launcher's order */
  double lower_bound;  /* no placement costs less; not a number: not known */
  double time_ms;      /* of the algorithm alone */
  int32_t fell_back;   /* nothing better than the launcher's order was found, and that is the mapping */
  int32_t reserved;
} rankloom_map_result;

RANKLOOM_API int rankloom_mapping_result(const rankloom_mapping* mapping, rankloom_map_result* result);
/* What a person should know of it, such as "proved optimal"; "" when there is nothing. */
RANKLOOM_API const char* rankloom_mapping_note(const rankloom_mapping* mapping);
RANKLOOM_API void rankloom_mapping_free(rankloom_mapping* mapping);

/* The cost of any placement, yours too: cores[r] is the core of rank r. model: NULL, "bytes". */
RANKLOOM_API int rankloom_evaluate(const rankloom_graph* graph, const rankloom_topology* topology, const uint32_t* cores,
                                   size_t ranks, const char* model, double* cost);

/* The tables; NULL behind the last row. */
RANKLOOM_API const char* rankloom_mapper_name(size_t row);
RANKLOOM_API const char* rankloom_policy_name(size_t row);

/* ---- nodes for several jobs ------------------------------------------------------------------------------------- */

typedef struct rankloom_allocator rankloom_allocator;

/* policy: a row of `rankloom list policies`; NULL: "closed-best". exclusive: what two jobs must not share, "routers" or
 * "links"; NULL: what suits the network. */
RANKLOOM_API int rankloom_allocator_create(const rankloom_topology* topology, const char* policy, const char* exclusive,
                                           rankloom_allocator** allocator);
/* Nodes for a job, held until it is released. RANKLOOM_WAIT: there is no place now, and nothing has changed. policy:
 * NULL, the allocator's. fallback: what to do when there is no place, "wait" (NULL), "diameter" or "closed". */
RANKLOOM_API int rankloom_allocator_request(rankloom_allocator* allocator, uint32_t nodes, const char* policy,
                                            const char* fallback, uint64_t* job);

typedef struct rankloom_job_info {
  size_t size; /* set it to sizeof(rankloom_job_info) before the call */
  uint32_t nodes;
  uint32_t kept;     /* nodes beside these that nobody else may have meanwhile */
  uint32_t diameter; /* hops between the two that are farthest apart */
  int32_t closed;    /* when it was chosen, no other job passed what this one passes */
} rankloom_job_info;

RANKLOOM_API int rankloom_allocator_job(const rankloom_allocator* allocator, uint64_t job, rankloom_job_info* info);
/* The job's nodes in rising order, at most `room` of them. */
RANKLOOM_API int rankloom_allocator_job_nodes(const rankloom_allocator* allocator, uint64_t job, uint32_t* nodes,
                                              size_t room);
RANKLOOM_API int rankloom_allocator_release(rankloom_allocator* allocator, uint64_t job);
/* A drained node takes no new job; a failed one (failed != 0) passes nothing on either, where it is its own router. */
RANKLOOM_API int rankloom_allocator_drain(rankloom_allocator* allocator, uint32_t node, int failed);
RANKLOOM_API int rankloom_allocator_resume(rankloom_allocator* allocator, uint32_t node);
RANKLOOM_API uint32_t rankloom_allocator_free_nodes(const rankloom_allocator* allocator);
RANKLOOM_API void rankloom_allocator_free(rankloom_allocator* allocator);

#ifdef __cplusplus
}
#endif

#endif
