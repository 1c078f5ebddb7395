#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random command lines through all verbs that start programs. Launchers are scripts that write down how they are called.

    command_lines_test.py PROGRAM
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()

VERSIONS = {
    "mpirun": "mpirun (Open MPI) 4.1.4",
    "mpirun.openmpi": "mpirun.openmpi (OpenRTE) 4.1.4",
    "mpiexec": "HYDRA build details:\\n    Version:                                 4.0.2",
    "mpiexec.hydra": "HYDRA build details:\\n    Version:                                 4.0.2",
    "srun": "slurm 22.05.8",
}
FLAGS = {
    "mpirun": [["-np", "2"], ["--mca", "btl", "tcp,self"], ["-x", "A=b c"], ["--oversubscribe"], ["-H", "h"], ["--tag-output"], ["-n", "1"]],
    "mpiexec": [["-n", "2"], ["-genv", "A", "b"], ["-genv", "A=b"], ["-env", "B=c d"], ["-l"], ["-hosts", "h"], ["-f=hosts"]],
    "srun": [["-n2"], ["-lN", "1"], ["--mpi=pmix"], ["--export", "ALL"], ["-K1"], ["--job-name=a b"], ["--ntas=2"]],
}
PROGRAMS = ["./app", "x.mpich", "x.openmpi", "mpirun_all.sh", "a b", "a=b", "mpirun", "app:1", "'", '"']
WORDS = ["-n", "--", "", "a b", "*", "$(touch started)", "--version", "-x", "\\", "'", '"', "--app", "it's", "ä"]

# A launcher writes its arguments, each with its length, so that any text can be read back.
LAUNCHER = """#!/bin/bash
if [ "$1" = --version ]; then printf '{version}\\n'; echo version >> "$LOG"; exit 0; fi
{{ echo call; for word; do printf '%s\\0' "$word"; done; echo; }} >> "$LOG.$$"
"""


class CommandLines(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="lines-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.log = self.directory / "log"
        tools = self.directory / "tools"
        tools.mkdir()
        for name, version in VERSIONS.items():
            self.executable(tools / name, LAUNCHER.format(version=version))
        for name in PROGRAMS:
            if "/" not in name:
                self.executable(tools / name if name not in VERSIONS else self.directory / name, '#!/bin/bash\necho program >> "$LOG"\n')
        self.executable(self.directory / "app", '#!/bin/bash\necho program >> "$LOG"\n')
        (self.directory / "mapping").write_text("0\n1\n")
        self.env = {"PATH": f"{tools}:{PROGRAM.parent}:/usr/bin:/bin", "LOG": str(self.log), "HOME": str(self.directory), "LC_ALL": "C.UTF-8"}
        self.env |= {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}  # of sanitizers

    @staticmethod
    def executable(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def run_verb(self, verb, command):
        """The calls of launchers without --version, and how often a version was asked for."""
        for file in self.directory.glob("log*"):
            file.unlink()
        done = subprocess.run([PROGRAM, *verb, "--", *command], cwd=self.directory, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        errors = done.stderr.decode("utf-8", "replace")
        self.assertNotIn("report this as a bug", errors, command)
        self.assertGreaterEqual(done.returncode, 0, f"{verb} {command}\n{errors}")
        self.assertFalse((self.directory / "started").exists(), command)
        calls = []
        for file in self.directory.glob("log.*"):
            for text in file.read_bytes().split(b"call\n")[1:]:
                calls.append([word.decode() for word in text.rstrip(b"\n").split(b"\0")[:-1]])
        asked = self.log.read_text().split() if self.log.exists() else []
        self.assertNotIn("program", asked, f"{verb} started a program itself: {command}")
        return calls, asked.count("version"), done.returncode, errors

    def command(self, rng):
        """A command line and the words of its programs."""
        launcher = rng.choice(sorted(VERSIONS))
        flags = FLAGS["srun" if launcher == "srun" else "mpiexec" if launcher.startswith("mpiexec") else "mpirun"]
        words, programs = [], []
        for number in range(rng.choice((1, 1, 2))):
            program = [rng.choice(PROGRAMS), *rng.choices(WORDS, k=rng.randrange(4))]
            programs.append(program)
            words += [":"] * (number > 0) + [word for flag in rng.sample(flags, rng.randrange(4)) for word in flag] + program
        prefix = rng.choice(([], [], ["env", "A=b c"], ["nice", "-n", "5"], ["timeout", "-k", "5", "60"]))
        return prefix + [launcher] + words, programs

    def split(self, words):
        parts = [[]]
        for word in words:
            if word == ":":
                parts.append([])
            else:
                parts[-1].append(word)
        return parts

    def test_programs_are_started_once_with_their_own_words_or_not_at_all(self):
        rng = random.Random(18)
        verbs = (["record", "--mpi", "openmpi"], ["reorder", "--mpi", "openmpi"], ["online", "--mpi", "openmpi"], ["run", "mapping", "-t", "core:2", "--hosts", "h"], ["tune", "--dry-run"])
        started = 0
        for _ in range(24):
            command, programs = self.command(rng)
            for verb in verbs:
                with self.subTest(verb=verb[0], command=command):
                    calls, versions, status, errors = self.run_verb(verb, command)
                    self.assertLessEqual(len(calls), 1, "started more than once")
                    self.assertLessEqual(versions, 2)
                    if not calls:
                        self.assertTrue(status in (2, 3) or verb[0] == "tune", errors)
                        self.assertTrue("hint" in errors or verb[0] == "tune", errors)
                        continue
                    started += 1
                    parts = self.split(calls[0])
                    self.assertEqual(len(parts), len(programs))
                    for part, program in zip(parts, programs):
                        self.assertEqual(part[len(part) - len(program):], program)
        self.assertGreater(started, 40)

    def test_broken_command_lines_do_not_crash(self):
        rng = random.Random(19)
        verbs = (["record", "--mpi", "openmpi"], ["online", "--mpi", "openmpi"], ["run", "mapping", "-t", "core:2", "--hosts", "h"], ["tune", "--dry-run"])
        for _ in range(24):
            command, _ = self.command(rng)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(command))
                command[at:at + rng.randrange(2)] = rng.sample([":", "--app", "-configfile", "-n", "--mca", "--multi-prog", "-genv", "--export="], rng.randrange(2))
                command = command or ["mpirun"]
            for verb in verbs:
                with self.subTest(verb=verb[0], command=command):
                    calls, _, _, _ = self.run_verb(verb, command)
                    self.assertLessEqual(len(calls), 1)


if __name__ == "__main__":
    unittest.main()
