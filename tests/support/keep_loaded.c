// SPDX-License-Identifier: Apache-2.0
// Part of each program for Open MPI: keeps Open MPI's component for PMIx in memory. MPI_Finalize of Open MPI 4.1 unloads it while a
// thread may still call it: on a busy machine, a few of a thousand programs end with a segmentation fault (open-mpi/ompi, issue 10117).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

__attribute__((weak)) int MPI_Init(int *argc, char ***argv);  // a program may load Open MPI later

__attribute__((constructor)) static void keep_loaded(void) {
  Dl_info library;
  char path[4096];
  if (!MPI_Init || !dladdr((void *)MPI_Init, &library)) return;
  const char *const end = strrchr(library.dli_fname, '/');
  if (!end) return;
  const int length = (int)(end - library.dli_fname);
  snprintf(path, sizeof path, "%.*s/openmpi/lib/openmpi3/mca_pmix_ext3x.so", length, library.dli_fname);
  dlopen(path, RTLD_LAZY | RTLD_NODELETE);
}
