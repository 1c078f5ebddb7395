/* SPDX-License-Identifier: Apache-2.0
 * Every regular collective, with different sizes. The first argument is the kind of call: "blocking", "in-place",
 * "nonblocking" or "nonblocking-in-place", and with MPI-4 "large" and "persistent". The recorded calls and the results
 * are the same for all kinds. 4 ranks; MPI_COMM_WORLD, and its even and odd ranks in reverse order. */
#include "program.h"

#define NONBLOCKING(call, ...)             \
  do {                                     \
    MPI_Request request;                   \
    call(__VA_ARGS__, &request);           \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  } while (0)
#define PERSISTENT(call, ...)                   \
  do {                                          \
    MPI_Request request;                        \
    call(__VA_ARGS__, MPI_INFO_NULL, &request); \
    MPI_Start(&request);                        \
    MPI_Wait(&request, MPI_STATUS_IGNORE);      \
    MPI_Request_free(&request);                 \
  } while (0)

static int nonblocking, in_place, large, persistent;

/* A kind of calls that this MPI library does not have must not pass as another one. */
#define MISSING(name)                                    \
  do {                                                   \
    fprintf(stderr, "this kind of " #name " missing\n"); \
    MPI_Abort(MPI_COMM_WORLD, 2);                        \
  } while (0)
#ifdef PERSISTENT_COLLECTIVES
#define CALL_PERSISTENT(name, ...) PERSISTENT(MPI_##name##_init, __VA_ARGS__)
#else
#define CALL_PERSISTENT(name, ...) MISSING(name)
#endif
#ifdef LARGE_COUNTS
#define CALL_LARGE(name, ...)                    \
  do {                                           \
    if (nonblocking) {                           \
      NONBLOCKING(MPI_I##name##_c, __VA_ARGS__); \
    } else {                                     \
      MPI_##name##_c(__VA_ARGS__);               \
    }                                            \
  } while (0)
#else
#define CALL_LARGE(name, ...) MISSING(name)
#endif

#define CALL(name, ...)                      \
  do {                                       \
    if (persistent) {                        \
      CALL_PERSISTENT(name, __VA_ARGS__);    \
    } else if (large) {                      \
      CALL_LARGE(name, __VA_ARGS__);         \
    } else if (nonblocking) {                \
      NONBLOCKING(MPI_I##name, __VA_ARGS__); \
    } else {                                 \
      MPI_##name(__VA_ARGS__);               \
    }                                        \
  } while (0)
/* Names of nonblocking functions have a lower-case letter after I. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IGather MPI_Igather
#define MPI_IScatter MPI_Iscatter
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IBcast_c MPI_Ibcast_c
#define MPI_IReduce_c MPI_Ireduce_c
#define MPI_IAllreduce_c MPI_Iallreduce_c
#define MPI_IGather_c MPI_Igather_c
#define MPI_IScatter_c MPI_Iscatter_c
#define MPI_IAllgather_c MPI_Iallgather_c
#define MPI_IAlltoall_c MPI_Ialltoall_c
#define MPI_IReduce_scatter_block_c MPI_Ireduce_scatter_block_c
#define MPI_IScan_c MPI_Iscan_c
#define MPI_IExscan_c MPI_Iexscan_c

static int work[4096], result[4096];

/* The send buffer of this rank, and the receive buffer. */
static void prepare(void) {
  for (int i = 0; i < 4096; ++i) work[i] = 1000 * rank + i;
  memset(result, 0, sizeof result);
}

static void barrier(MPI_Comm comm) {
#ifdef PERSISTENT_COLLECTIVES
  if (persistent) {
    PERSISTENT(MPI_Barrier_init, comm);
    return;
  }
#endif
  if (nonblocking) {
    NONBLOCKING(MPI_Ibarrier, comm);
  } else {
    MPI_Barrier(comm);
  }
}

/* All collectives, distinguished by their sizes: 1 + base, 2 + base, … ints. */
static void all(MPI_Comm comm, int root, int base) {
  int local, members;
  MPI_Comm_rank(comm, &local);
  MPI_Comm_size(comm, &members);
  const int n = base;
  barrier(comm);

  prepare();
  CALL(Bcast, work, n + 1, MPI_INT, root, comm);
  take(work, sizeof work);

  prepare();
  if (in_place && local == root) {
    memcpy(result, work, sizeof result);
    CALL(Reduce, MPI_IN_PLACE, result, n + 2, MPI_INT, MPI_SUM, root, comm);
  } else {
    CALL(Reduce, work, result, n + 2, MPI_INT, MPI_SUM, root, comm);
  }
  if (local == root) take(result, sizeof(int) * (n + 2));

  prepare();
  if (in_place && local == root) {
    memcpy(result + local * (n + 3), work, sizeof(int) * (n + 3));
    CALL(Gather, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, result, n + 3, MPI_INT, root, comm);
  } else if (local == root) {
    CALL(Gather, work, n + 3, MPI_INT, result, n + 3, MPI_INT, root, comm);
  } else { /* arguments that are significant only at the root are invalid elsewhere */
    CALL(Gather, work, n + 3, MPI_INT, NULL, -7, MPI_DATATYPE_NULL, root, comm);
  }
  if (local == root) take(result, sizeof(int) * (n + 3) * members);

  prepare();
  if (in_place && local == root) {
    CALL(Scatter, work, n + 4, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm);
    memcpy(result, work + local * (n + 4), sizeof(int) * (n + 4));
  } else if (local == root) {
    CALL(Scatter, work, n + 4, MPI_INT, result, n + 4, MPI_INT, root, comm);
  } else {
    CALL(Scatter, NULL, -7, MPI_DATATYPE_NULL, result, n + 4, MPI_INT, root, comm);
  }
  take(result, sizeof result);

  prepare();
  if (in_place) {
    memcpy(result, work, sizeof result);
    CALL(Allreduce, MPI_IN_PLACE, result, n + 5, MPI_INT, MPI_SUM, comm);
  } else {
    CALL(Allreduce, work, result, n + 5, MPI_INT, MPI_SUM, comm);
  }
  take(result, sizeof(int) * (n + 5));

  prepare();
  if (in_place) {
    memcpy(result + local * (n + 6), work, sizeof(int) * (n + 6));
    CALL(Allgather, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, result, n + 6, MPI_INT, comm);
  } else {
    CALL(Allgather, work, n + 6, MPI_INT, result, n + 6, MPI_INT, comm);
  }
  take(result, sizeof(int) * (n + 6) * members);

  prepare();
  if (in_place) {
    memcpy(result, work, sizeof result);
    CALL(Alltoall, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, result, n + 7, MPI_INT, comm);
  } else {
    CALL(Alltoall, work, n + 7, MPI_INT, result, n + 7, MPI_INT, comm);
  }
  take(result, sizeof(int) * (n + 7) * members);

  prepare();
  if (in_place) {
    memcpy(result, work, sizeof result);
    CALL(Reduce_scatter_block, MPI_IN_PLACE, result, n + 8, MPI_INT, MPI_SUM, comm);
  } else {
    CALL(Reduce_scatter_block, work, result, n + 8, MPI_INT, MPI_SUM, comm);
  }
  take(result, sizeof(int) * (n + 8));

  prepare();
  if (in_place) {
    memcpy(result, work, sizeof result);
    CALL(Scan, MPI_IN_PLACE, result, n + 9, MPI_INT, MPI_SUM, comm);
  } else {
    CALL(Scan, work, result, n + 9, MPI_INT, MPI_SUM, comm);
  }
  take(result, sizeof(int) * (n + 9));

  prepare();
  if (in_place) {
    memcpy(result, work, sizeof result);
    CALL(Exscan, MPI_IN_PLACE, result, n + 10, MPI_INT, MPI_SUM, comm);
  } else {
    CALL(Exscan, work, result, n + 10, MPI_INT, MPI_SUM, comm);
  }
  if (local > 0) take(result, sizeof(int) * (n + 10));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 1; i < argc; ++i) {
    nonblocking |= strcmp(argv[i], "nonblocking") == 0;
    in_place |= strcmp(argv[i], "in-place") == 0;
    large |= strcmp(argv[i], "large") == 0;
    persistent |= strcmp(argv[i], "persistent") == 0;
  }
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  all(MPI_COMM_WORLD, 2, 100);
  all(MPI_COMM_WORLD, 2, 100);
  all(half, 1, 200);
  MPI_Comm_free(&half);
  return finish();
}
