#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests: wrong arguments of `./dev test --on` are answered before anything is installed or made: arguments_test.py PROJECT"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path.cwd()


def run(*command, **options):
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=50, check=False, **options)


class Arguments(unittest.TestCase):
    def refused(self, *words, status=2, **options):
        done = run("./dev", "test", "--on", *words, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_a_missing_or_unknown_suite_names_the_suites(self):
        for words in ([], ["sarge"], ["trixie forky"], ["--build"]):
            self.assertIn("the suites are bullseye, bookworm, trixie and forky", self.refused(*words))
        self.assertIn("'sarge' is not a suite", self.refused("sarge"))

    def test_further_arguments_are_named(self):
        self.assertIn("unexpected argument 'more'", self.refused("trixie", "regex", "more"))
        self.assertIn("unexpected option '--all'", self.refused("trixie", "--all"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
    def test_without_root_it_says_so(self):
        # A copy, because other users may not enter the folder of the project.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = pathlib.Path(folder) / "dev"
            copy.write_bytes((PROJECT / "dev").read_bytes())
            copy.chmod(0o755)
            done = subprocess.run([copy, "test", "--on", "trixie", "core"], capture_output=True, text=True, timeout=50, check=False, user=65534)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("needs root: sudo ./dev test --on trixie core", done.stderr)

    def test_entering_needs_a_folder_and_a_command(self):
        done = run("tests/debian/enter.sh", "--private-network")
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: enter.sh", done.stderr)

    def test_help_names_the_suites(self):
        text = run("./dev", "help").stdout
        self.assertIn("test --on SUITE", text)
        self.assertIn("test --build", text)


if __name__ == "__main__":
    unittest.main()
