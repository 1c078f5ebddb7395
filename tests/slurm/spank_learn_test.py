#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--rankloom=learn` in a complete Slurm: the first run of a job is recorded, and the next one is placed by its profile.

    spank_learn_test.py PROGRAM [CLASS]
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest

from spank_test import KEEP_LOADED, MPIS, PROGRAM, SOURCES, InSlurm, run_tests

MPI, PMI, _ = MPIS[0]
CHOOSER = PROGRAM.parent.parent / "lib" / "slurm" / "select_cons_tres.so"
RECORDED = "learn: this run is recorded, and the next one of job"


class Learned(InSlurm):
    MESH, CPUS = "mesh:8x8", 2
    OPTIONS = ("--policy", "closed-fit") if CHOOSER.exists() else ()
    MAX_PROFILES = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = cls.directory / "profiles" / "root"
        conf = cls.lab / "rankloom.conf"
        lines = conf.read_text() if conf.exists() else f"topology = topology.json\nnodes = {','.join(cls.nodes)}\n"
        conf.write_text(f"{lines}profiles = {cls.store.parent}\nmax_profiles = {cls.MAX_PROFILES}\nprefer = job\n")
        stack = cls.lab / "plugstack.conf"
        stack.write_text(re.sub(r" (topology|nodes)=\S+", "", stack.read_text().strip()).replace(" config=rankloom.conf", "") + " config=rankloom.conf\n")
        subprocess.run(["scontrol", "reconfigure"], env=cls.env, check=True)
        keep = [KEEP_LOADED] if MPI == "openmpi" else []
        for name in ("exchange", "other"):
            subprocess.run([f"mpicc.{MPI}", SOURCES / "exchange.c", *keep, "-o", cls.directory / name], check=True)

    def setUp(self):
        shutil.rmtree(self.store, ignore_errors=True)

    def job(self, *command, name="stencil", ranks=8, nodes=4, status=0, prefix=""):
        """The nodes of the ranks, and the messages of rankloom in the output of the job."""
        output = self.directory / "job.out"
        self.run_command("sbatch", "--wait", "-J", name, "-N", nodes, "-n", ranks, "-o", output, "--rankloom=learn",
                         "--wrap", f"{prefix}srun --mpi={PMI} {' '.join(command or ('./exchange',))}", status=status, timeout=120)
        lines = output.read_text().splitlines()
        hosts = {int(line.split()[0]): line.split()[1] for line in lines if re.fullmatch(r"\d+ \S+", line)}
        return [hosts[rank] for rank in sorted(hosts)], [line for line in lines if "rankloom" in line]

    def profiles(self):
        return json.loads(self.run_command(PROGRAM, "slurm", "profiles", "list", "--json").stdout)["profiles"]

    @staticmethod
    def has_partners_together(hosts):
        half = len(hosts) // 2
        return all(hosts[rank] == hosts[rank + half] for rank in range(half))

    def test_the_second_run_is_placed_by_the_first(self):
        hosts, notes = self.job()
        self.assertFalse(self.has_partners_together(hosts), hosts)
        self.assertEqual(len(notes), 1, notes)
        self.assertIn(f"{RECORDED} stencil with 8 ranks", notes[0])
        self.assertEqual([(found["job"], found["program"], found["ranks"]) for found in self.profiles()], [("stencil", str(self.directory / "exchange"), 8)])
        self.assertEqual(list((self.store / "recordings").iterdir()), [])
        hosts, notes = self.job()
        self.assertEqual(len(hosts), 8)
        self.assertTrue(self.has_partners_together(hosts), hosts)
        self.assertEqual(notes, [])
        # Steps without MPI have nothing to learn.
        self.assertEqual(self.job("hostname")[1], [])

    def test_a_profile_that_does_not_fit_is_ignored_with_a_note(self):
        self.job(ranks=4, nodes=2)
        hosts, notes = self.job()
        self.assertFalse(self.has_partners_together(hosts), hosts)
        self.assertIn("learn: the profile of exchange is for 4 ranks, not for 8; this run is recorded", notes[0])
        self.assertTrue(self.has_partners_together(self.job()[0]))
        _, notes = self.job("./other")
        self.assertIn(f"the profile of job stencil is that of {self.directory / 'exchange'}; this run is recorded", notes[0])
        program = self.directory / "other"
        times = program.stat().st_atime_ns, program.stat().st_mtime_ns + 1
        os.utime(program, ns=times)
        _, notes = self.job("./other")
        self.assertIn("other has changed since its profile was recorded; this run is recorded", notes[0])

    def test_a_damaged_store_is_no_obstacle(self):
        self.job()
        file = self.profiles()[0]["file"]
        with open(file, "ab") as profile:
            profile.write(b"x")
        hosts, notes = self.job()
        self.assertIn("is missing or damaged; this run is recorded", notes[0])
        self.assertTrue(self.has_partners_together(self.job()[0]))
        (self.store / "profiles.sqlite").write_text("no database" * 100)
        hosts, notes = self.job()
        self.assertEqual(len(hosts), 8)
        self.assertIn("slurm profiles remove --all", notes[0])
        self.run_command(PROGRAM, "slurm", "profiles", "remove", "--all")
        shutil.rmtree(self.store)
        self.store.write_text("a file")
        self.addCleanup(self.store.unlink)
        hosts, notes = self.job()
        self.assertEqual(len(hosts), 8)
        self.assertIn("cannot be created", notes[0])

    def test_a_run_that_fails_is_not_learned(self):
        _, notes = self.job("./exchange", "exit", ranks=2, nodes=2, status=3)
        self.assertIn("ended without MPI_Finalize", notes[-1])
        self.assertEqual(self.profiles(), [])
        self.assertEqual(list((self.store / "recordings").iterdir()), [])

    def test_the_store_is_bounded(self):
        for number in range(self.MAX_PROFILES + 2):
            _, notes = self.job(name=f"job-{number}", ranks=2, nodes=1)
            self.assertIn(RECORDED, notes[0])
        self.assertEqual([found["job"] for found in self.profiles()], ["job-4", "job-3", "job-2"])
        self.assertEqual(len(list(self.store.glob("*.prof"))), self.MAX_PROFILES)
        self.run_command(PROGRAM, "slurm", "profiles", "remove", "job-3")
        self.assertEqual([found["job"] for found in self.profiles()], ["job-4", "job-2"])

    @unittest.skipUnless(CHOOSER.exists(), "the plugin for the selection of nodes is not built")
    def test_the_nodes_follow_the_profile(self):
        self.run_command(PROGRAM, "gen", "stencil2d", "--ranks", "32", "--block", "1024x1024", "--shuffle", "-o", "app.prof")

        def chosen(*options):
            self.run_command(PROGRAM, "alloc", "init", "--force", "-t", self.machine(), "--state", "chosen.state")
            done = self.run_command(PROGRAM, "alloc", "request", "16", "--state", "chosen.state", "--policy", "closed-fit", "--json", *options)
            return [self.nodes[node] for node in json.loads(done.stdout)["nodes"]]

        def nodes_of_job():
            self.run_command("sbatch", "--wait", "-J", "large", "-N", 16, "-n", 32, "-o", "nodes", "--rankloom=learn", "--wrap", "scontrol show hostnames")
            return (self.directory / "nodes").read_text().split()

        self.assertEqual(nodes_of_job(), chosen(), "without a profile, the nodes are those of closed-best")
        self.store.mkdir(parents=True)
        name = hashlib.sha256(b"large").hexdigest()[:16]
        shutil.copy(self.directory / "app.prof", self.store / f"{name}-32-{name}-{name}.prof")
        self.run_command("scontrol", "reconfigure")  # forgets that there was no profile a moment ago
        self.assertEqual(nodes_of_job(), chosen("--profile", "app.prof", "--prefer", "job"))


if __name__ == "__main__":
    run_tests()
