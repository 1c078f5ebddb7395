#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs of a complete Slurm with rankloom's node selection: slurmctld is killed and restarted while jobs run and wait, and
thousands of short jobs pass through it. Takes minutes; `./dev test --all` runs it.

    endurance_test.py PROGRAM [CLASS]
"""
import json
import os
import pathlib
import re
import signal
import sys
import time
import unittest

import select_test
from select_test import Cluster, is_rectangle, run

JOBS = int(os.environ.get("RANKLOOM_TEST_JOBS", "2000"))


class Killed(Cluster):
    """slurmctld ends without a chance to save anything. It saves changes of jobs within a few seconds, as every Slurm does; jobs that
    are younger than that are Slurm's to lose, not ours."""

    def kill_controller(self):
        now = time.time()  # compared with the time of a file; words: ok
        self.slurm("scontrol", "update", f"JobId={next(iter(self.jobs()))}", f"Comment={now}")  # a change, so that there is something to save
        self.wait(lambda: (self.directory / "state" / "job_state").stat().st_mtime > now, "slurmctld has saved the jobs")
        old = self.controller()
        os.kill(old, signal.SIGKILL)
        self.wait(lambda: not pathlib.Path(f"/proc/{old}/exe").exists(), "slurmctld has ended")

    def start_controller(self):
        run(select_test.PROGRAM, "slurm", "lab", "exec", "--name", self.name, "--", "slurmctld", "-f", self.env["SLURM_CONF"])
        self.wait(lambda: "is UP" in self.slurm("scontrol", "ping", status=None), "slurmctld is up")
        self.wait_for_nodes()

    def test_running_and_waiting_jobs_survive(self):
        sizes = [16, 9, 12, 6]
        running = {job: self.nodes_of(job) for job in (self.submit(size) for size in sizes)}
        waiting = self.queue(49)
        self.wait_for_backfill(1)
        for _ in range(3):
            self.kill_controller()
            self.start_controller()
            self.wait(lambda: set(self.jobs("R")) == set(running), "all jobs run")
            self.assertEqual({job: self.nodes_of(job) for job in running}, running, "the jobs have the same nodes")
            self.assertEqual(self.jobs()[waiting][0], "PENDING")
            small = self.queue(4)
            self.assertTrue(is_rectangle(self.wait_for_start(small)))
            self.check_contention()
            self.cancel(small)
        for job in running:
            self.cancel(job)
        self.assertEqual(len(self.wait_for_start(waiting)), 49)

    def test_jobs_that_end_without_slurmctld_are_not_lost(self):
        go = pathlib.Path(self.scratch.name) / "go"
        done = pathlib.Path(self.scratch.name) / "done"
        done.mkdir()
        script = f"while [ ! -e {go} ]; do sleep 0.05; done; : > {done}/$SLURM_JOB_ID"
        jobs = [self.slurm("sbatch", "--parsable", "-o", "/dev/null", "-N", size, "--wrap", script).strip() for size in (4, 6, 9)]
        for job in jobs:
            self.wait_for_start(job)
        self.kill_controller()
        go.touch()
        self.wait(lambda: len(list(done.iterdir())) == len(jobs), "the jobs have ended")
        self.start_controller()
        self.wait(lambda: not self.jobs(), "slurmctld knows that the jobs have ended")
        self.assertEqual(len(self.nodes_of(self.submit(49))), 49)


