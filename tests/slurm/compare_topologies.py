#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays one workload through several ways to select nodes in a Slurm of 32 nodes, a 4 x 4 x 2 torus: rankloom's plugin, and Slurm's
own topology/torus3d (26.05 on), topology/block and topology/flat. Prints, for each: utilisation, the share of jobs that share no
link with another job, and the jobs that were refused because of their size. rankloom must refuse none, and none may share a link.

    compare_topologies.py PROGRAM [JOBS]
"""
import json
import os
import pathlib
import random
import re
import sys
import tempfile
import time

import select_test
from select_test import PROGRAM, expand, installed_slurm, run

JOBS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
SIZES = (4, 4, 2)  # x, y, z; x changes fastest
NODES = SIZES[0] * SIZES[1] * SIZES[2]
SHAPES = ((1, 1, 1), (2, 1, 1), (2, 2, 1), (4, 1, 1), (2, 2, 2), (4, 2, 1), (4, 2, 2), (4, 4, 1), (4, 4, 2))


def xyz(shape):
    return "{x: %d, y: %d, z: %d}" % shape


def torus_yaml():
    placements = "".join(f"          - {{dims: {xyz(shape)}, anchor_spacing: {xyz((1, 1, 1))}}}\n" for shape in SHAPES)
    return f"- topology: t\n  cluster_default: true\n  torus3d:\n    toruses:\n      - name: all\n        dims: {xyz(SIZES)}\n        nodes: n[1-{NODES}]\n        placements:\n{placements}"


def block_yaml():
    blocks = "".join(f"      - {{block: b{first}, nodes: 'n[{first + 1}-{first + 4}]'}}\n" for first in range(0, NODES, 4))
    return f"- topology: t\n  cluster_default: true\n  block:\n    block_sizes: [4, 8, 16, 32]\n    blocks:\n{blocks}"


def workload():
    """(nodes, seconds) of each job. Half of the sizes are powers of two, as in most recorded workloads."""
    chance = random.Random(11)
    sizes = [1, 2, 4, 8, 16] * 2 + [3, 5, 6, 7, 9, 12, 10, 3, 5, 6]
    return [(chance.choice(sizes), chance.randint(2, 6)) for _ in range(JOBS)]


def links_of(nodes):
    """The links that messages between these nodes use, routed by x, then y, then z, in the shorter direction."""

    def coordinates(node):
        return [node % SIZES[0], node // SIZES[0] % SIZES[1], node // (SIZES[0] * SIZES[1])]

    links = set()
    for source in nodes:
        for target in nodes:
            at, end = coordinates(source), coordinates(target)
            for axis, size in enumerate(SIZES):
                step = 1 if (end[axis] - at[axis]) % size <= size // 2 else -1
                while at[axis] != end[axis]:
                    before = tuple(at)
                    at[axis] = (at[axis] + step) % size
                    links.add((before, tuple(at)))
    return links


class Replay:
    def __init__(self, label, options, files):
        self.label, self.options, self.files = label, options, files

    def run(self):
        name = f"compare{os.getpid()}"
        with tempfile.TemporaryDirectory() as directory:
            options = list(self.options)
            for file, text in self.files.items():
                path = pathlib.Path(directory) / file
                path.write_text(text)
                options += ["--file", path]
            try:
                made = json.loads(run(PROGRAM, "slurm", "lab", "up", "--name", name, *options, "--json", timeout=180).stdout)
                self.env = {**os.environ, **made["environment"]}
                return self.replay()
            finally:
                run(PROGRAM, "slurm", "lab", "down", "--name", name, status=None, timeout=180)

    def slurm(self, *words, **options):
        return run(*words, env=self.env, **options)

    def replay(self):
        submitted, refused = {}, 0
        for nodes, seconds in workload():
            done = self.slurm("sbatch", "--parsable", "-o", "/dev/null", "-N", nodes, "-t", 1, "--wrap", f"sleep {seconds}", status=None)
            if done.returncode == 0:
                submitted[done.stdout.strip()] = (nodes, seconds)
            else:
                refused += 1
        refused += self.wait_until_done()
        lines = self.slurm("scontrol", "--oneliner", "show", "jobs").stdout.splitlines()
        jobs = dict(record for record in map(self.record, lines) if record)
        work = sum(nodes * seconds for job, (nodes, seconds) in submitted.items() if job in jobs)
        span = max(end for _, end, _ in jobs.values()) - min(start for start, _, _ in jobs.values())
        alone = 0
        for job, (start, end, nodes) in jobs.items():
            links = links_of(nodes)
            alone += not any(other != job and begin < end and start < stop and links & links_of(used) for other, (begin, stop, used) in jobs.items())
        return {"selection": self.label, "jobs": JOBS, "refused": refused, "utilisation": work / (NODES * span), "share_no_link": alone / len(jobs)}

    def wait_until_done(self):
        """Returns the number of jobs that wait although no job runs; they are cancelled."""
        idle = 0
        while True:
            states = self.slurm("squeue", "-h", "-o", "%T").stdout.split()
            if not states:
                return 0
            idle = idle + 1 if set(states) == {"PENDING"} else 0
            if idle > 100:
                self.slurm("scancel", "-u", "root")
                return len(states)
            time.sleep(0.2)

    @staticmethod
    def record(line):
        """Job → start, end and nodes, if it ran."""
        fields = dict(re.findall(r"(?:^|\s)(\w+)=(\S+)", line))
        if fields.get("JobState") != "COMPLETED":
            return None
        start, end = (time.mktime(time.strptime(fields[key], "%Y-%m-%dT%H:%M:%S")) for key in ("StartTime", "EndTime"))
        return fields["JobId"], (start, end, expand(fields["NodeList"]))


def main():
    reason = select_test.missing() or ("Slurm is older than 26.05" if installed_slurm.release() < (26, 5) else None)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(select_test.SKIP)
    torus = "torus:" + "x".join(map(str, reversed(SIZES)))
    plain = ("--nodes", NODES, "--cpus", 1)
    replays = [
        Replay("rankloom, closed-best", ("-t", torus, "--cpus", 1, "--policy", "closed-best"), {}),
        Replay("topology/torus3d", plain, {"topology.yaml": torus_yaml()}),
        Replay("topology/block", plain, {"topology.yaml": block_yaml()}),
        Replay("topology/flat", plain, {}),
    ]
    print("| nodes selected by | utilisation | jobs that share no link | jobs refused |\n|---|---|---|---|")
    rows = []
    for replay in replays:
        row = replay.run()
        print(f"| {row['selection']} | {row['utilisation']:.0%} | {row['share_no_link']:.0%} | {row['refused']} of {row['jobs']} |", flush=True)
        rows.append(row)
    print(json.dumps(rows))
    assert rows[0]["refused"] == 0 and rows[0]["share_no_link"] == 1, rows[0]


if __name__ == "__main__":
    main()
