/* SPDX-License-Identifier: Apache-2.0
 * Two groups, {0, 1} and {2, 3, 4}, communicate through an intercommunicator: ranks are those of the remote group. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm group, inter, copy, merged;
  const int second = rank >= 2;
  MPI_Comm_split(MPI_COMM_WORLD, second, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, second ? 0 : 2, 5, &inter);
  /* 1 → 3 (remote 1) and 4 → 0 (remote 0) */
  if (rank == 1) MPI_Send(out, 10, MPI_INT, 1, 0, inter);
  if (rank == 3) MPI_Recv(in, 10, MPI_INT, 1, 0, inter, MPI_STATUS_IGNORE);
  if (rank == 4) MPI_Send(out, 7, MPI_CHAR, 0, 1, inter);
  if (rank == 0) MPI_Recv(in, 7, MPI_CHAR, 2, 1, inter, MPI_STATUS_IGNORE);
  /* A duplicate: 0 → 4 */
  MPI_Comm_dup(inter, &copy);
  if (rank == 0) MPI_Ssend(out, 3, MPI_DOUBLE, 2, 2, copy);
  if (rank == 4) MPI_Recv(in + 100, 3, MPI_DOUBLE, 0, 2, copy, MPI_STATUS_IGNORE);
  /* Collectives: each group receives the data of the other group. */
  MPI_Barrier(inter);
  MPI_Bcast(second ? in + 1000 : out, 50, MPI_INT, second ? 1 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
  MPI_Allreduce(out, in + 2000, 4, MPI_UNSIGNED, MPI_SUM, inter);
  MPI_Allgather(out, 5, MPI_INT, in + 3000, 5, MPI_INT, inter);
  MPI_Alltoall(out, 6, MPI_INT, in + 4000, 6, MPI_INT, inter);
  MPI_Reduce(out, in + 5000, 2, MPI_UNSIGNED, MPI_SUM, second ? rank == 2 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
  MPI_Gather(out, 3, MPI_INT, in + 6000, 3, MPI_INT, second ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  const int counts[] = {1, 2, 3}, places[] = {0, 1, 3};
  MPI_Alltoallv(out, counts, places, MPI_INT, in + 7000,
                (int[]){second ? rank - 1 : rank + 1, second ? rank - 1 : rank + 1, rank + 1}, (int[]){0, 10, 20},
                MPI_INT, inter);
  MPI_Intercomm_merge(inter, !second, &merged);            /* 2 3 4 0 1 */
  if (rank == 2) MPI_Send(out, 9, MPI_CHAR, 3, 3, merged); /* 2 → 0 */
  if (rank == 0) MPI_Recv(in + 200, 9, MPI_CHAR, 0, 3, merged, MPI_STATUS_IGNORE);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&group);
  take(in, sizeof in);
  return finish();
}
