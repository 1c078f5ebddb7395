#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all fuzz targets of a build for some time, several at once, and prints executions and coverage of each.
Coverage (edges), new inputs and memory are known only in a build with libFuzzer.

  run.py BIN SECONDS [--output FOLDER] [--jobs N] [--target REGEX]...

BIN contains the programs fuzz_<stage>. New inputs are kept in FOLDER/corpus/<target>, inputs that fail in
FOLDER/failed/<target>-*. Fails if a target ran nothing, crashed, took longer than 60 s (5 s without sanitizers) or more than 1 GB for one input.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

SEEDS = pathlib.Path(__file__).parent / "corpus"
MAX_SECONDS_PER_INPUT = 60  # with sanitizers; `./dev test` has none, and a limit of 5 s
MAX_MEGABYTES = 1024
MAX_BYTES = 16384
# The sanitizer's own memory must not count as memory of the reader; files for readers that need a path are in memory.
ENVIRONMENT = {"ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=8:symbolize=1:detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1",
               **({"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {})}


@dataclasses.dataclass
class Outcome:
    target: str
    seconds: float
    executions: int = 0
    edges: int = 0
    inputs: int = 0
    peak_megabytes: int = 0
    failure: str = ""
    log: str = ""


def list_targets(folder: pathlib.Path):
    """The program of each target."""
    targets = {}
    for program in sorted(folder.glob("fuzz_*")):
        if not os.access(program, os.X_OK):
            continue
        done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
        targets.update({name: program for name in done.stdout.split()})
    return targets


def last_number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def run_target(target: str, program: pathlib.Path, seconds: int, output: pathlib.Path, seed: int) -> Outcome:
    seeds = SEEDS / target
    if not any(seeds.glob("*")):
        return Outcome(target, 0, failure=f"no input in {seeds}")
    grown = output / "corpus" / target
    grown.mkdir(parents=True, exist_ok=True)
    (output / "failed").mkdir(parents=True, exist_ok=True)
    command = [program, f"--target={target}", f"-max_total_time={seconds}", f"-timeout={MAX_SECONDS_PER_INPUT}",
               f"-rss_limit_mb={MAX_MEGABYTES}", f"-malloc_limit_mb={MAX_MEGABYTES}", f"-max_len={MAX_BYTES}", "-len_control=100",
               "-print_final_stats=1", f"-seed={seed}", f"-artifact_prefix={output}/failed/{target}-", grown, seeds]
    begin = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                          env={**ENVIRONMENT, **os.environ})
    log = done.stderr + done.stdout
    outcome = Outcome(target, time.monotonic() - begin, last_number(r"stat::number_of_executed_units: (\d+)", log),
                      last_number(r"cov: (\d+)", log), sum(1 for _ in grown.iterdir()), last_number(r"stat::peak_rss_mb: +(\d+)", log), log=log)
    if done.returncode != 0:
        reason = re.search(r"SUMMARY: .*|fuzz: expectation failed: .*|ERROR: libFuzzer: .*", log)
        outcome.failure = reason.group(0) if reason else f"status {done.returncode}"
        if not outcome.executions:
            outcome.executions = last_number(r"#(\d+)", log)
    elif outcome.executions <= 0:
        outcome.failure = "it ran nothing"
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0, help="0: another one in every run")
    arguments = parser.parse_args()
    output = (arguments.output or arguments.bin.parent / "fuzz").resolve()
    targets = list_targets(arguments.bin.resolve())
    if arguments.target:
        targets = {name: program for name, program in targets.items() if any(re.search(pattern, name) for pattern in arguments.target)}
    if not targets:
        print("fuzz: there is no such target", file=sys.stderr)
        return 1
    each = max(1, round(arguments.seconds * arguments.jobs / len(targets)))
    print(f"{len(targets)} targets, {each} s each, {arguments.jobs} at once", flush=True)
    print(f"{'target':28} {'executions':>12} {'per second':>10} {'edges':>6} {'inputs':>6} {'MB':>5}", flush=True)
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = [pool.submit(run_target, name, program, each, output, arguments.seed) for name, program in targets.items()]
        for future in concurrent.futures.as_completed(futures):
            outcome = future.result()
            outcomes.append(outcome)
            rate = outcome.executions / outcome.seconds if outcome.seconds > 0 else 0
            print(f"{outcome.target:28} {outcome.executions:12,} {rate:10,.0f} {outcome.edges or '-':>6} {outcome.inputs or '-':>6} {outcome.peak_megabytes or '-':>5}"
                  f"{'  FAILED: ' + outcome.failure if outcome.failure else ''}", flush=True)
    failed = [outcome for outcome in outcomes if outcome.failure]
    for outcome in failed:
        (output / "failed" / f"{outcome.target}.log").write_text(outcome.log)
    print(f"{sum(outcome.executions for outcome in outcomes):,} executions, {sum(outcome.edges for outcome in outcomes):,} edges, {len(failed)} of {len(targets)} targets failed")
    if failed:
        print(f"logs and inputs: {output}/failed. Fix the reader, and copy the input to tests/fuzz/corpus/TARGET/, which `./dev test` runs.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
