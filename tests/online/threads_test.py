#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads of one program are moved while they run: phases are detected, bindings are set, and failures of the agent do not affect the program.

    python3 threads_test.py RANKLOOM [CLASS[.TEST]]
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
RANKLOOM = pathlib.Path(sys.argv.pop(1)).resolve()
THREADS = 4
NODE = "package:2=1GB/s,1us core:2=10GB/s,200ns"  # four cores that this machine does not need to have
BINDING = re.compile(r"thread (\d+) on (\d+) of (\d+) units 1")
OPENMP = """
#include <time.h>
static double boxes[4][4096];
int main(void) {
  double sum = 0;
  for (const time_t end = time(0) + 3; time(0) < end;) {
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(4) reduction(+ : sum) schedule(static, 1)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4096; ++k) sum += boxes[(i + round) % 4][k]++;
    }
  }
  return sum < 0;
}
"""


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="online-threads-")
        cls.addClassCleanup(directory.cleanup)
        cls.program = pathlib.Path(directory.name) / "thread_phases"
        subprocess.run([RANKLOOM, "c++", "-O2", "-std=c++20", "-pthread", HERE / "programs/thread_phases.cpp", "-o", cls.program], check=True)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="online-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def arguments(self, *command, options=()):
        return [str(argument) for argument in (RANKLOOM, "online", "-o", "online.json", *options, "--", *command)]

    def run_online(self, *command, options=(), status=0, environment=None):
        self.done = subprocess.run(self.arguments(*command, options=options), cwd=self.directory, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, check=False)
        self.assertEqual(self.done.returncode, status, self.done.stdout + self.done.stderr)
        self.assertEqual([name.name for name in self.directory.iterdir() if name.name.startswith(".rankloom")], [], "temporary files are left")
        return json.loads((self.directory / "online.json").read_text())

    def test_phases_are_detected_and_threads_are_moved(self):
        log = self.run_online(self.program, THREADS, 4, 0.8, options=["-t", NODE, "--window", "50ms", "--move-cost", "1us", "--max-loss", "none", "--profile", "out.prof"])
        node, = log["nodes"]
        self.assertEqual(node["entities"], "threads")
        self.assertEqual(node["ranks"], [1, 2, 3, 4], "the main thread only waits")
        kinds = [phase["kind"] for phase in node["phases"]]
        # Four phases of two kinds; on a busy machine, parts of a phase may look like a third kind.
        self.assertEqual(kinds[:2], ["A", "B"], self.done.stderr)
        self.assertIn(len(kinds), range(4, 9), self.done.stderr)
        self.assertLessEqual(len(set(kinds)), 3, self.done.stderr)
        self.assertGreaterEqual(len(node["migrations"]), 1)
        # The threads print their bindings at their end; a later migration is possible.
        bindings = {int(me): (cpu, units) for me, cpu, units in BINDING.findall(self.done.stdout)}
        self.assertIn([bindings[me] for me in range(THREADS)], [[(str(cpu), "1") for cpu in migration["cpus"]] for migration in node["migrations"]])
        # Each mapping has the cost that the offline mappers reach for the same traffic.
        moved = {decision["window"]: decision for decision in node["decisions"] if decision["moves"]}
        for migration in node["migrations"]:
            if moved[migration["window"]]["returns_to_start"]:
                self.assertEqual(moved[migration["window"]]["mapping"], node["start"])
                continue
            (self.directory / "migration.pairs").write_text("".join(f"{a} {b} {size:.0f} {messages:.0f}\n" for a, b, size, messages in migration["traffic"]))
            (self.directory / "online.txt").write_text("".join(f"{core}\n" for core in moved[migration["window"]]["mapping"]))
            tail = ["-t", NODE, "--model", "time"]
            self.rankloom("map", "migration.pairs", "--from", "pairs", *tail, "-a", "eager", "--raw", "-o", "eager.txt")
            offline = json.loads(self.rankloom("map", "migration.pairs", "--from", "pairs", *tail, "-a", "refine", "--start", "eager.txt", "--json"))["cost"]
            online = json.loads(self.rankloom("eval", "online.txt", "--profile", "migration.pairs", "--from", "pairs", *tail, "--json"))["mappings"][0]["costs"]["time"]
            self.assertAlmostEqual(online, offline, delta=1e-6 * offline)
        cost = node["cost"]
        self.assertEqual({len(cost[column]) for column in ("time", "stayed", "online")}, {node["windows"]})
        self.assertAlmostEqual(sum(cost["online"]), node["effect"]["online"], delta=1e-9 + 1e-6 * node["effect"]["online"])
        self.assertLess(node["effect"]["online"], node["effect"]["stayed"])
        self.assertIn("5 ranks", self.rankloom("show", "out.prof"))

    def rankloom(self, *arguments):
        return subprocess.run([RANKLOOM, *arguments], cwd=self.directory, capture_output=True, text=True, check=True).stdout

    def test_the_agent_is_killed(self):
        child = subprocess.Popen(self.arguments(self.program, THREADS, 2, 0.6), cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        deadline, agents = time.monotonic() + 150, []
        while not agents and time.monotonic() < deadline:
            agents = [int(file.read_text()) for file in self.directory.glob(".rankloom-record-*/agent.*") if file.read_text().strip() and (file.parent / "threads").exists()]
            time.sleep(0.02)
        os.kill(agents[0], signal.SIGKILL)
        out, err = child.communicate(timeout=150)
        self.assertEqual(child.returncode, 0, out + err)
        self.assertEqual(len(BINDING.findall(out)), THREADS)
        self.assertIn("wrote no log", err)

    def test_openmp_threads_include_the_main_thread(self):
        (self.directory / "team.c").write_text(OPENMP)
        subprocess.run([RANKLOOM, "cc", "-O1", "-fopenmp", "team.c", "-o", "team"], cwd=self.directory, check=True)
        log = self.run_online("env", "OMP_WAIT_POLICY=passive", "./team", options=["--window", "50ms"])
        node, = log["nodes"]
        self.assertIn(0, node["ranks"])
        self.assertGreaterEqual(len(node["phases"]), 1)
        self.assertTrue(set(node["cpus"]) <= os.sched_getaffinity(0))

    def test_a_program_that_records_no_threads(self):
        done = subprocess.run(self.arguments("true"), cwd=self.directory, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither a launcher nor a program that records its threads", done.stderr)


if __name__ == "__main__":
    unittest.main()
