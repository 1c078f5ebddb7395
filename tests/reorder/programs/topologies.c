// SPDX-License-Identifier: Apache-2.0
// tests/reorder: creates a virtual topology and exchanges data along all edges. The results must not depend on the assignment of
// processes to vertices.
//   topologies grid REORDER BYTES ROUNDS 4x3p     a halo exchange; p after a dimension: periodic
//   topologies graph|edges|adjacent REORDER BYTES ROUNDS none|numbers|zero     an irregular graph
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int world_rank, world_size;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: %s\n", world_rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Whether an edge exists; equal on every process. Some vertices have no edges.
static int sends(int from, int to, int n) {
  if (from == to || from % 11 == 7) return 0;
  if ((from + 1) % n == to || (from + n / 2) % n == to) return 1;
  return (from * 7 + to * 13) % 17 == 0;
}
static int weight_of(int from, int to) { return 1 + (from * 31 + to * 17) % 9; }

static int ascending(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

// Exchanges data along the edges of a communicator by several operations.
static void exchange(MPI_Comm comm, int in, const int* sources, int out, const int* targets, int bytes, int rounds) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  long* send = calloc(out + 1, sizeof *send);
  long* receive = calloc(in + 1, sizeof *receive);
  for (int i = 0; i < out; ++i) send[i] = rank * 100000L + targets[i];
  for (int i = 0; i < in; ++i) receive[i] = -1;
  MPI_Neighbor_alltoall(send, 1, MPI_LONG, receive, 1, MPI_LONG, comm);
  for (int i = 0; i < in; ++i)
    if (sources[i] >= 0) expect(receive[i] == sources[i] * 100000L + rank, "data of a wrong edge");
  // Values that are combined along the edges, independent of the processes.
  uint64_t value = rank * 2654435761u + 1;
  uint64_t* near = calloc(in + 1, sizeof *near);
  for (int round = 0; round < 5; ++round) {
    MPI_Neighbor_allgather(&value, 1, MPI_UINT64_T, near, 1, MPI_UINT64_T, comm);
    uint64_t sum = value * 3;
    for (int i = 0; i < in; ++i)
      if (sources[i] >= 0) sum += near[i] * (uint64_t)(sources[i] + 1);
    value = sum * 6364136223846793005u + 1442695040888963407u;
  }
  uint64_t* all = calloc(size, sizeof *all);
  MPI_Gather(&value, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, comm);
  uint64_t result = 14695981039346656037u;
  for (int i = 0; i < size; ++i) result = (result ^ all[i]) * 1099511628211u;
  if (rank == 0) printf("result %016lx of %d\n", (unsigned long)result, size);

  // The number of messages between hosts.
  char name[256] = {0};
  gethostname(name, sizeof name - 1);
  const char* given = getenv("RANKLOOM_HOSTNAME");
  if (given) snprintf(name, sizeof name, "%s", given);
  char* names = calloc(size, sizeof name);
  MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, comm);
  int crossing[2] = {0, 0}, total[2];
  for (int i = 0; i < out; ++i)
    if (targets[i] >= 0 && strcmp(name, names + targets[i] * sizeof name) != 0) ++crossing[0];
  crossing[1] = rank != world_rank;
  MPI_Reduce(crossing, total, 2, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0) printf("crossing %d\nmoved %d\n", total[0], total[1]);

  if (rounds > 0) {
    char* much = calloc(out + 1, bytes);
    char* got = calloc(in + 1, bytes);
    MPI_Barrier(comm);
    double begin = MPI_Wtime();
    for (int round = 0; round < rounds; ++round) MPI_Neighbor_alltoall(much, bytes, MPI_CHAR, got, bytes, MPI_CHAR, comm);
    MPI_Barrier(comm);
    if (rank == 0) printf("seconds %.6f\n", MPI_Wtime() - begin);
  }
}

static void grid(int reorder, int bytes, int rounds, char* text) {
  int dims[8], periods[8], ndims = 0;
  for (char* word = strtok(text, "x"); word; word = strtok(NULL, "x")) {
    periods[ndims] = strchr(word, 'p') != NULL;
    dims[ndims++] = atoi(word);
  }
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &comm);
  int left_out = comm == MPI_COMM_NULL, all_left_out;
  MPI_Reduce(&left_out, &all_left_out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf("left out %d\n", all_left_out);
  if (left_out) return;
  int neighbours[16], rank, at[8], back, has[8], wraps[8];
  for (int d = 0; d < ndims; ++d) MPI_Cart_shift(comm, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
  MPI_Comm_rank(comm, &rank);
  MPI_Cart_get(comm, ndims, has, wraps, at);
  expect(memcmp(has, dims, ndims * sizeof *dims) == 0 && memcmp(wraps, periods, ndims * sizeof *dims) == 0, "another grid");
  MPI_Cart_rank(comm, at, &back);
  expect(back == rank, "coordinates of another rank");
  // Smoothing by point-to-point messages.
  double value = rank * 0.37 + 1;
  for (int round = 0; round < 10; ++round) {
    double sum = value;
    for (int d = 0; d < ndims; ++d) {
      for (int way = 0; way < 2; ++way) {
        double other = 0.5;
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, neighbours[2 * d + way], 7, &other, 1, MPI_DOUBLE, neighbours[2 * d + 1 - way], 7, comm, MPI_STATUS_IGNORE);
        sum += other * (d + 1);
      }
    }
    value = sum / 3;
  }
  // Sums over rows, on a communicator derived from the grid.
  int keep[8] = {0};
  keep[ndims - 1] = 1;
  MPI_Comm row;
  MPI_Cart_sub(comm, keep, &row);
  double of_row, largest;
  MPI_Allreduce(&value, &of_row, 1, MPI_DOUBLE, MPI_MAX, row);
  MPI_Reduce(&of_row, &largest, 1, MPI_DOUBLE, MPI_MIN, 0, comm);
  if (rank == 0) printf("smooth %.17g\n", largest);
  int twice = 0;  // in a ring of two, both neighbours are the same process, and MPI does not define the order of the messages
  for (int d = 0; d < ndims; ++d) twice |= periods[d] && dims[d] <= 2;
  if (!twice) exchange(comm, 2 * ndims, neighbours, 2 * ndims, neighbours, bytes, rounds);
}

