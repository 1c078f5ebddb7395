#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `rankloom tune`: tune_test.py RANKLOOM CLASS"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402

KEEP_LOADED = SUPPORT / "keep_loaded.c"
RANKLOOM = pathlib.Path(sys.argv.pop(1)).resolve()
GROUPS = RANKLOOM.parent / "rankloom-groups.openmpi"
ENVIRONMENT = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", **installed_mpi.open_mpi().environment)

UNIFORM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *out = calloc(ranks, 20000), *in = calloc(ranks, 20000);
  for (int i = 0; i < 20; ++i) MPI_Alltoall(out, 20000, MPI_CHAR, in, 20000, MPI_CHAR, MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""

# Exits with status 3 if there is no file left.N, and removes one if there is.
FAILING = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, found = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) found = unlink("left.1") == 0 || unlink("left.2") == 0;
  if (rank == 0 && !found) fprintf(stderr, "the input file is missing\\n");
  MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return found ? 0 : 3;
}
"""

# Ranks 0 and 2 communicate, and 1 and 3: the default placement separates them.
FAR_PAIRS = "# app; ranks=4\n0 2 1000000 1000\n1 3 1000000 1000\n"
TWO_CORES = "core:2=1GB/s,1us"

SLEEP = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  static char buffer[100000];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) {
    usleep(10000);
    MPI_Sendrecv_replace(buffer, sizeof buffer, MPI_CHAR, (rank + 2) % 4, 0, (rank + 2) % 4, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
"""

THREADS = """
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  double sum = 0;
  int threads = 1;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < 20000000; ++i) sum += 1.0 / (i + 1);
  }
  const double time = MPI_Wtime() - begin;
  printf("%d threads, time: %.6f s (%g)\\nrate: %d Mterms/s\\n", threads, time, sum, 10 * threads);
  return MPI_Finalize();
}
"""


class TuneTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def rankloom(self, *arguments, status=0):
        with subprocess.Popen([RANKLOOM, *map(str, arguments)], cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            try:
                out, self.err = child.communicate(timeout=200)
            except subprocess.TimeoutExpired as late:
                processes = subprocess.run(["ps", "-eo", "pid,ppid,stat,wchan:24,etimes,times,args", "--forest"], capture_output=True, text=True, check=False).stdout
                child.kill()
                self.fail(f"{arguments}: not finished after 200 s\n{late.stdout}\n{late.stderr}\n{processes}")
        self.assertEqual(child.returncode, status, f"{arguments}\n{out}{self.err}")
        return out

    def compile(self, text, *options):
        (self.folder / "app.c").write_text(text)
        subprocess.run(["mpicc.openmpi", "-O2", *options, "app.c", KEEP_LOADED, "-o", "app"], cwd=self.folder, check=True)


class VirtualCluster(TuneTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not GROUPS.exists():
            print("needs root and Open MPI")
            sys.exit(77)
        self.name = f"tune{os.getpid() % 1000}"

    def lab(self, hosts, slots, rate):
        self.rankloom("lab", "up", "--name", self.name, "--hosts", hosts, "--slots", slots, "--rate", rate)
        self.addCleanup(self.rankloom, "lab", "down", "--name", self.name)
        ENVIRONMENT["RANKLOOM_LAB"] = self.name
        self.addCleanup(ENVIRONMENT.pop, "RANKLOOM_LAB")

    def test_groups_spread_over_all_hosts_become_faster(self):
        self.lab(4, 4, "100mbit")
        result = json.loads(self.rankloom("tune", "--lab", "--json", "--runs", 3, "--max-runs", 12, "-o", "kept", "--", "mpirun.openmpi", "-n", 16, GROUPS,
                                          "--inside", 250000, "--iterations", 5, "--seed", 3))
        self.assertTrue(result["verified"])
        self.assertEqual((result["confirmed"], result["ranks"], result["nodes"]), (16, 16, 4))
        # With the address sanitizer, the computation and the start of the program take several times as long.
        self.assertGreater(result["speedup"], 1.2 if "ASAN_OPTIONS" in os.environ else 2)
        self.assertLess(result["speedup_low"], result["speedup"])
        self.assertLessEqual(result["speedup_high"], result["max_speedup"])
        runs = len(result["before_seconds"])
        self.assertIn(runs, range(3, 13))  # more than three on a busy machine
        self.assertEqual(len(result["after_seconds"]), runs)
        self.assertEqual((result["verdict"], result["slower"]), ("faster", False))
        self.assertGreater(result["predicted_gain_percent"], 50)
        self.assertTrue(result["gain"])
        self.assertEqual(json.loads((self.folder / "kept" / "result.json").read_text()), result)
        self.assertIn("rankfile:file=kept/launch/rankfile" if installed_mpi.open_mpi().is_prrte else "--rankfile kept/launch/rankfile", result["use"])
        self.assertTrue((self.folder / "kept" / "launch" / "rankfile").exists())
        self.assertRegex((self.folder / "kept" / "report.html").read_text(), rf"times faster than the default placement \([0-9.]+ to [0-9.]+ with 98 % confidence, {runs} runs each\)")

    def test_groups_become_faster_with_mpich(self):
        program = GROUPS.with_suffix(".mpich")
        if not program.exists():
            self.skipTest("MPICH is missing")
        if installed_mpi.mpich().version[:2] == (4, 0):
            self.skipTest("MPICH 4.0 may hang in MPI_Finalize between hosts")
        self.lab(4, 4, "100mbit")
        result = json.loads(self.rankloom("tune", "--lab", "--json", "--runs", 3, "--max-runs", 10, "-o", "kept", "--", "mpiexec.hydra", "-n", 16, program,
                                          "--inside", 250000, "--iterations", 5, "--seed", 3))
        self.assertEqual((result["verified"], result["confirmed"], result["ranks"], result["nodes"]), (True, 16, 16, 4))
        # Ranks of MPICH 4 that wait keep their processor busy, of which there may be fewer than ranks.
        self.assertGreater(result["speedup"], 1.2 if "ASAN_OPTIONS" in os.environ or installed_mpi.mpich().major < 5 else 2)
        self.assertEqual((result["verdict"], result["slower"]), ("faster", False))

    def test_the_fastest_candidate_is_compared_by_other_runs(self):
        """Eight hosts of four slots and 16 ranks: candidates use four hosts, or more of them."""
        self.lab(8, 4, "100mbit")
        result = json.loads(self.rankloom("tune", "--lab", "--json", "--candidates", 3, "--runs", 3, "--max-runs", 12, "-o", "kept", "--", "mpirun.openmpi", "-n", 16,
                                          GROUPS, "--inside", 250000, "--iterations", 5, "--seed", 3))
        candidates = result["candidates"]
        self.assertIn(len(candidates), (2, 3))
        self.assertEqual([row["predicted_seconds"] for row in candidates], sorted(row["predicted_seconds"] for row in candidates))
        chosen, = (number for number, row in enumerate(candidates, 1) if row["chosen"])
        self.assertEqual({len(row["seconds"]) for row in candidates}, {3})
        self.assertEqual(statistics.median(candidates[chosen - 1]["seconds"]), min(statistics.median(row["seconds"]) for row in candidates))
        kept = self.folder / "kept"
        self.assertEqual((kept / "mapping.txt").read_text(), (kept / f"mapping-{chosen}.txt").read_text())
        self.assertEqual(len({(kept / f"mapping-{number}.txt").read_text() for number in range(1, len(candidates) + 1)}), len(candidates))
        # The comparison has its own runs.
        self.assertIn(len(result["before_seconds"]), range(3, 13))
        self.assertEqual(len(result["after_seconds"]), len(result["before_seconds"]))
        self.assertFalse(set(result["after_seconds"]) & set(candidates[chosen - 1]["seconds"]))
        self.assertEqual((result["verdict"], result["verified"]), ("faster", True))
        self.assertIn("Candidates that ran before the comparison", (kept / "report.html").read_text())

    def test_a_program_with_uniform_traffic_keeps_the_default(self):
        self.compile(UNIFORM)
        self.lab(2, 2, "400mbit")
        text = self.rankloom("tune", "--lab", "--", "mpirun.openmpi", "-n", 4, "./app")
        self.assertRegex(text, "no gain expected|no measurable difference")
        self.assertIn("keep the default", text)
        self.assertIn("time is spent in MPI", text)


class Host(TuneTest):
    def test_two_ranks_on_one_host_keep_the_default(self):
        self.compile(UNIFORM)
        result = json.loads(self.rankloom("tune", "--json", "--", "mpirun.openmpi", "-n", 2, "./app"))
        self.assertFalse(result["gain"])
        self.assertEqual(result["nodes"], 1)
        self.assertIn("default placement is already good", result["reason"])
        self.assertIn("No gain expected", (self.folder / "app.tune" / "report.html").read_text())

    def test_dry_run_prints_the_commands_and_runs_nothing(self):
        text = self.rankloom("tune", "--dry-run", "--max-runs", 1, "--", "mpirun.openmpi", "-n", 2, "./app", "--its-own")
        commands = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual([line.split()[1] for line in commands if line.startswith("rankloom")], ["doctor", "record", "topo", "show", "map", "run", "run", "emit", "report"])
        self.assertIn("mpirun.openmpi -n 2 ./app --its-own", commands)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_mapping_without_a_predicted_gain_is_not_run(self):
        # The messages are so small that only latency counts: a mapping reduces bytes x distance, but not the time.
        (self.folder / "app.pairs").write_text("# app; ranks=4\n0 1 1000 1\n0 2 1100 1\n1 3 1100 1\n2 3 1000 1\n")
        result = json.loads(self.rankloom("tune", "--json", "--profile", "app.pairs", "-t", "node:2=0.001,1s core:2=0.0001,1s",
                                          "--", "mpirun.openmpi", "-n", 4, "./never-run"))
        self.assertEqual(result["cost"], result["cost_default"])
        self.assertFalse(result["gain"])
        self.assertIn("no mapping with a lower communication cost", result["reason"])
        text = self.rankloom("tune", "--dry-run", "--predict", "--", "mpirun.openmpi", "-n", 2, "./app")
        self.assertIn("rankloom eval recorded app.tune/mapping.txt --simulate", text)

    def test_a_simulation_comes_before_the_runs(self):
        if not (RANKLOOM.parent / "rankloom-simulate").exists():
            self.skipTest("SimGrid is missing")
        (self.folder / "app.pairs").write_text(FAR_PAIRS)
        self.rankloom("tune", "--predict", "--profile", "app.pairs", "-t", TWO_CORES, "--runs", 3, "--max-runs", 3, "--", "mpirun.openmpi", "-n", 4, "true")
        self.assertRegex(self.err, "predicted +[0-9.]+ times faster: .* in a simulation")
        log = (self.folder / "true.tune" / "predict.log").read_text()
        self.assertIn("rankloom eval round-robin:level=numa true.tune/mapping.txt --simulate", log)
        self.assertIn("--launcher openmpi", log)

    def test_dry_run_prints_how_candidates_are_found_and_run(self):
        text = self.rankloom("tune", "--dry-run", "--candidates", 4, "--", "mpirun.openmpi", "-n", 2, "./app")
        self.assertIn("# find up to 4 different mappings for several goals\n"
                      "rankloom map app.tune/app.prof -t app.tune/machine.json -a auto --judge predict --json --spread pack", text)
        self.assertIn("# run each of the mappings 3 times, the faster half of them as often again, and so on; the fastest is app.tune/mapping.txt\n", text)
        self.assertNotIn("--judge", self.rankloom("tune", "--dry-run", "--", "mpirun.openmpi", "-n", 2, "./app"))

    def test_dry_run_prints_both_orders_of_the_runs_and_the_warm_up(self):
        text = self.rankloom("tune", "--dry-run", "--runs", 4, "--", "mpirun.openmpi", "-n", 2, "./app")
        comments = [line[2:] for line in text.splitlines() if line.startswith("# ") and ("run with" in line or "warm up" in line)]
        self.assertEqual(comments[0], "warm up")
        order = ["m" if "mapping" in line else "d" for line in comments[1:]]
        self.assertEqual(len(order), 8)
        for block in range(0, 8, 4):
            self.assertIn("".join(order[block:block + 4]), ("dmmd", "mddm"))
        self.assertIn("at most 20 with each placement", text)

    def tune_smt(self, *command, options=()):
        """Both processors of this machine count as hardware threads of one core."""
        return json.loads(self.rankloom("tune", "--json", "--try-smt", "--force", "-o", "kept", "-t", "core:1=1 pu:2=0.5", "--runs", 3, "--max-runs", 3,
                                        *options, "--", "mpirun.openmpi", "-n", 1, *command))

    def threads_of(self, placement):
        return [(self.folder / "kept" / f"{placement}-{run}.log").read_text().split()[0] for run in (1, 2, 3)]

    def test_another_number_of_hardware_threads_is_measured(self):
        if os.cpu_count() < 2:
            self.skipTest("needs two processors")
        self.compile(THREADS, "-fopenmp")
        result = self.tune_smt("--bind-to", "hwthread", "./app", options=("--metric", "time: (.*) s"))
        self.assertEqual((self.threads_of("before"), self.threads_of("smt")), (["1"] * 3, ["2"] * 3))
        self.assertEqual((result["threads_per_core"], result["verified"], result["confirmed"]), (2, True, 1))
        self.assertEqual((len(result["before_seconds"]), len(result["after_seconds"])), (3, 3))
        if result["gain"]:
            self.assertIn("--rankfile kept/launch-smt/rankfile", result["use"])
        # Ranks that use both hardware threads of their core are compared with those that use one.
        self.tune_smt("--map-by", "slot:PE=1", "./app")
        self.assertEqual(self.threads_of("smt"), ["1"] * 3)

    def test_a_higher_rate_is_better(self):
        """The program prints twice the rate with two threads."""
        if os.cpu_count() < 2:
            self.skipTest("needs two processors")
        self.compile(THREADS, "-fopenmp")
        result = self.tune_smt("--bind-to", "hwthread", "./app", options=("--metric", "rate: (.*)", "--higher-is-better"))
        for rates, printed in ((result["before_rates"], 10), (result["after_rates"], 20)):
            self.assertEqual([round(rate, 9) for rate in rates], [printed] * 3)
        self.assertEqual(result["rate_unit"], "Mterms/s")
        self.assertAlmostEqual(result["measured_speedup"], 2)
        self.assertNotIn("before_seconds", result)
        self.assertIn("rate", (self.folder / "kept" / "report.html").read_text())
        self.rankloom("tune", "--higher-is-better", "--", "mpirun.openmpi", "-n", 1, "./app", status=2)

    def test_the_threads_of_the_user_stay(self):
        self.compile(THREADS, "-fopenmp")
        result = self.tune_smt("-x", "OMP_NUM_THREADS=2", "--bind-to", "core", "./app")
        self.assertIn("OMP_NUM_THREADS=2 is set", result["smt_not_tried"])
        self.assertEqual(result["verdict"], "not_measured")
        self.tune_smt("-x", "OMP_NUM_THREADS=1", "--bind-to", "hwthread", "./app")
        self.assertEqual(self.threads_of("smt"), ["1"] * 3)

    def test_dry_run_prints_the_runs_with_other_hardware_threads(self):
        text = self.rankloom("tune", "--dry-run", "--try-smt", "--max-runs", 3, "--", "mpirun.openmpi", "-n", 2, "./app")
        for name in ("the default placement", "the mapping", "the other hardware threads"):
            self.assertEqual(text.count(f"# run with {name}\n"), 3)
        self.assertIn("rankloom run app.tune/mapping-smt.txt -t app.tune/machine.json --cores-per-rank 1 --threads-per-core 1 -- mpirun.openmpi -n 2 ./app", text)

    def test_a_program_that_cannot_be_started_is_an_error(self):
        self.rankloom("tune", "--", "mpirun.openmpi", "-n", 2, "./nothing-here", status=self.status_of("mpirun.openmpi", "-n", 2, "./nothing-here"))
        self.assertIn("in the recording run", self.err)
        self.assertIn("nothing-here", self.err)
        self.assertIn("record.log", self.err)

    def status_of(self, *command):
        done = subprocess.run([str(argument) for argument in command], cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode

    def test_the_status_of_a_program_that_fails_is_returned(self):
        self.compile(FAILING)
        for options, run in (((), "the recording run"), (("--profile", "app.pairs", "-t", TWO_CORES), "the warm-up run with the default placement")):
            (self.folder / "app.pairs").write_text(FAR_PAIRS)
            self.rankloom("tune", *options, "-o", "kept", "--", "mpirun.openmpi", "-n", 4, "./app", status=3)
            self.assertIn(f"the program exited with status 3 in {run}", self.err)
            self.assertIn("the input file is missing", self.err)
            self.assertFalse((self.folder / "kept" / "result.json").exists())
            result = json.loads(self.rankloom("tune", "--json", *options, "-o", "kept", "--", "mpirun.openmpi", "-n", 4, "./app", status=3))
            self.assertEqual((result["status"], result["failed_run"], result["gain"], result["speedup"]), (3, run, False, None))
            self.assertIn("the input file is missing", "\n".join(result["output_tail"]))

    def test_a_program_that_fails_later_names_the_run(self):
        self.compile(FAILING)
        (self.folder / "app.pairs").write_text(FAR_PAIRS)
        # The program succeeds as long as there is something to take away.
        for name in "12":
            (self.folder / f"left.{name}").write_text("")
        self.rankloom("tune", "--profile", "app.pairs", "-t", TWO_CORES, "--", "mpirun.openmpi", "-n", 4, "./app", status=3)
        self.assertRegex(self.err, "the program exited with status 3 in run 1 with the (mapping|default placement)")
        self.assertRegex(self.err, r"(before|after)-1\.log")

    def test_a_sleep_is_not_faster(self):
        """Almost no time is spent in MPI: a mapping that reduces the cost gains nothing, and a difference is not its effect."""
        self.compile(SLEEP)
        result = json.loads(self.rankloom("tune", "--json", "-t", TWO_CORES, "--runs", 3, "--max-runs", 6, "--", "mpirun.openmpi", "-n", 4, "./app"))
        self.assertLess(result["cost"], result["cost_default"])
        self.assertLessEqual(result["speedup"] or 1, result["max_speedup"])
        # On a busy machine the ranks wait for each other in MPI, and bound ranks can be faster.
        if result["share_in_mpi"] < 0.1:
            self.assertFalse(result["gain"], result)
            self.assertNotIn("use", result)


if __name__ == "__main__":
    unittest.main()
