#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual cluster of four hosts and ranks distributed round-robin: the traffic between hosts decreases to that of the offline
mapper, also on the links themselves.

    virtual_cluster_test.py RANKLOOM openmpi
"""

import os
import re
import subprocess
import sys

from reordering import ReorderTest, main


class VirtualCluster(ReorderTest):
    HOSTS = 4

    def setUp(self):
        super().setUp()
        namespaces = ["unshare", "--net", "--uts", "--ipc", "--mount", "true"]
        if os.geteuid() != 0 or subprocess.run(namespaces, capture_output=True, check=False).returncode != 0:
            print("needs root and namespaces")
            sys.exit(77)
        self.name = f"re{os.getpid() % 10000}"
        self.output_of("lab", "up", "--name", self.name, "--hosts", str(self.HOSTS), "--slots", "4", "--rate", "none")
        self.addCleanup(self.output_of, "lab", "down", "--name", self.name)

    def sent_by_hosts(self):
        """Bytes that the network interfaces of all hosts have sent so far."""
        tables = [self.output_of("lab", "exec", "--name", self.name, "--on", f"{self.name}{host}", "--", "cat", "/proc/net/dev") for host in range(1, self.HOSTS + 1)]
        return sum(int(re.search(r"eth0:(.*)", table)[1].split()[8]) for table in tables)

    def run_in_lab(self, *words, library):
        command = ["mpirun.openmpi", "-n", "16", "--map-by", "node", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", self.topologies(), *words]
        if library:
            command = [self.rankloom, "reorder", "--verbose", "--", *command]
        network = {"OMPI_MCA_btl_tcp_if_include": "eth0", "OMPI_MCA_oob_tcp_if_include": "eth0"}
        before = self.sent_by_hosts()
        done = self.run_command([self.rankloom, "lab", "exec", "--name", self.name, "--", *command], network)
        self.sent = self.sent_by_hosts() - before
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.err = done.stderr
        return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if " " in line)

    def test_a_grid(self):
        words = ("60000", "20")
        bad = self.run_in_lab("grid", 0, *words, "2x8", library=True)
        sent = self.sent
        good = self.run_in_lab("grid", 1, *words, "2x8", library=True)
        self.assertEqual(self.results(good), self.results(bad))
        self.assertEqual(bad["crossing"], "28")
        self.assertEqual(float(good["crossing"]), self.offline_grid("2x8", 4, 4))
        print(f"{sent / 1e6:.1f} and {self.sent / 1e6:.1f} MB between hosts, {bad['seconds']} and {good['seconds']} s", file=sys.stderr)
        # 12 instead of 28 messages per round cross; starting the ranks adds a constant.
        self.assertLess(self.sent, 0.6 * sent)

    def test_an_irregular_graph(self):
        words = ("1000", "10", "none")
        bad = self.run_in_lab("adjacent", 1, *words, library=False)
        good = self.run_in_lab("adjacent", 1, *words, library=True)
        self.assertEqual(self.results(good), self.results(bad))
        self.assertEqual(bad["moved"], "0")
        self.assertLessEqual(float(good["crossing"]), self.offline_graph(16, 4, 4))


if __name__ == "__main__":
    main()
