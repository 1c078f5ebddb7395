#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reordered communicator conforms to the MPI standard: the program computes the same results for any order of processes."""

import os
import re

from reordering import HERE, ReorderTest, main


class Comparison(ReorderTest):
    """Compares runs with and without the library and reorder."""

    def compare(self, ranks, hosts, *words, gains=None):
        kind, rest = words[0], words[1:]
        program = self.topologies()
        plain = self.run_ranks(ranks, hosts, program, kind, 0, 1, 0, *rest, library=False)
        asked = self.run_ranks(ranks, hosts, program, kind, 1, 1, 0, *rest)
        self.assertEqual(self.results(asked), self.results(plain))
        if gains is not None:
            self.assertEqual(int(asked["crossing"]) < int(plain["crossing"]), gains, f"{plain}\n{asked}")
            self.assertEqual(int(asked["moved"]) > 0, gains, asked)
        return plain, asked

    def setUp(self):
        super().setUp()
        self.some = (9, 3) if self.mpi.name == "openmpi" else (8, 2)


class Same(Comparison):
    """Ranks of MPICH poll without yielding and are slow if there are more ranks than cores, so MPICH gets only the small cases."""

    def test_grids(self):
        self.compare(6, 3, "grid", "3x2", gains=True)
        self.compare(8, 2, "grid", "2px2px2")  # both neighbours are the same rank
        self.compare(4, 2, "grid", "2x2", gains=False)  # rows and columns are equivalent

    def test_larger_grids(self):
        self.only("openmpi", "ranks that poll")
        self.compare(8, 4, "grid", "4x2", gains=True)
        self.compare(9, 3, "grid", "3px3p", gains=False)
        self.compare(12, 3, "grid", "2x3x2", gains=True)

    def test_grids_with_processes_left_out(self):
        plain, asked = self.compare(8, 3, "grid", "3x2", gains=True)
        self.assertEqual(asked["left out"], "2")
        self.compare(3, 3, "grid", "1", gains=False)

    def test_graph(self):
        self.compare(*self.some, "graph", "none", gains=True)

    def test_edges_specified_by_any_rank(self):
        for weights in ("none", "numbers"):
            self.compare(*self.some, "edges", weights, gains=True)

    def test_neighbours(self):
        for weights in ("none", "numbers"):
            self.compare(*self.some, "adjacent", weights, gains=True)

    def test_zero_weights_change_nothing(self):
        self.compare(6, 3, "adjacent", "zero", gains=False)

    def test_two_ranks(self):
        self.compare(2, 2, "adjacent", "none", gains=False)

    def test_without_reorder_nothing_changes(self):
        program = self.topologies()
        for words in (("grid", 0, 1, 0, "3x2"), ("adjacent", 0, 1, 0, "numbers")):
            self.assertEqual(self.run_ranks(6, 3, program, *words)["moved"], "0")

    def test_one_host_keeps_its_order(self):
        self.compare(4, 1, "grid", "4", gains=False)


class Many(Comparison):
    """Many more ranks than cores."""

    def test_many(self):
        self.compare(64, 4, "grid", "4px4x4", gains=True)
        self.compare(48, 4, "grid", "6x7", gains=True)
        self.compare(33, 4, "graph", "none", gains=True)
        self.compare(32, 4, "edges", "numbers", gains=True)
        self.compare(40, 4, "adjacent", "numbers", gains=True)


