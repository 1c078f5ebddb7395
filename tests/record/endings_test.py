#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However a program ends, its counts are recorded, missing ranks are reported, and the exit status is that of the program."""

import os
import re
import shutil
import subprocess

from recording import RecordingTest, main

SENT = {(rank, to): volume for rank in range(3) for to, volume in (((rank + 1) % 3, (3000, 3)), (rank, (5000, 500)))}


class Endings(RecordingTest):
    def setUp(self):
        """The launcher returns the status of an arbitrary rank: a wrapper stores it, to compare it with the status of rankloom."""
        super().setUp()
        tools = self.directory / "tools"
        tools.mkdir()
        launcher = self.mpi.launcher[0]
        (tools / launcher).write_text(f'#!/bin/sh\n{shutil.which(launcher)} "$@"\nstatus=$?\necho $status > {tools}/status\nexit $status\n')
        (tools / launcher).chmod(0o755)
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}"}

    @classmethod
    def expected_output(cls, test):
        """The output of the ranks, which all print before any of them ends."""
        if cls.plain is None:
            cls.plain = cls.lines(test.run_command(test.command(3, test.program("endings.c"), "finalize")))
        return cls.plain

    plain = None

    def check(self, how):
        """All three ranks counted all messages before any of them ended."""
        command = self.command(3, self.program("endings.c"), how)
        profile = self.record_command(command, environment=self.environment)
        self.assertEqual(self.done.returncode, int((self.directory / "tools/status").read_text()), self.done.stderr)
        if not self.loses_status:
            self.assertNotEqual(self.done.returncode, 0)
        self.assertEqual(self.lines(self.done), self.expected_output(self))
        self.assertEqual(len(self.expected_output(self)), 3)
        self.assertIsNotNone(profile, self.done.stderr)
        self.assertEqual(profile.ranks, 3)
        self.assert_pairs(profile, SENT)
        self.assertEqual(self.files(), ["out.prof", "tools"], "no other files")

    @staticmethod
    def lines(done):
        """The output of the ranks, without messages of the launcher."""
        return sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))

    def files(self):
        return sorted(name for name in os.listdir(self.directory) if not name.startswith("core"))

    def test_with_finalize(self):
        self.check("finalize")

    def test_by_exit_without_finalize(self):
        self.check("exit")

    def test_by_return_without_finalize(self):
        self.check("return")

    def test_by_exit_without_cleaning_up(self):
        self.check("_exit")

    def test_by_quick_exit(self):
        self.check("quick_exit")

    def test_by_the_exit_of_one_rank(self):
        self.check("exit one")
        self.check("_exit one")

    def test_by_mpi_abort(self):
        self.check("MPI_Abort")

    def test_by_abort(self):
        self.check("abort")

    def test_by_a_rank_that_is_killed(self):
        self.check("kill")

    def test_by_a_rank_that_is_terminated(self):
        self.check("term")

    def test_by_a_fault(self):
        self.check("segv")
        self.check("fault")


class Missing(RecordingTest):
    def test_ranks_without_the_recorder_are_reported_and_do_not_block_the_others(self):
        self.needs_several_programs()
        program = self.program("ring.c")
        command = self.mpi.launch(2, program) + [":", "-n", "1", "env", "-u", "LD_PRELOAD", program]
        plain = self.run_command(command)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        profile = self.record_command(command)
        self.assert_same_output(plain, self.done)
        self.assertRegex(self.done.stderr, r"rank 2\b.*missing")
        self.assertIsNotNone(profile)
        self.assertEqual(profile.ranks, 3)
        self.assert_pairs(profile, {(0, 1): (1000, 1), (1, 2): (2000, 1)})

    def test_a_rank_that_fails_before_it_starts_mpi(self):
        """The launcher then ends the other ranks."""
        self.only("openmpi", "MPICH's launcher does not end the other ranks")
        self.needs_several_programs()
        command = self.mpi.launch(2, self.program("ring.c")) + [":", "-n", "1", "/bin/false"]
        plain = self.run_command(command)
        self.record_command(command)
        self.assertEqual(self.done.returncode, plain.returncode)
        self.assertNotEqual(plain.returncode, 0)
        self.assertRegex(self.done.stderr, r"(?i)rankloom.*(missing|no profile|nothing|none of)")


class Status(RecordingTest):
    def test_is_that_of_the_program(self):
        for ranks, status in ((2, 9), (2, 255), (0, 3)):
            with self.subTest(ranks=ranks, status=status):
                self.record_command(self.command(ranks, self.program("ring.c"), str(status)), status=status)

    def test_of_a_killed_singleton_is_that_of_a_shell(self):
        self.record_command(["/bin/sh", "-c", "kill -9 $$"])
        self.assertIn(self.done.returncode, (137, -9))

    def test_of_a_missing_command(self):
        done = self.run_command([self.rankloom, "record", "-o", "out.prof", "--", "./no-such-program"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-program", done.stderr)
        self.assertEqual(done.stdout, "")


class Disk(RecordingTest):
    def setUp(self):
        super().setUp()
        self.disk = self.directory / "disk"
        self.disk.mkdir()

    def mount(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.disk], capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest("needs the right to mount")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)

    def test_a_full_disk_does_not_affect_the_program(self):
        self.mount()
        program = self.program("ring.c")
        plain = self.run_command(self.command(3, program, "4"))
        filler = os.open(self.disk / "filler", os.O_CREAT | os.O_WRONLY)
        with self.assertRaisesRegex(OSError, "No space left"):
            while True:
                os.write(filler, bytes(4096))
        os.close(filler)
        spare = self.directory / "spare"
        spare.mkdir()
        profile = self.record_command(self.command(3, program, "4"), out="disk/out.prof", environment={"TMPDIR": str(spare)})
        self.assert_same_output(plain, self.done)
        self.assertIsNone(profile, "no incomplete profile")
        self.assertEqual(os.listdir(self.disk), ["filler"])
        self.assertRegex(self.done.stderr, r"(?i)rankloom.*(no space|full|cannot)")
        # The recordings of the ranks are on another file system, and the message says how to read them.
        kept = re.search(r"rankloom import (\S+) -o FILE", self.done.stderr)
        self.assertIsNotNone(kept, self.done.stderr)
        self.assertIn("2 0 3000 1", self.output_of("import", kept.group(1), "--to", "pairs"))

    def test_a_disk_that_becomes_full_does_not_affect_the_program(self):
        self.mount()
        script = self.directory / "fill.sh"
        script.write_text(f'#!/bin/sh\nhead -c 1000000 /dev/zero > "{self.disk}/filler.$$" 2> /dev/null\nexec "$@"\n')
        script.chmod(0o755)
        program = self.program("ring.c")
        plain = self.run_command(self.command(3, program, "4"))
        profile = self.record_command(self.command(3, script, program, "4"), out="disk/out.prof")
        self.assert_same_output(plain, self.done)
        self.assertIsNone(profile)


if __name__ == "__main__":
    main()
