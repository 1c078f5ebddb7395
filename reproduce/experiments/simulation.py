# SPDX-License-Identifier: Apache-2.0
"""reproduce: programs simulated on machines under several mappings: what all experiments with SimGrid share."""

import dataclasses

from . import common


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine to simulate, and how mappers see it."""

    platform: str  # rates and latencies of two cores alone
    width: str = ""  # how many messages at full rate fit side by side: --width
    seen: str = ""  # the topology that mappers are given; empty: the platform

    def mapped(self):
        return self.seen or self.platform

    def simulated(self):
        return ["-t", self.platform, *(["--width", self.width] if self.width else [])]


def map_calls(profile, machine, specs, more=()):
    """A call of `map` for each spec "mapper" or "mapper seed". Raw: what the mapper found, even if it is worse than block."""
    calls = []
    for spec in specs:
        mapper, _, seed = spec.partition(" ")
        calls.append(("map", profile, "-t", machine.mapped(), "-a", mapper, *(["--seed", seed] if seed else []), "--raw", *more))
    return calls


def simulate(run, label, cases, specs, rounds=1, given=None, more=()):
    """{case: {spec: seconds}} for cases {name: (profile, Machine)} under mappers' specs and given mappings {case: {name: cores}}.
    rounds: a number, or one for each case. One simulation a case and mapping; several at once."""
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
    """How much less time than the base, in percent."""
    return {name: common.gain(seconds[base], value) for name, value in seconds.items()}
