#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are linked with the ABI of MPI 5 (libmpi_abi): one executable, one recorder and one reordering library for every MPI
library that provides the ABI.

    python3 abi_test.py RANKLOOM INCLUDE_DIRECTORIES LIBRARY [CLASS[.TEST]]

INCLUDE_DIRECTORIES are separated by colons. The libraries of the MPI implementations are looked for next to LIBRARY; Debian calls them
libmpi_abi_openmpi.so and libmpi_abi_mpich.so.
"""

import pathlib
import sys
import tempfile
import unittest

from recording import HANGS, MPIS, SKIPPED, Mpi, RecordingTest

RING_OF_4 = {(rank, (rank + 1) % 4): (1000 * (rank + 1), 1) for rank in range(4)}
FAIL_WITH_MPICH = {"persistent.c"}  # MPICH 5.0.2 aborts, also without the recorder; only its own mpi.h tells the program
TOPOLOGIES = pathlib.Path(__file__).resolve().parents[1] / "reorder" / "programs" / "topologies.c"


class Abi(Mpi):
    """An MPI implementation with the library that provides its ABI. Programs are linked with `library`, and run with this one."""

    def __init__(self, provider, provided, include, library):
        super().__init__("abi", MPIS[provider].launcher)
        self.provider = provider
        self.compilers = {".c": "gcc"}
        self.flags = [f"-I{directory}" for directory in include]
        self.linker = [str(library)]
        self.folder = tempfile.TemporaryDirectory(prefix="abi-")
        (pathlib.Path(self.folder.name) / "libmpi_abi.so.1").symlink_to(provided)
        self.environment = {"LD_LIBRARY_PATH": self.folder.name}


class AbiTest(RecordingTest):
    abis = []

    def abi_program(self, source, *flags):
        abi = self.abis[0]  # the executable is the same for all
        return self.program(source, *abi.flags, *flags, mpi=abi, linker=abi.linker)

    def with_every_library(self):
        for abi in self.abis:
            with self.subTest(library=abi.provider):
                self.mpi = abi
                yield abi


class Recorder(AbiTest):
    def test_is_found_from_the_executable(self):
        for abi in self.with_every_library():
            profile = self.record(4, self.abi_program("ring.c"), environment=abi.environment)
            self.assert_pairs(profile, RING_OF_4)

    def test_counts_what_the_recorder_of_the_implementation_counts(self):
        for source, ranks in (("sends.c", 2), ("datatypes.c", 2), ("communicators.c", 6), ("persistent.c", 2), ("windows.c", 3)):
            for abi in self.with_every_library():
                if abi.provider == "mpich" and source in FAIL_WITH_MPICH:
                    continue
                of_abi = self.record(ranks, self.abi_program(source), environment=abi.environment)
                self.mpi = MPIS[abi.provider]
                of_implementation = self.record(ranks, self.program(source))
                self.assertEqual(of_abi.pairs, of_implementation.pairs, source)
                self.assertEqual(of_abi.calls(), of_implementation.calls(), source)

    def test_counts_collectives(self):
        for abi in self.with_every_library():
            program = self.abi_program("collectives.c", "-DLARGE_COUNTS", "-DPERSISTENT_COLLECTIVES")
            blocking = self.record(4, program, environment=abi.environment)
            self.assertGreater(len(blocking.calls()), 10)
            for kind in ("nonblocking", "large", "persistent"):
                self.assertEqual(self.record(4, program, kind, environment=abi.environment).calls(), blocking.calls(), kind)

    def test_of_an_implementation_is_rejected_and_the_program_continues(self):
        for abi in self.with_every_library():
            self.rejected(self.abi_program("ring.c"), abi.provider, abi.environment)

    def test_is_rejected_in_programs_of_an_implementation(self):
        for abi in self.with_every_library():
            self.mpi = MPIS[abi.provider]
            self.rejected(self.program("ring.c"), "abi", {})

    def rejected(self, program, mpi, environment):
        command = self.command(2, program, "4")
        plain = self.run_command(command, environment)
        profile = self.record_command(command, options=["--mpi", mpi], environment=environment)
        self.assert_same_output(plain, self.done)
        self.assertIsNone(profile)
        self.assertIn("the program uses another MPI library", self.done.stderr)


class Reordering(AbiTest):
    """Three hosts, over which the ranks of a grid are distributed round-robin."""

    def test_gives_the_same_results_with_less_traffic_between_hosts(self):
        place = self.directory / "place"
        place.write_text('#!/bin/sh\nRANKLOOM_HOSTNAME=n$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % 3))\nexport RANKLOOM_HOSTNAME\nexec "$@"\n')
        place.chmod(0o755)
        for abi in self.with_every_library():
            program = self.abi_program(TOPOLOGIES)
            plain = self.results(self.mpi.launch(6, place, program, "grid", 0, 1, 0, "3x2"), abi)
            command = self.mpi.launch(6, place, program, "grid", 1, 1, 0, "3x2")
            reordered = self.results([self.rankloom, "reorder", "--mpi", "abi", "--", *command], abi)
            for key in plain:
                if key.startswith("result"):
                    self.assertEqual(reordered[key], plain[key])
            self.assertLess(int(reordered["crossing"]), int(plain["crossing"]))

    def results(self, command, abi):
        done = self.run_command(command, abi.environment, HANGS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if " " in line)


def main():
    RecordingTest.rankloom = pathlib.Path(sys.argv.pop(1)).resolve()
    include = sys.argv.pop(1).split(":")
    library = pathlib.Path(sys.argv.pop(1)).resolve()
    for provider, implementation in MPIS.items():
        provided = sorted(library.parent.glob(f"libmpi_abi_{provider}.so*"))
        if provided and not implementation.missing():
            AbiTest.abis.append(Abi(provider, provided[-1], include, library))
    if not AbiTest.abis:
        print("no MPI library with the ABI, its launcher and its compiler is installed")
        sys.exit(SKIPPED)
    unittest.main()


if __name__ == "__main__":
    main()
