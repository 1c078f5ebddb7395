/* SPDX-License-Identifier: Apache-2.0
 * Everything that a trace can contain: messages of each kind, requests that complete in each way, collectives of all ranks and
 * of some. Rank 1 computes for the number of milliseconds in the first argument. */
#include "program.h"

#include <time.h>

static void work(int milliseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < milliseconds);
}

static void plain(int right, int left) {
  if (rank % 2 == 0) MPI_Send(out, 100, MPI_BYTE, right, 1, MPI_COMM_WORLD);
  MPI_Recv(in, 200, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(in, 100);
  if (rank % 2 == 1) MPI_Send(out, 100, MPI_BYTE, right, 1, MPI_COMM_WORLD);
  MPI_Sendrecv(out, 10, MPI_INT, right, 2, in, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(in, 40);
  MPI_Send(out, 5, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

/* Two equal messages at the same time, to itself, empty, to MPI_PROC_NULL. */
static void requests(int right, int left) {
  MPI_Request all[8];
  MPI_Irecv(in, 64, MPI_BYTE, left, 3, MPI_COMM_WORLD, &all[0]);
  MPI_Irecv(in + 64, 64, MPI_BYTE, left, 3, MPI_COMM_WORLD, &all[1]);
  MPI_Irecv(in + 128, 0, MPI_BYTE, rank, 4, MPI_COMM_WORLD, &all[2]);
  MPI_Isend(out, 64, MPI_BYTE, right, 3, MPI_COMM_WORLD, &all[3]);
  MPI_Isend(out + 64, 64, MPI_BYTE, right, 3, MPI_COMM_WORLD, &all[4]);
  MPI_Isend(out, 0, MPI_BYTE, rank, 4, MPI_COMM_WORLD, &all[5]);
  MPI_Isend(out, 7, MPI_BYTE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &all[6]);
  all[7] = MPI_REQUEST_NULL;
  MPI_Waitall(8, all, MPI_STATUSES_IGNORE);
  take(in, 128);
}

/* All ranks send to rank 0, which receives from MPI_ANY_SOURCE; every function that completes requests. */
static void from_anybody(MPI_Comm comm) {
  MPI_Request request[64];
  int me, done = 0, n, flag = 0, index, indices[64];
  MPI_Comm_rank(comm, &me);
  if (me != 0) {
    MPI_Isend(out, 1000 + rank, MPI_BYTE, 0, 5, comm, &request[0]);
    while (!flag) MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Comm_size(comm, &n);
  for (int i = 0; i < n - 1; ++i) MPI_Irecv(in + 2000 * i, 2000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request[i]);
  MPI_Waitany(n - 1, request, &index, MPI_STATUS_IGNORE);
  while (!flag) MPI_Testany(n - 1, request, &index, &flag, MPI_STATUS_IGNORE);
  MPI_Waitsome(n - 1, request, &done, indices, MPI_STATUSES_IGNORE);
  MPI_Waitall(n - 1, request, MPI_STATUSES_IGNORE);
}

static void persistent(int right, int left) {
  MPI_Request both[2];
  MPI_Send_init(out, 300, MPI_BYTE, right, 6, MPI_COMM_WORLD, &both[0]);
  MPI_Recv_init(in, 300, MPI_BYTE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &both[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    take(in, 300);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  (void)left;
}

/* A cancelled receive, and matched probes. */
static void others(int right, int left) {
  MPI_Request request, sent;
  MPI_Irecv(in, 10, MPI_BYTE, left, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(out, 50, MPI_BYTE, right, 7, MPI_COMM_WORLD, &sent);
  MPI_Message message;
  MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(in, 50, MPI_BYTE, &message, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  take(in, 50);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void collectives(MPI_Comm comm) {
  int me, n, counts[64], places[64], received[64];
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  MPI_Barrier(comm);
  MPI_Bcast(in, 1000, MPI_BYTE, n - 1, comm);
  MPI_Reduce(out, in, 100, MPI_INT, MPI_BOR, 1, comm);
  MPI_Allreduce(out, in, 100, MPI_INT, MPI_BOR, comm);
  MPI_Gather(out, 20, MPI_BYTE, in, 20, MPI_BYTE, 1, comm);
  MPI_Scatter(out, 20, MPI_BYTE, in, 20, MPI_BYTE, 1, comm);
  MPI_Allgather(out, 30, MPI_BYTE, in, 30, MPI_BYTE, comm);
  MPI_Alltoall(out, 40, MPI_BYTE, in, 40, MPI_BYTE, comm);
  MPI_Scan(out, in, 50, MPI_INT, MPI_BOR, comm);
  MPI_Exscan(out, in, 50, MPI_INT, MPI_BOR, comm);
  MPI_Reduce_scatter_block(out, in, 60, MPI_INT, MPI_BOR, comm);
  for (int i = 0; i < n; ++i) counts[i] = 10 * i, places[i] = 500 * i;
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_BOR, comm);
  MPI_Allgatherv(out, 10 * me, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
  MPI_Gatherv(out, 10 * me, MPI_BYTE, in, counts, places, MPI_BYTE, 0, comm);
  MPI_Scatterv(out, counts, places, MPI_BYTE, in, 10 * me, MPI_BYTE, 0, comm);
  for (int i = 0; i < n; ++i) counts[i] = 7 * (me + i) % 21, received[i] = 7 * (me + i) % 21;
  MPI_Alltoallv(out, counts, places, MPI_BYTE, in, received, places, MPI_BYTE, comm);
  /* Posted in one order, waited for in another. */
  MPI_Request two[2];
  MPI_Ibarrier(comm, &two[0]);
  MPI_Ibcast(in, 2000, MPI_BYTE, 0, comm, &two[1]);
  MPI_Wait(&two[me % 2], MPI_STATUS_IGNORE);
  MPI_Wait(&two[1 - me % 2], MPI_STATUS_IGNORE);
}

static void neighbours(void) {
  const int whole = size, around = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &whole, &around, 0, &ring);
  MPI_Neighbor_alltoall(out, 80, MPI_BYTE, in, 80, MPI_BYTE, ring);
  take(in, 160);
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  if (rank == 1) work(atoi(argv[1]));
  MPI_Barrier(MPI_COMM_WORLD);
  plain(right, left);
  requests(right, left);
  MPI_Barrier(MPI_COMM_WORLD);
  from_anybody(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  persistent(right, left);
  others(right, left);
  collectives(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  from_anybody(half);
  MPI_Barrier(half);
  collectives(half);
  MPI_Comm_free(&half);
  neighbours();
  return finish();
}
