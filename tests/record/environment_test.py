#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are started in unusual ways or start other programs, and the environment of each process."""

import json
import os
import shutil
import subprocess

from recording import MPIS, PROGRAMS, RecordingTest, main

RING_OF_2 = {(0, 1): (1000, 1), (1, 0): (2000, 1)}


class Launching(RecordingTest):
    def test_a_single_process_without_a_launcher(self):
        profile = self.record(0, self.program("ring.c"))
        self.assert_pairs(profile, {(0, 0): (1000, 1)})

    def test_several_programs_in_one_world(self):
        self.needs_several_programs()
        one, other = self.program("ring.c", "-DONE"), self.program("ring.c", "-DOTHER")
        self.assertNotEqual(one, other)
        command = [*self.mpi.launch(1, one), ":", "-n", "1", other]
        plain = self.run_command(command)
        profile = self.record_command(command, status=0)
        self.assert_same_output(plain, self.done)
        self.assert_pairs(profile, RING_OF_2)

    def test_through_a_shell_script(self):
        script = self.directory / "run.sh"
        script.write_text(f'#!/bin/sh\n/bin/true\nls / > /dev/null\nexec {self.program("ring.c")} "$@"\n')
        script.chmod(0o755)
        profile = self.record(2, script)
        self.assert_pairs(profile, RING_OF_2)

    def test_through_a_script_that_waits_for_the_program(self):
        script = self.directory / "run.sh"
        script.write_text(f'#!/bin/bash\n{self.program("ring.c")} "$@"\nstatus=$?\nls / > /dev/null\nexit $status\n')
        script.chmod(0o755)
        profile = self.record(2, script)
        self.assert_pairs(profile, RING_OF_2)

    def test_by_its_name_in_path(self):
        shutil.copy(self.program("ring.c"), self.directory / "ring-in-path")
        profile = self.record(2, "ring-in-path", environment={"PATH": f"{self.directory}:{os.environ['PATH']}"})
        self.assert_pairs(profile, RING_OF_2)

    def test_in_a_directory_with_blanks_and_non_ascii_letters(self):
        folder = self.directory / "ein Ordner, mit ü"
        folder.mkdir()
        shutil.copy(self.program("ring.c"), folder / "ring")
        command = self.command(2, folder / "ring")
        plain = self.run_command(command)
        profile = self.record_command(command, out="ein Ordner, mit ü/aus gabe.prof", status=0)
        self.assert_same_output(plain, self.done)
        self.assert_pairs(profile, RING_OF_2)

    def test_with_the_mpi_option(self):
        profile = self.record(2, self.program("ring.c"), options=["--mpi", self.mpi.name])
        self.assert_pairs(profile, RING_OF_2)

    def test_mpi_in_a_library_loaded_by_dlopen(self):
        library = self.program("plugin.c", "-shared", "-fPIC", out="libplugin.so")
        host = self.directory / "host"
        done = self.run_command(["gcc", "-O1", PROGRAMS / "host.c", "-o", host])
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = self.record(2, host, library)
        self.assert_pairs(profile, {(0, 1): (500, 1), (1, 0): (500, 1)})


class WrongLibrary(RecordingTest):
    def test_is_rejected_and_the_program_continues(self):
        other = next(name for name in MPIS if name != self.mpi.name)
        command = self.command(2, self.program("ring.c"), "4")
        plain = self.run_command(command)
        profile = self.record_command(command, options=["--mpi", other])
        self.assert_same_output(plain, self.done)
        self.assertIsNone(profile)
        self.assertRegex(self.done.stderr, r"(?is)rankloom.*(Open MPI|MPICH|openmpi|mpich)")


class NoMpi(RecordingTest):
    def check(self, command, status):
        plain = self.run_command(command)
        self.assertEqual(plain.returncode, status)
        profile = self.record_command(command)
        self.assert_same_output(plain, self.done)
        self.assertIsNone(profile)
        self.assertIn("rankloom", self.done.stderr)
        self.assertIn("MPI", self.done.stderr)

    def test_a_program_alone(self):
        self.check(["/bin/sh", "-c", "echo hello; exit 7"], 7)

    def test_a_program_by_the_launcher(self):
        self.check(self.command(2, "/bin/echo", "hello"), 0)

    def test_it_is_started_once_with_its_arguments(self):
        script = self.directory / "script"
        script.write_text('#!/bin/sh\necho "$@" >> started\n')
        script.chmod(0o755)
        self.record_command([str(script), "its", "words"], status=0)
        self.assertEqual((self.directory / "started").read_text(), "its words\n")


class Children(RecordingTest):
    """Ranks that start other processes, which must not write files or messages."""

    def check(self, how):
        profile = self.record(2, self.program("children.c"), how)
        self.assert_pairs(profile, {(0, 1): (300, 2), (1, 0): (300, 2)})
        self.assertEqual(os.listdir(self.directory), ["out.prof"])
        messages = [line for line in self.done.stderr.splitlines() if "rankloom" in line]
        self.assertLessEqual(len(messages), 1, "one line about the profile, and none from a child")

    def test_by_fork(self):
        self.check("fork")

    def test_by_fork_and_exit(self):
        self.check("fork exit")

    def test_by_fork_and_exec(self):
        self.check("exec")

    def test_by_system(self):
        self.check("system")

    def test_by_a_pipe(self):
        self.check("popen")


