#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each phase of a run has its own matrix; their sum is the matrix of the run."""

import collections

from recording import WORLD, RecordingTest, main, total


class Phases(RecordingTest):
    def assert_sum_of_phases(self, profile):
        self.assertEqual(total(*(phase.pairs for phase in profile.phases)), profile.pairs)
        calls = collections.Counter()
        for phase in profile.phases:
            calls.update(profile.calls(phase.collectives))
        self.assertEqual(dict(calls), profile.calls())

    def test_levels_of_pcontrol(self):
        profile = self.record(2, self.program("phases.c"))
        self.assert_pairs(profile, {(0, 1): (121, 4)})
        self.assert_calls(profile, {(WORLD, "bcast", 0, 20): 1})
        self.assert_sum_of_phases(profile)
        phases = {phase.name: phase for phase in profile.phases}
        self.assertEqual(len(phases), len(profile.phases), "a repeated level is the same phase")
        self.assertEqual(tuple(phases["level 2"].pairs[0, 1]), (20, 2))
        self.assertEqual(tuple(phases["level 3"].pairs[0, 1]), (100, 1))
        self.assert_calls(profile, {(WORLD, "bcast", 0, 20): 1}, phases["level 3"].collectives)
        self.assert_calls(profile, {}, phases["level 2"].collectives)
        shown = self.output_of("show", "out.prof", "--phase", "level 3")
        self.assertIn("100 B", shown)

    def test_a_program_without_levels_has_no_phases(self):
        self.assertEqual(self.record(2, self.program("ring.c")).phases, [])

    def test_time_windows(self):
        profile = self.record(2, self.program("windows_of_time.c"), options=["--window", "200ms"])
        self.assert_pairs(profile, {(0, 1): (19000, 20), (1, 0): (19000, 20)})
        self.assert_calls(profile, {(WORLD, "allreduce", 0, 4): 20})
        self.assert_sum_of_phases(profile)
        self.assertGreaterEqual(len(profile.phases), 5)
        self.assertLessEqual(len(profile.phases), 20)
        for before, after in zip(profile.phases, profile.phases[1:]):
            self.assertLess(before.begin, after.begin)
        for phase in profile.phases:
            self.assertAlmostEqual(phase.end - phase.begin, 0.2, delta=0.11)
            self.assertLessEqual(phase.pairs.get((0, 1), (0, 0))[1], 6, "20 rounds of 50 ms")


if __name__ == "__main__":
    main()
