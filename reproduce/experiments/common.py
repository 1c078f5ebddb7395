# SPDX-License-Identifier: Apache-2.0
"""reproduce: shared code of the experiments: profiles, figures of the papers, means."""

import json
import math
import os
import pathlib
import statistics

from .. import npb
from ..harness.program import Input
from ..profile_file import profile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MATRICES = ROOT / "tests/data/matrices"


def paper(name):
    """The figures of a paper, as printed."""
    return json.loads((ROOT / f"reproduce/papers/{name}.json").read_text())["figures"]


def measured(name):
    """A communication matrix that was recorded from a real program."""
    return Input(MATRICES / f"{name}.txt")


def recreated(run, name, problem, ranks, iterations=1):
    """Iterations of an NPB program, generated from its communication rules."""
    return run.file(profile(npb.program(name, problem, ranks, iterations)), ".prof")


def geometric(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def gain(base, value):
    """The reduction of the time, in percent of the base."""
    return 100 * (1 - value / base)


def faster(base, value):
    """The speed-up in percent: 100 means twice as fast."""
    return 100 * (base / value - 1)


def span(values, form="{:.1f}"):
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def of_this_machine():
    """Processor and number of cores, for measured figures."""
    name = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                 if line.startswith("model name")), "unknown")
    return f"{name}, {os.cpu_count()} cores"
