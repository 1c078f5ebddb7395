#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One-sided calls count in the direction of the data."""

from recording import ONE_SIDED, RecordingTest, main


class OneSided(RecordingTest):
    def check(self, calls, expected):
        profile = self.record(3, self.program("one_sided.c", *self.kinds_of_calls()), *calls)
        self.assert_pairs(profile, expected)
        return profile

    def test_put_counts_to_the_target(self):
        self.check(["put", "rput", "accumulate", "raccumulate", "derived", "proc_null"], {(0, 2): (4 * 32 + 24, 5)})

    def test_get_counts_to_the_origin(self):
        self.check(["get", "rget", "get_accumulate_no_op", "fetch_and_op_no_op"], {(2, 0): (3 * 32 + 8, 4)})

    def test_get_accumulate_counts_in_both_directions(self):
        self.check(["get_accumulate", "rget_accumulate", "fetch_and_op"], {(0, 2): (2 * 32 + 8, 3), (2, 0): (2 * 32 + 8, 3)})

    def test_compare_and_swap_counts_in_both_directions(self):
        profile = self.record(3, self.program("one_sided.c"), "compare_and_swap")
        self.assertEqual(set(profile.pairs), {(0, 2), (2, 0)})
        self.assertEqual(tuple(profile.pairs[2, 0]), (8, 1))
        self.assertEqual(profile.pairs[0, 2].messages, 1)
        self.assertIn(profile.pairs[0, 2].bytes, (8, 16), "the new value, with or without the compare value")

    def test_large_counts(self):
        self.needs("MPI_Put_c")
        self.check(["put_c", "get_c", "accumulate_c", "get_accumulate_c", "rput_c"], {(0, 2): (4 * 32, 4), (2, 0): (2 * 32, 2)})

    def test_windows_of_every_kind(self):
        # Open MPI's default component for windows over user memory needs RDMA hardware.
        profile = self.record(3, self.program("windows.c"), environment=ONE_SIDED)
        self.assert_pairs(profile, {(0, 1): (64, 3), (1, 2): (64, 3), (2, 0): (80, 4), (0, 2): (16, 1)})


if __name__ == "__main__":
    main()
