/* SPDX-License-Identifier: Apache-2.0
 *
 * rankloom.h: the C library of rankloom, for MPI libraries, schedulers and other programs that place processes.
 *
 * A graph describes the traffic between ranks, a topology describes the machine, and a mapping assigns a core to every
 * rank. An allocator selects nodes for several jobs at the same time.
 *
 * - Handles are opaque. Each type has its own rankloom_*_free, which accepts NULL. A graph or topology may be freed as
 * soon as no call uses it: mappings and allocators do not refer to it.
 * - Functions return a status, RANKLOOM_OK or another one, and store results through the pointers at the end of the
 * argument list. On failure these results are unchanged (handles: NULL). The library lets no C++ exception out, prints
 * nothing, and does not exit.
 * - Each thread has its last error: rankloom_error(), rankloom_error_where() and rankloom_error_hint().
 * - Graphs, topologies, mappings and proposals are immutable, and several threads may use them at the same time. So may
 * they use an allocator: its calls lock it, except that rankloom_allocator_propose computes without the lock.
 * - The same input, options and seed give the same mapping, independent of the number of threads.
 * - ABI: functions and fields are added but never changed. Structs begin with their size, so that programs built with
 * an older header continue to work. An incompatible change increments RANKLOOM_ABI_VERSION and the SONAME.
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

/* The ABI version of the loaded library; compare it with RANKLOOM_ABI_VERSION after dlopen. */
RANKLOOM_API int rankloom_abi_version(void);
/* "0.1.0" */
RANKLOOM_API const char* rankloom_version(void);

/* ---- status and errors ------------------------------------------------------------------------------------------ */

enum {
  RANKLOOM_OK = 0,
  RANKLOOM_WAIT = 1,       /* the job has to wait for free nodes; not an error */
  RANKLOOM_USAGE = 2,      /* an invalid argument, such as NULL or an unknown name */
  RANKLOOM_BAD_INPUT = 3,  /* a malformed file, string or array */
  RANKLOOM_INFEASIBLE = 4, /* the problem has no solution, such as more ranks than slots */
  RANKLOOM_ENVIRONMENT = 5 /* a file, a permission or memory is missing */
};

/* The last failed call of this thread; "" if none failed. Valid until the next call that fails in this thread. */
RANKLOOM_API const char* rankloom_error(void);       /* what went wrong */
RANKLOOM_API const char* rankloom_error_where(void); /* "file", "file:12", or the name of an argument */
RANKLOOM_API const char* rankloom_error_hint(void);  /* a remedy */

/* ---- traffic ---------------------------------------------------------------------------------------------------- */

typedef struct rankloom_graph rankloom_graph;

/* Loads a file in any format of `rankloom list formats`, or "gen:PATTERN". format: NULL detects it from the content.
 * collectives: how collective operations are expanded into messages: "none", "logical", "tree", "flat", "openmpi",
 * "openmpi5", "mpich", or "auto" (NULL): by the MPI library that was recorded. */
RANKLOOM_API int rankloom_graph_load(const char* profile, const char* format, const char* collectives,
                                     rankloom_graph** graph);
/* Edge i: from[i] sends bytes[i] in messages[i] messages to to[i]. messages: NULL if unknown. The edges may have any
 * order; repeated pairs are added, and messages of a rank to itself are ignored. */
RANKLOOM_API int rankloom_graph_from_edges(uint32_t ranks, size_t edges, const uint32_t* from, const uint32_t* to,
                                           const double* bytes, const double* messages, rankloom_graph** graph);
RANKLOOM_API uint32_t rankloom_graph_ranks(const rankloom_graph* graph); /* 0 for NULL */
RANKLOOM_API uint64_t rankloom_graph_edges(const rankloom_graph* graph); /* ordered pairs with traffic */
RANKLOOM_API void rankloom_graph_free(rankloom_graph* graph);

/* ---- machine ---------------------------------------------------------------------------------------------------- */

typedef struct rankloom_topology rankloom_topology;

/* Loads a topology file or a string such as "switch:2=4.1 node:6=3.7 core:16=1", as the option -t does. */
RANKLOOM_API int rankloom_topology_load(const char* file_or_string, rankloom_topology** topology);
RANKLOOM_API uint32_t rankloom_topology_cores(const rankloom_topology* topology);
RANKLOOM_API uint32_t rankloom_topology_nodes(const rankloom_topology* topology);
/* The node of a core, and the number of the core in the operating system of the node. Either pointer may be NULL. */
RANKLOOM_API int rankloom_topology_locate(const rankloom_topology* topology, uint32_t core, uint32_t* node,
                                          uint32_t* os_index);
/* Copies the null-terminated name of a node into a buffer of `size` bytes, truncated if necessary. *length is the
 * length of the full name without the terminator. length may be NULL; name may be NULL if size is 0. */
