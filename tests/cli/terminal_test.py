#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program on a terminal, with a pipe whose reader ends, and on a full disk."""

import json
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

import terminals

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SLOW = ["map", "gen:random:ranks=2000,degree=20", "-t", "node:50=10 core:40=1", "-a", "mpipp:restarts=100000", "--budget", "1800ms"]


def on_terminal(arguments, stdout_too=False):
    """Runs with stderr (and stdout, if stdout_too) on a terminal. Returns the terminal's text, stdout and the exit status."""
    master, slave = pty.openpty()
    child = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=slave if stdout_too else subprocess.PIPE, stderr=slave)
    os.close(slave)
    seen, out, end = b"", b"", time.monotonic() + 60
    sources = [master] + ([] if stdout_too else [child.stdout.fileno()])
    while sources and time.monotonic() < end:
        for source in select.select(sources, [], [], 0.1)[0]:
            try:
                got = os.read(source, 65536)
            except OSError:  # a terminal without writers
                got = b""
            if not got:
                sources.remove(source)
            elif source == master:
                seen += got
            else:
                out += got
    if child.stdout:
        child.stdout.close()
    os.close(master)
    return seen.decode(), out.decode(), child.wait(timeout=30)


@unittest.skipUnless(terminals.available(), terminals.WHY_NOT)
class Terminal(unittest.TestCase):
    def test_shows_a_progress_bar_and_removes_it(self):
        seen, out, status = on_terminal(SLOW)
        self.assertEqual(status, 0)
        self.assertIn(" s", seen)
        self.assertIn("\r\x1b[K", seen)
        after = seen[seen.rindex("\x1b[K") + 3:]
        self.assertIn("ranks on", after, "the summary follows on stderr")
        self.assertEqual(len(out.splitlines()), 2000)

    def test_shows_no_progress_bar_with_json(self):
        seen, out, status = on_terminal(SLOW + ["--json"])
        self.assertEqual((seen, status), ("", 0))
        self.assertEqual(len(json.loads(out)["mapping"]), 2000)

    def test_shows_no_progress_bar_in_a_pipe(self):
        done = subprocess.run([PROGRAM, *SLOW], capture_output=True, check=True, timeout=60)
        self.assertEqual(done.stderr, b"")

    def test_rejects_binary_profiles_on_a_terminal(self):
        seen, _, status = on_terminal(["gen", "ring", "--to", "native"], stdout_too=True)
        self.assertEqual(status, 2)
        self.assertIn("cannot be shown in a terminal", seen)


class Pipes(unittest.TestCase):
    def test_end_silently_when_the_reader_ends(self):
        for before in ("", "trap '' PIPE; "):  # also if the parent ignores the signal
            done = subprocess.run(["bash", "-c", f"{before}'{PROGRAM}' gen ring --ranks 200000 | head -n 1"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.stderr, "")
            self.assertEqual(len(done.stdout.splitlines()), 1)


class FullDisk(unittest.TestCase):
    def test_on_standard_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for arguments in (["list", "mappers"], ["map", "gen:ring", "-t", "core:64"], ["gen", "ring"], ["map", "gen:ring", "-t", "core:64", "--json"]):
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 5, arguments)
                self.assertIn("No space left", done.stderr)

    def test_leaves_no_file_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            limit = "ulimit -f 1; trap '' XFSZ; "  # files of at most 1 kB, like a disk that becomes full
            done = subprocess.run(["bash", "-c", f"{limit}'{PROGRAM}' gen ring --ranks 100000 --to metis -o '{folder}/ring.graph'"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_output_to_a_named_pipe_does_not_replace_it(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            child = subprocess.Popen([PROGRAM, "map", "gen:ring:ranks=8", "-t", "core:8", "-a", "block", "-o", pipe], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            out, _ = child.communicate(timeout=30)
            self.assertEqual(child.returncode, 0, out)
            self.assertEqual(os.read(reader, 100).split(), [str(n).encode() for n in range(8)])
            os.close(reader)
            self.assertEqual(os.listdir(folder), ["pipe"])


if __name__ == "__main__":
    unittest.main()
