#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a recorded program ran, and with how many threads."""

import json
import os
import socket

from recording import RecordingTest, main


class Location(RecordingTest):
    def location(self, ranks, environment=None, launcher=()):
        program = self.program("hybrid.c", "-fopenmp")
        self.record_command([*launcher, *self.mpi.launch(ranks, program)], environment=environment, status=0)
        return json.loads(self.output_of("show", "out.prof", "--json"))["location"]

    def test_threads_of_a_rank(self):
        location = self.location(2, {"OMP_NUM_THREADS": "3"})
        self.assertEqual(location["threads"], [3, 3])
        self.assertEqual(location["hosts"], 1)
        self.assertIn("had 3 threads", self.output_of("show", "out.prof"))

    def test_a_program_without_threads(self):
        self.assertEqual(self.location(2, {"OMP_NUM_THREADS": "1"})["threads"], [1, 1])

    def test_processing_units_of_a_rank(self):
        cpus = sorted(os.sched_getaffinity(0))
        self.assertEqual(self.location(2)["cpus"], [len(cpus)] * 2)
        self.assertEqual(self.location(2, launcher=["taskset", "-c", str(cpus[0])])["cpus"], [1, 1])

    def test_is_what_a_mapping_is_compared_with(self):
        """On a machine with this host; and not on another one."""
        self.record_command(self.mpi.launch(2, self.program("ring.c")), status=0)
        self.output_of("topo", "discover", "-o", "host.json")
        options = ["-t", "host.json", "--oversubscribe"]
        self.assertEqual(json.loads(self.output_of("map", "out.prof", *options, "--json"))["default_placement"], "recorded")
        self.assertEqual(json.loads(self.output_of("eval", "recorded", "--profile", "out.prof", *options, "--json"))["mappings"][0]["name"], "recorded")
        machine = json.loads((self.directory / "host.json").read_text())
        self.assertIn(socket.gethostname(), json.dumps(machine))
        self.assertEqual(json.loads(self.output_of("map", "out.prof", "-t", "core:2", "--json"))["default_placement"], "block")
        refused = self.output_of("eval", "recorded", "--profile", "out.prof", "-t", "core:2", status=3)
        self.assertEqual(refused, "")


if __name__ == "__main__":
    main()
