#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Experiments by `rankloom bench`: interrupted, continued, refused, with runs that fail."""

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

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
MACHINE = "node:4=10 core:4=1"
SLOW = "exec:sleep 0.1; seq 0 $(({ranks} - 1))"


def rows_of(folder):
    path = pathlib.Path(folder, "rows.jsonl")
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def key(row):
    return row["graph"], row["machine"], row["mapper"], row["seed"]


class Bench(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def command(self, *words):
        return [str(PROGRAM), "bench", *map(str, words)]

    def bench(self, *words, status=0):
        done = subprocess.run(self.command(*words), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_the_cpu_time_of_a_program_is_what_it_counts_itself(self):
        # It works for a second of CPU time, partly in a child, as shells and pipes do; the rest is the start and the end of Python.
        work = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass\nprint(time.process_time(), file=open(sys.argv[2], 'a'))\n"
        (self.folder / "work.py").write_text(work)
        times = self.folder / "times.txt"
        program = f"exec:{sys.executable} work.py 0.7 {times} && {sys.executable} work.py 0.5 {times} && seq 0 $(({{ranks}} - 1))"
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", program, "--seeds", "1", "-o", "x")
        own = sum(float(line) for line in times.read_text().split())
        row = rows_of(self.folder / "x")[0]
        self.assertGreater(row["cpu_seconds"], own)
        self.assertLess(row["cpu_seconds"], own * 1.02 + 0.03)  # two interpreters, two shells and seq

    def test_the_harness_takes_at_most_20_ms_of_cpu_time_per_run(self):
        words = self.command("gen:ring:ranks=64", "-t", MACHINE.replace("core:4", "core:16"), "-a", "block,random", "--seeds", "20", "-o", "x")
        running = subprocess.Popen(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(running.returncode, 0)
        rows = rows_of(self.folder / "x")
        self.assertEqual(len(rows), 40)
        all_of_it, runs = usage.ru_utime + usage.ru_stime, sum(row["cpu_seconds"] for row in rows)
        self.assertGreater(all_of_it, runs)
        self.assertLess((all_of_it - runs) / len(rows), 0.02)

    def test_a_killed_experiment_loses_at_most_the_run_in_flight(self):
        words = ["gen:ring:ranks=8", "gen:ring:ranks=16", "-t", MACHINE, "-a", "block", "-a", SLOW, "--seeds", "4", "-o", "x"]
        with subprocess.Popen(self.command(*words), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            while len(rows_of(self.folder / "x")) < 5 and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGKILL)
        self.assertEqual(running.returncode, -signal.SIGKILL)
        before = rows_of(self.folder / "x")
        self.assertGreaterEqual(len(before), 5)
        with open(self.folder / "x" / "rows.jsonl", "a") as rows:
            rows.write('{"graph": "gen:ri')  # as if it was killed while it wrote a row
        self.bench(*words)
        after = rows_of(self.folder / "x")
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(len(after), 2 * 2 * 4)
        self.assertEqual(len({key(row) for row in after}), len(after))
        for name in ("report.html", "rows.csv", "table.tex", "performance_profile.svg", "pareto.svg", "convergence.svg", "scaling.svg"):
            self.assertTrue((self.folder / "x" / name).stat().st_size > 0, name)
        self.bench(*words)
        self.assertEqual(rows_of(self.folder / "x"), after)

    def test_mappers_of_one_instance_and_seed_run_next_to_each_other(self):
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "block,random", "--seeds", "2", "-o", "x")
        self.assertEqual([(row["mapper"], row["seed"]) for row in rows_of(self.folder / "x")], [("block", 0), ("random", 0), ("block", 1), ("random", 1)])

    def test_rows_say_where_they_come_from(self):
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "block", "--seeds", "1", "-o", "x")
        row, = rows_of(self.folder / "x")
        for name in ("version", "program", "compiler", "host", "instance", "graph_digest", "machine_digest"):
            self.assertTrue(row[name], name)
        self.assertGreater(row["cpu_seconds"], 0)
        self.assertGreater(row["seconds"], 0)
        self.assertGreater(row["peak_bytes"], 1 << 20)

    def test_budgets_are_runs_of_their_own_and_more_of_them_continue(self):
        words = ["gen:rgg:ranks=64", "-t", "node:8=10 core:8=1", "-a", "auto:effort=best,block", "--seeds", "1", "-o", "x"]
        self.bench(*words, "--budgets", "200ms")
        first = rows_of(self.folder / "x")
        said = self.bench(*words, "--budgets", "5ms,200ms")
        rows = rows_of(self.folder / "x")
        self.assertEqual(rows[:2], first)
        self.assertEqual(sorted((row["mapper"], row["budget_ms"]) for row in rows), [("auto:effort=best", 5), ("auto:effort=best", 200), ("block", 5), ("block", 200)])
        self.assertIn("auto:effort=best in 5 ms", said)
        plot = (self.folder / "x" / "convergence.svg").read_text()
        self.assertEqual(plot.count("<polyline"), 2)
        self.assertIn("another experiment", self.bench(*words, status=2))

    def test_the_page_has_the_plots_and_the_tables(self):
        self.bench("gen:ring:ranks=8", "gen:stencil2d:size=4x2", "-t", MACHINE, "-a", "block,random", "--seeds", "1", "-o", "x")
        text = (self.folder / "x" / "report.html").read_text()
        page = json.loads(re.search(r'id="rankloom-data">(.*?)</script>', text, re.DOTALL).group(1))
        found = page["experiment"]
        self.assertEqual([row["mapper"] for row in found["classes"][-1]["mappers"]], ["block", "random"])
        self.assertEqual([one["class"] for one in found["classes"]], ["ring", "stencil2d", ""])
        self.assertEqual(len(found["plots"]), 4)
        self.assertEqual([len(series["points"]) for series in found["plots"][3]["series"]], [2, 2])
        self.assertIn("random", found["sentences"][0])

    def test_several_jobs_give_the_same_rows(self):
        words = ["gen:ring:ranks=8", "gen:ring:ranks=12", "-t", MACHINE, "-a", "block,greedy", "--seeds", "2"]
        self.bench(*words, "-o", "one")
        self.bench(*words, "-o", "two", "--jobs", "2")
        costs = [sorted((key(row), row["cost"]) for row in rows_of(self.folder / name)) for name in ("one", "two")]
        self.assertEqual(costs[0], costs[1])

    def test_a_larger_experiment_continues_and_another_one_is_refused(self):
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "block", "--seeds", "1", "-o", "x")
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "block,random", "--seeds", "2", "-o", "x")
        self.assertEqual(len(rows_of(self.folder / "x")), 4)
        refused = self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "block,random", "--seeds", "2", "--model", "hopbytes", "-o", "x", status=2)
        self.assertIn("another experiment", refused)
        self.assertEqual(len(rows_of(self.folder / "x")), 4)
        self.bench("gen:ring:ranks=12", "-t", MACHINE, "-a", "block", "--seeds", "1", "-o", "x", "--force")
        self.assertEqual([row["graph"] for row in rows_of(self.folder / "x")], ["gen:ring:ranks=12"])

    def test_files_of_other_programs_are_kept(self):
        (self.folder / "x").mkdir()
        (self.folder / "x" / "rows.csv").write_text("mine")
        refused = self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "block", "--seeds", "1", "-o", "x", status=2)
        self.assertIn("rankloom did not write it", refused)
        self.assertEqual((self.folder / "x" / "rows.csv").read_text(), "mine")

    def test_a_run_that_fails_is_a_row_and_can_be_repeated(self):
        words = ["gen:ring:ranks=8", "-t", MACHINE, "-a", "block", "-a", "exec:test -e ok && seq 0 7", "--seeds", "1", "-o", "x"]
        said = self.bench(*words, status=4)
        self.assertIn("1 of 2 runs failed", said)
        self.assertIn("status 1", rows_of(self.folder / "x")[1]["error"])
        (self.folder / "ok").touch()
        self.bench(*words, status=4)
        self.assertEqual(len(rows_of(self.folder / "x")), 2)
        self.bench(*words, "--retry-failed")
        self.assertEqual(rows_of(self.folder / "x")[2]["cost"], rows_of(self.folder / "x")[0]["cost"])

    def test_a_program_is_ended_at_its_time_limit(self):
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", "exec:sleep 100", "--time-limit", "200ms", "--seeds", "1", "-o", "x", status=4)
        self.assertIn("did not end within", rows_of(self.folder / "x")[0]["error"])

    def test_the_time_of_a_program_is_that_of_its_processes(self):
        busy = "exec:python3 -c 'import time\nwhile time.process_time() < 0.3: pass'; seq 0 7"
        self.bench("gen:ring:ranks=8", "-t", MACHINE, "-a", busy, "-a", "block", "--seeds", "1", "-o", "x")
        busy_row, block_row = rows_of(self.folder / "x")
        self.assertGreater(busy_row["cpu_seconds"], 0.3)
        self.assertLess(busy_row["cpu_seconds"], 1.5)
        self.assertEqual(busy_row["cost"], block_row["cost"])

    def test_the_json_has_ratios_tests_and_rows(self):
        done = subprocess.run(self.command("gen:stencil2d:size=4x4,shuffle", "-t", MACHINE, "-a", "block,auto", "--seeds", "2", "--json", "-o", "x"),
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=True)
        result = json.loads(done.stdout)
        self.assertEqual(result["baseline"], "block")
        self.assertEqual(result["mappers"][0]["cost_ratio"], 1)
        self.assertLess(result["mappers"][1]["cost_ratio"], 1)
        self.assertIn("too few", result["tests"][0]["sentence"])
        self.assertEqual(len(result["rows"]), 4)


if __name__ == "__main__":
    os.environ.pop("RANKLOOM", None)
    unittest.main()
