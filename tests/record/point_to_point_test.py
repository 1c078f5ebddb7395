#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages are counted at the sender, for every send function and every communicator."""

import os
import unittest

from recording import RecordingTest, bits, main


class Sends(RecordingTest):
    def test_every_send_function_counts_once(self):
        profile = self.record(2, self.program("sends.c"))
        self.assert_pairs(profile, {(0, 1): (bits(*range(11)), 11), (1, 0): (3 + 512, 2)})

    def test_functions_of_mpi_4_count(self):
        self.needs("MPI_Send_c")
        profile = self.record(2, self.program("sends_mpi4.c"))
        self.assert_pairs(profile, {(0, 1): (bits(*range(14)) + 2 * bits(14), 16), (1, 0): (bits(9, 12, 13), 6)})

    def test_derived_types_count_by_their_size(self):
        profile = self.record(2, self.program("datatypes.c"))
        self.assert_pairs(profile, {(0, 1): (96 + 90 + 48 + 20 + 8 + 42 + 0 + 12 + 12, 9)})

    def test_proc_null_does_not_count_but_empty_messages_and_messages_to_self_do(self):
        profile = self.record(3, self.program("edges.c"))
        self.assert_pairs(profile, {(0, 0): (72, 3), (1, 1): (72, 3), (2, 2): (72, 3), (0, 2): (0, 5)})
        self.assertEqual(profile.sizes, {0: 5, 8: 3, 16: 3, 32: 3})

    def test_failed_sends_do_not_count(self):
        profile = self.record(2, self.program("refused.c"))
        self.assert_pairs(profile, {(0, 0): (800, 200), (1, 1): (800, 200)})
        self.assertEqual(profile.sizes, {4: 400})

    def test_messages_above_2_gigabytes(self):
        with open("/proc/meminfo", encoding="ascii") as file:
            available = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
        if available < 6e6:
            self.skipTest("needs 5 GB of memory")
        profile = self.record_command(self.command(1, self.program("big.c")), status=0)
        self.assert_pairs(profile, {(0, 0): (290e6 * 8, 1)})
        self.assertEqual(profile.sizes, {2**31: 1})

    def test_persistent_requests_count_when_they_are_started(self):
        profile = self.record(2, self.program("persistent.c"))
        self.assert_pairs(profile, {(0, 1): (3 * 1111 + 10000 + 10 * 100, 12 + 1 + 10)})

    def test_partitioned_sends_count_once_for_each_start(self):
        self.needs("MPI_Psend_init")
        profile = self.record(2, self.program("partitioned.c"))
        self.assert_pairs(profile, {(0, 1): (3 * 3200, 3)})

    def test_buffers_of_mpi_4_1_count_each_message_once(self):
        self.needs("MPI_Comm_flush_buffer")
        profile = self.record(2, self.program("buffers.c"))
        self.assert_pairs(profile, {(0, 1): (7 * 400, 7)})

    def test_threads_that_send_at_once_are_counted_exactly(self):
        profile = self.record(2, self.program("threads.c", "-pthread"))
        sent = 4 * sum(turn % 64 for turn in range(300))
        self.assert_pairs(profile, {(0, 1): (sent, 1200), (1, 0): (sent, 1200)})


class Communicators(RecordingTest):
    def test_ranks_are_translated_to_the_world(self):
        profile = self.record(6, self.program("communicators.c"))
        self.assert_pairs(profile, {
            (0, 5): (1, 1), (0, 4): (10, 1), (1, 5): (10, 1), (5, 4): (100, 1), (2, 0): (1030, 2), (4, 0): (10000, 1), (5, 1): (10000, 1),
            (5, 3): (32, 2), (3, 1): (20, 1), (2, 5): (3, 1), (5, 0): (300, 1), (4, 5): (4, 1), (1, 2): (40, 1)})
        self.assertEqual(profile.calls(), {}, "the creation of communicators is not traffic of the program")

    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "the address sanitizer keeps freed memory")
    def test_ten_thousand_short_lived_communicators_need_no_memory(self):
        program = self.program("short_lived.c")
        grown = []
        self.run_command(self.command(2, program))
        grown.append(self.growth(2))
        profile = self.record_command(self.command(2, program), status=0)
        grown.append(self.growth(2))
        for plain, recorded in zip(*grown):
            self.assertLessEqual(recorded, plain + 256, "kilobytes")
        self.assert_pairs(profile, {(1, 0): (20000, 5000), (0, 1): (20000, 5000)})
        self.assert_calls(profile, {((1, 0), "bcast", 0, 4): 5000, ((), "bcast", 0, 4): 5000})
        self.assertLessEqual(len(profile.communicators), 4, "equal members are one communicator")

    def test_ranks_of_the_remote_group_of_intercommunicators(self):
        profile = self.record(5, self.program("intercommunicators.c"))
        self.assert_pairs(profile, {(1, 3): (40, 1), (4, 0): (7, 1), (0, 4): (24, 1), (2, 0): (9, 1)})
        # Collectives of intercommunicators count as pairs: each member receives from each member of the remote group.
        left, right = (0, 1), (2, 3, 4)
        across = dict.fromkeys([(a, b) for a in left for b in right] + [(b, a) for a in left for b in right], 16 + 20 + 24)  # allreduce, allgather, alltoall
        for b in right:
            across[1, b] += 200  # bcast
            across[b, 0] += 12  # gather
            for a in left:
                across[a, b] += 4 * (b - 1)  # alltoallv
                across[b, a] += 4 * (a + 1)
        for a in left:
            across[a, 2] += 8  # reduce
        self.assertEqual({pair: volume.bytes for pair, volume in profile.expanded.items() if volume.bytes}, across)

    def test_spawned_processes_are_not_in_the_matrix(self):
        self.only("openmpi", "Debian's MPICH (ch4:ucx) cannot spawn")
        profile = self.record(2, self.program("spawn.c"))
        self.assert_pairs(profile, {(0, 1): (11 + 17, 2)})

    def test_names_of_communicators_are_recorded(self):
        profile = self.record(4, self.program("names.c"))
        calls = {key: count for key, count in profile.named_calls().items() if len(key[1]) != 1 and key[1] != (0, 1, 2)}
        self.assertEqual(calls, {
            ("upper row", (0, 1), "bcast"): 1, ("lower row", (2, 3), "bcast"): 1,
            ('Spalte "ä"', (2, 0), "bcast"): 2, ('Spalte "ä"', (3, 1), "bcast"): 2,
            ("", (1, 2, 3), "allreduce"): 1, ("all ranks", (), "allreduce"): 1})

    def test_a_late_name_applies_to_earlier_calls(self):
        profile = self.record(4, self.program("names.c"))
        calls = {key: count for key, count in profile.named_calls().items() if key[1] == (0, 1, 2)}
        self.assertEqual(calls, {("named after its first use", (0, 1, 2), "barrier"): 2})


class Memory(RecordingTest):
    def test_ten_million_sends_need_no_memory(self):
        profile = self.record_command(self.command(1, self.program("many.c")), status=0)
        self.assert_pairs(profile, {(0, 0): (315e6, 1e7)})
        cycles = 10**7 // 64
        self.assertEqual(profile.sizes, {0: cycles, 1: cycles, 2: 2 * cycles, 4: 4 * cycles, 8: 8 * cycles, 16: 16 * cycles, 32: 32 * cycles})
        self.assertLessEqual(self.growth(1)[0], 64, "kilobytes")


if __name__ == "__main__":
    main()