class ManyJobs(Cluster):
    BATCH = 100
    OPTIONS = ("--conf", "MinJobAge=2")  # seconds after which slurmctld forgets a job that has ended

    def memory(self):
        """Resident memory of slurmctld in MB."""
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.controller()}/status").read_text())[1]) / 1000

    def test_are_not_lost_and_leave_no_memory_behind(self):
        done = pathlib.Path(self.scratch.name) / "jobs"
        done.mkdir()
        submitted, memory = [], []
        for _ in range(4):
            for number in range(JOBS // 4):
                words = ["sbatch", "--parsable", "-o", "/dev/null", "-t", 1, "-N", 1 + number % 4, "--wrap", f": > {done}/$SLURM_JOB_ID"]
                submitted.append(self.slurm(*words).strip())
                if number % self.BATCH == self.BATCH - 1:
                    self.wait(lambda: not self.jobs(), "all jobs have ended", 300)
            # slurmctld looks for jobs to forget once a minute, so more of them are in its memory if they end faster.
            self.wait(lambda: "No jobs" in self.slurm("scontrol", "show", "jobs"), "slurmctld has forgotten all jobs", 200)
            memory.append(self.memory())
            print(f"{len(submitted)} jobs, {memory[-1]:.1f} MB", file=sys.stderr, flush=True)
        self.assertEqual({path.name for path in done.iterdir()}, set(submitted))
        self.assertEqual(len(submitted), len(set(submitted)))
        # slurmctld 22.05 alone grows by 0.5 to 1.2 MB for 500 jobs, from 16 MB after 1,000 to 20 MB after 3,000, and the plugin adds nothing to that.
        self.assertLess(memory[3] - memory[2], 1.5 * JOBS / 2000, memory)


class StockSlurm(Cluster):
    """The same machine with Slurm's own selection of nodes."""

    @classmethod
    def start(cls, machine, options):
        cls.name = f"stock{os.getpid()}"
        made = json.loads(run(select_test.PROGRAM, "slurm", "lab", "up", "--name", cls.name, "-t", machine, *options, "--json", timeout=180).stdout)
        cls.env = {**os.environ, **made["environment"]}
        cls.directory = pathlib.Path(made["directory"])


class ProfiledJobs(Cluster):
    """Two jobs per second arrive with profiles: none is lost, all are isolated, and every srun accepts its mapping. Blocks of the same
    jobs go to a Slurm with its own selection of nodes in turn, because other work on the machine changes all times."""

    MACHINE = f"mesh:{select_test.SIDE}x{select_test.SIDE} core:2"
    POLICY = "closed-fit"
    OPTIONS = ("--cpus", "2")
    JOBS = JOBS // 4
    BLOCK = 25
    PATTERNS = ("stencil2d", "ring", "alltoall")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stock = StockSlurm()
        cls.addClassCleanup(run, select_test.PROGRAM, "slurm", "lab", "down", "--name", f"stock{os.getpid()}", status=None)
        cls.stock.start(cls.MACHINE, (*cls.OPTIONS, "--share", cls.scratch.name))

    @staticmethod
    def figures(cluster):
        """Since the last reset: the mean time of a scheduling cycle in ms, of a backfill cycle, and the jobs that a cycle tested."""
        main, backfill = cluster.slurm("sdiag").partition("Backfilling stats")[::2]

        def number(part, name):
            found = re.search(rf"{name}: +(\d+)", part)
            return int(found[1]) if found else 0

        return {"cycle": number(main, "Mean cycle") / 1000, "depth": number(main, "Mean depth cycle"), "cycles": number(main, "Total cycles"),
                "backfill cycle": number(backfill, "Mean cycle") / 1000, "backfill depth": number(backfill, "Depth Mean"), "backfill cycles": number(backfill, "Total cycles")}

    @staticmethod
    def cpu_ms(cluster):
        """CPU time of the threads of slurmctld by their names, of those that run."""
        total = {}
        for thread in pathlib.Path(f"/proc/{cluster.controller()}/task").iterdir():
            try:
                name, spent = (thread / "comm").read_text().strip(), (thread / "schedstat").read_text()
            except OSError:  # it has ended
                continue
            total[name] = total.get(name, 0) + int(spent.split()[0]) / 1e6
        return total

    def profile(self, pattern, size):
        path = pathlib.Path(self.scratch.name) / f"{pattern}-{size}.prof"
        if not path.exists():
            run(select_test.PROGRAM, "gen", pattern, "--ranks", 2 * size, "-o", path)
        return path

    def submit_block(self, cluster, first, profiled):
        """Two jobs per second. Returns their numbers."""
        scratch = pathlib.Path(self.scratch.name)
        done = scratch / f"done-{cluster.name}"
        done.mkdir(exist_ok=True)
        jobs, begin = [], time.monotonic()
        for number in range(first, first + self.BLOCK):
            size = 2 + number * 7 % 9
            option = [f"--rankloom={self.profile(self.PATTERNS[number % 3], size)}"] if profiled else []
            script = f"srun -l hostname > {done}/$SLURM_JOB_ID.tmp && mv {done}/$SLURM_JOB_ID.tmp {done}/$SLURM_JOB_ID; sleep {1 + number % 4}"
            jobs.append(cluster.slurm("sbatch", "--parsable", "-o", scratch / f"output-{cluster.name}-%j", "-t", 1, "-N", size, "-n", 2 * size, *option, "--wrap", script).strip())
            if profiled and number % 10 == 9:
                checked = run(select_test.PROGRAM, "slurm", "check", "--json", env=cluster.env, status=None)
                self.assertEqual(checked.returncode, 0, checked.stdout)
            time.sleep(max(0, begin + (number - first + 1) / 2 - time.monotonic()))
        return jobs

    def test_are_isolated_and_not_slower_to_schedule(self):
        clusters = {"stock": self.stock, "profiles": self}
        submitted = {name: [] for name in clusters}
        before = {}
        for name, cluster in clusters.items():
            cluster.slurm("sdiag", "--reset")
            before[name] = self.cpu_ms(cluster)
        for first in range(0, self.JOBS, self.BLOCK):
            for name, cluster in clusters.items():
                submitted[name] += self.submit_block(cluster, first, name == "profiles")
        figures = {}
        for name, cluster in clusters.items():
            self.wait(lambda: not cluster.jobs(), "all jobs have ended", 300)  # pylint: disable=cell-var-from-loop
            of, cpu = self.figures(cluster), self.cpu_ms(cluster)
            for thread, cycles in (("sched_agent", "cycles"), ("bckfl", "backfill cycles")):
                of[f"CPU ms of {thread} per cycle"] = (cpu.get(thread, 0) - before[name].get(thread, 0)) / max(1, of[cycles])
            figures[name] = of
            scratch = pathlib.Path(self.scratch.name)
            self.assertEqual({path.name for path in (scratch / f"done-{cluster.name}").iterdir()}, set(submitted[name]))
            for job in submitted[name]:
                self.assertNotIn("rankloom", (scratch / f"output-{cluster.name}-{job}").read_text())
        print(f"{len(submitted['profiles'])} jobs each", file=sys.stderr)
        for key, stock in figures["stock"].items():
            profiled = figures["profiles"][key]
            print(f"{key}: {profiled:.3f} with profiles, {stock:.3f} in stock Slurm, ratio {profiled / stock if stock else 0:.2f}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    reason = select_test.missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(select_test.SKIP)
    unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[2:] or ["Killed", "ManyJobs", "ProfiledJobs"])])