static void graph(const char* kind, int reorder, int bytes, int rounds, const char* weighing) {
  int n = world_size, is_graph = strcmp(kind, "graph") == 0;
  if (is_graph && n > 3) n -= 1;  // one process is left out
  MPI_Comm comm;
  int* first = calloc(n * n + 1, sizeof(int));
  int* second = calloc(n * n + 1, sizeof(int));
  int* first_weights = calloc(n * n + 1, sizeof(int));
  int* second_weights = calloc(n * n + 1, sizeof(int));
  int weighted = strcmp(weighing, "none") != 0, zero = strcmp(weighing, "zero") == 0;
  if (is_graph) {
    int* index = calloc(n, sizeof(int));
    int edges = 0;
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to)
        if (sends(from, to, n) || sends(to, from, n)) first[edges++] = to;
      index[from] = edges;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, first, reorder, &comm);
    if (comm == MPI_COMM_NULL) return;
    int rank, count;
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &count);
    MPI_Graph_neighbors(comm, rank, count, second);
    int begin = rank > 0 ? index[rank - 1] : 0;
    expect(count == index[rank] - begin && memcmp(second, first + begin, count * sizeof(int)) == 0, "other neighbours");
    exchange(comm, count, second, count, second, bytes, rounds);
    return;
  }
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nobody_knows_this", "1");
  if (strcmp(kind, "edges") == 0) {
    // Each process specifies half of the edges of two other processes.
    int sources[2], degrees[2], count = 0, edges = 0;
    for (int part = 0; part < 2; ++part) {
      const int from = (world_rank + 3 + part) % n;
      sources[count] = from;
      degrees[count] = 0;
      for (int to = n; to-- > 0;) {
        if (!sends(from, to, n) || to % 2 != part) continue;
        first[edges] = to;
        first_weights[edges++] = zero ? 0 : weight_of(from, to);
        ++degrees[count];
      }
      ++count;
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, first, weighted ? (edges ? first_weights : MPI_WEIGHTS_EMPTY) : MPI_UNWEIGHTED, info, reorder, &comm);
  } else {
    int in = 0, out = 0;
    for (int other = n; other-- > 0;) {
      if (sends(other, world_rank, n)) {
        first_weights[in] = zero ? 0 : weight_of(other, world_rank);
        first[in++] = other;
      }
      if (sends(world_rank, other, n)) {
        second_weights[out] = zero ? 0 : weight_of(world_rank, other);
        second[out++] = other;
      }
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, first, weighted ? (in ? first_weights : MPI_WEIGHTS_EMPTY) : MPI_UNWEIGHTED, out, second,
                                   weighted ? (out ? second_weights : MPI_WEIGHTS_EMPTY) : MPI_UNWEIGHTED, info, reorder, &comm);
  }
  MPI_Info_free(&info);
  int rank, in, out, has_weights;
  MPI_Comm_rank(comm, &rank);
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &has_weights);
  MPI_Dist_graph_neighbors(comm, in, first, first_weights, out, second, second_weights);  // MPICH 4.0 needs the exact sizes
  expect(!has_weights == !weighted, "weights came or went");
  for (int i = 0; i < in && weighted; ++i) expect(first_weights[i] == (zero ? 0 : weight_of(first[i], rank)), "a wrong weight comes in");
  for (int i = 0; i < out && weighted; ++i) expect(second_weights[i] == (zero ? 0 : weight_of(rank, second[i])), "a wrong weight goes out");
  int *in_order = malloc(n * sizeof(int)), *out_order = malloc(n * sizeof(int)), wanted_in = 0, wanted_out = 0;
  memcpy(in_order, first, in * sizeof(int));
  memcpy(out_order, second, out * sizeof(int));
  if (strcmp(kind, "edges") == 0) {  // MPI may return them in any order
    qsort(in_order, in, sizeof(int), ascending);
    qsort(out_order, out, sizeof(int), ascending);
  } else {  // in the given, decreasing order
    for (int i = 0; i < in; ++i) in_order[in - 1 - i] = first[i];
    for (int i = 0; i < out; ++i) out_order[out - 1 - i] = second[i];
  }
  for (int other = 0; other < n; ++other) {
    if (sends(other, rank, n)) expect(wanted_in < in && in_order[wanted_in++] == other, "another source");
    if (sends(rank, other, n)) expect(wanted_out < out && out_order[wanted_out++] == other, "another target");
  }
  expect(wanted_in == in && wanted_out == out, "more neighbours");
  exchange(comm, in, first, out, second, bytes, rounds);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  expect(argc == 6, "five words");
  const int reorder = atoi(argv[2]), bytes = atoi(argv[3]), rounds = atoi(argv[4]);
  if (strcmp(argv[1], "grid") == 0)
    grid(reorder, bytes, rounds, argv[5]);
  else
    graph(argv[1], reorder, bytes, rounds, argv[5]);
  return MPI_Finalize();
}
