#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recorded matrix of programs whose threads communicate in a known pattern."""

import pathlib
import shutil
import sys
import unittest

from recording import RecordingTest

LINE = 64
MEGABYTE = 1 << 20


class Patterns(RecordingTest):
    def test_producers_send_to_their_consumers(self):
        self.build("pairs.cpp", "-std=c++20")
        matrix = self.record()
        self.assertEqual(self.printed, "all sums are right\n")
        self.assertEqual(matrix.ranks, 9)
        pairs = [(1, 2), (3, 4), (5, 6), (7, 8)]
        for pair in pairs:  # 64 lines in each of 100 rounds, and little other traffic
            self.assertGreaterEqual(matrix[pair], 100 * 64 * LINE)
            self.assertLess(matrix[pair], 1.2 * 100 * 64 * LINE)
        self.assertLess(8 * matrix.max_other(pairs), 100 * 64 * LINE)

    def test_a_ring_of_threads_is_recorded_as_a_ring(self):
        self.build("ring.cpp")
        matrix = self.record()
        ring = [(1 + me, 1 + (me + 1) % 6) for me in range(6)]
        for pair in ring:
            self.assertGreaterEqual(matrix[pair], 60 * 16 * LINE)
        self.assertLess(8 * matrix.max_other(ring), 60 * 16 * LINE)

    def test_a_ring_of_a_hundred_threads_is_recorded(self):
        self.build("ring.cpp", "-DMEMBERS=100")
        matrix = self.record()
        self.assertEqual(matrix.ranks, 101)
        ring = [(1 + me, 1 + (me + 1) % 100) for me in range(100)]
        for pair in ring:
            self.assertGreaterEqual(matrix[pair], 60 * 16 * LINE)
        self.assertLess(5 * matrix.max_other(ring), 60 * 16 * LINE)

    def test_new_threads_reuse_the_numbers_of_joined_threads(self):
        self.build("ring.cpp")
        matrix = self.record("new threads")
        self.assertEqual(matrix.ranks, 7)
        ring = [(1 + me, 1 + (me + 1) % 6) for me in range(6)]
        for pair in ring:
            self.assertGreaterEqual(matrix[pair], 60 * 16 * LINE)
        self.assertLess(2 * matrix.max_other(ring), 60 * 16 * LINE)

    def check_chain(self, matrix, threads):
        """Neighbours exchange a row of 64 lines in each of 40 steps, in both directions."""
        chain = [(me, me + 1) for me in range(threads - 1)]
        for one, other in chain:
            self.assertGreaterEqual(matrix[one, other], 35 * 64 * LINE)
            self.assertGreaterEqual(matrix[other, one], 35 * 64 * LINE)
        self.assertLess(5 * matrix.max_other(chain + [(b, a) for a, b in chain]), 35 * 64 * LINE)

    def test_an_openmp_stencil_is_recorded_as_a_chain(self):
        self.build("stencil.c", "-fopenmp")
        matrix = self.record(OMP_NUM_THREADS="8")
        self.assertEqual(matrix.ranks, 8)
        self.check_chain(matrix, 8)

    def test_link_time_optimisation(self):
        self.build("stencil.c", "-fopenmp", "-flto", "-ffat-lto-objects")
        self.check_chain(self.record(OMP_NUM_THREADS="4"), 4)

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_clang(self):
        self.build("ring.cpp", CXX="clang++")
        matrix = self.record()
        for pair in [(1 + me, 1 + (me + 1) % 6) for me in range(6)]:
            self.assertGreaterEqual(matrix[pair], 60 * 16 * LINE)

    @unittest.skipUnless(shutil.which("gfortran"), "gfortran is not installed")
    def test_fortran(self):
        self.build("stencil.f90", "-fopenmp", CC="gfortran")
        matrix = self.record(OMP_NUM_THREADS="4")
        chain = [(0, 1), (1, 2), (2, 3)]
        for one, other in chain:
            self.assertGreaterEqual(matrix.both_directions(one, other), 2 * 35 * 64 * LINE)
        self.assertLess(4 * max(matrix.both_directions(0, 3), matrix.both_directions(1, 3)), 2 * 35 * 64 * LINE)

    def test_openmp_threads_have_their_team_numbers(self):
        self.build("team.cpp", "-fopenmp")
        matrix = self.record()
        self.assertEqual(matrix.ranks, 5)
        for me in range(3):
            self.assertGreaterEqual(matrix[me, me + 1], 45 * 32 * LINE)
        self.assertLess(matrix[0, 4] + matrix[3, 4] + matrix[4, 0], 20 * 32 * LINE)


class Sharing(RecordingTest):
    def setUp(self):
        super().setUp()
        self.build("counters.c")

    def between_workers(self, how):
        matrix = self.record(how)
        self.assertEqual(matrix.ranks, 5)
        return [matrix[one, other] for one in range(1, 5) for other in range(1, 5) if one != other]

    def test_counters_in_separate_lines_do_not_communicate(self):
        self.assertEqual(sum(self.between_workers("apart")), 0)

    def test_reading_constants_is_not_communication(self):
        self.assertEqual(sum(self.between_workers("constant")), 0)

    def test_false_sharing_is_recorded(self):
        total = sum(self.between_workers("together"))
        self.assertGreaterEqual(total, (4 * 50 - 1) * LINE)  # each turn transfers the line from the previous thread
        self.assertLess(total, 4 * 50 * LINE + 1)

    def test_atomic_additions_are_recorded_and_correct(self):
        total = sum(self.between_workers("atomic"))
        self.assertEqual(self.printed, "200\n")
        self.assertEqual(total, (4 * 50 - 1) * LINE)


class Copies(RecordingTest):
    def setUp(self):
        super().setUp()
        self.build("copies.c")

    def transferred(self, how, **environment):
        return self.record(how, **environment)[1, 0]

    def test_copy_functions_access_all_lines(self):
        for how in ("memset", "memcpy", "memmove", "mempcpy", "struct", "bytes"):
            with self.subTest(how=how):
                # The table remembers a fixed number of lines. Depending on the addresses, a line of the stack evicts one of the array.
                self.assertGreaterEqual(self.transferred(how), MEGABYTE - 4 * LINE)
                self.assertLess(self.transferred(how), 1.01 * MEGABYTE)

    def test_an_access_across_a_line_boundary_accesses_both_lines(self):
        self.assertGreaterEqual(self.transferred("unaligned"), 0.99 * MEGABYTE)

    def test_fortified_functions_are_recorded(self):
        self.build("copies.c", "-D_FORTIFY_SOURCE=2")
        for how in ("memset", "memcpy", "memmove", "mempcpy"):
            with self.subTest(how=how):
                self.assertGreaterEqual(self.transferred(how), MEGABYTE)

    def test_evicted_lines_are_not_transferred(self):
        self.assertLess(self.transferred("memcpy", RANKLOOM_THREADS_WINDOW="128k"), 0.2 * MEGABYTE)

    def test_a_window_with_a_blank_or_another_unit_is_reported_and_ignored(self):
        for window in ("128 k", "128 M", "128kB", "-1", "0", "x"):
            with self.subTest(window=window):
                self.call("./program", "memcpy", RANKLOOM_THREADS_OUT="out.prof", RANKLOOM_THREADS_WINDOW=window)
                self.assertIn("RANKLOOM_THREADS_WINDOW is not a size", self.err)
                self.assertGreaterEqual(self.read("out.prof")[1, 0], MEGABYTE)


if __name__ == "__main__":
    RecordingTest.rankloom = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
