#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs of a complete Slurm with rankloom's node selection: slurmctld is killed and restarted while jobs run and wait, and
thousands of short jobs pass through it. Takes minutes; `./dev test --all` runs it.

    endurance_test.py PROGRAM [CLASS]
"""
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


class ProfiledJobs(Cluster):
    """Two jobs per second arrive with profiles: none is lost, all are isolated, and every srun accepts its mapping."""

    MACHINE = f"mesh:{select_test.SIDE}x{select_test.SIDE} core:2"
    POLICY = "closed-fit"
    OPTIONS = ("--cpus", "2")
    JOBS = JOBS // 4
    PATTERNS = ("stencil2d", "ring", "alltoall")

    def cycle(self):
        """The mean time of a scheduling cycle since the last reset, in ms, and that of the backfill scheduler."""
        main, backfill = self.slurm("sdiag").partition("Backfilling stats")[::2]
        means = [re.search(r"Mean cycle: +(\d+)", part) for part in (main, backfill)]
        return [int(mean[1]) / 1000 if mean else 0 for mean in means]

    def pass_through(self, profiles):
        """Submits the jobs and waits for their ends. Returns the jobs that ran, and the mean cycles."""
        scratch = pathlib.Path(self.scratch.name)
        done = scratch / f"done-{bool(profiles)}"
        done.mkdir()
        self.slurm("sdiag", "--reset")
        submitted, begin, conflicts = [], time.monotonic(), 0
        for number in range(self.JOBS):
            size = 2 + number * 7 % 9
            option = []
            if profiles:
                profile = scratch / f"{self.PATTERNS[number % 3]}-{size}.prof"
                if not profile.exists():
                    run(select_test.PROGRAM, "gen", self.PATTERNS[number % 3], "--ranks", 2 * size, "-o", profile)
                option = [f"--rankloom={profile}"]
            script = f"srun -l hostname > {done}/$SLURM_JOB_ID.tmp && mv {done}/$SLURM_JOB_ID.tmp {done}/$SLURM_JOB_ID; sleep {1 + number % 4}"
            submitted.append(self.slurm("sbatch", "--parsable", "-o", scratch / "output-%j", "-t", 1, "-N", size, "-n", 2 * size, *option, "--wrap", script).strip())
            if number % 10 == 9:
                conflicts += run(select_test.PROGRAM, "slurm", "check", "--json", env=self.env, status=None).returncode != 0
            time.sleep(max(0, begin + (number + 1) / 2 - time.monotonic()))
        self.wait(lambda: not self.jobs(), "all jobs have ended", 300)
        self.assertEqual(conflicts, 0)
        self.assertEqual({path.name for path in done.iterdir()}, set(submitted))
        for job in submitted:
            self.assertNotIn("rankloom", (scratch / f"output-{job}").read_text())
        return len(submitted), self.cycle()

    def test_are_isolated_and_not_slower_to_schedule(self):
        plain, profiled = self.pass_through(False), self.pass_through(True)
        for name, (count, cycle) in (("without profiles", plain), ("with profiles", profiled)):
            print(f"{name}: {count} jobs, {cycle[0]:.1f} ms per scheduling cycle, {cycle[1]:.1f} ms per backfill cycle", file=sys.stderr, flush=True)


if __name__ == "__main__":
    reason = select_test.missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(select_test.SKIP)
    unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[2:] or ["Killed", "ManyJobs", "ProfiledJobs"])])
