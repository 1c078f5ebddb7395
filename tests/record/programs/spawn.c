/* SPDX-License-Identifier: Apache-2.0
 * Spawns two more processes; parents and children communicate with each other. 2 ranks. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm parent, children, merged;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Send(out, 100, MPI_BYTE, rank, 0, children);
    MPI_Recv(in, 50, MPI_BYTE, rank, 1, children, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Send(out, 11, MPI_BYTE, 1, 2, MPI_COMM_WORLD); /* the only message within MPI_COMM_WORLD */
    if (rank == 1) MPI_Recv(in + 100, 11, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(children, 0, &merged);
  } else {
    MPI_Recv(in, 100, MPI_BYTE, rank, 0, parent, MPI_STATUS_IGNORE);
    MPI_Send(out, 50, MPI_BYTE, rank, 1, parent);
    if (rank == 1) MPI_Send(out, 13, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(in + 100, 13, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(parent, 1, &merged);
  }
  /* In the merged communicator 0 sends to 1 (both of the parent's MPI_COMM_WORLD) and to 3 (a child). */
  int local;
  MPI_Comm_rank(merged, &local);
  if (local == 0) MPI_Send(out, 17, MPI_BYTE, 1, 3, merged);
  if (local == 1) MPI_Recv(in + 200, 17, MPI_BYTE, 0, 3, merged, MPI_STATUS_IGNORE);
  if (local == 0) MPI_Send(out, 19, MPI_BYTE, 3, 3, merged);
  if (local == 3) MPI_Recv(in + 300, 19, MPI_BYTE, 0, 3, merged, MPI_STATUS_IGNORE);
  MPI_Bcast(out, 23, MPI_BYTE, 0, merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(parent == MPI_COMM_NULL ? &children : &parent);
  take(in, sizeof in);
  return finish();
}
