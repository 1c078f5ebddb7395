// SPDX-License-Identifier: Apache-2.0
// Programs for bench_lab: mpirun -n RANKS lab PATTERN BYTES ITERATIONS. Ranks have shuffled positions in the pattern.
// Prints the seconds of all iterations.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_ranks = 1024, group = 6 };

static int rank_at[max_ranks];  // by position
static int ranks;

// Sends this many bytes to each of these positions, and receives as many from it.
static void exchange(const int* positions, int count, int bytes, char* out, char* in) {
  MPI_Request requests[2 * max_ranks];
  for (int i = 0; i < count; ++i)
    MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_CHAR, rank_at[positions[i]], 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < count; ++i)
    MPI_Isend(out + (size_t)i * bytes, bytes, MPI_CHAR, rank_at[positions[i]], 0, MPI_COMM_WORLD, &requests[count + i]);
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

static int group_partners(int position, int* partners) {
  int count = 0;
  for (int other = position / group * group; other < position / group * group + group && other < ranks; ++other)
    if (other != position) partners[count++] = other;
  return count;
}

static int stencil_partners(int position, int* partners) {
  const int width = (int)(sqrt(ranks) + 0.5), x = position % width, y = position / width;
  int count = 0;
  if (x > 0) partners[count++] = position - 1;
  if (x < width - 1 && position + 1 < ranks) partners[count++] = position + 1;
  if (y > 0) partners[count++] = position - width;
  if (position + width < ranks) partners[count++] = position + width;
  return count;
}

int main(int argc, char** argv) {
  int rank, position = 0, partners[max_ranks];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4 || ranks > max_ranks) return 2;
  const char* pattern = argv[1];
  const int bytes = atoi(argv[2]), iterations = atoi(argv[3]);
  unsigned random = 12345;
  for (int i = 0; i < ranks; ++i) rank_at[i] = i;
  for (int i = ranks - 1; i > 0; --i) {
    random = random * 1103515245u + 12345u;
    const int j = (int)(random >> 16) % (i + 1), other = rank_at[i];
    rank_at[i] = rank_at[j];
    rank_at[j] = other;
  }
  while (rank_at[position] != rank) ++position;
  char* out = calloc(ranks, bytes);
  char* in = calloc(ranks, bytes);
  MPI_Comm own_group;
  MPI_Comm_split(MPI_COMM_WORLD, position / group, position, &own_group);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    if (strcmp(pattern, "groups") == 0) {
      exchange(partners, group_partners(position, partners), bytes, out, in);
    } else if (strcmp(pattern, "stencil") == 0) {
      exchange(partners, stencil_partners(position, partners), bytes, out, in);
    } else if (strcmp(pattern, "alltoall") == 0) {
      MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, own_group);
    } else if (i < iterations / 2) {  // two phases: groups, then pairs of distant positions
      if (i == 0) MPI_Pcontrol(1);
      exchange(partners, group_partners(position, partners), bytes, out, in);
    } else {
      if (i == iterations / 2) MPI_Pcontrol(2);
      partners[0] = (position + ranks / 2) % ranks;
      exchange(partners, 1, bytes, out, in);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f seconds\n", MPI_Wtime() - begin);
  MPI_Comm_free(&own_group);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