RANKLOOM_API int rankloom_topology_node_name(const rankloom_topology* topology, uint32_t node, char* name, size_t size,
                                             size_t* length);
/* The cost of a byte between two cores, which the model "bytes" multiplies with the traffic. */
RANKLOOM_API int rankloom_topology_distance(const rankloom_topology* topology, uint32_t from, uint32_t to,
                                            double* distance);
RANKLOOM_API void rankloom_topology_free(rankloom_topology* topology);

/* ---- mapping ---------------------------------------------------------------------------------------------------- */

/* Initialise it by rankloom_map_options_init before changing fields. */
typedef struct rankloom_map_options {
  size_t size;           /* of this struct in the header that the caller was compiled with */
  uint64_t seed;         /* 0 */
  uint64_t budget_ms;    /* soft time limit; the best mapping found by then is returned. 0: none */
  uint32_t threads;      /* maximum number of threads; 0: all cores */
  int32_t oversubscribe; /* allow several ranks per core if there are more ranks than slots. 0 */
  double imbalance;      /* with oversubscribe: relative excess over the average per core that is allowed. 0 */
  const char* effort;    /* "fast", "balanced", "best", for the mapper auto; NULL: its default */
  const char* model;     /* a row of `rankloom list models`; NULL: "predicted"; "bytes" on a distance matrix */
  const uint32_t* start; /* initial core of every rank, for mappers that support it; NULL: none */
  size_t start_ranks;    /* number of entries of start */
  double migration_cost; /* cost of each rank that is moved away from its core in start. 0 */
  int32_t keep_worse;    /* return a result even if it costs more than the default placement. 0 */
  int32_t lower_bound;   /* compute a lower bound of the cost. 0: only if the mapper provides one anyway */
} rankloom_map_options;

#define RANKLOOM_MAP_OPTIONS_SIZE sizeof(rankloom_map_options)

/* Sets all defaults. size: RANKLOOM_MAP_OPTIONS_SIZE. */
RANKLOOM_API int rankloom_map_options_init(rankloom_map_options* options, size_t size);

typedef struct rankloom_mapping rankloom_mapping;

/* mapper: a name of `rankloom list mappers`, with options after a colon: "auto", "pair-exchange:tries=1000"; NULL:
 * "auto". options: NULL for all defaults. The result is validated and never costs more than the default placement of
 * launchers, unless keep_worse is set. */
RANKLOOM_API int rankloom_map(const rankloom_graph* graph, const rankloom_topology* topology, const char* mapper,
                              const rankloom_map_options* options, rankloom_mapping** mapping);
RANKLOOM_API uint32_t rankloom_mapping_ranks(const rankloom_mapping* mapping);
/* The core of every rank; valid as long as the mapping. */
RANKLOOM_API const uint32_t* rankloom_mapping_cores(const rankloom_mapping* mapping);

typedef struct rankloom_map_result {
  size_t size; /* set it to sizeof(rankloom_map_result) before the call */
  double cost;
  double cost_default; /* of the default placement of launchers */
  double lower_bound;  /* no placement costs less; NaN: unknown */
  double time_ms;      /* run time of the algorithm */
  int32_t fell_back;   /* no better mapping was found, so the mapping is the default placement */
  int32_t reserved;
} rankloom_map_result;

RANKLOOM_API int rankloom_mapping_result(const rankloom_mapping* mapping, rankloom_map_result* result);
/* A remark for users, such as "proved optimal"; may be "". */
RANKLOOM_API const char* rankloom_mapping_note(const rankloom_mapping* mapping);
RANKLOOM_API void rankloom_mapping_free(rankloom_mapping* mapping);

/* The cost of any placement: cores[r] is the core of rank r. model: as in rankloom_map_options. */
RANKLOOM_API int rankloom_evaluate(const rankloom_graph* graph, const rankloom_topology* topology,
                                   const uint32_t* cores, size_t ranks, const char* model, double* cost);

/* The names of mappers and policies; NULL after the last one. */
RANKLOOM_API const char* rankloom_mapper_name(size_t row);
RANKLOOM_API const char* rankloom_policy_name(size_t row);

/* ---- allocation of nodes to jobs -------------------------------------------------------------------------------- */

typedef struct rankloom_allocator rankloom_allocator;

/* policy: a name of `rankloom list policies`; NULL: "closed-best". exclusive: the resources that two jobs must not
 * share, "routers" or "links"; NULL: the default of the network. */
RANKLOOM_API int rankloom_allocator_create(const rankloom_topology* topology, const char* policy, const char* exclusive,
                                           rankloom_allocator** allocator);
