/* SPDX-License-Identifier: Apache-2.0
 * bench/recording: the cost of messages with the MPI_ functions that a recorder wraps and with the PMPI_ functions that it
 * does not wrap; without a recorder both are the same function. One rank sends to itself, with one call or with three, or
 * two ranks exchange messages. Batches of both kinds alternate in the same process, because a different memory layout in
 * another process changes the time by up to 20 %. Prints per message: nanoseconds with PMPI_ and with MPI_ functions, the
 * median batch each, and the median ratio of adjacent batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char buffer[1 << 17];
static char* const other = buffer + (1 << 16);

enum { batches = 4000 };
static double plain[batches], wrapped[batches], quotient[batches];

#define WAYS(NAME, SEND, ISEND, RECV, SENDRECV, WAIT)                                                               \
  static void NAME(const char* how, int rank, int bytes, int count) {                                               \
    MPI_Request request;                                                                                            \
    if (bytes > 0) {                                                                                                \
      for (int i = 0; i < count; ++i) {                                                                             \
        if (rank == 0) SEND(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);                                         \
        RECV(other, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);                               \
        if (rank == 1) SEND(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);                                         \
      }                                                                                                             \
    } else if (strcmp(how, "one") == 0) {                                                                           \
      for (int i = 0; i < count; ++i)                                                                               \
        SENDRECV(buffer, 8, MPI_CHAR, 0, 0, other, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);           \
    } else {                                                                                                        \
      for (int i = 0; i < count; ++i) {                                                                             \
        ISEND(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);                                                 \
        RECV(other, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);                                          \
        WAIT(&request, MPI_STATUS_IGNORE);                                                                          \
      }                                                                                                             \
    }                                                                                                               \
  }
WAYS(by_plain, PMPI_Send, PMPI_Isend, PMPI_Recv, PMPI_Sendrecv, PMPI_Wait)
WAYS(by_wrapped, MPI_Send, MPI_Isend, MPI_Recv, MPI_Sendrecv, MPI_Wait)

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static double middle(double* values) {
  qsort(values, batches, sizeof *values, compare);
  return values[batches / 2];
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const how = argc > 1 ? argv[1] : "one";
  const int bytes = atoi(how), count = bytes > 8192 ? 50 : 100;
  for (int batch = 0; batch < batches; ++batch) {
    const double begin = PMPI_Wtime();
    by_plain(how, rank, bytes, count);
    const double between = PMPI_Wtime();
    by_wrapped(how, rank, bytes, count);
    const double end = PMPI_Wtime();
    plain[batch] = (between - begin) / count * 1e9;
    wrapped[batch] = (end - between) / count * 1e9;
    quotient[batch] = wrapped[batch] / plain[batch];
  }
  if (rank == 0) printf("%.2f %.2f %.4f\n", middle(plain), middle(wrapped), middle(quotient));
  return MPI_Finalize();
}
