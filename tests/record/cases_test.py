#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many small cases in few runs: the program prints the same with and without the recorder, and every count is exact. See programs/cases.h."""

import collections
import re

from recording import ONE_SIDED, RecordingTest, Volume, main

RANKS = 4


def compiled(test):
    return test.program("cases.c", "-pthread", linker=["-lm"])


class Cases(RecordingTest):
    def expected(self):
        """level of MPI_Pcontrol → {(from, to): Volume}, name by level, and the pairs of collectives"""
        sent, names, pairs = collections.defaultdict(dict), {}, {}
        for rank in range(RANKS):
            for line in (self.directory / f"expected.{rank}").read_text().splitlines():
                name, level, kind, to, size, messages = line.split()
                names[f"level {level}"] = name
                volume = Volume(int(size), int(messages))
                if kind == "sent":
                    sent[f"level {level}"][rank, int(to)] = volume
                else:
                    before = pairs.get((rank, int(to)), Volume(0, 0))
                    pairs[rank, int(to)] = Volume(before.bytes + volume.bytes, before.messages + volume.messages)
        return sent, names, pairs

    def check(self, *words):
        profile = self.profile = self.record(RANKS, compiled(self), *words, environment=ONE_SIDED)
        sent, names, pairs = self.expected()
        recorded = {phase.name: phase.pairs for phase in profile.phases if phase.pairs and not re.fullmatch(r"level 1\d{4}", phase.name)}
        for level, name in names.items():
            with self.subTest(case=name):
                self.assertEqual(recorded.get(level, {}), sent.get(level, {}))
        self.assertEqual(set(recorded) - set(names), set(), "a case without messages has some")
        self.assertEqual(profile.expanded, pairs)

    def test_in_one_thread(self):
        self.check()

    def test_with_threads(self):
        self.check("threads")

    def test_records_that_grow(self):
        """At a moment at which the process cannot open, extend or delete the file of the record."""
        for name in ("records_that_grow", "interrupted_by_signals", "other_working_directory", "foreign_descriptors_closed", "strange_umask", "every_signal_blocked", "floating_point_traps", "rounding_downwards", "no_more_descriptors", "another_user", "limited_file_size"):
            self.check(name)
            phases = [phase for phase in self.profile.phases if re.fullmatch(r"level 1\d{4}", phase.name)]
            self.assertGreaterEqual(len(phases), 900, name)

    def test_with_a_trace(self):
        """Some cases cannot be traced: the recorder says so and the program does not notice."""
        self.record(RANKS, compiled(self), options=["--trace", "trace"], environment=ONE_SIDED)


class Endings(RecordingTest):
    """Each program prints and ends in the same way with the recorder."""

    def check(self, name, *words, ranks=2):
        program = compiled(self)
        command = self.command(ranks, program, *words, "end", name)
        plain = self.run_command(command)
        profile = self.record_command(command)
        lines = [[line for line in done.stdout.splitlines() if line.startswith("rank ")] for done in (plain, self.done)]
        self.assertEqual(sorted(lines[1]), sorted(lines[0]), self.done.stderr)
        if not self.loses_status or 0 not in (self.done.returncode, plain.returncode):
            self.assertEqual(self.done.returncode, plain.returncode, self.done.stderr)
        self.assertIsNotNone(profile, self.done.stderr)
        self.assertGreaterEqual(profile.pairs[0, 1 if ranks else 0].bytes, 100)

    def test_finalize_in_an_exit_handler(self):
        self.check("finalize_in_an_exit_handler")

    def test_exit_exec_and_fork_after_finalize(self):
        self.check("exit_after_finalize")
        self.check("exec_after_finalize")
        self.check("fork_after_finalize")
        self.check("quick_exit_after_finalize")
        self.check("exit_of_a_thread_after_finalize")

    def test_messages_in_finalize(self):
        self.check("messages_in_finalize")

    def test_a_rank_that_is_late(self):
        self.check("late_finalize_of_one_rank")

    def test_pending_requests(self):
        self.check("pending_requests_at_the_end")

    def test_abort_in_a_signal_handler_that_interrupted_the_recorder(self):
        for _ in range(8):  # at different moments
            self.check("abort_in_a_signal_handler", "threads", ranks=0)
        self.check("abort_in_a_signal_handler", ranks=0)

    def test_abort_in_an_error_handler(self):
        self.check("abort_in_an_error_handler", ranks=0)
        self.check("abort_in_an_error_handler", "threads", ranks=0)

    def test_exit_in_a_signal_handler(self):
        self.check("exit_in_a_signal_handler", ranks=0)
        self.check("exit_in_a_signal_handler", "threads", ranks=0)

    def test_exit_while_a_thread_waits(self):
        self.check("exit_while_a_thread_waits", "threads", ranks=0)


class Sessions(RecordingTest):
    """Programs without MPI_Init."""

    def test_are_counted(self):
        self.needs("MPI_Session_init")
        for words in ((), ("two",), ("and world",)):
            with self.subTest(words=words):
                times = 2 if words else 1
                profile = self.record(2, self.program("sessions.c"), *words)
                self.assert_pairs(profile, {(0, 1): (40 * times, times), (1, 0): (40 * times, times)})
                self.assertNotIn("did not finish", self.done.stderr)


if __name__ == "__main__":
    main()
