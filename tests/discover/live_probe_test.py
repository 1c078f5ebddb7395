#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The probe with real launchers, and on a small cluster of network namespaces whose links are slowed down: it must find
the hosts by the times alone, and measure what the links carry. A plain ping-pong of two ranks is shown beside it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
AS_ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
OPEN_MPI = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"] + AS_ROOT
MPICH = ["mpiexec.mpich"]
PING_PONG = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, repeats = 20;
  static char data[1 << 20];
  double best = 1e9;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < repeats; ++i) {
    double start = MPI_Wtime();
    if (rank == 0) MPI_Send(data, sizeof data, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(data, sizeof data, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(data, sizeof data, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    double took = MPI_Wtime() - start;
    if (i > 0 && took < best) best = took;
  }
  if (rank == 0) printf("gap %g\n", best / 2 / sizeof data * 1e9);
  MPI_Finalize();
  return 0;
}
"""


def run(*words, status=0, timeout=90):
    done = subprocess.run([PROGRAM, "topo", "probe", *words], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Launchers(unittest.TestCase):
    def test_both_mpis_measure_this_host(self):
        for launcher, ranks in ((OPEN_MPI, 4), (MPICH, 3)):
            if shutil.which(launcher[0]) is None:
                continue
            with self.subTest(launcher=launcher[0]), tempfile.TemporaryDirectory() as folder:
                said = json.loads(run("--json", "--seconds", "1", "--alone", "4", "--keep", f"{folder}/table", "-o", f"{folder}/m.json", "--", *launcher, "-n", str(ranks)).stdout)
                self.assertEqual(said["ranks"], ranks)
                self.assertEqual([said["nodes"], said["pus"]], [1, ranks])
                self.assertEqual(sorted(sum(said["groups"], [])), list(range(ranks)))
                together = sum(level["together"]["pairs"] for level in said["measured"])
                self.assertEqual(together, ranks * (ranks - 1) // 2)
                self.assertTrue(all(0 < level["inverse_bandwidth"] < 100 for level in said["measured"]), said)
                again = json.loads(run("--json", "--table", f"{folder}/table").stdout)
                self.assertEqual(again["measured"], said["measured"])
                subprocess.run([PROGRAM, "topo", "check", f"{folder}/m.json"], check=True, capture_output=True)

    def test_rounds_can_be_sampled(self):
        if shutil.which(OPEN_MPI[0]) is None:
            self.skipTest("no Open MPI")
        said = json.loads(run("--json", "--seconds", "1", "--rounds", "2", "--alone", "0", "--", *OPEN_MPI, "-n", "6").stdout)
        self.assertEqual(sum(level["together"]["pairs"] for level in said["measured"]), 2 * 3)

    def test_failures_say_what_to_do(self):
        self.assertIn("no launcher is named", run(status=2).stderr)
        self.assertIn("does not say which MPI", run("--", "true", status=5).stderr)
        self.assertIn("could not be started", run("--mpi", "openmpi", "--", "/no/such/launcher", status=5).stderr)
        self.assertIn("the probe said nothing", run("--mpi", "openmpi", "--", "true", status=5).stderr)


class Cluster:
    """Hosts in network namespaces behind one bridge; every link carries `rate`."""

    def __init__(self, folder, hosts, rate):
        self.folder, self.name = pathlib.Path(folder), f"rlp{os.getpid()}"
        self.spaces = [f"{self.name}-h{i}" for i in range(hosts)] + [f"{self.name}-sw"]
        switch = self.spaces[-1]
        try:
            for space in self.spaces:
                self.ip("netns", "add", space)
                self.ip("-n", space, "link", "set", "lo", "up")
            self.ip("-n", switch, "link", "add", "br0", "type", "bridge")
            self.ip("-n", switch, "link", "set", "br0", "up")
            for i in range(hosts):
                space = self.spaces[i]
                self.ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", f"v{i}", "netns", switch)
                self.ip("-n", switch, "link", "set", f"v{i}", "master", "br0", "up")
                self.ip("-n", space, "addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0")
                self.ip("-n", space, "link", "set", "eth0", "up")
                for where, device in ((space, "eth0"), (switch, f"v{i}")):
                    self.do("tc", "-n", where, "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "64k", "latency", "50ms")
        except subprocess.CalledProcessError:
            self.down()
            raise
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"10.77.0.{i + 1} h{i}\n" for i in range(hosts)))
        (self.folder / "nsswitch").write_text("hosts: files\npasswd: files\ngroup: files\n")
        self.on = self.folder / "on"
        self.on.write_text(f"""#!/bin/sh
host=$1; shift
exec ip netns exec {self.name}-$host unshare --uts --ipc --mount sh -c '
hostname "$0"; mount -t tmpfs tmpfs /dev/shm; mount --bind {self.folder}/hosts /etc/hosts; mount --bind {self.folder}/nsswitch /etc/nsswitch.conf
exec sh -c "$*"' "$host" "$@"
""")
        self.on.chmod(0o755)

    @staticmethod
    def do(*words):
        subprocess.run(words, check=True, capture_output=True)

    def ip(self, *words):
        self.do("ip", *words)

    def down(self):
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def launcher(self, hosts, slots, order=None):
        """mpirun inside the first host; ranks in the order of the list of hosts."""
        names = order or [f"h{i}" for i in range(hosts) for _ in range(slots)]
        (self.folder / "machines").write_text("".join(f"{name}\n" for name in names))
        words = f"""mpirun.openmpi --allow-run-as-root -np {len(names)} --hostfile {self.folder}/machines --map-by seq --bind-to none
            --mca plm_rsh_agent {self.on} --mca btl tcp,self,vader --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0
            --mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1 --mca hwloc_base_binding_policy none --oversubscribe"""
        return [str(self.on), names[0], *words.split()]


def can_build_clusters():
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None or shutil.which(OPEN_MPI[0]) is None:
        return False
    try:
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster(folder, 2, "400mbit")
            works = subprocess.run([cluster.on, "h0", "true"], capture_output=True, check=False).returncode == 0
            cluster.down()
            return works
    except (subprocess.CalledProcessError, OSError):
        return False


class VirtualCluster(unittest.TestCase):
    def setUp(self):
        if not can_build_clusters():
            self.skipTest("namespaces of one's own need root")

    def plain_gap(self, cluster, folder, pair):
        words = cluster.launcher(0, 0, order=pair) + [f"{folder}/pingpong"]
        said = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
        return float(said.split("gap ")[1].split()[0])

    def test_finds_the_hosts_and_what_links_carry(self):
        hosts, slots = 4, 4
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            pathlib.Path(folder, "pingpong.c").write_text(PING_PONG)
            subprocess.run(["mpicc.openmpi", "-O2", "-o", f"{folder}/pingpong", f"{folder}/pingpong.c"], check=True)
            cluster = Cluster(folder, hosts, "400mbit")
            try:
                # Ranks dealt in turn: neighbours in number are not neighbours.
                order = [f"h{rank % hosts}" for rank in range(hosts * slots)]
                expected = [tuple(range(host, hosts * slots, hosts)) for host in range(hosts)]
                # While others keep both cores busy, everybody is equally far from everybody: three chances.
                for _ in range(3):
                    began = time.monotonic()
                    said = json.loads(run("--json", "--blind", "--seconds", "4", "--alone", "12", "--mpi", "openmpi", "--", *cluster.launcher(hosts, slots, order)).stdout)
                    print(f"probe took {time.monotonic() - began:.1f} s: {said['measured']}", file=sys.stderr)
                    groups = sorted(map(tuple, said["groups"]))
                    if groups == expected:
                        break
                self.assertEqual(groups, expected)
                gaps = {level["kind"]: level["inverse_bandwidth"] for level in said["measured"]}
                far = self.plain_gap(cluster, folder, ["h0", "h1"])
                near = self.plain_gap(cluster, folder, ["h2", "h2"])
                print(f"plain: near {near} far {far} ratio {far / near}, probe: {gaps} ratio {gaps['node'] / gaps['core']}", file=sys.stderr)
                # 400 Mbit/s are 20 ns a byte. Copies on two cores that all ranks and other tests share are not stable.
                self.assertLess(abs(gaps["node"] / 20 - 1), 0.25)
                self.assertGreater(gaps["node"] / gaps["core"], 2)
            finally:
                cluster.down()


if __name__ == "__main__":
    if not list(PROGRAM.parent.parent.glob("lib/rankloom/rankloom-probe-*")):
        sys.exit(77)
    unittest.main()
