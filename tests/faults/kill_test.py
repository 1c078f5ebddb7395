#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills every verb that writes files at random moments (SIGKILL) and checks that each file is the old one or the complete new one, that the next run
succeeds, and that nothing is left over.

    kill_test.py RANKLOOM [KILLS [SEED]]"""

import collections
import ctypes
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

from writing_verbs import TEMPORARY, Bench, files_in

BECOME_REAPER = 36  # PR_SET_CHILD_SUBREAPER: MPI processes of a killed rankloom become our children
SLOW_ROUNDS = 6  # verbs that start an MPI program are killed in one of this many rounds


def wait_for_orphans():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.002)
        except ChildProcessError:
            return
    raise RuntimeError("processes of a killed command did not end")


def listing(folder):
    return {(entry.name, entry.stat(follow_symlinks=False).st_mtime_ns) for entry in os.scandir(folder)}


def kill_at_random(bench, verb, folder, variant, rng):
    """Starts the verb and kills it. False if it ended before."""
    before = listing(folder)
    process = bench.start(folder, verb.command(variant))
    delay = rng.random() * bench.durations[verb.name] * 1.1
    if rng.random() < 0.5:
        time.sleep(delay)
    else:  # as soon as it has created, renamed or removed a file, or a moment later
        while process.poll() is None:
            try:
                if listing(folder) != before:
                    break
            except FileNotFoundError:
                break
        time.sleep(rng.choice([0, 0, rng.random() * 0.003]))
    process.kill()
    process.stdout.close()
    process.wait()
    wait_for_orphans()
    return process.returncode == -signal.SIGKILL


def main():
    program = sys.argv[1]
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    ctypes.CDLL(None).prctl(BECOME_REAPER, 1, 0, 0, 0)
    count, in_writing, problems = collections.Counter(), 0, []
    with tempfile.TemporaryDirectory(prefix="kill-") as directory:
        bench = Bench(program, directory)
        current = {}
        for number, verb in enumerate(bench.verbs):
            folder = pathlib.Path(directory, f"work-{number}")
            folder.mkdir()
            bench.prepare(verb, folder)
            current[verb.name] = folder
        round_number = 0
        while sum(count.values()) < kills and not problems:
            verbs = [verb for verb in bench.verbs if not verb.slow or round_number % SLOW_ROUNDS == 0]
            rng.shuffle(verbs)
            round_number += 1
            for verb in verbs[:kills - sum(count.values())]:
                folder, variant = current[verb.name], rng.randrange(2)
                if not kill_at_random(bench, verb, folder, variant, rng):
                    continue
                count[verb.name] += 1
                in_writing += any(TEMPORARY.search(name) for name in files_in(folder))
                for name in bench.broken(verb, folder):
                    problems.append(f"{verb.name}: {name} is neither the old nor the new file")
                status, output = bench.run(folder, *verb.command(variant))
                if status != 0:
                    problems.append(f"{verb.name}: the next run failed with status {status}\n{output}")
                for name in bench.broken(verb, folder):
                    problems.append(f"{verb.name}: {name} is not complete after the next run")
                for name in bench.leftovers(verb, folder, variant):
                    problems.append(f"{verb.name}: {name} is left over")
                if verb.kept:
                    for path in folder.rglob(".rankloom-record-*"):
                        shutil.rmtree(path, ignore_errors=True)
    print(f"{sum(count.values())} kills of {len(count)} verbs (seed {seed}), {in_writing} of them while files were written: {len(problems)} problems")
    print("  " + ", ".join(f"{name} {times}" for name, times in sorted(count.items())))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
