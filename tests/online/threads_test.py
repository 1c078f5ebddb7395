#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads of one program are moved while they run: phases are found, places are really set, and the program goes on whatever happens to the agent.

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
NODE = "package:2=1GB/s,1us core:2=10GB/s,200ns"  # four cores that this machine need not have
PLACE = re.compile(r"thread (\d+) on (\d+) of (\d+) units 1")
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


def is_within(short, long):
    """In this order, whatever is between."""
    rest = iter(long)
    return all(one in rest for one in short)


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="online-threads-")
        cls.addClassCleanup(folder.cleanup)
        cls.program = pathlib.Path(folder.name) / "thread_phases"
        subprocess.run([RANKLOOM, "c++", "-O2", "-std=c++20", "-pthread", HERE / "programs/thread_phases.cpp", "-o", cls.program], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="online-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def words(self, *command, options=()):
        return [str(word) for word in (RANKLOOM, "online", "-o", "online.json", *options, "--", *command)]

    def online(self, *command, options=(), status=0, environment=None):
        self.done = subprocess.run(self.words(*command, options=options), cwd=self.folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(self.done.returncode, status, self.done.stdout + self.done.stderr)
        self.assertEqual([name.name for name in self.folder.iterdir() if name.name.startswith(".rankloom")], [], "nothing is left")
        return json.loads((self.folder / "online.json").read_text())

    def test_phases_are_found_and_threads_are_moved(self):
        log = self.online(self.program, THREADS, 4, 0.8, options=["-t", NODE, "--window", "50ms", "--move-cost", "1us", "--profile", "out.prof"])
        node, = log["nodes"]
        self.assertEqual(node["of"], "threads")
        self.assertEqual(node["ranks"], [1, 2, 3, 4], "the main thread only waits")
        kinds = [phase["kind"] for phase in node["phases"]]
        self.assertTrue(is_within(["A", "B", "A", "B"], kinds), self.done.stderr)
        self.assertLessEqual(len(kinds), 8, self.done.stderr)
        self.assertGreaterEqual(len(node["bursts"]), 1)
        # Read back from the kernel by the threads themselves, in the end; a burst may come after that.
        places = {int(me): (cpu, units) for me, cpu, units in PLACE.findall(self.done.stdout)}
        self.assertIn([places[me] for me in range(THREADS)], [[(str(cpu), "1") for cpu in burst["cpus"]] for burst in node["bursts"]])
        # Each mapping is as good as what the offline mappers find for the same matrix.
        moved = {decision["window"]: decision for decision in node["decisions"] if decision["moves"]}
        for burst in node["bursts"]:
            if moved[burst["window"]]["back"]:
                self.assertEqual(moved[burst["window"]]["mapping"], node["start"])
                continue
            (self.folder / "burst.pairs").write_text("".join(f"{a} {b} {size:.0f} {messages:.0f}\n" for a, b, size, messages in burst["traffic"]))
            (self.folder / "mine.txt").write_text("".join(f"{core}\n" for core in moved[burst["window"]]["mapping"]))
            tail = ["-t", NODE, "--model", "time"]
            self.tell("map", "burst.pairs", "--from", "pairs", *tail, "-a", "eager", "--raw", "-o", "eager.txt")
            offline = json.loads(self.tell("map", "burst.pairs", "--from", "pairs", *tail, "-a", "refine", "--start", "eager.txt", "--json"))["cost"]
            mine = json.loads(self.tell("eval", "mine.txt", "--profile", "burst.pairs", "--from", "pairs", *tail, "--json"))["mappings"][0]["costs"]["time"]
            self.assertAlmostEqual(mine, offline, delta=1e-6 * offline)
        cost = node["cost"]
        self.assertEqual({len(cost[column]) for column in ("time", "stayed", "online")}, {node["windows"]})
        self.assertAlmostEqual(sum(cost["online"]), node["effect"]["online"], delta=1e-9 + 1e-6 * node["effect"]["online"])
        self.assertLess(node["effect"]["online"], node["effect"]["stayed"])
        self.assertIn("5 ranks", self.tell("show", "out.prof"))

    def tell(self, *words):
        return subprocess.run([RANKLOOM, *words], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def test_the_agent_is_killed(self):
        child = subprocess.Popen(self.words(self.program, THREADS, 2, 0.6), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        deadline, agents = time.monotonic() + 20, []
        while not agents and time.monotonic() < deadline:
            agents = [int(file.read_text()) for file in self.folder.glob(".rankloom-record-*/agent.*") if file.read_text().strip() and (file.parent / "threads").exists()]
            time.sleep(0.02)
        os.kill(agents[0], signal.SIGKILL)
        out, err = child.communicate(timeout=40)
        self.assertEqual(child.returncode, 0, out + err)
        self.assertEqual(len(PLACE.findall(out)), THREADS)
        self.assertIn("left no log", err)

    def test_a_team_of_openmp_with_its_main_thread(self):
        (self.folder / "team.c").write_text(OPENMP)
        subprocess.run([RANKLOOM, "cc", "-O1", "-fopenmp", "team.c", "-o", "team"], cwd=self.folder, check=True)
        log = self.online("env", "OMP_WAIT_POLICY=passive", "./team", options=["--window", "50ms"])
        node, = log["nodes"]
        self.assertIn(0, node["ranks"])
        self.assertGreaterEqual(len(node["phases"]), 1)
        self.assertTrue(set(node["cpus"]) <= os.sched_getaffinity(0))

    def test_a_program_that_records_no_threads(self):
        done = subprocess.run(self.words("true"), cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no program that records its threads", done.stderr)


if __name__ == "__main__":
    unittest.main()