/* Allocates nodes to a job until the job is released. RANKLOOM_WAIT: not possible now, and nothing has changed. policy:
 * NULL for that of the allocator. fallback: what to do if the policy finds no nodes: "wait" (NULL), "diameter" or
 * "closed". */
RANKLOOM_API int rankloom_allocator_request(rankloom_allocator* allocator, uint32_t nodes, const char* policy,
                                            const char* fallback, uint64_t* job);

typedef struct rankloom_job_info {
  size_t size; /* set it to sizeof(rankloom_job_info) before the call */
  uint32_t nodes;
  uint32_t reserved_nodes; /* additional nodes that no other job may use */
  uint32_t diameter;       /* largest number of hops between two of the nodes */
  int32_t isolated;        /* no other job used the same routers or links when the nodes were selected */
} rankloom_job_info;

RANKLOOM_API int rankloom_allocator_job(const rankloom_allocator* allocator, uint64_t job, rankloom_job_info* info);
/* The nodes of the job in increasing order, at most `capacity` of them. */
RANKLOOM_API int rankloom_allocator_job_nodes(const rankloom_allocator* allocator, uint64_t job, uint32_t* nodes,
                                              size_t capacity);
RANKLOOM_API int rankloom_allocator_release(rankloom_allocator* allocator, uint64_t job);
/* A drained node accepts no new job. A failed node (failed != 0) does not route messages either, if it is its own
 * router. */
RANKLOOM_API int rankloom_allocator_drain(rankloom_allocator* allocator, uint32_t node, int failed);
RANKLOOM_API int rankloom_allocator_resume(rankloom_allocator* allocator, uint32_t node);

/* ---- nodes and mapping of a job with known traffic -------------------------------------------------------------- */

/* Initialise it by rankloom_propose_options_init before changing fields. */
typedef struct rankloom_propose_options {
  size_t size;          /* of this struct in the header that the caller was compiled with */
  uint32_t nodes;       /* 0: as many as the ranks need */
  uint32_t reserved;    /* 0 */
  const char* prefer;   /* "balanced", "job" or "packing", as `alloc request --prefer`; NULL: "balanced" */
  double communication; /* the part of the run time that is communication; 0: 0.3 */
  double limit_ms;      /* time limit of the call; the best found by then is returned. 50; 0: none */
} rankloom_propose_options;

#define RANKLOOM_PROPOSE_OPTIONS_SIZE sizeof(rankloom_propose_options)

/* Sets all defaults. size: RANKLOOM_PROPOSE_OPTIONS_SIZE. */
RANKLOOM_API int rankloom_propose_options_init(rankloom_propose_options* options, size_t size);

typedef struct rankloom_proposal rankloom_proposal;

/* Chooses isolated nodes for a job by the policy closed-fit, and maps its ranks onto them. Nothing is reserved: commit
 * the proposal. RANKLOOM_WAIT: no nodes now. graph: from a profile, from edges, or from a pattern such as
 * "gen:stencil2d:ranks=64"; options: NULL for all defaults. */
RANKLOOM_API int rankloom_allocator_propose(const rankloom_allocator* allocator, const rankloom_graph* graph,
                                            const rankloom_propose_options* options, rankloom_proposal** proposal);
RANKLOOM_API uint32_t rankloom_proposal_node_count(const rankloom_proposal* proposal);
/* The nodes in increasing order; valid as long as the proposal. */
RANKLOOM_API const uint32_t* rankloom_proposal_nodes(const rankloom_proposal* proposal);
RANKLOOM_API uint32_t rankloom_proposal_ranks(const rankloom_proposal* proposal);
/* The core of every rank; valid as long as the proposal. */
RANKLOOM_API const uint32_t* rankloom_proposal_cores(const rankloom_proposal* proposal);
/* "box 2x8: predicted run time 31 % below box 4x4, same packing" */
RANKLOOM_API const char* rankloom_proposal_reason(const rankloom_proposal* proposal);
/* The predicted communication time, and that of the default placement of launchers on the same nodes; NaN: not
 * computed within the time limit. Either pointer may be NULL. */
RANKLOOM_API int rankloom_proposal_seconds(const rankloom_proposal* proposal, double* seconds, double* seconds_default);
/* Starts a job on the proposed nodes. RANKLOOM_WAIT: another job has taken some of them, or links that they use, since
 * the proposal was made; propose again. A proposal may be committed again after its job was released. */
RANKLOOM_API int rankloom_allocator_commit(rankloom_allocator* allocator, const rankloom_proposal* proposal,
                                           uint64_t* job);
RANKLOOM_API void rankloom_proposal_free(rankloom_proposal* proposal);

RANKLOOM_API uint32_t rankloom_allocator_free_nodes(const rankloom_allocator* allocator);
RANKLOOM_API void rankloom_allocator_free(rankloom_allocator* allocator);

#ifdef __cplusplus
}
#endif

#endif
