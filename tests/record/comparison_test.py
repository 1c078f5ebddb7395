#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recorder agrees for both MPI libraries, and with other measurements of the same program."""

import unittest

from recording import MPIS, Profile, RecordingTest, installed_mpi, main

TRANSPOSE = {0: 0, 1: 1, 2: 4, 3: 5, 4: 2, 5: 3, 6: 6, 7: 7}


def pairs_of(text):
    """(from, to) → (bytes, messages) of point-to-point traffic."""
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {(int(row[0]), int(row[1])): (int(row[2]), int(row[3])) for row in rows if row[2:4] != ["0", "0"]}


class Comparison(RecordingTest):
    def pairs(self, mpi, source, ranks, *words, options=()):
        """The pairs of a run as text."""
        RecordingTest.mpi = mpi
        self.record_command(self.command(ranks, self.program(source), *words), options, status=0)
        return self.output_of("import", "out.prof", "--to", "pairs")

    def test_both_mpis_give_the_same_bytes(self):
        for source, ranks, words in (("random_talk.c", 3, ["11"]), ("communicators.c", 6, []), ("sends.c", 2, []), ("uneven.c", 4, [])):
            with self.subTest(source=source):
                one, other = (self.pairs(mpi, source, ranks, *words) for mpi in MPIS.values())
                self.assertEqual(one.split("\n", 1)[1], other.split("\n", 1)[1], "all but the name of the program")

    def test_the_conjugate_gradient_has_its_published_pattern(self):
        for mpi in MPIS.values():
            with self.subTest(mpi=mpi.name):
                found = pairs_of(self.pairs(mpi, "conjugate_gradient.f90", 8))
                expected = {(rank, rank ^ bit): (5830912, 1264) for rank in range(8) for bit in (1, 2)}
                expected |= {(rank, mirror): (5824000, 416) for rank, mirror in TRANSPOSE.items()}
                self.assertEqual(len(expected), 24)
                self.assertEqual(found, expected)

    @unittest.skipIf(installed_mpi.open_mpi().monitoring_crashes, "the monitoring component of this Open MPI crashes in MPI_Init")
    def test_open_mpis_own_monitoring_counts_the_same(self):
        mpi = MPIS["openmpi"]
        recorded = pairs_of(self.pairs(mpi, "random_talk.c", 4, "3"))
        options = {"enable": "2", "enable_output": "3", "filename": f"{self.directory}/monitored"}
        words = [word for key, value in options.items() for word in ("--mca", f"pml_monitoring_{key}", value)]
        done = self.run_command([*mpi.launcher, *words, "-n", "4", self.program("random_talk.c", mpi=mpi), "3"])
        self.assertEqual(done.returncode, 0, done.stderr)
        monitored = pairs_of(self.output_of("import", "--from", "monitoring", "monitored", "--to", "pairs"))
        self.assertGreater(len(monitored), 12)
        self.assertEqual(recorded, monitored)

    def test_the_trace_agrees_with_the_profile(self):
        for mpi in MPIS.values():
            with self.subTest(mpi=mpi.name):
                recorded = pairs_of(self.pairs(mpi, "random_talk.c", 3, "5", options=["--trace", "trace"]))
                self.assertEqual(pairs_of(self.output_of("import", "trace", "--to", "pairs")), recorded)

    def test_rankloom_and_this_test_read_the_same_profile(self):
        text = self.pairs(MPIS["openmpi"], "random_talk.c", 3, "9")
        profile = Profile(self.directory / "out.prof")
        self.assertEqual(pairs_of(text), {pair: tuple(volume) for pair, volume in profile.pairs.items()})


if __name__ == "__main__":
    main()
