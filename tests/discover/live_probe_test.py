#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The probe with real launchers, and on a small cluster of network namespaces with limited bandwidth. The probe must detect the
hosts from the times only and measure the bandwidth of the links. A plain ping-pong of two ranks serves as the reference.

    live_probe_test.py RANKLOOM [CLASS]
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402

KEEP_LOADED = SUPPORT / "keep_loaded.c"
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
AS_ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
OPEN_MPI = ["mpirun.openmpi", *installed_mpi.open_mpi().oversubscribe, "--bind-to", "none"] + AS_ROOT
MPICH = ["mpiexec.mpich"]
PING_PONG = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, repetitions = 20;
  static char data[1 << 20];
  double best = 1e9;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < repetitions; ++i) {
    double start = MPI_Wtime();
    if (rank == 0) MPI_Send(data, sizeof data, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(data, sizeof data, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(data, sizeof data, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    double took = MPI_Wtime() - start;
    if (i > 0 && took < best) best = took;
  }
  if (rank == 0) printf("inverse_bandwidth %g\n", best / 2 / sizeof data * 1e9);
  MPI_Finalize();
  return 0;
}
"""


def run(*arguments, status=0, timeout=200):
    done = subprocess.run([PROGRAM, "topo", "probe", *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Launchers(unittest.TestCase):
    def test_each_mpi_measures_this_host(self):
        for launcher, ranks in ((OPEN_MPI, 4), (MPICH, 3)):
            if shutil.which(launcher[0]) is None:
                continue
            with self.subTest(launcher=launcher[0]), tempfile.TemporaryDirectory() as directory:
                reply = json.loads(run("--json", "--seconds", "1", "--alone", "4", "--keep", f"{directory}/table", "-o", f"{directory}/m.json", "--", *launcher, "-n", str(ranks)).stdout)
                self.assertEqual(reply["ranks"], ranks)
                self.assertEqual([reply["nodes"], reply["pus"]], [1, ranks])
                self.assertEqual(sorted(sum(reply["groups"], [])), list(range(ranks)))
                together = sum(level["together"]["pairs"] for level in reply["measured"])
                self.assertEqual(together, ranks * (ranks - 1) // 2)
                self.assertTrue(all(0 < level["inverse_bandwidth"] < 100 for level in reply["measured"]), reply)
                again = json.loads(run("--json", "--table", f"{directory}/table").stdout)
                self.assertEqual(again["measured"], reply["measured"])
                self.assertEqual(again["widths"], reply["widths"])
                self.check_bus(reply, pairs=ranks // 2)
                subprocess.run([PROGRAM, "topo", "check", f"{directory}/m.json"], check=True, capture_output=True)

    def check_bus(self, reply, pairs):
        """A width needs one pair alone and several pairs at once; two ranks are only one pair."""
        bus = {width["kind"]: width for width in reply["widths"]}["bus"]
        if pairs < 2:
            self.assertEqual([bus["width"], bus["origin"]], [None, "assumed"])
        else:
            self.assertEqual(bus["origin"], "measured")
            self.assertTrue(1 <= bus["width"] <= pairs, bus)

    def test_rounds_can_be_sampled(self):
        if shutil.which(OPEN_MPI[0]) is None:
            self.skipTest("no Open MPI")
        reply = json.loads(run("--json", "--seconds", "1", "--rounds", "2", "--alone", "0", "--", *OPEN_MPI, "-n", "6").stdout)
        self.assertEqual(sum(level["together"]["pairs"] for level in reply["measured"]), 2 * 3)

    def test_failures_name_a_remedy(self):
        self.assertIn("the launcher is missing", run(status=2).stderr)
        self.assertIn("was not recognised", run("--", "true", status=5).stderr)
        self.assertIn("cannot be started", run("--mpi", "openmpi", "--", "/no/such/launcher", status=5).stderr)
        self.assertIn("the probe printed no measurements", run("--mpi", "openmpi", "--", "true", status=5).stderr)


class Cluster:
    """Hosts in network namespaces connected by one bridge; every link has the bandwidth `rate`."""

    def __init__(self, directory, hosts, rate):
        self.directory, self.name = pathlib.Path(directory), f"rlp{os.getpid()}"
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
        (self.directory / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"10.77.0.{i + 1} h{i}\n" for i in range(hosts)))
        (self.directory / "nsswitch").write_text("hosts: files\npasswd: files\ngroup: files\n")
        self.on = self.directory / "on"
        self.on.write_text(f"""#!/bin/sh
host=$1; shift
exec ip netns exec {self.name}-$host unshare --uts --ipc --mount sh -c '
hostname "$0"; mount -t tmpfs tmpfs /dev/shm; mount --bind {self.directory}/hosts /etc/hosts; mount --bind {self.directory}/nsswitch /etc/nsswitch.conf
exec sh -c "$*"' "$host" "$@"
""")
        self.on.chmod(0o755)

    @staticmethod
    def do(*arguments):
        subprocess.run(arguments, check=True, capture_output=True)

    def ip(self, *arguments):
        self.do("ip", *arguments)

    def down(self):
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def launcher(self, hosts, slots, order=None):
        """mpirun on the first host; ranks in the order of the hosts."""
        names = order or [f"h{i}" for i in range(hosts) for _ in range(slots)]
        (self.directory / "machines").write_text("".join(f"{name}\n" for name in names))
        arguments = f"""mpirun.openmpi --allow-run-as-root -np {len(names)} --hostfile {self.directory}/machines --map-by seq --bind-to none
            --mca btl_tcp_if_include eth0 --mca mpi_yield_when_idle 1"""
        if installed_mpi.open_mpi().is_prrte:
            arguments += f" --prtemca plm_ssh_agent {self.on} --mca btl tcp,self,sm"
        else:
            arguments += f""" --mca plm_rsh_agent {self.on} --mca btl tcp,self,vader --mca oob_tcp_if_include eth0
                --mca btl_vader_single_copy_mechanism none --mca hwloc_base_binding_policy none --oversubscribe"""
        return [str(self.on), names[0], *arguments.split()]


def can_build_clusters():
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None or shutil.which(OPEN_MPI[0]) is None:
        return False
    try:
        with tempfile.TemporaryDirectory() as directory:
            cluster = Cluster(directory, 2, "400mbit")
            works = subprocess.run([cluster.on, "h0", "true"], capture_output=True, check=False).returncode == 0
            cluster.down()
            return works
    except (subprocess.CalledProcessError, OSError):
        return False


class VirtualCluster(unittest.TestCase):
    def setUp(self):
        if not can_build_clusters():
            self.skipTest("network namespaces need root")

    def plain_inverse_bandwidth(self, cluster, directory, pair):
        arguments = cluster.launcher(0, 0, order=pair) + [f"{directory}/pingpong"]
        reply = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True).stdout
        return float(reply.split("inverse_bandwidth ")[1].split()[0])

    def test_detects_hosts_and_the_bandwidth_of_links(self):
        hosts, slots = 4, 4
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)
            pathlib.Path(directory, "pingpong.c").write_text(PING_PONG)
            subprocess.run(["mpicc.openmpi", "-O2", "-o", f"{directory}/pingpong", f"{directory}/pingpong.c", KEEP_LOADED], check=True)
            cluster = Cluster(directory, hosts, "400mbit")
            try:
                # Round-robin: consecutive ranks are on different hosts.
                order = [f"h{rank % hosts}" for rank in range(hosts * slots)]
                expected = [tuple(range(host, hosts * slots, hosts)) for host in range(hosts)]
                reply = json.loads(run("--json", "--blind", "--seconds", "4", "--alone", "12", "--mpi", "openmpi", "--", *cluster.launcher(hosts, slots, order)).stdout)
                print(f"measured: {reply['measured']}", file=sys.stderr)
                # While other processes occupy both cores, all pairs are equally slow: the groups are those of the times then.
                self.assertEqual(sorted(map(tuple, reply["groups"])), expected)
                measured = {level["kind"]: level["inverse_bandwidth"] for level in reply["measured"]}
                between_hosts = self.plain_inverse_bandwidth(cluster, directory, ["h0", "h1"])
                within_host = self.plain_inverse_bandwidth(cluster, directory, ["h2", "h2"])
                print(f"plain: within_host {within_host} between_hosts {between_hosts} ratio {between_hosts / within_host}, probe: {measured} ratio {measured['node'] / measured['core']}", file=sys.stderr)
                # 400 Mbit/s are 20 ns per byte of payload and headers; bursts of up to 64 kB pass faster than that.
                self.assertLess(abs(measured["node"] / 20 - 1), 0.25)
                # About 90 on a quiet machine; with other load, the 16 ranks wait for cores longer than a copy takes.
                self.assertGreater(measured["node"] / measured["core"], 2)
                # All pairs between two hosts share one link: its width is 1, up to bursts.
                widths = {width["kind"]: width for width in reply["widths"]}
                self.assertEqual(widths["node"]["origin"], "measured")
                self.assertLess(widths["node"]["width"], 1.5)
            finally:
                cluster.down()


if __name__ == "__main__":
    if not list(PROGRAM.parent.parent.glob("lib/rankloom/rankloom-probe-*")):
        sys.exit(77)
    unittest.main()
