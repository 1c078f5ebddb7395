/* SPDX-License-Identifier: Apache-2.0
 * One-sided calls; targets are ranks of the group of the window. The k-th call has 2^k bytes. The arguments name the calls of
 * rank 0 on world rank 2; 3 ranks. "all-windows": a Put in windows of every origin. */
#include "program.h"

static double* base;
static MPI_Win win;

static void one(const char* call) {
  double from[64], result[64];
  for (int i = 0; i < 64; ++i) from[i] = i + 0.5;
  memset(result, 0, sizeof result);
  MPI_Request request = MPI_REQUEST_NULL;
  /* The group of the window has reverse order: world rank 2 is rank 0. */
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
#define IS(name) (strcmp(call, name) == 0)
  if (IS("put")) MPI_Put(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win);
  if (IS("get")) MPI_Get(result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win);
  if (IS("accumulate")) MPI_Accumulate(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_SUM, win);
  if (IS("get_accumulate"))
    MPI_Get_accumulate(from, 4, MPI_DOUBLE, result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_SUM, win);
  if (IS("get_accumulate_no_op"))
    MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_NO_OP, win);
  if (IS("fetch_and_op")) MPI_Fetch_and_op(from, result, MPI_DOUBLE, 0, 1, MPI_SUM, win);
  if (IS("fetch_and_op_no_op")) MPI_Fetch_and_op(NULL, result, MPI_DOUBLE, 0, 1, MPI_NO_OP, win);
  if (IS("rput")) MPI_Rput(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win, &request);
  if (IS("rget")) MPI_Rget(result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win, &request);
  if (IS("raccumulate")) MPI_Raccumulate(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_SUM, win, &request);
  if (IS("rget_accumulate"))
    MPI_Rget_accumulate(from, 4, MPI_DOUBLE, result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_SUM, win, &request);
  if (IS("compare_and_swap")) {
    const long wanted = 0, fresh = 7;
    MPI_Compare_and_swap(&fresh, &wanted, result, MPI_LONG, 0, 1, win);
  }
  if (IS("derived")) { /* every second of 6 doubles, into 3 contiguous ones */
    MPI_Datatype spread;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &spread);
    MPI_Type_commit(&spread);
    MPI_Put(from, 1, spread, 0, 1, 3, MPI_DOUBLE, win);
    MPI_Type_free(&spread);
  }
  if (IS("proc_null")) {
    MPI_Put(from, 4, MPI_DOUBLE, MPI_PROC_NULL, 1, 4, MPI_DOUBLE, win);
    MPI_Get(from, 4, MPI_DOUBLE, MPI_PROC_NULL, 1, 4, MPI_DOUBLE, win);
  }
#ifdef LARGE_COUNTS
  if (IS("put_c")) MPI_Put_c(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win);
  if (IS("get_c")) MPI_Get_c(result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win);
  if (IS("accumulate_c")) MPI_Accumulate_c(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_SUM, win);
  if (IS("get_accumulate_c"))
    MPI_Get_accumulate_c(from, 4, MPI_DOUBLE, result, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, MPI_SUM, win);
  if (IS("rput_c")) MPI_Rput_c(from, 4, MPI_DOUBLE, 0, 1, 4, MPI_DOUBLE, win, &request);
#endif
  if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(0, win);
  take(result, sizeof result);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm back;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
  for (int call = 1; call < argc; ++call) {
    MPI_Win_allocate(100 * sizeof(double), sizeof(double), MPI_INFO_NULL, back, &base, &win);
    memset(base, 0, 100 * sizeof(double));
    MPI_Barrier(back);
    if (rank == 0) one(argv[call]);
    MPI_Barrier(back);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2 - rank, 0, win);
    take(base, 100 * sizeof(double));
    MPI_Win_unlock(2 - rank, win);
    MPI_Win_free(&win);
  }
  MPI_Comm_free(&back);
  return finish();
}
