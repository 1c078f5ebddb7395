# SPDX-License-Identifier: Apache-2.0
"""What the tests of `rankloom reorder` share: programs are compiled and run as the recorder's tests do it, and hosts are pretended by
RANKLOOM_HOSTNAME where no lab is needed.

    python3 NAME_test.py RANKLOOM openmpi|mpich [CLASS[.TEST]]
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))

from recording import RecordingTest, main  # noqa: E402, F401

PLACE = """#!/bin/sh
# Ranks in turn on so many hosts: what --map-by node does. With BIND, each is bound to one of so many processing units.
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
export RANKLOOM_HOSTNAME=${PREFIX:-n}$((rank % HOSTS))
[ -z "$BIND" ] || taskset -p -c $((rank / HOSTS % BIND)) $$ >/dev/null
exec "$@"
"""


class ReorderTest(RecordingTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "place"
        self.place.write_text(PLACE)
        self.place.chmod(0o755)

    def topologies(self):
        return self.program(HERE / "programs/topologies.c")

    def run_ranks(self, ranks, hosts, program, *words, library=True, options=(), status=0, environment=None):
        """What it prints, as {first words: the last one}; what it says besides is in self.err."""
        command = self.mpi.launch(ranks, self.place, program, *words)
        if library:
            command = [self.rankloom, "reorder", "--mpi", self.mpi.name, *options, "--", *command]
        done = self.run_words(command, {"HOSTS": str(hosts), **(environment or {})})
        self.err = done.stderr
        self.assertEqual(done.returncode, status, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if " " in line)

    def results(self, said):
        """What must not depend on the order of processes."""
        return {key: value for key, value in said.items() if key.startswith(("result", "smooth", "left out"))}

    def offline(self, profile, hosts, places):
        """Messages between hosts as the mapper of the command line leaves them: the cost where nothing else costs anything."""
        return json.loads(self.tell("map", profile, "-t", f"node:{hosts}=1 core:1*{places}", "--json"))["cost"]

    def offline_grid(self, size, hosts, places):
        return self.offline(f"gen:stencil2d:size={size},edge=1,directed=true", hosts, places)

    def offline_graph(self, n, hosts, places):
        """The graph of programs/topologies.c."""

        def sends(a, b):
            return a != b and a % 11 != 7 and ((a + 1) % n == b or (a + n // 2) % n == b or (a * 7 + b * 13) % 17 == 0)

        lines = [" ".join(str(int(sends(a, b))) for b in range(n)) for a in range(n)]
        (self.folder / "graph.txt").write_text("\n".join(lines) + "\n")
        return self.offline("graph.txt", hosts, places)
