#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fortran programs are recorded with each of the three MPI interfaces, and nothing is counted twice."""

from collectives_test import ALLTOALLV, ALLTOALLV_IN_PLACE, GATHERV, MEANS, SCATTERV, regular
from recording import ONE_SIDED, WORLD, RecordingTest, bits, installed_mpi, main, total, without_self

TALK = {(0, 1): (4 * (bits(*range(10)) + 3 * 1024), 13), (1, 0): (4 * (3 + 512 + 10), 4), (0, 0): (28, 1), (1, 1): (28, 1)}


class Interface:
    flag = None

    def test_point_to_point(self):
        profile = self.record(2, self.program("fortran_talk.F90", self.flag))
        self.assert_pairs(profile, TALK)
        self.assert_calls(profile, {(WORLD, "barrier", 0, 0): 1})

    def test_collectives(self):
        program = self.program("fortran_collectives.F90", self.flag)
        for words in ((), ("in-place",), ("nonblocking",), ("nonblocking", "in-place")):
            if len(words) == 2 and self.flag == "-DF08" and self.mpi.name == "openmpi" and installed_mpi.open_mpi().nonblocking_in_place_crashes:
                continue
            with self.subTest(words=words):
                profile = self.record(4, program, *words)
                self.assert_pairs(profile, {})
                self.assert_calls(profile, regular(WORLD, 2, 100, 1) | MEANS)
                expanded = total(GATHERV, SCATTERV, ALLTOALLV_IN_PLACE if "in-place" in words else ALLTOALLV)
                self.assertEqual(without_self(profile.expanded), without_self(expanded))

    def test_names_neighbours_windows_and_levels(self):
        profile = self.record(3, self.program("fortran_others.F90", self.flag), environment=ONE_SIDED)
        named = {key: count for key, count in profile.named_calls().items() if len(key[1]) > 1}
        self.assertEqual(named, {("the first two", (1, 0), "bcast"): 1})
        ring = [((rank, (rank + 1) % 3), (rank, (rank + 2) % 3)) for rank in range(3)]
        self.assert_pairs(profile, {pair: volume for up, down in ring for pair, volume in ((up, (16 + 8 + 24, 3)), (down, (16, 1)))})
        level = [phase for phase in profile.phases if phase.name == "level 4"]
        self.assertEqual(len(level), 1, [phase.name for phase in profile.phases])
        self.assertEqual({pair: tuple(volume) for pair, volume in level[0].pairs.items()}, {up: (24, 1) for up, down in ring})

    def test_partitioned_messages(self):
        # The module mpi_f08 of Open MPI 5 declares a smaller count than its functions read.
        self.needs("MPI_Send_c" if self.flag == "-DF08" else "MPI_Psend_init")
        profile = self.record(2, self.program("fortran_partitioned.F90", self.flag))
        self.assert_pairs(profile, {(0, 1): (4 * 5 * 4, 1)})


class Sessions:
    def test_sessions(self):
        self.needs("MPI_Session_init")
        profile = self.record(2, self.program("fortran_sessions.F90", self.flag))
        self.assert_pairs(profile, {(0, 1): (40, 1), (1, 0): (40, 1)})


class IncludeFile(Interface, RecordingTest):
    """include 'mpif.h'"""

    flag = "-DMPIF"


class Module(Interface, Sessions, RecordingTest):
    """use mpi"""

    flag = "-DMPI"


class ModuleOf2008(Interface, Sessions, RecordingTest):
    """use mpi_f08"""

    flag = "-DF08"

    def test_large_counts(self):
        self.needs("MPI_Send_c")
        profile = self.record(2, self.program("fortran_large.F90"))
        self.assert_pairs(profile, {(0, 1): (3 * 40, 3)})
        self.assert_calls(profile, {(WORLD, "bcast", 1, 400): 1})
        self.assertEqual({pair: volume.bytes for pair, volume in without_self(profile.expanded).items()}, {(0, 1): 20, (1, 0): 20})


if __name__ == "__main__":
    main()
