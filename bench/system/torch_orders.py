#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measured time of a training step of torch on a virtual cluster: eight processes with gloo on four hosts below two switches, in
the order of a list of hosts that alternates between the switches, and in rankloom's order. The runs alternate. Each run is verified:
it fails if a rank does not run on its host. Prints the times, and one JSON object as the last line. Exits with status 77 if
something is missing.

    torch_orders.py PROGRAMS
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/support"))
import installed_torch  # noqa: E402
from torch_lab import TorchLab  # noqa: E402

ROUNDS, STEPS = 3, 4
RATE, UPLINK = "100mbit", "25mbit"
ARGUMENTS = ["--tensor-model-parallel-size", "2", "--pipeline-model-parallel-size", "2", "--num-layers", "4", "--hidden-size", "256", "--num-attention-heads", "4",
             "--vocab-size", "512", "--seq-length", "96", "--micro-batch-size", "1", "--global-batch-size", "8", "--untie-embeddings-and-output-weights"]


def seconds_per_step(lab, mapping):
    output = lab.run(mapping, [*ARGUMENTS, "--train-iters", str(STEPS + 1)])
    return float(re.search(r"^seconds per step: (\S+)", output, re.MULTILINE).group(1))


def measure(programs):
    seconds, crossed = {"list.map": [], "auto.map": []}, {}
    with tempfile.TemporaryDirectory(prefix="torch-") as folder:
        lab = TorchLab(pathlib.Path(programs, "rankloom"), folder, hosts=4, slots=2, rate=RATE, uplink=UPLINK)
        lab.up()
        try:
            hosts = [lab.hosts[number] for number in (0, 2, 1, 3)]
            lab.write_mappings(ARGUMENTS, hosts)
            for number in range(ROUNDS):
                for mapping in sorted(seconds, reverse=number % 2 == 1):
                    before = lab.uplink_bytes()
                    seconds[mapping].append(seconds_per_step(lab, mapping))
                    crossed[mapping] = (lab.uplink_bytes() - before) / (STEPS + 1)
        finally:
            lab.down()
    return seconds, crossed


def main():
    if os.geteuid() != 0:
        print("a virtual cluster needs root")
        return 77
    lacking = [installed_torch.missing("gloo"), *(f"{tool} is not installed" for tool in ("mpirun.openmpi", "tc", "nsenter") if not shutil.which(tool))]
    if any(lacking):
        print(next(filter(None, lacking)))
        return 77
    seconds, crossed = measure(sys.argv[1])
    print(f"a step of 8 processes (TP 2, PP 2, DP 2) on 4 hosts below 2 switches, links of {RATE}, uplinks of {UPLINK}: medians of {ROUNDS} runs of {STEPS} steps")
    for mapping, name in (("list.map", "order of the list"), ("auto.map", "order of `auto`")):
        times = seconds[mapping]
        print(f"{name:<20} {statistics.median(times):8.3f} s  from {min(times):.3f} to {max(times):.3f} s  {crossed[mapping] / 1e6:8.2f} MB over the uplinks per step")
    ratios = [before / after for before, after in zip(seconds["list.map"], seconds["auto.map"])]
    print(json.dumps({"ratio": statistics.median(ratios), "worst": min(ratios), "seconds": seconds, "uplink_bytes": crossed}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
