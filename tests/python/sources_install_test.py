#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the module from the source distribution into a new virtual environment by pip, without a network. It compiles for minutes.

    sources_install_test.py PROJECT_DIRECTORY      run by the Python that the module is for
"""

import pathlib
import subprocess
import sys
import tempfile

CODE = """
import rankloom
graph = rankloom.Graph.load("gen:groups:groups=4,per-group=4")
mapping = rankloom.map(graph, rankloom.Topology("node:4=10 core:4=1"))
print(rankloom.__version__, rankloom.__file__, mapping.gain_percent > 0)
"""


def run(*arguments, **options):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}\nstatus {done.returncode}\n{done.stdout[-5000:]}{done.stderr[-5000:]}")
    return done.stdout


def main():
    root = pathlib.Path(sys.argv[1])
    for module in ("pip", "venv", "ensurepip"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
            print(f"Python has no {module} (python3-pip, python3-venv)")
            return 77
    with tempfile.TemporaryDirectory(prefix="sources-") as directory:
        directory = pathlib.Path(directory)
        run(sys.executable, "-c", f"import sys; sys.path.insert(0, 'python'); import build_backend; build_backend.build_sdist({str(directory)!r})", cwd=root)
        (sources,) = directory.glob("rankloom-*.tar.gz")
        # numpy comes from the system, because there is no network.
        run(sys.executable, "-m", "venv", "--system-site-packages", directory / "venv")
        python = directory / "venv/bin/python"
        run(python, "-m", "pip", "install", "--no-index", "--no-build-isolation", sources, cwd=directory)
        version, file, better = run(python, "-c", CODE, cwd=directory).split()
        if not sources.name.startswith(f"rankloom-{version}.") or not file.startswith(str(directory / "venv")) or better != "True":
            sys.exit(f"unexpected: {version} {file} {better}")
        run(python, "-m", "pip", "uninstall", "-y", "rankloom", cwd=directory)
        if list((directory / "venv").rglob("*rankloom*")):
            sys.exit("pip uninstall leaves files behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