class Control(ReorderTest):
    SMALL = ("grid", 1, 1, 0, "4x2")

    def setUp(self):
        """Fewer ranks for MPICH, whose ranks poll without yielding."""
        super().setUp()
        self.ranks, self.size = (16, "4x4") if self.mpi.name == "openmpi" else (8, "4x2")
        self.words = ("grid", 1, 1, 0, self.size)

    def test_off(self):
        output = self.run_ranks(8, 4, self.topologies(), *self.SMALL, environment={"RANKLOOM_REORDER": "0"})
        self.assertEqual(output["moved"], "0")

    def test_verbose_prints_the_gain(self):
        output = self.run_ranks(self.ranks, 4, self.topologies(), *self.words, options=["--verbose"])
        before, after = ("24", "16") if self.ranks == 16 else ("20", "12")
        self.assertEqual(output["crossing"], after)
        self.assertIn("MPI_Cart_create: reordered: ", self.err)
        self.assertIn(f"between hosts {before} before, {after} after", self.err)
        self.assertEqual(self.err.count("rankloom reorder:"), 1)
        self.run_ranks(8, 4, self.topologies(), *self.SMALL)
        self.assertNotIn("rankloom", self.err)

    def test_reaches_the_cost_of_the_offline_mapper(self):
        grid = self.run_ranks(self.ranks, 4, self.topologies(), *self.words)
        self.assertEqual(float(grid["crossing"]), self.offline_grid(self.size, 4, self.ranks // 4))
        graph = self.run_ranks(self.ranks, 4, self.topologies(), "adjacent", 1, 1, 0, "none")
        self.assertLessEqual(float(graph["crossing"]), self.offline_graph(self.ranks, 4, self.ranks // 4))

    def test_bound_ranks_distinguish_cores(self):
        if len(os.sched_getaffinity(0)) < 2 or not {0, 1} <= os.sched_getaffinity(0):
            self.skipTest("needs two processing units")
        # Ranks 0, 2, 4, 6 are on the first host, 0 and 4 on its first unit: a row of eight has one cut between hosts and one inside each host.
        words = ("grid", 1, 1, 0, "8")
        output = self.run_ranks(8, 2, self.topologies(), *words, options=["--verbose"], environment={"BIND": "2"})
        self.assertEqual(output["crossing"], "2")
        before, after = (float(word) for word in re.search(r"distance (\S+) before, (\S+) after", self.err).groups())
        self.assertLess(after, before)
        # If only hosts are distinguished, all messages between hosts cost the same. Here messages between units of a host also have a cost.
        self.run_ranks(8, 2, self.topologies(), *words, options=["--verbose"])
        between = float(re.search(r"distance \S+ before, (\S+) after", self.err).group(1))
        self.assertNotAlmostEqual(after / between, round(after / between), places=6)

    def test_switches(self):
        switches = "SwitchName=a Nodes=n[0,2]\nSwitchName=b Nodes=n[1,3]\nSwitchName=top Switches=a,b\n"
        (self.directory / "topology.conf").write_text(switches)
        named = self.run_ranks(8, 4, self.topologies(), "grid", 1, 1, 0, "8", options=["-t", "topology.conf", "--verbose"])
        self.assertEqual(named["crossing"], "6")
        self.assertIn("reordered", self.err)
        self.run_ranks(8, 4, self.topologies(), "grid", 1, 1, 0, "8", options=["-t", "switch:2=10 node:2=5 core:4=1", "--verbose"])
        # One of the three cuts between four hosts in a row is between the switches: 2 (5 + 10 + 5), instead of 2 times 7 messages of 5 or 10.
        self.assertIn(" 40 after", self.err)

    def test_a_machine_that_does_not_match_keeps_the_order(self):
        output = self.run_ranks(8, 4, self.topologies(), *self.SMALL, options=["-t", "node:3 core:8", "--verbose"])
        self.assertEqual(output["moved"], "0")
        self.assertIn("order kept: node:3 core:8: it has 3 nodes", self.err)

    def test_an_invalid_machine_is_an_error(self):
        self.run_ranks(2, 2, self.topologies(), "grid", 1, 1, 0, "2", options=["-t", "nothing:"], status=3)

    def test_the_exit_status_is_that_of_the_program(self):
        done = self.run_command([self.rankloom, "reorder", "--", "sh", "-c", "exit 7"])
        self.assertEqual(done.returncode, 7)


class Broken(ReorderTest):
    """If the helper process fails, the program continues with the given order."""

    def with_helper(self, text):
        library = self.directory / "lib"
        library.mkdir()
        name = f"librankloom_reorder_{self.mpi.name}.so"
        (library / name).write_bytes((self.rankloom.parent.parent / "lib/rankloom" / name).read_bytes())
        if text:
            helper = library / "rankloom-reorder"
            helper.write_text("#!/bin/sh\n" + text)
            helper.chmod(0o755)
        command = self.mpi.launch(8, self.place, "env", f"LD_PRELOAD={library / name}", self.topologies(), "grid", 1, 1, 0, "4x2")
        done = self.run_command(command, {"HOSTS": "4", "RANKLOOM_REORDER_VERBOSE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("moved 0", done.stdout)
        self.assertIn("order kept", done.stderr)

    def test_a_missing_helper(self):
        self.with_helper("")

    def test_a_helper_that_crashes(self):
        self.with_helper("kill -SEGV $$\n")

    def test_a_helper_that_fails(self):
        self.with_helper("cat > /dev/null; exit 1\n")

    def test_a_malformed_reply(self):
        self.with_helper("cat > /dev/null; echo hello\n")

    def test_an_empty_reply(self):
        self.with_helper("exec <&- >&-\n")


class Missing(ReorderTest):
    """A rank without the library: nothing is reordered, and no rank waits for ever."""

    WORDS = ("grid", 1, 1, 0, "3x2")

    def check(self, body, environment, *prefix):
        script = self.directory / "different.sh"
        script.write_text(f'#!/bin/sh\nrank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n{body}\nexec "$@"\n')
        script.chmod(0o755)
        program = self.topologies()
        plain = self.run_ranks(6, 3, program, "grid", 0, 1, 0, "3x2", library=False)
        command = [*prefix, *self.mpi.launch(6, self.place, script, program, *self.WORDS)]
        done = self.run_command(command, {"HOSTS": "3", "RANKLOOM_REORDER_WAIT": "1", **environment}, timeout=40)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        output = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if " " in line)
        self.assertEqual(self.results(output), self.results(plain))
        self.assertEqual(output["moved"], "0")
        self.assertEqual(done.stderr.count("rankloom: ranks are not reordered: 5 of 6 ranks have the library"), 1, done.stderr)

    def test_a_rank_without_the_library(self):
        verb = [self.rankloom, "reorder", "--mpi", self.mpi.name, "--"]
        self.check('[ "$rank" = 0 ] && unset LD_PRELOAD', {}, *verb)
        self.check('[ "$rank" = 4 ] && unset LD_PRELOAD', {}, *verb)
        self.assertEqual(list(self.directory.glob(".rankloom*")), [])

    def test_a_host_on_which_the_library_is_missing(self):
        self.check('[ "$rank" = 4 ] && export LD_PRELOAD=/no/such/library.so', {}, self.rankloom, "reorder", "--mpi", self.mpi.name, "--")

    def test_a_rank_that_is_switched_off(self):
        self.check('[ "$rank" = 1 ] && export RANKLOOM_REORDER=0', {}, self.rankloom, "reorder", "--mpi", self.mpi.name, "--")

    def test_by_hand(self):
        library = self.rankloom.parent.parent / f"lib/rankloom/librankloom_reorder_{self.mpi.name}.so"
        self.check(f'[ "$rank" = 2 ] || export LD_PRELOAD={library}', {})
        self.check(f'[ "$rank" = 2 ] || export LD_PRELOAD={library}', {"RANKLOOM_REORDER_DIR": str(self.directory)})


class Fortran(ReorderTest):
    def check(self, flag):
        output = self.run_ranks(8, 3, self.program(HERE / "programs/fortran.F90", flag))
        self.assertEqual(len(output), 7, output)
        for call, moved in output.items():
            self.assertGreater(int(moved), 0, call)

    def test_include_file(self):
        self.check("-DMPIF")

    def test_module(self):
        self.check("-DMODULE")

    def test_module_of_2008(self):
        self.check("-DF08")


class Errors(ReorderTest):
    """MPI itself rejects invalid arguments and calls the error handler of the program."""

    def test_codes(self):
        plain = self.run_command(self.mpi.launch(3, self.place, self.program(HERE / "programs/errors.c")), {"HOSTS": "3"})
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("too large a grid: refused", plain.stdout)
        done = self.run_command([self.rankloom, "reorder", "--mpi", self.mpi.name, "--", *self.mpi.launch(3, self.place, self.program(HERE / "programs/errors.c"))], {"HOSTS": "3"})
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.stdout.splitlines()))


if __name__ == "__main__":
    main()
