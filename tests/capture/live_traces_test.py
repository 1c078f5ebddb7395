#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records tests/data/traces/talk.c with a real tool on 6 ranks and imports what it wrote.

    live_traces_test.py monitoring|simgrid|eztrace PROGRAM FOLDER_OF_TALK
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402

RANKS = 6
SKIPPED = 77

TOOLS = {
    "monitoring": (["mpicc.openmpi", "mpirun.openmpi"], "talk"),
    "simgrid": (["smpicc", "smpirun"], "smpi_simgrid.txt"),
    "eztrace": (["mpicc.openmpi", "mpirun.openmpi", "eztrace"], "talk_trace"),
}


def expected():
    """What talk.c sends on RANKS ranks: (from, to) → bytes."""
    sent = {(rank, (rank + 1) % RANKS): 2 * 8 * (100 + rank) for rank in range(RANKS)}
    sent.setdefault((0, RANKS - 1), 0)
    for parity in (0, 1):
        members = [rank for rank in reversed(range(RANKS)) if rank % 2 == parity]
        sent[(members[0], members[1])] = sent.get((members[0], members[1]), 0) + 33 * 4
    return sent


def run(command, folder, env):
    done = subprocess.run(["timeout", "-k", "5", "150", *command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def record(tool, folder, source, env):
    compiler = "smpicc" if tool == "simgrid" else "mpicc.openmpi"
    keep_loaded = [] if tool == "simgrid" else [str(SUPPORT / "keep_loaded.c")]
    run([compiler, "-O1", "-o", "talk_program" if tool != "eztrace" else "talk", str(source / "talk.c"), *keep_loaded], folder, env)
    mpirun = ["mpirun.openmpi", *installed_mpi.open_mpi().oversubscribe, "--mca", "mpi_yield_when_idle", "1", "-n", str(RANKS)]
    if tool == "monitoring":
        options = {"enable": "2", "enable_output": "3", "filename": f"{folder}/talk"}
        run(mpirun + [word for key, value in options.items() for word in ("--mca", f"pml_monitoring_{key}", value)] + ["./talk_program"], folder, env)
    elif tool == "simgrid":
        platform = (source / "cluster.xml").read_text().replace("0-3", f"0-{RANKS - 1}")
        pathlib.Path(folder, "cluster.xml").write_text(platform)
        run(["smpirun", "-trace-ti", "-trace-file", "smpi_simgrid.txt", "-np", str(RANKS), "-platform", "cluster.xml", "./talk_program"], folder, env)
    else:
        # The variable names the folder of the trace, before version 2.1 the one above it.
        needs_mode = "MPI mode" in subprocess.run(["eztrace", "-h"], capture_output=True, text=True, check=False).stdout  # from version 2.2 on
        run(mpirun + ["eztrace", *(["-m"] if needs_mode else []), "-t", "openmpi", "./talk"], folder, dict(env, EZTRACE_TRACE_DIR=str(pathlib.Path(folder, "traces"))))
        trace = next(pathlib.Path(folder, "traces").rglob("eztrace_log.otf2"))
        trace.parent.rename(pathlib.Path(folder, "talk_trace"))


def main():
    tool, program, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    needed, name = TOOLS[tool]
    missing = [command for command in needed if shutil.which(command) is None]
    if missing:
        print("not installed:", *missing)
        return SKIPPED
    if tool == "monitoring" and installed_mpi.open_mpi().monitoring_crashes:
        print("the monitoring component of this Open MPI crashes in MPI_Init")
        return SKIPPED
    env = dict(os.environ, **installed_mpi.open_mpi().as_root, OMPI_MCA_btl_tcp_if_include="lo")
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        record(tool, folder, source, env)
        done = subprocess.run([program, "import", name], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 5 and "without libotf2" in done.stderr:
            print(done.stderr)
            return SKIPPED
        if done.returncode != 0:
            sys.exit(done.stderr)
    rows = [line.split() for line in done.stdout.splitlines() if not line.startswith("#")]
    found = {(int(row[0]), int(row[1])): int(row[2]) for row in rows if row[3] != "0"}
    if found != expected():
        sys.exit(f"expected {expected()}\nfound    {found}\n{done.stdout}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
