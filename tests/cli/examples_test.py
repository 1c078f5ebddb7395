#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in the help of every verb."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()

# The files that the examples use.
PREPARE = """
rankloom gen stencil2d --size 8x8 --shuffle -o app.prof
rankloom gen ring --ranks 16 --to metis -o mesh.graph
rankloom import mesh.graph -o mesh.prof
rankloom topo convert "switch:2=4.1 node:6=3.7 core:16=1" -o cluster.json
rankloom map app.prof -t cluster.json -a block -o mapping.txt
printf '3\\n0 1 2\\n1 0 3\\n2 3 0\\n0 1 1\\n1 0 1\\n1 1 0\\n' > nug12.dat
printf '#include <omp.h>\\nint main(void) { int sum = 0;\\n#pragma omp parallel num_threads(2) reduction(+ : sum)\\nsum += omp_get_thread_num(); return sum != 1; }\\n' > threads.c
printf '#include <thread>\\nint main() { std::thread([] {}).join(); }\\n' > threads.cpp
printf '#include <mpi.h>\\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\\n' > app.c
mpicc app.c -o app
printf 'SwitchName=s0 Nodes=n[0-3]\\nSwitchName=s1 Nodes=n[4-7]\\nSwitchName=top Switches=s[0-1]\\n' > topology.conf
lstopo-no-graphics -i "pack:2 [numa] l3:1 core:8 pu:1" node.xml
mkdir -p man1 .config/fish/completions
"""
# An example of topo writes another cluster.json; a report refuses results of two machines.
COMPARE = "rankloom map app.prof -t cluster.json -a block -o mapping.txt; rankloom compare app.prof -t cluster.json -a block,greedy --json > compare.json"
# Allow more ranks than cores, and root; keep_loaded.c is part of programs that mpicc builds.
LAUNCHER = {**installed_mpi.open_mpi().environment, "OMPI_LDFLAGS": str(SUPPORT / "keep_loaded.c")}
# Takes gigabytes and many seconds; the benchmarks measure it.
TOO_LARGE = re.compile("216x216x216")
NEEDS_ROOT = re.compile("rankloom lab (up|exec)")
NEEDS_SLURM = re.compile("rankloom slurm lab up")
SLURM = os.geteuid() == 0 and shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin") and (PROGRAM.parent.parent / "lib/slurm/select_cons_tres.so").exists()


def examples(help_text):
    """The commands below the heading "examples"; long ones continue on further lines."""
    lines = help_text[help_text.index("\nexamples\n"):].replace(" \\\n    ", " ").splitlines()[2:]
    return [line[2:] for line in lines if not line.startswith("  #")]


class Help(unittest.TestCase):
    def shell(self, command, folder):
        if installed_mpi.open_mpi().version == (5, 0, 7):  # does not always end if its ranks end at once
            command = re.sub(r"(mpirun .*)hostname", r"\1sh -c 'hostname; sleep 0.2'", command)
        env = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", HOME=folder, **LAUNCHER)
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_examples_succeed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.shell(PREPARE, folder)
            overview = self.shell("rankloom --help", folder)
            verbs = re.findall(r"^  ([\w+]+) ", overview[overview.index("\nverbs\n"):overview.index("\ngeneral\n")], re.M)
            self.assertIn("map", verbs)
            for text in [overview] + [self.shell(f"rankloom {verb} --help", folder) for verb in verbs]:
                for command in examples(text):
                    if NEEDS_SLURM.search(command) and not SLURM:
                        continue
                    if not TOO_LARGE.search(command) and (os.geteuid() == 0 or not NEEDS_ROOT.search(command)):
                        with self.subTest(command=command):
                            if "compare.json" in command:
                                self.shell(COMPARE, folder)
                            self.shell(command, folder)


if __name__ == "__main__":
    unittest.main()
