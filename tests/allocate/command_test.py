#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rankloom alloc` as administrators and scripts use it: concurrent processes, killed processes, a full disk."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()


class Command(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="alloc-")
        self.addCleanup(self.directory.cleanup)

    def start(self, *arguments, **options):
        return subprocess.Popen([str(PROGRAM), "alloc", *arguments], cwd=self.directory.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def alloc(self, *arguments, status=0):
        done = self.start(*arguments)
        out, err = done.communicate(timeout=60)
        self.assertEqual(done.returncode, status, f"{arguments}\n{out}{err}")
        return out

    def state(self):
        return json.loads(self.alloc("status", "--json"))

    def check(self):
        """The state is consistent: no node belongs to two jobs, and no two jobs conflict."""
        state = self.state()
        nodes = [node for job in state["jobs"] for node in job["nodes"] + job["reserved"]]
        self.assertEqual(len(nodes), len(set(nodes)))
        self.assertEqual(state["free"] + len(nodes), state["nodes"])
        self.assertTrue(json.loads(self.alloc("verify", "--json"))["contention_free"])
        return state

    def test_serves_several_processes_at_once(self):
        self.alloc("init", "-t", "mesh:16x16 core:1")
        running = [self.start("request", str(1 + i % 5), "--job", f"job{i}") for i in range(24)]
        granted = sum(process.wait(timeout=60) == 0 for process in running)
        for process in running:
            process.communicate()
        self.assertEqual(granted, 24)
        self.assertEqual(len(self.check()["jobs"]), 24)
        running = [self.start("release", f"job{i}") for i in range(24)]
        for process in running:
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
        self.assertEqual(self.check()["free"], 256)

    def test_never_gives_a_node_twice(self):
        self.alloc("init", "-t", "mesh:4x4 core:1")
        running = [self.start("request", "4") for _ in range(12)]
        statuses = []
        for process in running:
            process.communicate(timeout=60)
            statuses.append(process.returncode)
        self.assertEqual(sorted(statuses), [0] * 4 + [4] * 8)
        self.assertEqual(self.check()["free"], 0)

    def test_survives_being_killed_at_any_moment(self):
        self.alloc("init", "-t", "mesh:8x8 core:1")
        rng = random.Random(1)
        begin = time.monotonic()
        self.alloc("status")
        duration = time.monotonic() - begin
        killed = 0
        for i in range(60):
            jobs = [job["job"] for job in self.state()["jobs"]] if i % 10 == 0 else jobs
            arguments = ("release", rng.choice(jobs)) if len(jobs) > 8 else ("request", str(rng.randint(1, 9)))
            process = self.start(*arguments)
            time.sleep(rng.random() * duration * 1.5)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            if i % 10 == 9:
                self.check()
        self.check()
        self.assertGreater(killed, 5)
        self.alloc("drain", "0")  # the next writer removes the journal of the killed process
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["rankloom.state"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_changes_nothing_when_the_disk_is_full(self):
        script = f"""
            mount -t tmpfs -o size=80k none . && cd "$PWD" || exit 77
            {PROGRAM} alloc init -t 'mesh:4x4 core:1' > /dev/null || exit 1
            {PROGRAM} alloc request 4 > /dev/null || exit 1
            head -c 100000 /dev/zero > filler 2> /dev/null
            {PROGRAM} alloc request 4; test $? -eq 5 || exit 2
            {PROGRAM} alloc init --state other -t 'mesh:4x4 core:1'; test $? -eq 5 || exit 3
            test ! -e other || exit 4
            {PROGRAM} alloc verify > /dev/null || exit 5
            rm filler
            {PROGRAM} alloc status --json
        """
        done = subprocess.run(["unshare", "--mount", "bash", "-c", script], cwd=self.directory.name, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest("mount namespaces are not available")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the disk is full; nothing was changed", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["jobs"]), 1)

    def test_draws_the_machine_as_svg(self):
        self.alloc("init", "-t", "fattree:2,4,4/4,4,1 core:1")
        self.alloc("request", "6", "--job", "a<b")
        self.alloc("status", "-o", "machine.svg")
        import xml.etree.ElementTree as tree
        picture = tree.parse(pathlib.Path(self.directory.name, "machine.svg")).getroot()
        titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(len(titles), 32)
        self.assertEqual(sum("a<b" in title for title in titles), 6)


if __name__ == "__main__":
    unittest.main()
