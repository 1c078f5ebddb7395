#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the source distribution to a module in a fresh virtual environment, by pip, without a network. It compiles: minutes.

    sources_install_test.py FOLDER_OF_THE_PROJECT      run by the Python that it is for
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


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nstatus {done.returncode}\n{done.stdout[-5000:]}{done.stderr[-5000:]}")
    return done.stdout


def main():
    root = pathlib.Path(sys.argv[1])
    for module in ("pip", "venv", "ensurepip"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
            print(f"Python has no {module} (python3-pip, python3-venv)")
            return 77
    with tempfile.TemporaryDirectory(prefix="sources-") as folder:
        folder = pathlib.Path(folder)
        run(sys.executable, "-c", f"import sys; sys.path.insert(0, 'python'); import build_backend; build_backend.build_sdist({str(folder)!r})", cwd=root)
        (sources,) = folder.glob("rankloom-*.tar.gz")
        # numpy is the system's; there is no network.
        run(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv")
        python = folder / "venv/bin/python"
        run(python, "-m", "pip", "install", "--no-index", "--no-build-isolation", sources, cwd=folder)
        version, file, better = run(python, "-c", CODE, cwd=folder).split()
        if not sources.name.startswith(f"rankloom-{version}.") or not file.startswith(str(folder / "venv")) or better != "True":
            sys.exit(f"not so: {version} {file} {better}")
        run(python, "-m", "pip", "uninstall", "-y", "rankloom", cwd=folder)
        if list((folder / "venv").rglob("*rankloom*")):
            sys.exit("pip leaves something behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
