#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb that writes files on a full disk: full_disk_test.py RANKLOOM. The command fails with a message, the old files stay, and nothing is left
over. As root on a small file system, otherwise with a limit on the size of files."""

import ctypes
import errno
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

from writing_verbs import Bench, files_in

PROGRAM = sys.argv.pop(1)
CLONE_NEWNS = 0x20000
REASONS = ("No space left", "File too large", "disk is full", "cannot be written", "cannot be created", "disk I/O error", "is truncated", "full")


class FullDisk(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="full-disk-")
        self.addCleanup(self.directory.cleanup)
        self.bench = Bench(PROGRAM, self.directory.name)

    def folders(self):
        for number, verb in enumerate(verb for verb in self.bench.verbs if not verb.slow):
            folder = pathlib.Path(self.directory.name, f"work-{number}")
            folder.mkdir()
            yield verb, folder

    def check(self, verb, folder, status, output, before):
        """A command succeeds and writes everything, or fails with a reason and changes nothing but complete files."""
        self.assertEqual(self.bench.broken(verb, folder), [], verb.name)
        if status == 0:
            return
        self.assertGreater(status, 0, f"{verb.name} was ended by a signal")
        self.assertTrue(any(reason in output for reason in REASONS), f"{verb.name}: {output}")
        self.assertIn("hint:", output, verb.name)
        self.assertEqual(set(files_in(folder)) - set(before) - {name for reference in self.bench.references[verb.name] for name in reference}, set(), verb.name)
        self.assertEqual([str(path) for path in self.bench.temporary.rglob("*")], [], verb.name)

    def test_beyond_the_limit_of_the_file_size(self):
        failed = set()
        for verb, folder in self.folders():
            with self.subTest(verb=verb.name):
                self.bench.prepare(verb, folder)
                for most in (0, 100, 5000):
                    before = files_in(folder)
                    status, output = self.bench.run(folder, *verb.command(1), preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                    self.check(verb, folder, status, output, before)
                    failed |= {verb.name} if status != 0 else set()
                self.bench.check_run(folder, *verb.command(1))
                self.assertEqual(self.bench.leftovers(verb, folder, 1), [])
        self.assertEqual(failed, {verb.name for verb in self.bench.verbs if not verb.slow})

    def test_on_a_file_system_without_space(self):
        if os.geteuid() != 0 or ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
            self.skipTest(f"no rights to mount: {errno.errorcode.get(ctypes.get_errno())}")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        for verb, folder in self.folders():
            with self.subTest(verb=verb.name):
                subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16M", "none", folder], check=True)
                self.addCleanup(subprocess.run, ["umount", folder], check=True)
                self.bench.prepare(verb, folder)
                for pages in (0, 1, 2, 4):
                    before = files_in(folder)
                    with open(folder / "filler", "wb", buffering=0) as filler:
                        statistics = os.statvfs(folder)
                        try:
                            for _ in range(statistics.f_bavail - pages):
                                filler.write(bytes(statistics.f_bsize))
                        except OSError as error:
                            self.assertEqual(error.errno, errno.ENOSPC)
                    os.rename(folder / "filler", folder / ".filler.rankloom-00000000-0")  # not an output
                    status, output = self.bench.run(folder, *verb.command(1))
                    os.unlink(folder / ".filler.rankloom-00000000-0")
                    self.check(verb, folder, status, output, before)
                self.bench.check_run(folder, *verb.command(1))
                self.assertEqual(self.bench.leftovers(verb, folder, 1), [])


if __name__ == "__main__":
    unittest.main()
