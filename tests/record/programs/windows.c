/* SPDX-License-Identifier: Apache-2.0
 * Windows of every origin, with every kind of synchronisation; 3 ranks, each puts into the window of the next rank. */
#include "program.h"

static double memory[100];

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const double value[8] = {rank + 0.25, 2, 3};
  MPI_Win win;
  double* base;
  /* Fences: 8 bytes. */
  MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(value, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  take(memory, sizeof memory);
  /* Post-start-complete-wait: 16 bytes, in a window of two ranks, {2, 0}. */
  MPI_Comm two;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &two);
  if (two != MPI_COMM_NULL) {
    MPI_Win_allocate(sizeof memory, sizeof(double), MPI_INFO_NULL, two, &base, &win);
    MPI_Group group, other;
    MPI_Win_get_group(win, &group);
    const int mine = rank == 2 ? 0 : 1, theirs = 1 - mine;
    MPI_Group_incl(group, 1, &theirs, &other);
    MPI_Win_post(other, 0, win);
    MPI_Win_start(other, 0, win);
    MPI_Put(value, 2, MPI_DOUBLE, theirs, 0, 2, MPI_DOUBLE, win); /* 0 → 2 and 2 → 0 */
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    take(base, 2 * sizeof(double));
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    MPI_Win_free(&win);
    MPI_Comm_free(&two);
  }
  /* Dynamic window: 24 bytes, with MPI_Win_lock_all and MPI_Win_flush. */
  MPI_Aint places[3], mine;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, sizeof memory);
  MPI_Get_address(memory, &mine);
  MPI_Allgather(&mine, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Put(value, 3, MPI_DOUBLE, next, places[next], 3, MPI_DOUBLE, win);
  MPI_Win_flush(next, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  take(memory, sizeof memory);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  /* Shared memory, if the MPI library shares it between processes of a host: 32 bytes by a Get from the previous rank.
   */
  MPI_Comm host;
  int on_host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &on_host);
  MPI_Comm_free(&host);
  if (on_host == size)
    MPI_Win_allocate_shared(10 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  else
    MPI_Win_allocate(10 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 10; ++i) base[i] = rank + i;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  double got[4];
  MPI_Get(got, 4, MPI_DOUBLE, before, 0, 4, MPI_DOUBLE, win);
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
  take(got, sizeof got);
  MPI_Win_free(&win);
  return finish();
}