class Environment(RecordingTest):
    def test_the_launcher_and_the_shell_do_not_get_the_library(self):
        tools = self.directory / "tools"
        tools.mkdir()
        launcher = self.mpi.launcher[0]
        (tools / launcher).write_text(f'#!/bin/sh\necho "${{LD_PRELOAD-nothing}}" > {self.directory}/launcher\nexec {shutil.which(launcher)} "$@"\n')
        (tools / launcher).chmod(0o755)
        profile = self.record(2, self.program("environment.c"), environment={"PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(profile.ranks, 2)
        self.assertEqual((self.directory / "launcher").read_text(), "nothing\n")
        for rank in range(2):
            self.assertIn("rankloom", (self.directory / f"environment.{rank}").read_text())

    def test_functions_of_other_libraries_with_names_like_those_of_fortran_are_kept(self):
        """R's Rmpi has functions mpi_send, mpi_allreduce and so on, with other arguments."""
        source, library = self.directory / "own.c", self.directory / "libown.so"
        source.write_text("int mpi_send(int x) { return x + 1; }\nint MPI_SEND(int x) { return x + 1; }\nint own(int x) { return MPI_SEND(mpi_send(x)); }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
        self.record(2, self.program("own_names.c", linker=(library, f"-Wl,-rpath,{self.directory}")))
        self.assertEqual(self.done.stdout, "42\n42\n")

    def test_the_libraries_replace_only_functions_of_mpi(self):
        for kind in ("record", "trace", "reorder"):
            library = self.rankloom.parent.parent / f"lib/rankloom/librankloom_{kind}_{self.mpi.name}.so"
            symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.split()[2::3]
            self.assertGreater(len(symbols), 5, library)
            for symbol in symbols:
                self.assertRegex(symbol, r"^(MPI_[A-Z][a-z_]|MPI_T_|MPIX_[A-Z][a-z_]|mpi_\w*_$|P?MPI_Pcontrol|PMPI_Pcontrol)", library)

    def test_ld_preload_of_the_user_is_kept(self):
        profile = self.record(2, self.program("environment.c"), environment={"LD_PRELOAD": "libm.so.6"})
        self.assertEqual(profile.ranks, 2)
        for rank in range(2):
            preloaded = (self.directory / f"environment.{rank}").read_text()
            self.assertIn("libm.so.6", preloaded)
            self.assertIn("rankloom", preloaded)

    def test_standard_output_contains_the_program_output_only(self):
        command = self.command(1, self.program("ring.c"))
        plain = self.run_command(command)
        self.record_command(command, status=0)
        self.assertEqual(self.done.stdout, plain.stdout)

    def test_standard_input_reaches_the_program(self):
        (self.directory / "input").write_text("to rank 0\n")
        words = [str(word) for word in self.command(1, "/bin/cat")]
        done = self.run_command(["/bin/sh", "-c", f'"$0" record -o out.prof -- {" ".join(words)} < input', self.rankloom])
        self.assertEqual(done.stdout, "to rank 0\n")

    def test_arguments_of_the_program_are_unchanged(self):
        done = self.run_command([self.rankloom, "record", "-o", "out.prof", "--", "/bin/echo", "--json", "-o", "x", "--", "a b", "*", "$HOME", ""])
        self.assertEqual(done.stdout, "--json -o x -- a b * $HOME \n")


class Reporting(RecordingTest):
    def test_show_prints_the_recorded_traffic(self):
        profile = self.record(3, self.program("ring.c"))
        shown = json.loads(self.output_of("show", "out.prof", "--json"))
        self.assertEqual(shown["ranks"], 3)
        self.assertEqual(shown["point_to_point"], {"bytes": 6000, "messages": 3, "pairs": 3})
        self.assertEqual({row["from"]: row["messages"] for row in shown["sizes"]}, {512: 1, 1024: 1, 2048: 1})
        self.assertGreater(shown["time"]["seconds_in_mpi"], 0)
        self.assertIn("ring", profile.origin.get("program", ""))
        self.assertIn("3 ranks", self.output_of("show", "out.prof"))

    def test_time_inside_and_outside_mpi(self):
        profile = self.record(2, self.program("waiting.c"))
        self.assertEqual(len(profile.activity), 2)
        computing, waiting = profile.activity
        self.assertGreater(computing.outside, 0.45)
        self.assertGreater(waiting.inside, 0.4)
        self.assertLess(computing.inside, computing.outside)
        counted = profile.origin["loads"] == "instructions"
        self.assertTrue(counted or profile.origin["loads"].startswith("CPU time"))
        self.assertEqual(computing.instructions > 0, counted)

    def test_the_same_program_twice_gives_the_same_pairs(self):
        program = self.program("random_talk.c")
        self.record(3, program, "7")
        first = self.output_of("import", "out.prof", "--to", "pairs")
        self.record_command(self.command(3, program, "7"), status=0)
        self.assertEqual(self.output_of("import", "out.prof", "--to", "pairs"), first)


if __name__ == "__main__":
    main()
