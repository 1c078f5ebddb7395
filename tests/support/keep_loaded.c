// SPDX-License-Identifier: Apache-2.0
// Part of each program for Open MPI: MPI_Finalize of Open MPI 4.1 closes, unloads and frees its components while its progress thread may
// still use them. A few of a thousand programs end with a segmentation fault (open-mpi/ompi, issue 10117). Here nothing is unloaded, every
// call waits for a moment, so that the thread has done its work before the component is closed, and from MPI_Finalize on nothing is freed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

extern volatile int ompi_mpi_state __attribute__((weak));  // of libmpi: from 3 on, MPI_Finalize was called

int dlclose(void *handle) {
  (void)handle;
  usleep(500);
  return 0;
}

void free(void *memory) {
  static void (*next)(void *);
  static volatile int looking;
  if (next == NULL && !looking) {
    looking = 1;  // dlsym may free, too
    next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    looking = 0;
  }
  if (next != NULL && (&ompi_mpi_state == NULL || ompi_mpi_state < 3)) next(memory);
}
