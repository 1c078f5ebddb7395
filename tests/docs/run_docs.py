#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that the documentation shows, so that none of it can go stale.

In fenced blocks marked `sh`, every line is part of a script; in blocks marked `console`, lines after "$ " are commands and
the rest is what they printed; blocks marked `python` are run by --python, each after those before it on the page. All blocks
of one page run one after another in one temporary folder with rankloom on the PATH; a command that fails, fails the page. A
block is left out when the line before its fence is
<!-- skip: why it cannot run here -->, or tree or built, which mapper_example_test.py runs; when it is <!-- root: why it needs root --> the block runs for root alone, and when it
is <!-- slurm: why it needs Slurm --> for root where Slurm is installed and its plugin was built; <!-- pmix: why --> where srun also starts programs of Open MPI; <!-- torch: why --> for root where
torch is installed with the backends MPI and gloo; <!-- python: why --> where Python is run. `examples/` is that of the source.

    run_docs.py --program build/bin/rankloom README.md docs/*.md
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402
import installed_slurm  # noqa: E402
import installed_torch  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
KEEP_LOADED = SUPPORT / "keep_loaded.c"  # part of programs that mpicc builds
FENCE = re.compile(r"^\s*```\s*(\w*)")
LEFT_OUT = re.compile(r"<!--\s*(skip|tree|built|root|slurm|pmix|torch|python):\s*\S.*-->")


def left_out(line, program, python):
    found = LEFT_OUT.search(line)
    kind = found.group(1) if found else ""
    root = os.geteuid() == 0
    slurm = shutil.which("slurmctld", path=os.environ.get("PATH", "") + ":/usr/sbin") and (program.parent.parent / "lib/slurm/select_cons_tres.so").exists()
    possible = {"python": python, "root": root, "slurm": root and slurm, "pmix": root and slurm and installed_slurm.has_pmix(),
                "torch": kind == "torch" and root and not installed_torch.missing("mpi") and not installed_torch.missing("gloo")}
    return kind in ("skip", "tree", "built") or not possible.get(kind, True)


def blocks(text, program, python):
    """(line number, script) of every block that is to run."""
    found, earlier, lines = [], [], text.splitlines()
    at, skip = 0, False
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            skip = left_out(lines[at], program, python) or (skip and not lines[at].strip())
            at += 1
            continue
        start, kind, body = at + 1, fence.group(1), []
        at += 1
        while at < len(lines) and not lines[at].lstrip().startswith("```"):
            body.append(lines[at])
            at += 1
        at += 1
        if kind == "python" and not skip and python:
            earlier += body
            found.append((start, f"{python} - <<'END OF PYTHON'\n" + "\n".join(earlier) + "\nEND OF PYTHON"))
        elif kind in ("sh", "console") and not skip:
            found.append((start, script(kind, body)))
        skip = False
    return [(line, commands) for line, commands in found if commands.strip()]


def script(kind, body):
    if kind == "sh":
        return "\n".join(body)
    commands, going_on = [], False
    for line in body:
        if going_on or line.lstrip().startswith("$ "):
            commands.append(line if going_on else line.lstrip()[2:])
            going_on = line.endswith("\\")
    return "\n".join(commands)


def run_page(page, program, python):
    problems = []
    # MPI programs: perhaps as root, and on fewer cores than ranks.
    env = dict(os.environ, PATH=f"{program.parent}:{os.environ.get('PATH', '')}", **installed_mpi.open_mpi().environment,
               PYTHONPATH=str(program.parent.parent / "python"), PYTHONDONTWRITEBYTECODE="1",
               PKG_CONFIG_PATH=str(program.parent.parent / "lib/pkgconfig"), OMPI_LDFLAGS=str(KEEP_LOADED))
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:
        pathlib.Path(folder, "examples").symlink_to(EXAMPLES)
        for line, commands in blocks(page.read_text(), program, python):
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", commands], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
            if done.returncode != 0:
                problems.append(f"{page}:{line}: exit status {done.returncode}\n{commands}\n---\n{done.stdout.decode('utf-8', 'replace')}")
    return problems


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True, type=pathlib.Path)
    arguments.add_argument("--python", default="", help="the interpreter for which the module was built; without it, Python is not run")
    arguments.add_argument("pages", nargs="*", type=pathlib.Path)
    given = arguments.parse_args()
    problems = [problem for page in given.pages for problem in run_page(page, given.program.resolve(), given.python)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
