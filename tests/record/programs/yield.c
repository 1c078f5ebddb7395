// SPDX-License-Identifier: Apache-2.0
// Part of each program for MPICH: ranks that wait give up the processor, as those of Open MPI do with mpi_yield_when_idle. MPICH's
// ranks poll; with more ranks than cores, each poll takes the time slice of the rank that would answer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
  static unsigned (*progress)(void *);
  if (!progress) progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned events = progress(worker);
  if (events == 0) sched_yield();
  return events;
}
