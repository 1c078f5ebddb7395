# SPDX-License-Identifier: Apache-2.0
"""What the tests of the thread recorder share: compile with the wrappers, run, and read the matrix back."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class Matrix:
    """Bytes from each thread to each, by the pairs that the profile writes out."""

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

    def both(self, one, other):
        return self[one, other] + self[other, one]

    def others(self, expected):
        """The largest traffic of a pair that is none of these."""
        return max([amount for pair, amount in self.bytes.items() if pair not in expected], default=0)


class RecordingTest(unittest.TestCase):
    rankloom = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *words, status=0, **environment):
        """Standard output and error of a command that must end with this status."""
        env = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
        done = subprocess.run([str(word) for word in words], cwd=self.folder, env={**env, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        self.err = done.stderr
        return done.stdout

    def build(self, source, *flags, out="program", **environment):
        verb = "c++" if source.endswith(".cpp") else "cc"
        self.call(self.rankloom, verb, "-O2", "-pthread", PROGRAMS / source, "-o", out, *flags, **environment)

    def record(self, *words, status=0, out="out.prof", **environment):
        """The matrix of one run of the program."""
        self.printed = self.call("./program", *words, status=status, RANKLOOM_THREADS_OUT=out, **environment)
        return self.read(out)

    def read(self, name):
        return Matrix(self.call(self.rankloom, "import", name, "--to", "pairs"))
