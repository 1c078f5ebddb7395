#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs everything into a folder, moves that, and sees that the program finds its parts there as it does where it was built.

    install_test.py BUILD_FOLDER CMAKE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def findings(program):
    return {check["name"]: check["found"] for check in json.loads(run(program, "doctor", "--json"))["checks"]}


def main():
    build, cmake = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="install-") as folder:
        before, prefix = pathlib.Path(folder) / "before", pathlib.Path(folder) / "moved"
        run(cmake, "--install", build, "--prefix", before)
        before.rename(prefix)
        program = prefix / "bin/rankloom"
        problems = []
        if run(program, "--version") != run(build / "bin/rankloom", "--version"):
            problems.append("it says another version")
        here, there = findings(build / "bin/rankloom"), findings(program)
        problems += [f"{name}: {'found' if here[name] else 'missing'} in the build, not so where it is installed" for name in here if here[name] != there[name]]
        if len(here) < 10:
            problems.append("doctor tells little")
        pages = {path.name for path in (prefix / "share/man/man1").iterdir()}
        verbs = {path.name for path in (build / "share/man/man1").iterdir()}
        problems += [f"{name}: is not installed" for name in (verbs | {"rankloom-bind.1", "rankloom-agent.1"}) - pages]
        problems += [f"{path}: leads nowhere" for path in prefix.rglob("*") if path.is_symlink() and not path.exists()]
        problems += [f"{path}: cannot be run" for path in (prefix / "bin").iterdir() if not os.access(path, os.X_OK)]
        run(program, "map", "gen:groups:groups=4,per-group=4", "-t", "node:4=10 core:4=1", "-o", prefix / "app.map")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
