/* SPDX-License-Identifier: Apache-2.0
 * Cases with collectives, communicators and one-sided communication. */
#pragma once

#include "cases.h"

static void barriers(void) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_SELF);
}
static void broadcasts(void) {
  for (int root = 0; root < size; ++root) {
    memcpy(in, out, 64);
    MPI_Bcast(in, 16, MPI_INT, root, MPI_COMM_WORLD);
    take(in, 64);
  }
  MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
}
static void in_place(void) {
  unsigned value[8], all[8] = {0};
  for (int i = 0; i < 8; ++i) value[i] = (unsigned)(rank + i);
  MPI_Allreduce(MPI_IN_PLACE, value, 2, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  take(value, sizeof value);
  MPI_Reduce(rank == 1 ? MPI_IN_PLACE : value, rank == 1 ? value : NULL, 2, MPI_UNSIGNED, MPI_MAX, 1, MPI_COMM_WORLD);
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : value, 1, MPI_UNSIGNED, rank == 0 ? all : NULL, rank == 0 ? 1 : -1,
             rank == 0 ? MPI_UNSIGNED : MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  take(all, sizeof all);
  MPI_Scatter(rank == 0 ? all : NULL, rank == 0 ? 1 : -1, rank == 0 ? MPI_UNSIGNED : MPI_DATATYPE_NULL,
              rank == 0 ? MPI_IN_PLACE : value, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  value[rank] = (unsigned)rank;
  MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, value, 1, MPI_UNSIGNED, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, value, (int[]){1, 1, 1, 1}, (int[]){0, 1, 2, 3}, MPI_UNSIGNED,
                 MPI_COMM_WORLD);
  take(value, sizeof value);
  MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, value, 1, MPI_UNSIGNED, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, value, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(MPI_IN_PLACE, value, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(MPI_IN_PLACE, value, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  take(value, sizeof value);
}
static void alltoallv_in_place(void) {
  int counts[] = {1, 1, 1, 1}, places[] = {0, 1, 2, 3};
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) expect_pair(i, 4);
  MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, (int[]){0, 4, 8, 12}, types, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) expect_pair(i, 4);
  take(in, 16);
}
static void uneven_collectives(void) {
  int counts[4], places[4], recvcounts[4], recvplaces[4];
  for (int i = 0; i < 4; ++i) {
    counts[i] = i == rank ? 0 : rank + 1; /* to i */
    recvcounts[i] = i == rank ? 0 : i + 1;
    places[i] = recvplaces[i] = 10 * i;
  }
  MPI_Alltoallv(out, counts, places, MPI_INT, in, recvcounts, recvplaces, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) expect_pair(i, 4 * counts[i]);
  take(in, 160);
  int of_root[] = {1, 2, 3, 4};
  MPI_Gatherv(out, rank + 1, MPI_INT, in, rank == 2 ? of_root : NULL, rank == 2 ? places : NULL,
              rank == 2 ? MPI_INT : MPI_DATATYPE_NULL, 2, MPI_COMM_WORLD);
  expect_pair(2, 4 * (rank + 1));
  if (rank == 2) take(in, 160);
  MPI_Scatterv(out, rank == 1 ? of_root : NULL, rank == 1 ? places : NULL, rank == 1 ? MPI_INT : MPI_DATATYPE_NULL, in,
               rank + 1, MPI_INT, 1, MPI_COMM_WORLD);
  if (rank == 1)
    for (int i = 0; i < 4; ++i) expect_pair(i, 4 * of_root[i]);
  take(in, 4 * (size_t)(rank + 1));
  MPI_Reduce_scatter(out, in, of_root, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  take(in, 4 * (size_t)(rank + 1));
}
static void empty_blocks_with_any_datatype(void) {
  int counts[4] = {0}, places[4] = {0};
  MPI_Datatype types[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_BYTE};
  MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(out, 0, MPI_INT, in, 0, MPI_INT, 0, MPI_COMM_WORLD);
}
static void nonblocking_collectives(void) {
  MPI_Request requests[6];
  int counts[] = {2, 2, 2, 2}, places[] = {0, 2, 4, 6};
  MPI_Ibcast(in, 5, MPI_INT, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(out, in + 100, 5, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Ialltoallv(out, counts, places, MPI_INT, in + 200, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[2]);
  MPI_Igather(out, 1, MPI_INT, in + 300, 1, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Iscan(out, in + 400, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD, &requests[4]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[5]);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < size; ++i) expect_pair(i, 8);
  take(in + 200, 32);
}
static void keep_larger(void* from, void* to, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i)
    if (((int*)from)[i] > ((int*)to)[i]) ((int*)to)[i] = ((int*)from)[i];
}
static void operation_of_the_program(void) {
  MPI_Op op;
  MPI_Op_create(keep_larger, 0, &op);
  MPI_Allreduce(out, in, 10, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  take(in, 40);
}
/* An intercommunicator between {0} and {1, 2, 3}. The processes in the group of the root that are not the root pass
 * MPI_PROC_NULL; no other argument has a meaning there. */
static MPI_Comm between(MPI_Comm* group) {
  MPI_Comm inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, group);
  MPI_Intercomm_create(*group, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 5, &inter);
  return inter;
}
static void leave(MPI_Comm* inter, MPI_Comm* group) {
  MPI_Comm_free(inter);
  MPI_Comm_free(group);
}
/* Root: rank 2 for bcast and scatter, to rank 0. */
static int root_two(void) {
  return rank == 0 ? 1 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
}
/* A datatype that must not be looked at. Both MPI libraries reject an invalid one in MPI_Bcast, Open MPI and MPICH 5
 * also in MPI_Reduce. */
#if defined(OPEN_MPI) || IS_MPICH_5
#define NO_TYPE_IN_REDUCE MPI_BYTE
#else
#define NO_TYPE_IN_REDUCE MPI_DATATYPE_NULL
#endif
static int is_outside(void) {
  return rank == 1 || rank == 3;
}
static void bystanders_of_bcast(void) {
  MPI_Comm group, inter = between(&group);
  MPI_Bcast(in, is_outside() ? 9 : 3, is_outside() ? MPI_BYTE : MPI_INT, root_two(), inter);
  if (rank == 2) expect_pair(0, 12);
  leave(&inter, &group);
}
static void bystanders_of_reduce(void) {
  MPI_Comm group, inter = between(&group);
  MPI_Reduce(out, in, is_outside() ? 9 : 2, is_outside() ? NO_TYPE_IN_REDUCE : MPI_UNSIGNED, MPI_SUM, root_two(),
             inter);
  if (rank == 0) expect_pair(2, 8);
  leave(&inter, &group);
}
static void bystanders_of_gather_and_scatter(void) {
  MPI_Comm group, inter = between(&group);
  const MPI_Datatype type = is_outside() ? MPI_DATATYPE_NULL : MPI_INT;
  const int one = is_outside() ? 9 : 1;
  MPI_Gather(out, one, type, in, one, type, root_two(), inter);
  MPI_Scatter(out, one, type, in, one, type, root_two(), inter);
  if (rank == 0) expect_pair(2, 4);
  if (rank == 2) expect_pair(0, 4);
  leave(&inter, &group);
}
static void bystanders_of_gatherv_and_scatterv(void) {
  MPI_Comm group, inter = between(&group);
  const MPI_Datatype type = is_outside() ? MPI_DATATYPE_NULL : MPI_INT;
  const int counts[] = {2}, places[] = {0};
  MPI_Gatherv(out, is_outside() ? 9 : 2, type, in, is_outside() ? NULL : counts, is_outside() ? NULL : places, type,
              root_two(), inter);
  MPI_Scatterv(out, is_outside() ? NULL : counts, is_outside() ? NULL : places, type, in, is_outside() ? 9 : 2, type,
               root_two(), inter);
  if (rank == 0) expect_pair(2, 8);
  if (rank == 2) expect_pair(0, 8);
  leave(&inter, &group);
}
static void bystanders_of_nonblocking_collectives(void) {
  MPI_Comm group, inter = between(&group);
  MPI_Request requests[2];
  const MPI_Datatype type = is_outside() ? MPI_DATATYPE_NULL : MPI_UNSIGNED;
  MPI_Igather(out, is_outside() ? 9 : 3, type, in, is_outside() ? 9 : 3, type, root_two(), inter, &requests[0]);
  MPI_Ireduce(out, in + 100, is_outside() ? 9 : 2, is_outside() ? NO_TYPE_IN_REDUCE : type, MPI_SUM, root_two(), inter,
              &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (rank == 0) {
    expect_pair(2, 12);
    expect_pair(2, 8);
  }
  leave(&inter, &group);
}
/* The counts belong to the local group, which may be smaller than the remote group. */
static void reduce_scatter_between_groups(void) {
  MPI_Comm group, inter = between(&group);
  int* const counts = malloc(rank == 0 ? sizeof(int) : 3 * sizeof(int));
  for (int i = 0; i < (rank == 0 ? 1 : 3); ++i) counts[i] = rank == 0 ? 6 : 2;
  MPI_Reduce_scatter(out, in, counts, MPI_UNSIGNED, MPI_SUM, inter);
  free(counts);
  take(in, rank == 0 ? 24 : 8);
  if (rank == 0)
    for (int i = 1; i < 4; ++i) expect_pair(i, 8);
  else
    expect_pair(0, 24);
  leave(&inter, &group);
}
static void collectives_between_groups(void) {
  MPI_Comm group, inter = between(&group);
  const int others = rank == 0 ? 3 : 1, first = rank == 0 ? 1 : 0;
  int counts[] = {1, 1, 1}, places[] = {0, 1, 2}, bytes[] = {0, 4, 8};
  MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Barrier(inter);
  MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, inter);
  MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, inter);
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter);
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, inter);
  MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, inter);
  for (int i = 0; i < others; ++i)
    for (int call = 0; call < 5; ++call) expect_pair(first + i, 4);
  take(in, 4 * (size_t)others);
  leave(&inter, &group);
}
static void communicators_in_turn(void) {
  for (int i = 0; i < 12; ++i) { /* handles are reused for other groups */
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, i % 2 == 0 ? rank % 2 : rank / 2, i % 3 == 0 ? -rank : rank, &some);
    int self, to, world[] = {0, 1, 2, 3}, there[2];
    MPI_Group group, all;
    MPI_Comm_group(some, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(group, 2, world, all, there);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Comm_rank(some, &self);
    to = 1 - self;
    MPI_Sendrecv(out, i, MPI_BYTE, to, 0, in, i, MPI_BYTE, to, 0, some, MPI_STATUS_IGNORE);
    expect(there[to], i);
    MPI_Comm_free(&some);
  }
  take(in, 12);
}
static void communicators_of_every_kind(void) {
  MPI_Comm copy, host, some, later;
  MPI_Group world, half;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_idup(copy, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_group(copy, &world);
  MPI_Group_incl(world, 2, (int[]){3, 1}, &half);
  MPI_Comm_create(copy, half, &some);
  if (some != MPI_COMM_NULL) {
    int self;
    MPI_Comm_rank(some, &self);
    MPI_Sendrecv(out, 6, MPI_BYTE, 1 - self, 0, in, 6, MPI_BYTE, 1 - self, 0, some, MPI_STATUS_IGNORE);
    take(in, 6);
    expect(4 - rank, 6);
    MPI_Comm_free(&some);
    MPI_Comm_create_group(copy, half, 3, &some);
    MPI_Barrier(some);
    MPI_Comm_free(&some);
  }
  MPI_Comm_split(copy, rank == 0 ? MPI_UNDEFINED : 1, 0, &some);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  MPI_Group_free(&half);
  MPI_Group_free(&world);
  MPI_Barrier(later);
  MPI_Comm_free(&later);
  MPI_Comm_free(&host);
  MPI_Comm_disconnect(&copy);
}
static int deleted;
static int count_deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}
static void attributes_of_the_program(void) {
  MPI_Comm copy;
  int key, found;
  void* value;
  deleted = 0;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deleted, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_attr(copy, key, &deleted);
  MPI_Barrier(copy);
  MPI_Comm_get_attr(copy, key, &value, &found);
  flag(found && value == &deleted);
  MPI_Comm_free(&copy);
  MPI_Comm_free_keyval(&key);
  flag(deleted);
}
static void merged_groups(void) {
  MPI_Comm group, all, inter = between(&group);
  MPI_Intercomm_merge(inter, rank == 0, &all); /* 1 2 3 0 */
  MPI_Sendrecv(out, 3, MPI_BYTE, (rank + 3) % 4, 0, in, 3, MPI_BYTE, (rank + 3) % 4, 0, all,
               MPI_STATUS_IGNORE); /* itself */
  expect(rank, 3);
  MPI_Comm_free(&all);
  leave(&inter, &group);
}
static void neighbours_at_the_border(void) {
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, 0, &line);
  MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, line);
  MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, line);
  for (int call = 0; call < 2; ++call) {
    if (rank > 0) expect(rank - 1, 8);
    if (rank + 1 < size) expect(rank + 1, 8);
  }
  MPI_Comm_free(&line);
}
static void ranks_without_neighbours(void) {
  MPI_Comm star; /* 0 to all others */
  int others[] = {1, 2, 3}, zero = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0, &zero, MPI_UNWEIGHTED, rank == 0 ? 3 : 0, others,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
  MPI_Neighbor_alltoallv(out, rank == 0 ? (int[]){1, 2, 3} : NULL, rank == 0 ? (int[]){0, 1, 3} : NULL, MPI_INT, in,
                         &rank, &zero, MPI_INT, star);
  if (rank == 0)
    for (int i = 1; i < 4; ++i) expect(i, 4 * i);
  MPI_Comm_free(&star);
  MPI_Comm graph; /* 0 - 1 */
  MPI_Graph_create(MPI_COMM_WORLD, 4, (int[]){1, 2, 2, 2}, (int[]){1, 0}, 0, &graph);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
  if (rank < 2) expect(1 - rank, 4);
  MPI_Comm_free(&graph);
}
/* Open MPI's one-sided communication without special hardware does not work with MPI_THREAD_MULTIPLE. */
static int has_one_sided(void) {
#if defined(OPEN_MPI)
  int level;
  MPI_Query_thread(&level);
  return level < MPI_THREAD_MULTIPLE;
#else
  return 1;
#endif
}
static void one_sided_with_fences(void) {
  if (!has_one_sided()) return;
  static unsigned here[8];
  MPI_Win win;
  memset(here, 0, sizeof here);
  MPI_Win_create(here, sizeof here, sizeof here[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, 2, MPI_INT, next(), 0, 2, MPI_INT, win);
  MPI_Accumulate(out, 1, MPI_UNSIGNED, next(), 4, 1, MPI_UNSIGNED, MPI_SUM, win);
  MPI_Put(out, 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Get(in, 1, MPI_INT, next(), 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  take(here, sizeof here);
  expect(next(), 8);
  expect(next(), 4);
  expect(before(), 4); /* my data, got by the rank before me */
}
static void one_sided_with_locks(void) {
  if (!has_one_sided()) return;
  unsigned* here;
  const unsigned one = 1, nothing = 0;
  unsigned old = 0;
  MPI_Win win;
  MPI_Request request;
  MPI_Win_allocate(4 * sizeof *here, sizeof *here, MPI_INFO_NULL, MPI_COMM_WORLD, &here, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  memset(here, 0, 4 * sizeof *here);
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Fetch_and_op(&one, &old, MPI_UNSIGNED, next(), 0, MPI_SUM, win);
  MPI_Fetch_and_op(NULL, &old, MPI_UNSIGNED, next(), 0, MPI_NO_OP, win);
  MPI_Compare_and_swap(&one, &nothing, &old, MPI_UNSIGNED, next(), 1, win);
  MPI_Rput(&one, 1, MPI_UNSIGNED, next(), 2, 1, MPI_UNSIGNED, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, in, 1, MPI_UNSIGNED, next(), 2, 1, MPI_UNSIGNED, MPI_NO_OP, win);
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  expect(next(), 4); /* fetch_and_op */
  expect(before(), 4);
  expect(before(), 4); /* with MPI_NO_OP */
  expect(next(), 8);   /* compare_and_swap */
  expect(before(), 4);
  expect(next(), 4);   /* rput */
  expect(before(), 4); /* get_accumulate with MPI_NO_OP */
}
static void one_sided_with_post_and_start(void) {
  if (!has_one_sided()) return;
  static int here[2];
  MPI_Win win;
  MPI_Group world, to, from;
  const int after = next(), earlier = before();
  MPI_Win_create(here, sizeof here, sizeof here[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &after, &to);
  MPI_Group_incl(world, 1, &earlier, &from);
  MPI_Win_post(from, 0, win);
  MPI_Win_start(to, 0, win);
  MPI_Put(out, 2, MPI_INT, after, 0, 2, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  take(here, sizeof here);
  expect(after, 8);
}
static void windows_of_every_kind(void) {
  if (!has_one_sided()) return;
  MPI_Win win;
  MPI_Comm host;
  MPI_Aint address;
  int *here, value = rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Win_allocate_shared(sizeof *here, sizeof *here, MPI_INFO_NULL, host, &here, &win);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, &value, sizeof value);
  MPI_Get_address(&value, &address);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  MPI_Get(in, 1, MPI_INT, rank, address, 1, MPI_INT, win);
  MPI_Win_unlock(rank, win);
  MPI_Win_detach(win, &value);
  MPI_Win_free(&win);
  take(in, sizeof value);
  expect(rank, 4);
}
#if MPI_VERSION >= 4
static void persistent_collectives(void) {
  MPI_Request requests[3];
  int counts[] = {1, 1, 1, 1}, places[] = {0, 1, 2, 3};
  MPI_Bcast_init(in, 3, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Alltoallv_init(out, counts, places, MPI_INT, in + 100, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[1]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]); /* never started */
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int to = 0; to < 4; ++to) expect_pair(to, 4);
  }
  for (int i = 0; i < 3; ++i) MPI_Request_free(&requests[i]);
  take(in + 100, 16);
}
static void large_counts_in_collectives(void) {
  MPI_Count counts[] = {1, 1, 1, 1};
  MPI_Aint places[] = {0, 1, 2, 3};
  MPI_Bcast_c(in, (MPI_Count)3, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Alltoallv_c(out, counts, places, MPI_INT, in + 100, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int to = 0; to < 4; ++to) expect_pair(to, 4);
  take(in + 100, 16);
}
#endif
