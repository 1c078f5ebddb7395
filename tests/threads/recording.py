# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of the thread recorder: compile with `rankloom cc`, run, and read the matrix."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class Matrix:
    """Bytes from each thread to each other thread, read from the format `pairs`."""

    def __init__(self, text):
        self.ranks = int(text[text.index("ranks=") + 6:].split(";")[0])
        self.bytes = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                source, target, amount, messages = line.split()
                self.bytes[int(source), int(target)] = int(amount)
                assert int(amount) == 64 * int(messages), line

    def __getitem__(self, pair):
        return self.bytes.get(pair, 0)

    def both_directions(self, one, other):
        return self[one, other] + self[other, one]

    def max_other(self, expected):
        """The largest traffic of a pair that is not expected."""
        return max([amount for pair, amount in self.bytes.items() if pair not in expected], default=0)


class RecordingTest(unittest.TestCase):
    rankloom = None
    built_programs = {}  # by source, flags and environment: several tests run the same program
    build_directory = tempfile.TemporaryDirectory(prefix="threads-")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def call(self, *arguments, status=0, **environment):
        """Runs a command that must end with this status. Returns its standard output."""
        env = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
        done = subprocess.run([str(argument) for argument in arguments], cwd=self.directory, env={**env, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        self.err = done.stderr
        return done.stdout

    def build(self, source, *flags, out="program", **environment):
        """Compiles a program of programs/ once for each set of flags, and copies it into the directory of the test."""
        key = (source, flags, tuple(sorted(environment.items())))
        uses_directory = any(flag.startswith("-L") for flag in flags)  # links a library that the test has built
        if uses_directory or key not in self.built_programs:
            verb = "c++" if source.endswith(".cpp") else "cc"
            self.call(self.rankloom, verb, "-O2", "-pthread", PROGRAMS / source, "-o", out, *flags, **environment)
            if not uses_directory:
                self.built_programs[key] = pathlib.Path(self.build_directory.name) / str(len(self.built_programs))
                shutil.copy(self.directory / out, self.built_programs[key])
        else:
            shutil.copy(self.built_programs[key], self.directory / out)

    def record(self, *arguments, status=0, out="out.prof", **environment):
        """Runs the program. Returns its matrix."""
        self.printed = self.call("./program", *arguments, status=status, RANKLOOM_THREADS_OUT=out, **environment)
        return self.read(out)

    def read(self, name):
        return Matrix(self.call(self.rankloom, "import", name, "--to", "pairs"))
