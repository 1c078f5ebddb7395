// SPDX-License-Identifier: Apache-2.0
// Part of each program for Open MPI: MPI_Finalize of Open MPI 4.1 closes and unloads its components while its progress thread may still
// have to call one of them. On a busy machine a few of a thousand programs end with a segmentation fault (open-mpi/ompi, issue 10117).
// Here nothing is unloaded, and every call waits for a moment, so that the thread has done its work before the component is closed.
#include <unistd.h>

int dlclose(void *handle);

int dlclose(void *handle) {
  (void)handle;
  usleep(500);
  return 0;
}
