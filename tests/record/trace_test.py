#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of `record --trace`: SimGrid replays them, and rankloom reads the traffic of the profile from them."""

import collections
import json
import re
import shutil

from recording import Profile, RecordingTest, main

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"""


class TraceTest(RecordingTest):
    def trace(self, ranks, source, *words, flags=()):
        """Records a program. Returns the lines of each rank."""
        self.record_command(self.command(ranks, self.program(source, *flags), *words), ["--trace", "trace"], status=0)
        self.assertNotIn("missing", self.done.stderr)
        return self.lines(ranks)

    def lines(self, ranks, folder="trace"):
        return [(self.directory / folder / f"rank-{rank}.txt").read_text().splitlines() for rank in range(ranks)]

    def replay(self, ranks, folder="trace"):
        """The simulated seconds of SimGrid on hosts of 1 Gflop/s."""
        if shutil.which("smpirun") is None:
            self.skipTest("not installed: smpirun")
        (self.directory / "platform.xml").write_text(PLATFORM.format(last=max(ranks - 1, 1)))
        (self.directory / "hosts").write_text("".join(f"node-{rank}\n" for rank in range(ranks)))
        done = self.run_command(["smpirun", "-np", ranks, "-hostfile", "hosts", "-platform", "platform.xml", "-replay", f"{folder}/smpi_simgrid.txt"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        seconds = float(re.search(r"Simulation time ([0-9.]+)", done.stdout + done.stderr)[1])
        self.simulate(ranks, folder, seconds)
        return seconds

    def simulate(self, ranks, folder, seconds):
        """The replay of `rankloom simulate` on nodes with one core takes about as long."""
        result = json.loads(self.output_of("simulate", "block", "--profile", folder, "-t", f"node:{max(ranks, 2)}=1,4us core:1", "--json"))
        self.assertAlmostEqual(result["mappings"][0]["seconds"], seconds, delta=0.15 * seconds + 0.02)

    def pairs(self, path):
        rows = [line.split() for line in self.output_of("import", path, "--to", "pairs").splitlines() if not line.startswith("#")]
        return {(int(row[0]), int(row[1])): (int(row[2]), int(row[3])) for row in rows if row[2:4] != ["0", "0"]}


class Replay(TraceTest):
    def test_the_replay_takes_as_long_as_the_computation(self):
        self.record(6, self.program("traced.c"), "300", options=["--trace", "trace"])  # with the same output as without the recorder
        lines = self.lines(6)
        for rank, text in enumerate(lines):
            self.assertEqual((text[0], text[-1]), (f"{rank} init", f"{rank} finalize"))
        # Only the computation of rank 1 counts, even if ranks share processors.
        seconds = self.replay(6)
        self.assertGreater(seconds, 0.3)
        self.assertLess(seconds, 0.6)
        computed = [sum(int(line.split()[2]) for line in text if line.split()[1] == "compute") for text in lines]
        self.assertGreater(computed[1], 3e8)
        self.assertLess(max(computed[0], *computed[2:]), 2e8)

    def test_every_request_has_one_wait(self):
        lines = self.trace(6, "traced.c", "0")
        for rank, text in enumerate(lines):
            posted, waited = collections.Counter(), collections.Counter()
            for words in (line.split() for line in text):
                if words[1] == "isend":
                    posted[rank, int(words[2]), int(words[3])] += 1
                elif words[1] == "irecv":
                    posted[int(words[2]), rank, int(words[3])] += 1
                elif words[1] == "wait":
                    waited[tuple(int(word) for word in words[2:5])] += 1
            self.assertEqual(waited, posted)
        # MPI_ANY_SOURCE: the actual sources, each once.
        came = collections.Counter(int(line.split()[2]) for line in lines[0] if re.match(r"0 irecv \d+ 0*5 ", line))
        self.assertEqual(came, collections.Counter(range(1, 6)))
        # Cancelled receives are not in the trace.
        self.assertFalse([line for text in lines for line in text if re.search(r"recv \S+ 0*77 ", line)])

    def test_collectives_of_the_world_are_written_by_name_and_others_as_messages(self):
        lines = self.trace(6, "traced.c", "0")
        called = [line for line in lines[2] if line.split()[1] not in ("compute", "send", "isend", "recv", "irecv", "wait", "init", "finalize")]
        self.assertEqual([line[2:] for line in called if line != "2 barrier"], [
            "bcast 1000 5 6", "reduce 400 0 1 6", "allreduce 400 0 6", "gather 20 20 1 6 6", "scatter 20 20 1 6 6", "allgather 30 30 6 6",
            "alltoall 40 40 6 6", "scan 200 0 6", "scan 200 0 6", "reducescatter 240 240 240 240 240 240 0 6",
            "reducescatter 0 40 80 120 160 200 0 6", "allgatherv 20 0 10 20 30 40 50 6 6", "bcast 2000 0 6"])

    def test_sends_and_receives_match(self):
        for source, ranks, words in (("traced.c", 6, ["0"]), ("random_talk.c", 4, ["7"])):
            lines = self.trace(ranks, source, *words)
            sent, received = collections.Counter(), collections.Counter()
            for rank, text in enumerate(lines):
                for line in text:
                    _, action, *numbers = line.split()
                    if action in ("send", "isend"):
                        sent[rank, int(numbers[0]), int(numbers[1])] += 1
                    elif action in ("recv", "irecv"):
                        received[int(numbers[0]), rank, int(numbers[1])] += 1
            self.assertEqual(sent, received)
            self.replay(ranks)

    def test_other_programs_are_replayed(self):
        rows = [("persistent.c", 2), ("communicators.c", 6), ("neighbours.c", 6, "cart"), ("neighbours.c", 3, "balanced", "nonblocking"),
                ("uneven.c", 4), ("uneven.c", 4, "nonblocking"),
                ("collectives.c", 4), ("collectives.c", 4, "nonblocking", "in-place")]
        flags = tuple(self.kinds_of_calls())
        if "-DPERSISTENT_COLLECTIVES" in flags:
            rows.append(("collectives.c", 4, "persistent"))
        for source, ranks, *words in rows:
            with self.subTest(source=source, words=words):
                self.trace(ranks, source, *words, flags=flags if source == "collectives.c" else ())
                self.replay(ranks)


class Fortran(TraceTest):
    def test_fortran_is_replayed(self):
        for interface in ("-DMPIF", "-DF08"):
            with self.subTest(interface=interface):
                self.trace(2, "fortran_talk.F90", flags=(interface,))
                self.assertEqual(self.pairs("trace"), self.pairs("out.prof"))
                self.replay(2)
                self.trace(4, "fortran_collectives.F90", "nonblocking", flags=(interface,))
                self.replay(4)

    def test_a_trace_longer_than_the_buffer(self):
        self.only("openmpi", "eight polling ranks are slow, and the code is the same for both MPI libraries")
        lines = self.trace(8, "conjugate_gradient.f90")
        self.assertGreater(sum(len(line) for line in lines[0]), 2 * 64 * 1024)
        self.assertEqual(self.pairs("trace"), self.pairs("out.prof"))
        self.assertGreater(self.replay(8), 0)


class Directory(TraceTest):
    def test_the_trace_contains_the_same_pairs(self):
        for source, ranks, words in (("random_talk.c", 3, ["5"]), ("sends.c", 2, [])):
            self.trace(ranks, source, *words)
            self.assertEqual(self.pairs("trace"), self.pairs("out.prof"))

    def test_the_directory_can_be_moved(self):
        self.trace(3, "random_talk.c", "5")
        before = self.pairs("trace")
        (self.directory / "trace").rename(self.directory / "elsewhere")
        self.assertEqual(self.pairs("elsewhere"), before)

    def test_files_of_an_older_trace_are_removed(self):
        self.trace(4, "random_talk.c", "5")
        self.trace(2, "random_talk.c", "5")
        self.assertEqual({path.name for path in (self.directory / "trace").iterdir()}, {".rankloom", "rank-0.txt", "rank-1.txt", "smpi_simgrid.txt"})

    def test_a_full_disk_ends_the_trace_and_not_the_program(self):
        program = self.program("random_talk.c")
        plain = self.run_command(self.command(2, program, "5"))
        script = f"""mkdir -p trace && mount -t tmpfs -o size=16k none trace || exit 99
exec {self.rankloom} record -o out.prof --trace trace -- {' '.join(str(word) for word in self.command(2, program, '5'))}"""
        done = self.run_command(["unshare", "--mount", "sh", "-c", script])
        if done.returncode == 99 or "unshare" in done.stderr:
            self.skipTest("no rights to mount")
        self.assert_same_output(plain, done)
        self.assertEqual(done.stderr.count("the trace is incomplete"), 2, done.stderr)
        self.assertRegex(done.stderr, "is truncated|cannot be written: No space left on device")
        self.assertGreater(len(Profile(self.directory / "out.prof").pairs), 0)

    def test_a_directory_that_cannot_be_created_is_reported_before_the_program_runs(self):
        (self.directory / "file").write_text("")
        done = self.run_command([self.rankloom, "record", "--trace", "file/trace", "--", *self.command(2, self.program("random_talk.c"), "5")])
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertIn("the trace cannot be written there", done.stderr)

    def test_omissions_are_reported_once(self):
        self.trace(3, "one_sided.c", "put")
        self.assertEqual(self.done.stderr.count("not in the trace: one-sided communication"), 1)


if __name__ == "__main__":
    main()
