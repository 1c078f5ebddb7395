#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rankloom doctor -- COMMAND`: where ranks and threads of a real program run, and that the program does not notice.

    doctor_test.py RANKLOOM
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402

RANKLOOM = None
PROGRAM = r"""
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* All threads are busy until each has used some time of a processor, however many programs share it, and until some time
   has passed. A rank has no child that it did not start. */
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double least = atof(argv[1]), end = seconds(CLOCK_MONOTONIC) + least;
  int waiting = 0;
#pragma omp parallel
  {
#pragma omp atomic
    ++waiting;
#pragma omp barrier
    int used = 0, left = 1;
    while (left > 0 || seconds(CLOCK_MONOTONIC) < end) {
      if (!used && seconds(CLOCK_THREAD_CPUTIME_ID) > least / 4) {
        used = 1;
#pragma omp atomic
        --waiting;
      }
#pragma omp atomic read
      left = waiting;
    }
  }
  const int child = waitpid(-1, NULL, 0);
  if (child != -1 || errno != ECHILD) puts("an unknown child");
  MPI_Finalize();
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PMI_"))}
ENVIRONMENT |= {**installed_mpi.open_mpi().as_root, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
KEEP_LOADED = SUPPORT / "keep_loaded.c"


class Doctor(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="doctor-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "busy.c").write_text(PROGRAM)

    def doctor(self, *command, threads, status=0, json_output=True):
        done = subprocess.run([RANKLOOM, "doctor", *(["--json"] if json_output else []), "--", *command], cwd=self.directory,
                              env={**ENVIRONMENT, "OMP_NUM_THREADS": str(threads)}, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("unknown child", done.stdout + done.stderr)
        return json.loads(done.stdout.splitlines()[-1]) if json_output else done.stdout

    def test_programs_of_both_libraries(self):
        cpu = str(min(os.sched_getaffinity(0)))
        for mpi, launcher, width in (("openmpi", ["mpirun.openmpi", "--bind-to", "none"], "--map-by slot:PE=3"), ("mpich", ["mpiexec.mpich"], "-bind-to core:3")):
            if shutil.which(launcher[0]) is None:
                continue
            with self.subTest(mpi=mpi):
                program = self.directory / mpi
                subprocess.run([f"mpicc.{mpi}", "-O1", "-fopenmp", "busy.c", *([KEEP_LOADED] if mpi == "openmpi" else []), "-o", program], cwd=self.directory, check=True)
                crowded = self.doctor("taskset", "-c", cpu, *launcher, "-n", "1", program, "1.5", threads=3)
                self.assertEqual([rank["busy_threads"] for rank in crowded["ranks"]], [3])
                self.assertEqual(crowded["ranks"][0]["cpus"], [int(cpu)])
                self.assertEqual([finding["what"] for finding in crowded["findings"]], ["3 busy threads on 1 processing unit"])
                self.assertIn(width, crowded["findings"][0]["remedy"])
                text = self.doctor("taskset", "-c", cpu, *launcher, "-n", "2", program, "0.7", threads=1, json_output=False)
                self.assertIn("ranks 0-1: 2 ranks share the core", text)
                self.assertEqual(self.doctor(*launcher, "-n", "1", program, "0.3", "7", threads=1, status=7)["status"], 7)
                self.assertEqual([path.name for path in self.directory.iterdir() if path.name.startswith(".rankloom")], [])


if __name__ == "__main__":
    RANKLOOM = pathlib.Path(sys.argv.pop(1)).resolve()
    if shutil.which("mpirun.openmpi") is None and shutil.which("mpiexec.mpich") is None:
        print("not installed: mpirun.openmpi, mpiexec.mpich")
        sys.exit(77)
    unittest.main()
