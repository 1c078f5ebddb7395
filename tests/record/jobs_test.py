#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several MPI programs in one command, recordings that could not be converted into a profile, and odd names and paths."""

import json
import os
import pathlib
import shutil
import signal
import subprocess

from recording import ENVIRONMENT, Profile, RecordingTest, installed_mpi, main

RING_OF_2 = {(0, 1): (1000, 1), (1, 0): (2000, 1)}
RING_OF_3 = {(0, 1): (1000, 1), (1, 2): (2000, 1), (2, 0): (3000, 1)}


class JobsTest(RecordingTest):
    def script(self, name, text):
        path = self.directory / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)
        return path

    def launch(self, ranks, *words):
        return " ".join(f"'{word}'" for word in self.mpi.launch(ranks, *words))

    def read(self, path):
        """What import reads, as a native profile."""
        target = self.directory / "imported.prof"
        target.unlink(missing_ok=True)
        self.output_of("import", path, "-o", target)
        return Profile(target)

    def recording_directories(self, where=None):
        return sorted((where or self.directory).glob(".rankloom-record-*"))


class Scripts(JobsTest):
    def record_script(self, text, *options):
        self.record_command([self.script("run.sh", text)], options=[*options, "--mpi", self.mpi.name], status=0)
        return self.done

    def outputs(self):
        return sorted(path.name for path in self.directory.glob("*.prof"))

    def test_two_programs_one_after_the_other_get_a_profile_each(self):
        ring = self.program("ring.c")
        done = self.record_script(f"{self.launch(2, ring)}\n{self.launch(3, ring)}", "--json")
        result = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual([profile["output"] for profile in result["profiles"]], ["out.prof", "out-2.prof"])
        self.assertEqual([profile["ranks"] for profile in result["profiles"]], [2, 3])
        self.assertEqual(result["ranks"], 2)
        self.assert_pairs(self.read("out.prof"), RING_OF_2)
        self.assert_pairs(self.read("out-2.prof"), RING_OF_3)
        self.assertEqual(self.recording_directories(), [])

    def test_the_same_program_twice_is_not_mixed(self):
        ring = self.program("ring.c")
        done = self.record_script(f"{self.launch(2, ring)}\n{self.launch(2, ring)}\n{self.launch(2, ring)}")
        self.assertIn("3 MPI programs", done.stderr)
        self.assertEqual(self.outputs(), ["out-2.prof", "out-3.prof", "out.prof"])
        for name in self.outputs():
            self.assert_pairs(self.read(name), RING_OF_2)

    def test_two_programs_at_the_same_time_are_not_mixed(self):
        ring = self.program("ring.c")
        done = self.record_script(f"{self.launch(2, ring)} & {self.launch(3, ring)}\nwait")
        self.assertIn("2 MPI programs", done.stderr)
        profiles = [self.read(name) for name in self.outputs()]
        self.assertEqual(sorted(profile.ranks for profile in profiles), [2, 3])
        for profile in profiles:
            self.assert_pairs(profile, RING_OF_2 if profile.ranks == 2 else RING_OF_3)

    def test_a_file_of_the_user_is_not_replaced_by_the_second_profile(self):
        (self.directory / "out-2.prof").write_text("notes of the user\n")
        ring = self.program("ring.c")
        self.record_script(f"{self.launch(2, ring)}\n{self.launch(2, ring)}")
        self.assertEqual((self.directory / "out-2.prof").read_text(), "notes of the user\n")
        self.assertEqual(self.outputs(), ["out-2.prof", "out-3.prof", "out.prof"])

    def test_a_single_program_has_one_profile_and_no_remark(self):
        done = self.record_script(self.launch(2, self.program("ring.c")))
        self.assertEqual(self.outputs(), ["out.prof"])
        self.assertNotIn("MPI programs", done.stderr)


