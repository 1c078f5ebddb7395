#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No verb deletes or replaces a file that rankloom did not write: other_files_test.py RANKLOOM"""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

RANKLOOM = pathlib.Path(sys.argv.pop(1)).resolve()
GROUPS = RANKLOOM.parent / "rankloom-groups.mpich"
LAUNCH = ["mpiexec.mpich", "-n", "2"]  # ends by SIGPIPE now and then if a program ends at once
HERE = f"node:1=10 core:{os.cpu_count()}=1"


class OtherFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="other-files-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary), HYDRA_LAUNCHER="fork")
        self.write("two.map", "0\n1\n" if os.cpu_count() > 1 else "0\n0\n")
        self.write("app.pairs", "# app; ranks=2\n0 1 1000 10\n")

    def write(self, name, text="mine\n"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def rankloom(self, *arguments, status=0):
        done = subprocess.run([RANKLOOM, *map(str, arguments)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}")
        return done.stdout

    def needs_mpi(self):
        if not GROUPS.exists():
            self.skipTest("MPICH is missing")

    def refuses(self, *arguments, files, remedy="--force"):
        """The command changes nothing, and its message names the remedy."""
        before = {path: path.read_bytes() for path in files}
        names = {str(path) for path in self.folder.rglob("*")}
        self.assertIn(remedy, self.rankloom(*arguments, status=2))
        self.assertEqual({path: path.read_bytes() for path in files}, before)
        self.assertEqual({str(path) for path in self.folder.rglob("*")}, names)

    def test_emit_keeps_the_launcher_files_of_others(self):
        for launcher, name in (("mpich", "hosts"), ("openmpi4", "rankfile"), ("pbs", "job.sh")):
            with self.subTest(launcher=launcher):
                mine = self.write(name)
                command = ("emit", "two.map", "-t", HERE, "--to", launcher, "-o", ".")
                self.refuses(*command, files=[mine])
                self.rankloom(*command, "--force")
                self.assertNotEqual(mine.read_text(), "mine\n")
                self.rankloom(*command)  # its own file now
                mine.write_text("changed\n")
                self.refuses(*command, files=[mine])

    def test_report_keeps_the_drawings_of_others(self):
        command = ("report", "two.map", "-p", "app.pairs", "-t", HERE, "--svg", "pictures")
        self.rankloom(*command)
        drawing = next(path for path in (self.folder / "pictures").iterdir() if path.suffix == ".svg")
        drawing.write_text("mine\n")
        self.refuses(*command, files=[drawing])

    def test_run_keeps_a_directory_called_report(self):
        self.needs_mpi()
        mine = self.write("report/thesis.txt")
        command = ("run", "two.map", "-t", HERE, "-o", ".")
        for force in ([], ["--force"]):
            self.refuses(*command, *force, "--", *LAUNCH, "sleep", "0.2", files=[mine], remedy="move the directory 'report' away")
        self.rankloom("run", "two.map", "-t", HERE, "-o", "kept", "--", *LAUNCH, "sleep", "0.2")
        self.rankloom("run", "two.map", "-t", HERE, "-o", "kept", "--", *LAUNCH, "sleep", "0.2")
        self.assertEqual(len(list((self.folder / "kept" / "report").iterdir())), 1)
        self.assertEqual(mine.read_text(), "mine\n")

    def test_record_keeps_traces_of_others(self):
        self.needs_mpi()
        mine = [self.write("trace/rank-0.txt"), self.write("trace/rank-results.txt"), self.write("trace/smpi_simgrid.txt")]
        self.refuses("record", "--trace", "trace", "--", *LAUNCH, GROUPS, "--per-group", "2", files=mine)
        self.refuses("record", "--trace", "trace", "--", "./missing", files=mine)

    def test_record_keeps_its_own_trace_if_the_program_cannot_start(self):
        self.needs_mpi()
        self.rankloom("record", "--trace", "trace", "-o", "out.prof", "--", *LAUNCH, GROUPS, "--per-group", "2", "--iterations", "2")
        files = {path: path.read_bytes() for path in (self.folder / "trace").iterdir() if path.name != ".rankloom"}
        self.assertEqual(len(files), 3)
        self.rankloom("record", "--trace", "trace", "-o", "out.prof", "--", "./missing", status=127)
        self.assertEqual({path: path.read_bytes() for path in (self.folder / "trace").iterdir() if path.name != ".rankloom"}, files)
        self.write("trace/notes.txt")
        self.rankloom("emit", "two.map", "-t", HERE, "--to", "mpich", "-o", "trace")
        self.rankloom("record", "--trace", "trace", "-o", "out.prof", "--", *LAUNCH, GROUPS, "--per-group", "2", "--iterations", "3")
        self.assertLessEqual({"notes.txt", "hosts", "rank-0.txt", "rank-1.txt", "smpi_simgrid.txt"}, {path.name for path in (self.folder / "trace").iterdir()})

    def test_a_default_name_does_not_replace_a_file_of_the_user(self):
        self.needs_mpi()
        mine = self.write(f"{GROUPS.name}.prof")
        self.refuses("record", "--", *LAUNCH, GROUPS, "--per-group", "2", files=[mine], remedy="name the output with -o")
        mine = self.write("online.json", "{}\n")
        self.refuses("online", "--", *LAUNCH, GROUPS, "--per-group", "2", files=[mine], remedy="name the output with -o")

    def test_tune_keeps_the_results_of_another_run(self):
        self.needs_mpi()
        mine = [self.write("tuned/result.json", "{}\n")]
        command = ("tune", "--profile", "app.pairs", "-t", HERE, "--runs", "1", "--max-runs", "1", "-o")
        self.refuses(*command, "tuned", "--", *LAUNCH, GROUPS, "--per-group", "2", files=mine)
        self.rankloom(*command, "own", "--", *LAUNCH, GROUPS, "--per-group", "2")
        result = self.folder / "own" / "result.json"
        self.assertIn("command", json.loads(result.read_text()))
        self.refuses(*command, "own", "--", *LAUNCH, GROUPS, "--per-group", "2", files=[result])
        log = self.write("own/mine.log")
        self.rankloom(*command, "own", "--force", "--", *LAUNCH, GROUPS, "--per-group", "2")
        self.assertEqual(log.read_text(), "mine\n")

    def test_alloc_replaces_only_state_files(self):
        thesis = self.write("thesis.tex")
        journal = self.write("thesis.tex-journal")
        for force in ([], ["--force"]):
            self.rankloom("alloc", "init", "-t", "mesh:4x4 core:1", "--state", "thesis.tex", *force, status=3)
        self.rankloom("alloc", "status", "--state", "thesis.tex", status=3)
        with sqlite3.connect(self.folder / "music.db") as other:
            other.execute("CREATE TABLE songs(name)")
        other.close()
        before = (self.folder / "music.db").read_bytes()
        self.assertIn("not a state file", self.rankloom("alloc", "init", "-t", "mesh:4x4 core:1", "--state", "music.db", "--force", status=3))
        self.assertEqual((thesis.read_text(), journal.read_text(), (self.folder / "music.db").read_bytes()), ("mine\n", "mine\n", before))

    def test_alloc_init_rolls_back_the_transaction_of_a_killed_process(self):
        self.rankloom("alloc", "init", "-t", "mesh:4x4 core:1")
        killed = os.fork()
        if killed == 0:
            connection = sqlite3.connect(self.folder / "rankloom.state", isolation_level=None)
            connection.execute("PRAGMA cache_size=1")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE more(text)")
            connection.executemany("INSERT INTO more VALUES(?)", [("x" * 1000,)] * 1000)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(killed, 0)
        self.assertTrue((self.folder / "rankloom.state-journal").exists())
        self.rankloom("alloc", "init", "--force", "-t", "mesh:5x5 core:1")
        with sqlite3.connect(self.folder / "rankloom.state") as state:
            self.assertEqual(state.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(state.execute("SELECT count(*) FROM sqlite_master WHERE name = 'more'").fetchall(), [(0,)])
        state.close()
        self.assertEqual(json.loads(self.rankloom("alloc", "status", "--json"))["nodes"], 25)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith((".", "rankloom.state"))], ["rankloom.state"])

    def test_alloc_init_replaces_the_state_for_processes_that_have_it_open(self):
        self.rankloom("alloc", "init", "-t", "mesh:4x4 core:1")
        self.rankloom("alloc", "request", "2", "--job", "a")
        reader = sqlite3.connect(self.folder / "rankloom.state")
        self.addCleanup(reader.close)
        self.assertEqual(reader.execute("SELECT count(*) FROM jobs").fetchall(), [(1,)])
        self.rankloom("alloc", "init", "--force", "-t", "mesh:4x4 core:1")
        self.assertEqual(reader.execute("SELECT count(*) FROM jobs").fetchall(), [(0,)])

    def test_simulate_keeps_directories_of_others(self):
        if not (RANKLOOM.parent / "rankloom-simulate").exists():
            self.skipTest("SimGrid is missing")
        mine = [self.write("tmp/rankloom-temporary-thesis/lock", ""), self.write("tmp/rankloom-temporary-thesis/chapter")]
        self.rankloom("simulate", "block", "--profile", "app.pairs", "-t", HERE)
        self.assertTrue(all(path.exists() for path in mine))
        self.assertEqual([path.name for path in self.temporary.iterdir()], ["rankloom-temporary-thesis"])


if __name__ == "__main__":
    unittest.main()
