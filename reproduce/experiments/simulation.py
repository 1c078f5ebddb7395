# SPDX-License-Identifier: Apache-2.0
"""reproduce: simulation of programs on machines under several mappings: shared code of the experiments with SimGrid."""

import dataclasses

from . import common


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine to simulate, and its topology for the mappers."""

    platform: str  # rates and latencies between two cores without contention
    width: str = ""  # number of concurrent messages at full rate: --width
    seen: str = ""  # the topology for the mappers; empty: the platform

    def mapped(self):
        return self.seen or self.platform

    def simulated(self):
        return ["-t", self.platform, *(["--width", self.width] if self.width else [])]


def map_calls(profile, machine, specs, more=()):
    """A call of `map` for each spec: a mapper, which may be followed by a seed or by options. `auto` minimises the predicted time on the
    platform, all others bytes × distance. Raw: the result of the mapper, even if it is worse than block; a judge compares with block."""
    calls = []
    for spec in specs:
        mapper, *options = spec.split()
        if options and options[0].isdigit():
            options.insert(0, "--seed")
        by_time = mapper == "auto" and "--model" not in options
        if not by_time and "--model" not in options:
            options += ["--model", "bytes"]
        raw = [] if "--judge" in options else ["--raw"]
        calls.append(("map", profile, *(machine.simulated() if by_time else ["-t", machine.mapped()]), "-a", mapper, *options, *raw, *more))
    return calls


def simulate(run, label, cases, specs, rounds=1, given=None, more=()):
    """{case: {spec: seconds}} for cases {name: (profile, Machine)} under mappers' specs and given mappings {case: {name: cores}}.
    rounds: a number, or one per case. One simulation per case and mapping; several in parallel."""
    calls = [call for profile, machine in cases.values() for call in map_calls(profile, machine, specs)]
    mapped = iter(run.all(f"{label}: mapping", calls))
    found, calls, names = {}, [], []
    for case, (profile, machine) in cases.items():
        found[case] = {spec: next(mapped) for spec in specs}
        placements = {spec: answer["mapping"] for spec, answer in found[case].items()} | (given or {}).get(case, {})
        count = rounds[case] if isinstance(rounds, dict) else rounds
        for name, cores in placements.items():
            names.append((case, name))
            calls.append(("eval", run.mapping(cores), "--profile", profile, *machine.simulated(), "--simulate", "--at-once", "1",
                          "--iterations", str(count), *more))
    seconds = {case: {} for case in cases}
    for (case, name), answer in zip(names, run.all(f"{label}: simulating", calls)):
        seconds[case][name] = answer["mappings"][0]["simulated_seconds"]
    return seconds, found


def simulated_gains(seconds, base="block"):
    """The reduction of the time relative to the base, in percent."""
    return {name: common.gain(seconds[base], value) for name, value in seconds.items()}
