/* SPDX-License-Identifier: Apache-2.0
 * Communicators that are named before or after their first use, freed or not. 4 ranks. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm rows, columns, late, plain;
  int value = rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &rows); /* {0, 1} and {2, 3} */
  MPI_Comm_set_name(rows, rank < 2 ? "upper row" : "lower row");
  MPI_Bcast(&value, 1, MPI_INT, 0, rows);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &columns); /* {2, 0} and {3, 1} */
  MPI_Comm_set_name(columns, "Spalte \"ä\"");
  MPI_Bcast(&value, 1, MPI_INT, 0, columns);
  MPI_Bcast(&value, 1, MPI_INT, 0, columns);
  MPI_Comm_free(&columns);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &late); /* {0, 1, 2} and {3} */
  MPI_Barrier(late);
  if (rank < 3) MPI_Comm_set_name(late, "named after its first use");
  MPI_Barrier(late);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &plain); /* {1, 2, 3} and {0}, without a name */
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, plain);
  MPI_Comm_set_name(MPI_COMM_WORLD, "all ranks");
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  take(&value, sizeof value);
  MPI_Comm_free(&plain);
  return finish(); /* rows and late are never freed */
}
