#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What mpirun of Open MPI 5 and later makes of our files on machines that are not here: it reads them from hwloc's XML and prints where it would bind every rank.

    other_machines_test.py PROGRAM
"""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import installed_mpi  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SKIPPED = 77


def numbered_by_thread(cores, threads=2):
    """The operating system numbers the first hardware thread of all cores, then the second one, as on most x86-64 machines."""
    return "(indexes=" + ",".join(str(core + thread * cores) for core in range(cores) for thread in range(threads)) + ")"


# Synthetic descriptions of hwloc, and the numbers of cores per rank.
MACHINES = {
    "two packages with two NUMA nodes each": ("pack:2 numa:2 l3:1 core:4 pu:2" + numbered_by_thread(16), (1, 2, 3, 4, 8)),
    "one hardware thread per core": ("pack:2 l3:3 core:4 pu:1", (1, 3, 4, 5)),
    "one package with four NUMA nodes": ("pack:1 numa:4 l3:2 core:3 pu:2" + numbered_by_thread(24), (1, 3, 6, 7)),
    "four hardware threads per core": ("pack:2 core:5 pu:4", (1, 2, 5)),
}


def numbers(text):
    """{0, 1, 4} of 0-1,4"""
    result = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        result |= set(range(int(first), int(last or first) + 1))
    return result


class OtherMachines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="machines")  # Open MPI 5.0.7 does not open rankfiles with a dash in their path
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.host = socket.gethostname()

    def command(self, *command):
        env = dict(os.environ, **installed_mpi.open_mpi().as_root)
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def processing_units(self):
        """Numbers of the operating system: by the logical number of the core, and by that of the processing unit."""
        cores, units_by_number = {}, {}
        lines = self.command("lstopo-no-graphics", "-i", "machine.xml", "--no-io", "--of", "console").splitlines()
        for line in lines:
            if found := re.search(r"Core L#(\d+)", line):
                core = int(found[1])
            for number, unit in re.findall(r"PU L#(\d+) \(P#(\d+)\)", line):
                cores.setdefault(core, set()).add(int(unit))
                units_by_number[int(number)] = int(unit)
        return cores, units_by_number

    def check(self, machine, *slot_options):
        self.command("lstopo-no-graphics", "-i", machine, "--of", "xml", "-f", "machine.xml")
        cores, units_by_number = self.processing_units()
        width = int(slot_options[slot_options.index("--cores-per-rank") + 1])
        ranks = len(cores) // width
        shape = ["-t", "machine.xml", *slot_options]
        self.command(PROGRAM, "map", f"gen:ring:ranks={ranks}", *shape, "-a", "random", "--seed", 3, "-o", "mapping.txt")
        printed = self.command(PROGRAM, "emit", "mapping.txt", *shape, "--hosts", self.host, "--to", installed_mpi.open_mpi().row, "-o", "launch")
        launch = shlex.split(next(line for line in printed.splitlines() if line.startswith("mpirun ")))
        shown = self.command(installed_mpi.open_mpi().program, "--prtemca", "hwloc_use_topo_file", self.folder / "machine.xml", "--do-not-launch", "--display", "map", *launch[1:])
        # With MPICH, rankloom-bind does all of the binding, by the numbers of the operating system.
        self.command(PROGRAM, "emit", "mapping.txt", *shape, "--hosts", self.host, "--to", "mpich", "-o", "numbers")
        expected = {int(line.split()[0]): numbers(line.split()[2]) for line in (self.folder / "numbers" / "bind.txt").read_text().splitlines() if not line.startswith("#")}
        self.assertEqual(len(expected), ranks)
        bound = {}
        for rank, places in re.findall(r"Process rank: (\d+) Bound: (.*)", shown):
            units = bound.setdefault(int(rank), set())
            # Open MPI 6 writes an L before logical numbers. Those of Open MPI 5 are logical for cores alone.
            for kind, logical, text in re.findall(r"\[(core|hwt):(L?)([\d,-]+)\]", places):
                for number in numbers(text):
                    units |= cores[number] if kind == "core" else {units_by_number[number] if logical else number}
        if not any(bound.values()):
            # A rankfile cannot express slots such as every fourth processing unit.
            self.assertIn("rankloom-bind", launch)
            return 0
        self.assertEqual(bound, expected, shown)
        return ranks

    def test_every_rank_is_bound_to_its_slot(self):
        by_rankfile = 0
        for name, (machine, widths) in MACHINES.items():
            for width in widths:
                for threads in [(), ("--threads-per-core", 1)] if "pu:1" not in machine else [()]:
                    with self.subTest(machine=name, width=width, threads=threads):
                        by_rankfile += self.check(machine, "--cores-per-rank", width, *threads)
        self.assertGreater(by_rankfile, 150, "most ranks are bound by a rankfile")


if __name__ == "__main__":
    if not installed_mpi.open_mpi().is_prrte or not shutil.which("lstopo-no-graphics"):
        print("needs Open MPI 5 or later and lstopo-no-graphics")
        sys.exit(SKIPPED)
    unittest.main()
