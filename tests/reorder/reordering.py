# SPDX-License-Identifier: Apache-2.0
"""Common base of the tests of `rankloom reorder`. Programs are compiled and run like in the tests of the recorder. Hosts are simulated by
RANKLOOM_HOSTNAME unless a test needs a virtual cluster.

    python3 NAME_test.py RANKLOOM openmpi|mpich [CLASS[.TEST]]
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))

from recording import RecordingTest, main  # noqa: E402, F401

PLACE = """#!/bin/sh
# Distributes ranks round-robin over HOSTS hosts, like --map-by node. With BIND, each rank is bound to one of BIND processing units.
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
export RANKLOOM_HOSTNAME=${PREFIX:-n}$((rank % HOSTS))
[ -z "$BIND" ] || taskset -p -c $((rank / HOSTS % BIND)) $$ >/dev/null
exec "$@"
"""


class ReorderTest(RecordingTest):
    def setUp(self):
        super().setUp()
        self.place = self.directory / "place"
        self.place.write_text(PLACE)
        self.place.chmod(0o755)

    def topologies(self):
        return self.program(HERE / "programs/topologies.c")

    def run_ranks(self, ranks, hosts, program, *words, library=True, options=(), status=0, environment=None):
        """Returns the output as {key: last word of the line}; standard error is in self.err."""
        command = self.mpi.launch(ranks, self.place, program, *words)
        if library:
            command = [self.rankloom, "reorder", "--mpi", self.mpi.name, *options, "--", *command]
        done = self.run_command(command, {"HOSTS": str(hosts), **(environment or {})})
        self.err = done.stderr
        self.assertEqual(done.returncode, status, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if " " in line)

    def results(self, output):
        """The output that must not depend on the order of processes."""
        return {key: value for key, value in output.items() if key.startswith(("result", "smooth", "left out"))}

    def offline(self, profile, hosts, slots):
        """The messages between hosts in a mapping by `rankloom map`: its cost if only messages between hosts have a cost."""
        return json.loads(self.output_of("map", profile, "-t", f"node:{hosts}=1 core:1*{slots}", "--model", "bytes", "--json"))["cost"]

    def offline_grid(self, size, hosts, slots):
        return self.offline(f"gen:stencil2d:size={size},edge=1,directed=true", hosts, slots)

    def offline_graph(self, n, hosts, slots):
        """The graph of programs/topologies.c."""

        def sends(a, b):
            return a != b and a % 11 != 7 and ((a + 1) % n == b or (a + n // 2) % n == b or (a * 7 + b * 13) % 17 == 0)

        lines = [" ".join(str(int(sends(a, b))) for b in range(n)) for a in range(n)]
        (self.directory / "graph.txt").write_text("\n".join(lines) + "\n")
        return self.offline("graph.txt", hosts, slots)
