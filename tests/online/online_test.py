#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks are moved while they run: phases are detected, bindings are set, and failures of agents or ranks do not affect the program.

    python3 online_test.py RANKLOOM openmpi|mpich [CLASS[.TEST]]
"""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))
import recording  # noqa: E402
from recording import ENVIRONMENT, RecordingTest, main  # noqa: E402

recording.PROGRAMS = HERE / "programs"
# Ranks of MPICH poll without yielding, so more than two per core would slow each other down.
RANKS = {"openmpi": 8, "mpich": 4}
NODES = {ranks: f"package:2=1GB/s,1us core:{ranks // 2}=10GB/s,200ns" for ranks in RANKS.values()}  # cores that this machine does not need to have
BINDING = re.compile(r"rank (\d+) is bound to (\S+)")


class OnlineTest(RecordingTest):
    def setUp(self):
        super().setUp()
        self.ranks = RANKS[self.mpi.name]
        self.node = NODES[self.ranks]

    def run_online(self, *command, options=(), environment=None, timeout=recording.HANGS, status=0):
        done = self.run_command([self.rankloom, "online", "-o", "online.json", *options, "--", *command], environment, timeout)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.done = done
        self.assertEqual([name.name for name in self.directory.iterdir() if name.name.startswith(".rankloom")], [], "temporary files are left")
        return json.loads((self.directory / "online.json").read_text())

    def two_phases(self, phases, seconds, *arguments):
        return self.command(self.ranks, self.program("two_phases.c"), str(phases), str(seconds), *arguments)

    def start(self, *options, phases=2, seconds=2):
        """Starts a run in the background and waits until the agent observes all ranks. Returns the child, the directory of the run and the agent."""
        child = subprocess.Popen([str(word) for word in [self.rankloom, "online", "-o", "online.json", *options, "--", *self.two_phases(phases, seconds)]], cwd=self.directory,
                                 env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        deadline = time.monotonic() + recording.HANGS
        while time.monotonic() < deadline:
            for file in self.directory.glob(".rankloom-record-*/agent.*"):
                agent = file.read_text().strip()
                if agent and self.observes(agent, rf"{file.parent}/recording\.[0-9a-f]+\.{self.ranks - 1}$"):
                    return child, file.parent, int(agent)
            time.sleep(0.02)
        self.fail("the agent did not start")

    def observes(self, agent, record):
        """The agent has mapped the record of the last rank."""
        try:
            return re.search(record, pathlib.Path(f"/proc/{agent}/maps").read_text(), re.MULTILINE) is not None
        except OSError:
            return False

    def pids(self, folder):
        return [int(line) for file in folder.glob("processes.*") for line in file.read_text().split()]


class Phases(OnlineTest):
    def test_phases_are_detected_and_ranks_moved_like_the_offline_mapper_does(self):
        window = 0.1
        log = self.run_online(*self.two_phases(4, 1), options=["-t", self.node, "--window", f"{window}s", "--move-cost", "20us", "--max-loss", "none"])
        node, = log["nodes"]
        self.assertEqual(node["ranks"], list(range(self.ranks)))
        found = node["phases"]
        # Four phases of two kinds. On a busy machine, windows without CPU time for a rank split a phase into parts or look like a third
        # kind; but of four phases or more, at most three are new. tests/place/online_test.cpp asserts exact phases on recorded windows.
        kinds = [phase["kind"] for phase in found]
        self.assertEqual(kinds[:2], ["A", "B"], self.done.stderr)
        self.assertGreaterEqual(len(kinds), 4, self.done.stderr)
        self.assertLessEqual(len(kinds), 8, self.done.stderr)
        self.assertLessEqual(len(set(kinds)), 3, self.done.stderr)
        # With MPICH this includes windows in which the ranks had hardly any CPU time.
        self.assertLessEqual(min(phase["detected_after_windows"] for phase in found[1:]), 2 if self.mpi.name == "openmpi" else 6)
        for kind in "AB":
            length = sum(phase["end"] - phase["begin"] for phase in found if phase["kind"] == kind)
            self.assertGreater(length, node["seconds"] / 6, self.done.stderr)
        migrations = node["migrations"]
        self.assertGreaterEqual(len(migrations), 1)  # whether further moves pay depends on the detection time
        windows = [migration["window"] for migration in migrations]
        self.assertEqual(len(windows), len(set(windows)), "at most one migration per window")
        self.assert_decisions(node)
        # The ranks print their bindings at their end; a later migration is possible.
        bindings = dict(BINDING.findall(self.done.stdout))
        self.assertIn([bindings[str(rank)] for rank in range(self.ranks)], [[str(cpu) for cpu in migration["cpus"]] for migration in migrations])
        self.assertLess(node["effect"]["online"], node["effect"]["stayed"])
        self.assertIsNotNone(log["restart"]["cost_mapped"])
        self.assertRegex(self.done.stderr, r"phases of \d kinds")

    def assert_decisions(self, node):
        """Each mapping has the cost that the offline mappers reach for the same traffic."""
        moved = {decision["window"]: decision for decision in node["decisions"] if decision["moves"]}
        self.assertTrue([decision for decision in moved.values() if not decision["returns_to_start"]])
        for migration in node["migrations"]:
            lines = [f"{source} {target} {size:.0f} {messages:.0f}" for source, target, size, messages in migration["traffic"]]
            (self.directory / "migration.pairs").write_text("\n".join(lines) + "\n")
            tail = ["-t", self.node, "--model", "time"]
            self.output_of("map", "migration.pairs", "--from", "pairs", *tail, "-a", "eager", "--raw", "-o", "eager.txt")
            offline = json.loads(self.output_of("map", "migration.pairs", "--from", "pairs", *tail, "-a", "refine", "--start", "eager.txt", "--json"))
            if moved[migration["window"]]["returns_to_start"]:
                self.assertEqual(moved[migration["window"]]["mapping"], node["start"])
                continue
            mapping = moved[migration["window"]]["mapping"]
            (self.directory / "online.txt").write_text("\n".join(str(core) for core in mapping) + "\n")
            online = json.loads(self.output_of("eval", "online.txt", "--profile", "migration.pairs", "--from", "pairs", *tail, "--json"))
            self.assertAlmostEqual(online["mappings"][0]["costs"]["time"], offline["cost"], delta=1e-6 * offline["cost"])

    def test_the_discovered_machine(self):
        log = self.run_online(*self.two_phases(2, 0.6, "fail"), status=3)  # the status of the program
        node, = log["nodes"]
        self.assertEqual(log["status"], 3)
        self.assertGreaterEqual(len(node["phases"]), 2)
        self.assertTrue(set(node["cpus"]) <= os.sched_getaffinity(0))
        # hwloc's look at the machine included; bench/system/online.cpp has the figure. The address sanitizer takes several times as long.
        self.assertLess(node["agent_cpu_seconds"], 5 if "ASAN_OPTIONS" in os.environ else 1)

    def test_replay_of_recorded_windows(self):
        self.record_command(self.two_phases(4, 0.8), ["--window", "40ms"], status=0)
        # Moves have no cost here, because the traffic per window, the gain of a move and the detection time depend on the load of the machine.
        # tests/place/online_test.cpp checks that online beats all static mappings if phases are detected soon.
        table = json.loads(self.output_of("online", "--replay", "out.prof", "-t", self.node, "--move-cost", "0us", "--max-loss", "none", "--json"))
        rows = {row["name"]: row["cost"] for row in table["rows"]}
        self.assertGreaterEqual(table["kinds"], 2)
        self.assertGreaterEqual(rows["online"], rows["oracle"])
        static = {name: cost for name, cost in rows.items() if name not in ("online", "oracle")}
        self.assertLess(rows["online"], max(static.values()))
        # The run is too short to move ranks under the default limit of the loss, which holds in every run.
        limited = json.loads(self.output_of("online", "--replay", "out.prof", "-t", self.node, "--json"))
        cost = {row["name"]: row["cost"] for row in limited["rows"]}
        self.assertLessEqual(cost["online"], 1.02 * cost["block"])


class Failures(OnlineTest):
    def test_the_agent_is_killed(self):
        child, _, agent = self.start("-t", self.node)
        os.kill(agent, signal.SIGKILL)
        out, err = child.communicate(timeout=recording.HANGS)
        self.assertEqual(child.returncode, 0, out + err)
        self.assertIn("wrote no log", err)

    def test_a_rank_is_killed(self):
        child, folder, agent = self.start("-t", self.node, phases=10)
        os.kill(self.pids(folder)[-1], signal.SIGKILL)
        out, err = child.communicate(timeout=recording.HANGS)
        if not self.loses_status:
            self.assertNotEqual(child.returncode, 0, out + err)
        deadline = time.monotonic() + 60
        while pathlib.Path(f"/proc/{agent}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(pathlib.Path(f"/proc/{agent}").exists(), "the agent must end with its ranks")

    def test_fewer_processing_units(self):
        one = str(min(os.sched_getaffinity(0)))
        done = self.run_command(["taskset", "-c", one, self.rankloom, "online", "-o", "online.json", "--", *self.two_phases(2, 0.5)])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        node, = json.loads((self.directory / "online.json").read_text())["nodes"]
        self.assertEqual(node["cpus"], [int(one)])
        self.assertEqual({place for _, place in BINDING.findall(done.stdout)}, {one})

    def test_a_program_that_is_not_a_launcher_is_rejected(self):
        done = self.run_command([self.rankloom, "online", "--", "true"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither a launcher nor a program", done.stderr)

    def test_a_rank_without_the_recorder_is_not_moved_and_blocks_nobody(self):
        script = self.directory / "different.sh"
        script.write_text('#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && unset LD_PRELOAD\nexec "$@"\n')
        script.chmod(0o755)
        log = self.run_online(*self.command(4, script, self.program("two_phases.c"), "2", "0.3"), options=["--mpi", self.mpi.name, "--window", "20ms"])
        self.assertTrue(set(log["nodes"][0]["ranks"]) <= {0, 2, 3}, log["nodes"][0]["ranks"])

    def test_a_program_without_mpi(self):
        log = self.run_online(*self.command(2, "sleep", "0.2"))
        self.assertIn("nothing was recorded", log["error"])


class VirtualCluster(OnlineTest):
    def test_an_agent_on_each_host(self):
        if os.geteuid() != 0:
            self.skipTest("making hosts needs root")
        program = self.program("two_phases.c")
        done = self.run_command([self.rankloom, "lab", "exec", "--hosts", "2", "--slots", "4", "--", self.rankloom, "online", "-o", "online.json", "-t", self.node, "--",
                               "mpirun", "-n", str(self.ranks), program, "2", "1"], {"OMPI_MCA_btl_tcp_if_include": "", "OMPI_MCA_oob_tcp_if_include": ""})
        if "network namespaces" in done.stderr and done.returncode == 5:
            self.skipTest("no hosts can be made here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        log = json.loads((self.directory / "online.json").read_text())
        self.assertEqual(sorted(rank for node in log["nodes"] for rank in node["ranks"]), list(range(self.ranks)))
        self.assertEqual(len(log["nodes"]), 2)
        self.assertGreater(log["restart"]["bytes_between_nodes"], log["restart"]["bytes_between_nodes_mapped"])
        self.assertIn("between nodes", done.stderr)


class Hpcc(OnlineTest):
    def test_its_phases_are_detected(self):
        if shutil.which("hpcc") is None:
            self.skipTest("hpcc is not installed")
        shutil.copy(HERE.parent / "record/applications/hpccinf.txt", self.directory)
        log = self.run_online(*self.command(32, "hpcc"), options=["-t", self.node, "--profile", "hpcc.prof"], timeout=800)
        self.assertIn("Success=1", (self.directory / "hpccoutf.txt").read_text())
        node, = log["nodes"]
        kinds = collections.Counter(phase["kind"] for phase in node["phases"])
        self.assertGreaterEqual(len(kinds), 2, self.done.stderr)
        print(self.done.stderr)


if __name__ == "__main__":
    main()
