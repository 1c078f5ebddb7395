#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives are recorded symbolically in every binding; uneven and neighbourhood collectives are recorded as pairs."""

import json

from recording import WORLD, RecordingTest, Volume, main, total, without_self


def regular(members, root, base, count):
    """The collectives of collectives.c on one communicator, in ints of 4 bytes."""
    calls = {(members, "barrier", 0, 0): count}
    for at, operation in enumerate(("bcast", "reduce", "gather", "scatter", "allreduce", "allgather", "alltoall", "reduce_scatter", "scan", "scan"), 1):
        rooted = operation in ("bcast", "reduce", "gather", "scatter")
        calls[members, operation, root if rooted else 0, 4 * (base + at)] = count
    return calls


ALL_REGULAR = regular(WORLD, 2, 100, 2) | regular((2, 0), 1, 200, 1) | regular((3, 1), 1, 200, 1)
MEANS = {(WORLD, "allgather", 0, 10): 1, (WORLD, "reduce_scatter", 0, 10): 1}

GATHERV = {(rank, 1): Volume(4 * (rank + 1), 1) for rank in range(4)}
SCATTERV = {(1, rank): Volume(4 * (rank + 1), 1) for rank in range(4)}
ALLTOALLV = {(a, b): Volume(4 * (a + 1) * (b + 1), 1) for a in range(4) for b in range(4)}
ALLTOALLV_IN_PLACE = {(a, b): Volume(4 * (1 + abs(a - b)), 1) for a in range(4) for b in range(4)}


class Regular(RecordingTest):
    def check(self, *words):
        program = self.program("collectives.c", *self.kinds_of_calls())
        profile = self.record(4, program, *words)
        self.assert_pairs(profile, {})
        self.assert_calls(profile, ALL_REGULAR)
        self.assertEqual(profile.expanded, {})

    def test_blocking(self):
        self.check()

    def test_in_place(self):
        self.check("in-place")

    def test_nonblocking(self):
        self.check("nonblocking")

    def test_nonblocking_in_place(self):
        self.check("nonblocking", "in-place")

    def test_large_counts(self):
        self.needs("MPI_Bcast_c")
        self.check("large", "in-place")
        self.check("large", "nonblocking")

    def test_persistent(self):
        self.needs("MPI_Bcast_init")
        self.check("persistent")
        self.check("persistent", "in-place")

    def test_show_prints_one_line_per_operation(self):
        self.check()
        shown = {row["operation"]: row for row in json.loads(self.output_of("show", "out.prof", "--json"))["collectives"]["operations"]}
        self.assertEqual(shown["bcast"], {"operation": "bcast", "calls": 4, "bytes": 2 * 404 + 2 * 804})
        self.assertEqual(shown["scan"]["calls"], 8)


class Uneven(RecordingTest):
    def check(self, expanded, calls, *words, program="uneven.c"):
        profile = self.record(4, self.program(program), *words)
        self.assert_pairs(profile, {})
        self.assert_calls(profile, calls)
        self.assertEqual(without_self(profile.expanded), without_self(expanded))

    def test_every_pair_has_its_bytes(self):
        for words in ((), ("nonblocking",)):
            self.check(total(GATHERV, SCATTERV, ALLTOALLV, ALLTOALLV), MEANS, *words)

    def test_in_place(self):
        for words in (("in-place",), ("in-place", "nonblocking")):
            self.check(total(GATHERV, SCATTERV, ALLTOALLV_IN_PLACE, ALLTOALLV_IN_PLACE), MEANS, *words)

    def test_each_collective_separately(self):
        for name, expanded in {"gatherv": GATHERV, "scatterv": SCATTERV, "alltoallw": ALLTOALLV}.items():
            with self.subTest(name=name):
                self.check(expanded, {}, "only", name)

    def test_large_counts_and_persistent(self):
        self.needs("MPI_Gatherv_c")
        twice = [GATHERV, SCATTERV, ALLTOALLV, ALLTOALLV] * 2
        for words in ((), ("persistent",)):
            with self.subTest(words=words):
                self.check(total(*twice), {key: 2 for key in MEANS}, *words, program="uneven_mpi4.c")

    def test_they_have_separate_columns_in_pairs(self):
        self.check(GATHERV, {}, "only", "gatherv")
        rows = [line.split() for line in self.output_of("import", "out.prof", "--to", "pairs").splitlines() if not line.startswith("#")]
        self.assertEqual({(row[0], row[1]): row[2:] for row in rows if row[0] != row[1]},
                         {(str(rank), "1"): ["0", "0", str(4 * (rank + 1)), "1"] for rank in (0, 2, 3)})


class Neighbours(RecordingTest):
    def check(self, ranks, edges, *words):
        """Each edge has five messages with 600 bytes in total; an edge that occurs twice has twice as much."""
        profile = self.record(ranks, self.program("neighbours.c"), *words)
        expected = {}
        for edge in edges:
            expected = total(expected, {edge: Volume(600, 5)})
        self.assert_pairs(profile, expected)
        self.assertEqual(profile.calls(), {})

    def grid(self):
        edges = []
        for rank in range(6):
            row, column = divmod(rank, 3)
            edges += [(rank, rank + step) for step in (-3, 3) if 0 <= rank + step < 6]
            edges += [(rank, 3 * row + (column + step) % 3) for step in (-1, 1)]
        return edges

    def test_cartesian_grid(self):
        self.check(6, self.grid(), "cart")
        self.check(6, self.grid(), "cart", "nonblocking")

    def test_ring_of_two_ranks(self):
        self.check(2, 2 * [(0, 1), (1, 0), (0, 0), (1, 1)], "ring")

    def test_graph(self):
        self.check(3, [(0, 1), (1, 0), (1, 2), (2, 1)], "graph")

    def test_distributed_graph(self):
        edges = [(0, 1), (0, 1), (1, 0), (1, 2), (2, 0)]
        self.check(3, edges, "balanced")
        self.check(3, edges, "balanced", "nonblocking")

    def test_distributed_graph_with_pure_receivers(self):
        # MPICH 4.0's [I]neighbor_alltoallw reads past the end of its counts if a process has more sources than destinations
        # (MPICH issue 6233; docs/recording.md): the received data is undefined, also without a recorder.
        self.only("openmpi", "MPICH delivers wrong data there")
        edges = [(0, 1), (0, 1), (0, 2), (2, 0)]
        self.check(3, edges, "dist_graph")
        self.check(3, edges, "dist_graph", "nonblocking")


if __name__ == "__main__":
    main()
