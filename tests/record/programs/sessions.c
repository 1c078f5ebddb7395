/* SPDX-License-Identifier: Apache-2.0
 * MPI sessions without MPI_Init: once, twice in a row, or followed by MPI_Init. 2 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int run(MPI_Comm comm) {
  int rank, mine[10], theirs[10];
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 10; ++i) mine[i] = 100 * rank + i;
  MPI_Sendrecv(mine, 10, MPI_INT, 1 - rank, 0, theirs, 10, MPI_INT, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  printf("rank %d received %d\n", rank, theirs[9]);
  return 0;
}

static void session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "rankloom", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  run(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  session();
  if (argc > 1 && strcmp(argv[1], "twice") == 0) session();
  if (argc > 1 && strcmp(argv[1], "and world") == 0) {
    MPI_Init(&argc, &argv);
    run(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  return 0;
}