class Kept(JobsTest):
    def check_pieces(self, directory):
        """The directory, the prefix of the job and a single piece can be imported."""
        pieces = sorted(directory.glob("recording*"))
        self.assertEqual(len(pieces), 3, list(directory.iterdir()))
        self.assert_pairs(self.read(directory), RING_OF_3)
        self.assert_pairs(self.read(str(pieces[0]).rsplit(".", 1)[0]), RING_OF_3)
        self.assert_pairs(self.read(str(pieces[0]).rsplit(".", 2)[0]), RING_OF_3)
        alone = self.read(pieces[1])
        self.assertEqual(alone.ranks, 3)
        self.assertEqual(len(alone.pairs), 1)
        self.assertEqual(alone.origin["missing ranks"], "0, 2")

    def test_pieces_stay_and_are_named_if_the_profile_cannot_be_written(self):
        """The program makes a directory where the profile should be written."""
        script = self.script("run.sh", f"mkdir -p out.prof/x; exec '{self.program('ring.c')}' 4")
        self.record_command(self.command(3, script), options=["--mpi", self.mpi.name])
        self.assertEqual(self.done.returncode, 4, self.done.stderr)
        (directory,) = self.recording_directories()
        self.assertIn(f"rankloom import {directory}", self.done.stderr)
        self.check_pieces(directory)

    def test_the_result_for_scripts_names_the_pieces(self):
        script = self.script("run.sh", f"mkdir -p out.prof/x; exec '{self.program('ring.c')}'")
        self.record_command(self.command(3, script), options=["--mpi", self.mpi.name, "--json"])
        result = json.loads(self.done.stdout.splitlines()[-1])
        self.assertEqual([pathlib.Path(result["kept"])], self.recording_directories())
        self.assertIsNone(result["output"])

    def test_pieces_of_a_killed_recorder_are_read_and_the_next_run_names_them(self):
        """rankloom is killed while the program runs; the program ends by itself."""
        script = self.script("run.sh", f"'{self.program('ring.c')}' && touch ended.$$")
        words = [self.rankloom, "record", "-o", "out.prof", "--mpi", self.mpi.name, "--", "bash", "-c", f"touch started; read line < go; exec {self.launch(3, script)}"]
        os.mkfifo(self.directory / "go")
        child = subprocess.Popen([str(word) for word in words], cwd=self.directory, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with open(self.directory / "go", "w", encoding="ascii") as go:  # opens when the command reads
            child.send_signal(signal.SIGKILL)
            child.wait()
            go.write("go\n")
        child.stdout.read()  # until the program has closed its output, too
        child.stdout.close()
        self.assertEqual(len(list(self.directory.glob("ended.*"))), 3)
        (directory,) = self.recording_directories()
        self.check_pieces(directory)
        self.record_command(self.command(2, self.program("ring.c")), out="next.prof", status=0)
        self.assertIn(f"rankloom import {directory}", self.done.stderr)
        self.assertEqual(self.recording_directories(), [directory], "the pieces of the user are not removed")

    def test_several_programs_in_one_directory_are_listed(self):
        ring = self.program("ring.c")
        script = self.script("run.sh", f"{self.launch(2, ring)}\n{self.launch(3, ring)}\nmkdir -p out.prof/x")
        self.record_command([script], options=["--mpi", self.mpi.name], status=0)
        (directory,) = self.recording_directories()
        done = self.run_command([self.rankloom, "import", directory, "-o", "x.prof"])
        self.assertEqual(done.returncode, 3)
        self.assertIn("2 MPI programs", done.stderr)
        commands = [line for line in self.done.stderr.splitlines() if "rankloom import" in line]
        prefixes = [words.split()[0] for words in commands[0].split("rankloom import ")[1:]]
        self.assertEqual([self.read(prefix).ranks for prefix in prefixes], [2, 3])


class Names(JobsTest):
    """Programs whose names are like those of launchers are programs: started once, with their own arguments."""

    def test_a_program_named_almost_like_a_launcher_is_started_once_with_its_arguments(self):
        for name in ("x.mpich", "x.openmpi", "mpirun_all.sh", "mpiexec.sh", "srun.sh", "mpirun.openmpi.sh"):
            with self.subTest(name=name):
                log = self.directory / "log"
                log.unlink(missing_ok=True)
                program = self.script(name, f'echo "words: $*" >> {log}')
                for verb in ("record", "reorder"):
                    self.run_command([self.rankloom, verb, "--mpi", self.mpi.name, "--", program, "-n", "2", "its words", "--version"])
                self.assertEqual(log.read_text(), "words: -n 2 its words --version\n" * 2)
                for verb in (["run", "map", "-t", "core:2"], ["online"], ["tune", "--runs", "1"]):
                    (self.directory / "map").write_text("0\n1\n")
                    done = self.run_command([self.rankloom, *verb, "--", program, "-n", "2", "x"])
                    self.assertNotEqual(done.returncode, 0)
                self.assertEqual(log.read_text(), "words: -n 2 its words --version\n" * 2, "verbs that need a launcher start nothing")

    def test_a_launcher_with_a_file_of_programs(self):
        self.needs_several_programs()
        if self.mpi.name == "mpich" and installed_mpi.mpich().version[:2] == (4, 2):
            self.skipTest("mpiexec of MPICH 4.2 takes all lines of the file for one")
        option = {"openmpi": "--app", "mpich": "-configfile"}[self.mpi.name]
        one, other = self.program("ring.c", "-DONE"), self.program("ring.c", "-DOTHER")
        (self.directory / "programs").write_text(f"# two programs\n-n 1 {one}\n-n 1 {other}\n")
        command = [*self.mpi.launcher, option, "programs"]
        plain = self.run_command(command)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        profile = self.record_command(command, status=0)
        self.assert_same_output(plain, self.done)
        self.assertNotIn("all processes", self.done.stderr)
        self.assert_pairs(profile, RING_OF_2)
        done = self.run_command([self.rankloom, "reorder", "--", *command])
        self.assert_same_output(plain, done)


class Paths(JobsTest):
    """An installation whose path LD_PRELOAD cannot contain."""

    def install(self, name):
        """A copy of the programs and libraries in another directory."""
        root = self.directory / name
        (root / "bin").mkdir(parents=True)
        shutil.copy(self.rankloom, root / "bin")
        for program in ("rankloom-agent", "rankloom-bind"):
            shutil.copy(self.rankloom.parent / program, root / "bin")
        libraries = self.rankloom.parent.parent / "lib/rankloom"
        (root / "lib/rankloom").mkdir(parents=True)
        for file in (f"librankloom_record_{self.mpi.name}.so", f"librankloom_reorder_{self.mpi.name}.so", "rankloom-reorder"):
            shutil.copy(libraries / file, root / "lib/rankloom")
        return root / "bin/rankloom"

    def check(self, rankloom):
        command = self.command(2, self.program("ring.c"))
        plain = self.run_command(command)
        work = self.directory / "work"
        work.mkdir()
        done = self.run_command([rankloom, "record", "-o", "out.prof", "--", *command], directory=work)
        self.assert_same_output(plain, done)
        self.assertEqual(sorted(path.name for path in work.iterdir()), ["out.prof"], done.stderr)
        self.assert_pairs(self.read(work / "out.prof"), RING_OF_2)
        done = self.run_command([rankloom, "reorder", "--", *command], directory=work)
        self.assert_same_output(plain, done)
        self.assertNotIn("ld.so", done.stderr)
        done = self.run_command([rankloom, "online", "-o", "online.json", "--", *command], directory=work)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("ld.so", done.stderr)
        self.assertEqual(len(json.loads((work / "online.json").read_text())["nodes"]), 1, done.stderr)
        self.assertEqual(sorted(path.name for path in work.iterdir()), ["online.json", "out.prof"])

    def test_with_blanks_and_colons(self):
        self.check(self.install("a b:c $LIB"))

    def test_in_a_working_directory_with_a_blank(self):
        rankloom = self.install("a b")
        work = self.directory / "my work"
        work.mkdir()
        done = self.run_command([rankloom, "record", "-o", "out.prof", "--", *self.command(2, self.program("ring.c"))], directory=work)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_pairs(self.read(work / "out.prof"), RING_OF_2)


if __name__ == "__main__":
    main()
