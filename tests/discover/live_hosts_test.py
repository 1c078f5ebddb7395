#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthetic machines of hwloc, exported in both XML versions: rankloom must count the same objects as hwloc-calc."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
LSTOPO = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")

MACHINES = """\
pu:1
core:4 pu:1
pack:2 core:4 pu:2
pack:2 [numa] core:4 pu:1
numa:2 pack:2 core:2 pu:2
pack:2 numa:2 l3:2 l2:4 core:1 pu:2
pack:1 die:4 numa:1 l3:2 core:4 pu:2
group:2 pack:2 numa:2 l3:1 core:6 pu:1
group:2 group:2 pack:2 core:2 pu:1
pack:2 l3:4 l2:4 l1:1 core:1 pu:1
[numa] pack:2 l2:2 core:2 pu:1
pack:2 [numa] group:2 core:4 pu:1
l4:2 l3:2 l2:2 core:2 pu:8
pack:4 numa:2 core:1 pu:1
pack:3 core:5 pu:1(indexes=core)
numa:8 core:8 pu:4
pack:2 [numa] [numa] l3:1 core:8 pu:2"""


def counts(file, kinds):
    """The number of objects of each kind as hwloc-calc counts them."""
    objects = {}
    for kind in kinds:
        reply = subprocess.run(["hwloc-calc", "-i", file, "-N", kind, "all"], capture_output=True, text=True, check=False).stdout.strip()
        objects[kind] = int(reply) if reply.isdigit() else 0
    return objects


class Hosts(unittest.TestCase):
    def show(self, *arguments):
        done = subprocess.run([PROGRAM, "topo", *arguments, "--json"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def compare(self, reply, file, numa=True):
        real = counts(file, ["pu", "core", "package", "numa", "l3cache", "l2cache"])
        ours = {level["kind"]: level["objects"] for level in reply["levels"]}
        self.assertEqual(reply["nodes"], 1)
        self.assertEqual(reply["pus"], real["pu"])
        self.assertEqual(reply["cores"], real["core"] or real["pu"])
        self.assertEqual(ours.get("package", 0), real["package"])
        self.assertEqual(ours.get("l3", 0), real["l3cache"])
        self.assertEqual(ours.get("l2", 0), real["l2cache"])
        if numa:
            self.assertEqual(ours["numa"], real["numa"])
        costs = [level["inverse_bandwidth"] for level in reply["levels"]]
        self.assertEqual(costs, sorted(costs, reverse=True))
        self.assertEqual(len(set(costs[1:])), len(costs) - 1)

    def test_counts_agree_with_hwloc(self):
        with tempfile.TemporaryDirectory() as directory:
            for number, machine in enumerate(MACHINES.splitlines()):
                for flags in ([], ["--export-xml-flags", "v1"]):
                    file = f"{directory}/{number}-{len(flags)}.xml"
                    subprocess.run([LSTOPO, "-i", machine, *flags, file], check=True, capture_output=True)
                    with self.subTest(machine=machine, flags=flags):
                        # Several NUMA nodes at one object are one level.
                        self.compare(self.show("show", file), file, numa="[numa] [numa]" not in machine)

    def test_this_host_agrees_with_lstopo(self):
        with tempfile.TemporaryDirectory() as directory:
            file = f"{directory}/this_host.xml"
            subprocess.run([LSTOPO, file], check=True, capture_output=True)
            self.compare(self.show("discover"), file)
            self.compare(self.show("show", file), file)

    def test_bound_limits_the_machine_to_the_affinity_mask(self):
        first = min(os.sched_getaffinity(0))
        bound = lambda: os.sched_setaffinity(0, {first})
        for arguments, pus in ((["discover", "--bound"], 1), (["discover"], self.show("discover")["pus"])):
            done = subprocess.run([PROGRAM, "topo", *arguments, "--json"], capture_output=True, text=True, check=True, preexec_fn=bound)
            self.assertEqual(json.loads(done.stdout)["pus"], pus)

    def test_os_indexes_agree_with_hwloc(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([LSTOPO, "-i", "pack:2 core:2 pu:2(indexes=pack)", f"{directory}/round_robin.xml"], check=True, capture_output=True)
            reply = subprocess.run([PROGRAM, "topo", "convert", f"{directory}/round_robin.xml"], capture_output=True, text=True, check=True).stdout
            numbers = []

            def walk(spec):
                if "os_index" in spec:
                    numbers.append(spec["os_index"])
                for child in spec.get("children", []):
                    walk(child)
            walk(json.loads(reply)["machine"])
            real = subprocess.run(["hwloc-calc", "-i", f"{directory}/round_robin.xml", "--po", "-I", "pu", "all"], capture_output=True, text=True, check=True).stdout
            logical = subprocess.run([LSTOPO, "-i", f"{directory}/round_robin.xml", "--only", "pu", "-p", "--of", "console"], capture_output=True, text=True, check=True).stdout
            self.assertEqual(numbers, [int(line.split("P#")[1].split()[0]) for line in logical.splitlines() if "PU P#" in line])
            self.assertEqual(sorted(numbers), sorted(int(word) for word in real.strip().split(",")))


if __name__ == "__main__":
    if LSTOPO is None or "built without" in subprocess.run([PROGRAM, "topo", "discover"], capture_output=True, text=True, check=False).stderr:
        sys.exit(77)
    unittest.main()
