/* SPDX-License-Identifier: Apache-2.0
 * MPI sessions: one, two that overlap, or one during which MPI is initialised. 2 ranks. */
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

static MPI_Comm open_session(MPI_Session* session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
  MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

int main(int argc, char** argv) {
  MPI_Session one, other;
  MPI_Comm comm = open_session(&one, "one"), second;
  run(comm);
  if (argc > 1 && strcmp(argv[1], "two") == 0) {
    second = open_session(&other, "other");
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&one);
    run(second);
    MPI_Comm_free(&second);
    MPI_Session_finalize(&other);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "and world") == 0) {
    MPI_Init(&argc, &argv);
    run(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&one);
  return 0;
}
