#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both MPIs, and what others measured of the same program, agree with the recorder."""

from recording import MPIS, Profile, RecordingTest, main

TRANSPOSE = {0: 0, 1: 1, 2: 4, 3: 5, 4: 2, 5: 3, 6: 6, 7: 7}


def pairs_of(text):
    """(from, to) → (bytes, messages), point to point alone."""
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {(int(row[0]), int(row[1])): (int(row[2]), int(row[3])) for row in rows if row[2:4] != ["0", "0"]}


class Comparison(RecordingTest):
    def pairs(self, mpi, source, ranks, *words, options=()):
        """The text of the pairs of a run."""
        RecordingTest.mpi = mpi
        self.record_command(self.command(ranks, self.program(source), *words), options, status=0)
        return self.tell("import", "out.prof", "--to", "pairs")

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

    def test_open_mpis_own_monitoring_counts_the_same(self):
        mpi = MPIS["openmpi"]
        recorded = pairs_of(self.pairs(mpi, "random_talk.c", 4, "3"))
        options = {"enable": "2", "enable_output": "3", "filename": f"{self.folder}/monitored"}
        words = [word for key, value in options.items() for word in ("--mca", f"pml_monitoring_{key}", value)]
        done = self.run_words([*mpi.launcher, *words, "-n", "4", self.program("random_talk.c", mpi=mpi), "3"])
        self.assertEqual(done.returncode, 0, done.stderr)
        monitored = pairs_of(self.tell("import", "--from", "monitoring", "monitored", "--to", "pairs"))
        self.assertGreater(len(monitored), 12)
        self.assertEqual(recorded, monitored)

    def test_the_trace_tells_the_same_as_the_profile(self):
        for mpi in MPIS.values():
            with self.subTest(mpi=mpi.name):
                recorded = pairs_of(self.pairs(mpi, "random_talk.c", 3, "5", options=["--trace", "trace"]))
                self.assertEqual(pairs_of(self.tell("import", "trace", "--to", "pairs")), recorded)

    def test_rankloom_reads_what_this_test_reads(self):
        text = self.pairs(MPIS["openmpi"], "random_talk.c", 3, "9")
        profile = Profile(self.folder / "out.prof")
        self.assertEqual(pairs_of(text), {pair: tuple(volume) for pair, volume in profile.pairs.items()})


if __name__ == "__main__":
    main()
