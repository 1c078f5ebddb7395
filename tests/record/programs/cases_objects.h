/* SPDX-License-Identifier: Apache-2.0
 * Cases with rare datatypes and requests, files, the tool interface, and callbacks that call MPI. */
#pragma once

#include <limits.h>

#include "cases.h"

/* So many elements of a datatype to the next rank, which receives the same type. */
static void send_to_next(int count, MPI_Datatype type) {
  int bytes;
  MPI_Type_size(type, &bytes);
  MPI_Sendrecv(out, count, type, next(), 9, in, count, type, before(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(next(), (long long)count * bytes);
}
static void rare_basic_datatypes(void) {
  const MPI_Datatype types[] = {MPI_C_BOOL,    MPI_WCHAR,  MPI_LONG_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                                MPI_AINT,      MPI_OFFSET, MPI_COUNT,       MPI_INT8_T,          MPI_UINT64_T,
                                MPI_LONG_LONG, MPI_2INT,   MPI_FLOAT_INT,   MPI_LONG_INT};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) send_to_next(3, types[i]);
}
static void subarrays_and_distributed_arrays(void) {
  MPI_Datatype part, cyclic;
  MPI_Type_create_subarray(3, (int[]){6, 7, 8}, (int[]){2, 3, 4}, (int[]){1, 1, 1}, MPI_ORDER_FORTRAN, MPI_SHORT,
                           &part);
  MPI_Type_create_darray(size, rank, 2, (int[]){8, 6}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                         (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 2}, MPI_ORDER_C,
                         MPI_INT, &cyclic);
  MPI_Type_commit(&part);
  MPI_Type_commit(&cyclic);
  send_to_next(2, part);   /* 48 bytes each */
  send_to_next(1, cyclic); /* 12 of 48 integers */
  MPI_Type_free(&part);
  MPI_Type_free(&cyclic);
}
static void indexed_datatypes_of_datatypes(void) {
  MPI_Datatype row, rows, blocks;
  MPI_Type_create_indexed_block(3, 2, (int[]){0, 5, 9}, MPI_FLOAT, &row);
  MPI_Type_create_hvector(4, 1, 100, row, &rows);
  MPI_Type_indexed(2, (int[]){1, 0}, (int[]){0, 3}, rows, &blocks);
  MPI_Type_free(&row); /* only the last one is committed */
  MPI_Type_free(&rows);
  MPI_Type_commit(&blocks);
  send_to_next(1, blocks);
  MPI_Type_free(&blocks);
}
static void largest_count_of_nothing(void) {
  MPI_Datatype nothing;
  MPI_Type_create_struct(0, NULL, NULL, NULL, &nothing);
  MPI_Type_commit(&nothing);
  send_to_next(INT_MAX, nothing);
  MPI_Type_free(&nothing);
}
static void packed_for_other_machines(void) {
  MPI_Aint place = 0;
  MPI_Pack_external("external32", out, 5, MPI_DOUBLE, in, 1000, &place);
  MPI_Sendrecv(in, (int)place, MPI_BYTE, next(), 9, in + 2000, 1000, MPI_BYTE, before(), 9, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  take(in + 2000, 40);
  expect(next(), 40);
}

static void persistent_sends_of_every_mode(void) {
  static char space[1000 + MPI_BSEND_OVERHEAD];
  void* detached;
  int bytes;
  MPI_Request requests[6];
  MPI_Buffer_attach(space, sizeof space);
  MPI_Bsend_init(out, 1, MPI_INT, next(), 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Ssend_init(out, 2, MPI_INT, next(), 2, MPI_COMM_WORLD, &requests[4]);
  MPI_Rsend_init(out, 3, MPI_INT, next(), 3, MPI_COMM_WORLD, &requests[5]);
  for (int i = 0; i < 3; ++i)
    MPI_Recv_init(in + 100 * i, 4 * (i + 1), MPI_BYTE, before(), i + 1, MPI_COMM_WORLD, &requests[i]);
  for (int times = 0; times < 2; ++times) {
    MPI_Startall(3, requests);
    MPI_Barrier(MPI_COMM_WORLD); /* for the ready send */
    MPI_Startall(3, requests + 3);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) expect(next(), 4 * (i + 1));
  }
  for (int i = 0; i < 6; ++i) MPI_Request_free(&requests[i]);
  MPI_Buffer_detach(&detached, &bytes);
  take(in, 300);
}
static void request_looked_at_before_it_is_completed(void) {
  MPI_Request requests[2];
  MPI_Status status;
  int done = 0, index;
  MPI_Irecv(in, 30, MPI_BYTE, before(), 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 30, MPI_BYTE, next(), 1, MPI_COMM_WORLD, &requests[1]);
  while (!done) MPI_Request_get_status(requests[0], &done, &status);
  flag(status.MPI_SOURCE);
  for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  take(in, 30);
  expect(next(), 30);
}
static int query(void* unused, MPI_Status* status) {
  (void)unused;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = 5;
  return MPI_SUCCESS;
}
static int freed;
static int count_freed(void* unused) {
  (void)unused;
  ++freed;
  return MPI_SUCCESS;
}
static int ignore_cancel(void* unused, int complete) {
  (void)unused, (void)complete;
  return MPI_SUCCESS;
}
static void requests_of_the_program(void) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int count = 0;
  freed = 0;
  MPI_Grequest_start(query, count_freed, ignore_cancel, NULL, &requests[0]);
  MPI_Irecv(in, 8, MPI_BYTE, before(), 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, 8, MPI_BYTE, next(), 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Grequest_complete(requests[0]);
  MPI_Waitall(3, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  flag(count);
  flag(freed);
  take(in, 8);
  expect(next(), 8);
}

/* Callbacks may call MPI: the recorder is entered again while it handles MPI_Comm_free or MPI_Comm_dup. */
static void send_to_itself(int bytes) {
  MPI_Sendrecv(out, bytes, MPI_BYTE, 0, 1, in, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static int send_when_copied(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* copied) {
  (void)comm, (void)key, (void)extra;
  send_to_itself(11);
  *(void**)copy = value;
  *copied = 1;
  return MPI_SUCCESS;
}
static int send_when_deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  send_to_itself(13);
  return MPI_SUCCESS;
}
static void messages_in_callbacks(void) {
  MPI_Comm first, second;
  int key;
  MPI_Comm_create_keyval(send_when_copied, send_when_deleted, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, &key);
  MPI_Comm_dup(first, &second);
  MPI_Comm_free(&first);
  MPI_Sendrecv(out, 5, MPI_BYTE, next(), 1, in, 5, MPI_BYTE, before(), 1, second, MPI_STATUS_IGNORE);
  MPI_Comm_free(&second);
  MPI_Comm_free_keyval(&key);
  expect(rank, 11);
  expect_times(rank, 13, 2);
  expect(next(), 5);
}
static void communicators_by_the_hundred(void) {
  enum { count = 300 };
  static MPI_Comm all[count];
  for (int i = 0; i < count; ++i) MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : all[i - 1], &all[i]);
  for (int i = 0; i < count; i += 50)
    MPI_Sendrecv(out, i, MPI_BYTE, next(), 1, in, i, MPI_BYTE, before(), 1, all[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i += 50) expect(next(), i);
  for (int i = 0; i < count; ++i) MPI_Comm_free(&all[i]);
}
static void rows_and_columns_of_a_grid(void) {
  MPI_Comm grid, row;
  int self, from, to;
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 1}, 1, &grid);
  MPI_Cart_shift(grid, 0, 1, &from, &to); /* MPI_PROC_NULL at the border */
  MPI_Comm_rank(grid, &self);
  MPI_Sendrecv(out, 4, MPI_INT, to, 1, in, 4, MPI_INT, from, 1, grid, MPI_STATUS_IGNORE);
  if (self < 2) expect(self + 2, 16); /* Debian's MPI libraries keep the order of the ranks */
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  MPI_Comm_rank(row, &self);
  MPI_Sendrecv(out, 1, MPI_INT, 1 - self, 1, in + 100, 1, MPI_INT, 1 - self, 1, row, MPI_STATUS_IGNORE);
  expect(rank ^ 1, 4);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
  take(in, 200);
}
static void collectives_of_one_rank(void) {
  int one = 1, zero = 0;
  MPI_Allreduce(out, in, 8, MPI_INT, MPI_MAX, MPI_COMM_SELF);
  MPI_Alltoallv(out, &one, &zero, MPI_INT, in + 100, &one, &zero, MPI_INT, MPI_COMM_SELF);
  MPI_Gatherv(out, 1, MPI_INT, in + 200, &one, &zero, MPI_INT, 0, MPI_COMM_SELF);
  MPI_Exscan(out, in + 300, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Reduce_local(out, in, 4, MPI_UNSIGNED, MPI_BXOR);
  take(in, 300);
}
static void datatypes_for_each_rank(void) {
  MPI_Datatype types[4];
  int counts[] = {1, 1, 1, 1}, places[] = {0, 100, 200, 300};
  for (int i = 0; i < 4; ++i) { /* between i and me: (i + rank + 1) shorts with gaps */
    MPI_Type_vector(i + rank + 1, 1, 2, MPI_SHORT, &types[i]);
    MPI_Type_commit(&types[i]);
  }
  MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) expect_pair(i, 2 * (i + rank + 1));
  for (int i = 0; i < 4; ++i) MPI_Type_free(&types[i]);
  take(in, 400);
}
static void one_file_of_all_ranks(void) {
  char name[60];
  MPI_File file;
  MPI_Datatype every_fourth;
  MPI_Request request;
  snprintf(name, sizeof name, "shared-file.%d", getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  flag(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  MPI_Type_vector(4, 1, 4, MPI_INT, &every_fourth);
  MPI_Type_commit(&every_fourth);
  MPI_File_set_view(file, 4 * rank, MPI_INT, every_fourth, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, out, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_iread_at(file, 0, in, 64, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&every_fourth);
  MPI_File_close(&file);
  take(in, 64);
}
static void the_tool_interface(void) {
  int provided, count = -1;
  flag(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  MPI_T_cvar_get_num(&count);
  flag(count > 0);
  MPI_Sendrecv(out, 9, MPI_BYTE, next(), 1, in, 9, MPI_BYTE, before(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  flag(MPI_T_finalize());
  take(in, 9);
  expect(next(), 9);
}
