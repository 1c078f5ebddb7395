#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `rankloom tune`: tune_test.py RANKLOOM CLASS"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

RANKLOOM = pathlib.Path(sys.argv.pop(1)).resolve()
GROUPS = RANKLOOM.parent / "rankloom-groups.openmpi"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_mpi_yield_when_idle="1")

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


class TuneTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def rankloom(self, *arguments, status=0):
        done = subprocess.run([RANKLOOM, *map(str, arguments)], cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        self.err = done.stderr
        return done.stdout

    def compile(self, text):
        (self.folder / "app.c").write_text(text)
        subprocess.run(["mpicc.openmpi", "-O2", "app.c", "-o", "app"], cwd=self.folder, check=True)


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
        begin = time.monotonic()
        result = json.loads(self.rankloom("tune", "--lab", "--json", "--runs", 2, "-o", "kept", "--", "mpirun.openmpi", "-n", 16, GROUPS,
                                          "--inside", 250000, "--iterations", 5, "--seed", 3))
        self.assertLess(time.monotonic() - begin, 60)
        self.assertTrue(result["verified"])
        self.assertEqual((result["confirmed"], result["ranks"], result["nodes"]), (16, 16, 4))
        self.assertGreater(result["speedup"], 2)
        self.assertGreater(result["predicted_gain_percent"], 50)
        self.assertTrue(result["gain"])
        self.assertEqual(json.loads((self.folder / "kept" / "result.json").read_text()), result)
        self.assertIn("--rankfile kept/launch/rankfile", result["use"])
        self.assertTrue((self.folder / "kept" / "launch" / "rankfile").exists())
        self.assertIn("times faster than the default placement (2 runs each)", (self.folder / "kept" / "report.html").read_text())

    def test_a_program_with_uniform_traffic_keeps_the_default(self):
        self.compile(UNIFORM)
        self.lab(2, 2, "400mbit")
        text = self.rankloom("tune", "--lab", "--", "mpirun.openmpi", "-n", 4, "./app")
        self.assertIn("no measurable gain", text)
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
        text = self.rankloom("tune", "--dry-run", "--runs", 1, "--", "mpirun.openmpi", "-n", 2, "./app", "--its-own")
        commands = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual([line.split()[1] for line in commands if line.startswith("rankloom")], ["doctor", "record", "topo", "show", "map", "run", "emit", "report"])
        self.assertIn("mpirun.openmpi -n 2 ./app --its-own", commands)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_mapping_without_a_simulated_gain_is_not_run(self):
        if not (RANKLOOM.parent / "rankloom-simulate").exists():
            self.skipTest("SimGrid is missing")
        # The messages are so small that only latency counts: the mapping reduces the cost, but not the time.
        (self.folder / "app.pairs").write_text("# app; ranks=4\n0 1 1000 1\n0 2 1100 1\n1 3 1100 1\n2 3 1000 1\n")
        result = json.loads(self.rankloom("tune", "--json", "--predict", "--profile", "app.pairs", "-t", "node:2=0.001,1s core:2=0.0001,1s",
                                          "--", "mpirun.openmpi", "-n", 4, "./never-run"))
        self.assertLess(result["cost"], result["cost_default"])
        self.assertFalse(result["gain"])
        self.assertAlmostEqual(result["simulated"]["speedup"], 1, places=2)
        self.assertIn("in a simulation", result["reason"])
        text = self.rankloom("tune", "--dry-run", "--predict", "--", "mpirun.openmpi", "-n", 2, "./app")
        self.assertIn("rankloom eval block app.tune/mapping.txt --simulate", text)

    def test_a_program_that_cannot_be_started_is_an_error(self):
        self.rankloom("tune", "--", "mpirun.openmpi", "-n", 2, "./nothing-here", status=5)
        self.assertIn("nothing was recorded", self.err)
        self.assertIn("record.log", self.err)


if __name__ == "__main__":
    unittest.main()
