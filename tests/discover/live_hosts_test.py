#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machines of every shape that hwloc can invent, as files of both versions: what rankloom counts is what lstopo counts."""

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
    """What lstopo counts, None where its count and ours mean different things."""
    found = {}
    for kind in kinds:
        said = subprocess.run(["hwloc-calc", "-i", file, "-N", kind, "all"], capture_output=True, text=True, check=False).stdout.strip()
        found[kind] = int(said) if said.isdigit() else 0
    return found


class Hosts(unittest.TestCase):
    def show(self, *words):
        done = subprocess.run([PROGRAM, "topo", *words, "--json"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def compare(self, said, file, numa=True):
        real = counts(file, ["pu", "core", "package", "numa", "l3cache", "l2cache"])
        ours = {level["kind"]: level["objects"] for level in said["levels"]}
        self.assertEqual(said["nodes"], 1)
        self.assertEqual(said["pus"], real["pu"])
        self.assertEqual(said["cores"], real["core"] or real["pu"])
        self.assertEqual(ours.get("package", 0), real["package"])
        self.assertEqual(ours.get("l3", 0), real["l3cache"])
        self.assertEqual(ours.get("l2", 0), real["l2cache"])
        if numa:
            self.assertEqual(ours["numa"], real["numa"])
        gaps = [level["inverse_bandwidth"] for level in said["levels"]]
        self.assertEqual(gaps, sorted(gaps, reverse=True))
        self.assertEqual(len(set(gaps[1:])), len(gaps) - 1)

    def test_count_as_lstopo_does(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, machine in enumerate(MACHINES.splitlines()):
                for flags in ([], ["--export-xml-flags", "v1"]):
                    file = f"{folder}/{number}-{len(flags)}.xml"
                    subprocess.run([LSTOPO, "-i", machine, *flags, file], check=True, capture_output=True)
                    with self.subTest(machine=machine, flags=flags):
                        # Several memories at one place are one place.
                        self.compare(self.show("show", file), file, numa="[numa] [numa]" not in machine)

    def test_this_host_is_what_lstopo_sees(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/here.xml"
            subprocess.run([LSTOPO, file], check=True, capture_output=True)
            self.compare(self.show("discover"), file)
            self.compare(self.show("show", file), file)

    def test_limits_of_a_process_are_seen_when_asked_for(self):
        first = min(os.sched_getaffinity(0))
        bound = lambda: os.sched_setaffinity(0, {first})
        for words, pus in ((["discover", "--bound"], 1), (["discover"], self.show("discover")["pus"])):
            done = subprocess.run([PROGRAM, "topo", *words, "--json"], capture_output=True, text=True, check=True, preexec_fn=bound)
            self.assertEqual(json.loads(done.stdout)["pus"], pus)

    def test_numbers_of_the_operating_system_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([LSTOPO, "-i", "pack:2 core:2 pu:2(indexes=pack)", f"{folder}/dealt.xml"], check=True, capture_output=True)
            said = subprocess.run([PROGRAM, "topo", "convert", f"{folder}/dealt.xml"], capture_output=True, text=True, check=True).stdout
            numbers = []

            def walk(thing):
                if "os_index" in thing:
                    numbers.append(thing["os_index"])
                for child in thing.get("children", []):
                    walk(child)
            walk(json.loads(said)["machine"])
            real = subprocess.run(["hwloc-calc", "-i", f"{folder}/dealt.xml", "--po", "-I", "pu", "all"], capture_output=True, text=True, check=True).stdout
            logical = subprocess.run([LSTOPO, "-i", f"{folder}/dealt.xml", "--only", "pu", "-p", "--of", "console"], capture_output=True, text=True, check=True).stdout
            self.assertEqual(numbers, [int(line.split("P#")[1].split()[0]) for line in logical.splitlines() if "PU P#" in line])
            self.assertEqual(sorted(numbers), sorted(int(word) for word in real.strip().split(",")))


if __name__ == "__main__":
    if LSTOPO is None or "built without" in subprocess.run([PROGRAM, "topo", "discover"], capture_output=True, text=True, check=False).stderr:
        sys.exit(77)
    unittest.main()
