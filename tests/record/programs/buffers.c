/* SPDX-License-Identifier: Apache-2.0
 * Buffers of MPI 4.1: buffered sends with the buffer of a communicator and of the process, and every call that waits for them. 7
 * messages of 400 bytes from rank 0 to rank 1. */
#include "program.h"

enum { elements = 100, bytes = 4096 };

static void send_one(MPI_Comm comm) {
  if (rank == 0) {
    MPI_Bsend(out, elements, MPI_INT, 1, 0, comm);
  } else {
    MPI_Recv(in, elements, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  static char room[2][bytes];
  begin(&argc, &argv);
  MPI_Request request;
  void* address = NULL;
  int length = 0, done = 0;
  MPI_Comm_attach_buffer(MPI_COMM_WORLD, room[0], bytes);
  send_one(MPI_COMM_WORLD);
  MPI_Comm_flush_buffer(MPI_COMM_WORLD);
  send_one(MPI_COMM_WORLD);
  MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  send_one(MPI_COMM_WORLD);
  MPI_Comm_detach_buffer(MPI_COMM_WORLD, &address, &length);
  MPI_Buffer_attach(room[1], bytes);
  send_one(MPI_COMM_WORLD);
  MPI_Buffer_flush();
  send_one(MPI_COMM_WORLD);
  MPI_Buffer_iflush(&request);
  while (!done) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  send_one(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Bsend_init(out, elements, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  } else {
    MPI_Recv_init(in, elements, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Start(&request);
  for (done = 0; !done;) MPI_Request_get_status_all(1, &request, &done, MPI_STATUSES_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Buffer_detach(&address, &length);
  if (address != room[1] || length != bytes) MPI_Abort(MPI_COMM_WORLD, 1);
  take(in, elements * 4);
  return finish();
}
