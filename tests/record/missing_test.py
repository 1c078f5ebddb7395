#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks without the recorder, and ranks that cannot write: the program never waits for them and prints the same."""

import os
import pathlib
import re
import subprocess

from recording import RecordingTest, main

RANKS = 3
# A library with the address sanitizer needs its run-time library first, as `rankloom record` loads it.
SANITIZER = [subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()] if "ASAN_OPTIONS" in os.environ else []
RING = {(0, 1): (1000, 1), (1, 2): (2000, 1), (2, 0): (3000, 1)}


class ByHand(RecordingTest):
    """The library is set in the environment of the ranks, without `rankloom record`."""

    def setUp(self):
        super().setUp()
        self.library = self.rankloom.parent.parent / f"lib/rankloom/librankloom_record_{self.mpi.name}.so"
        self.spare = self.directory / "spare"
        self.spare.mkdir()

    def run_ranks(self, body, program=None, ranks=RANKS):
        """Runs a program through a script, which has $rank and sets up one rank differently. Returns {rank: file}, by the head of the files."""
        script = self.directory / "different.sh"
        script.write_text(f'#!/bin/sh\nrank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n{body}\nexec "$@"\n')
        script.chmod(0o755)
        program = program or self.program("ring.c")
        plain = self.run_command(self.command(ranks, program))
        self.done = self.run_command(self.command(ranks, "env", f"LD_PRELOAD={':'.join([*SANITIZER, str(self.library)])}", f"RANKLOOM_RECORD_OUT={self.directory}/out",
                                                  f"TMPDIR={self.spare}", script, program), timeout=30)
        self.assert_same_output(plain, self.done)
        return self.pieces("out")

    def pieces(self, name):
        found = {}
        for file in self.directory.glob(f"{name}.*"):
            match = re.fullmatch(rf"{name}\.[0-9a-f]{{16}}(-\d+)?\.(\d+)", file.name)
            self.assertIsNotNone(match, file.name)
            found[int(match.group(2))] = file
        return found

    def profile_of(self, pieces):
        """Files of ranks, one after the other, are a recording."""
        (self.directory / "all.recording").write_bytes(b"".join(pathlib.Path(piece).read_bytes() for piece in pieces))
        return self.output_of("import", "all.recording", "--to", "pairs")

    def test_all_ranks_write_their_own_file(self):
        pieces = self.run_ranks("")
        self.assertEqual(sorted(pieces), [0, 1, 2])
        self.assertEqual(len({file.name.split(".")[1] for file in pieces.values()}), 1, "one job")
        pairs = self.profile_of(pieces.values())
        for (source, target), (size, messages) in RING.items():
            self.assertIn(f"{source} {target} {size} {messages}", pairs)

    def test_a_rank_without_the_library(self):
        for rank in range(RANKS):
            with self.subTest(rank=rank):
                for file in self.directory.glob("out.*"):
                    file.unlink()
                pieces = self.run_ranks(f'[ "$rank" = {rank} ] && unset LD_PRELOAD')
                self.assertEqual(sorted(pieces), sorted(set(range(RANKS)) - {rank}))

    def test_a_host_on_which_the_library_is_missing(self):
        pieces = self.run_ranks('[ "$rank" = 1 ] && export LD_PRELOAD=/no/such/library.so')
        self.assertEqual(sorted(pieces), [0, 2])

    def test_a_rank_that_cannot_write_there_writes_elsewhere_and_says_where(self):
        pieces = self.run_ranks('[ "$rank" = 1 ] && export RANKLOOM_RECORD_OUT=/no/such/folder/out')
        self.assertEqual(sorted(pieces), [0, 2])
        spare = list(self.spare.iterdir())
        self.assertEqual(len(spare), 1)
        self.assertRegex(self.done.stderr, rf"rankloom: rank 1 cannot write /no/such/folder/out\.\*: No such file or directory.*{self.spare}/rankloom-record-")
        self.assertIn("1 2 2000 1", self.profile_of([*pieces.values(), *spare]))

    def test_a_rank_that_cannot_write_anywhere_says_so(self):
        pieces = self.run_ranks('[ "$rank" = 1 ] && export RANKLOOM_RECORD_OUT=/no/such/folder/out TMPDIR=/no/such/folder')
        self.assertEqual(sorted(pieces), [0, 2])
        self.assertIn("rankloom: the recording of rank 1 is lost: cannot write /no/such/folder/out.*: No such file or directory", self.done.stderr)

    def test_a_rank_whose_working_directory_was_deleted(self):
        pieces = self.run_ranks('[ "$rank" = 1 ] && mkdir gone && cd gone && rmdir ../gone && export RANKLOOM_RECORD_OUT=out')
        self.assertEqual(sorted(pieces), [0, 2])
        self.assertEqual(len(list(self.spare.iterdir())), 1)

    def test_two_programs_of_one_script_are_two_jobs(self):
        self.run_ranks("")
        self.run_ranks("")
        files = list(self.directory.glob("out.*"))
        self.assertEqual(len({file.name.split(".")[1] for file in files}), 2)
        self.assertEqual(len(files), 2 * RANKS)
        (self.directory / "mixed.recording").write_bytes(b"".join(file.read_bytes() for file in files))
        done = self.run_command([self.rankloom, "import", "mixed.recording", "--to", "pairs"])
        self.assertEqual(done.returncode, 3)
        self.assertIn("belongs to another run", done.stderr)

    def test_the_second_of_two_programs_does_not_change_the_trace_of_the_first(self):
        self.library = self.library.with_name(f"librankloom_trace_{self.mpi.name}.so")
        (self.directory / "trace").mkdir()
        body = f"export RANKLOOM_RECORD_TRACE={self.directory}/trace"
        self.run_ranks(body)
        first = {file.name: file.read_text() for file in (self.directory / "trace").iterdir()}
        self.assertEqual(set(first), {f"rank-{rank}.txt" for rank in range(RANKS)})
        self.run_ranks(body)
        self.assertEqual({file.name: file.read_text() for file in (self.directory / "trace").iterdir()}, first)
        self.assertEqual(self.done.stderr.count("rank-0.txt: File exists"), 1, self.done.stderr)


if __name__ == "__main__":
    main()
