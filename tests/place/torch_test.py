#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a training job of torch on a virtual cluster with two switches, in every way in which rankloom emits an order of ranks,
and checks where every rank runs and how many bytes cross the uplinks of the switches.

    torch_test.py PROGRAM [CLASS]
"""

import json
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
import installed_torch  # noqa: E402
from torch_lab import PORT, TRAINING, TorchLab  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SKIPPED = 77
ARGUMENTS = ["--tensor-model-parallel-size", "2", "--pipeline-model-parallel-size", "2", "--num-layers", "4", "--hidden-size", "128", "--num-attention-heads", "4",
             "--vocab-size", "512", "--seq-length", "128", "--micro-batch-size", "1", "--global-batch-size", "4", "--untie-embeddings-and-output-weights"]

# Debian builds torch without libuv, which torchrun and its processes require for their store.
WITHOUT_LIBUV = """#!{python}
import functools, importlib, runpy, sys
for name in ("elastic.rendezvous.static_tcp_rendezvous", "rendezvous"):
    module = importlib.import_module("torch.distributed." + name)
    module.TCPStore = functools.partial(module.TCPStore, use_libuv=False)
"""
TORCHRUN = WITHOUT_LIBUV + "from torch.distributed.run import main\nmain()\n"
PROCESS = WITHOUT_LIBUV + "sys.argv.pop(0)\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"


def missing_requirements():
    missing = [tool for tool in ("mpirun.openmpi", "ip", "tc", "nsenter") if not shutil.which(tool)]
    if os.geteuid() != 0:
        missing.append("root")
    elif subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        missing.append("namespaces")
    return [*missing, *filter(None, [installed_torch.missing("gloo")])]


class Orders(unittest.TestCase):
    """The list of hosts alternates between the switches, so that the ranks with the same parameters are below both."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="torch-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.lab = TorchLab(PROGRAM, cls.directory.name, hosts=4, slots=2, rate="400mbit", uplink="100mbit")
        cls.lab.up()
        cls.addClassCleanup(cls.lab.down)
        hosts = cls.lab.hosts
        cls.lab.write_mappings(ARGUMENTS, [hosts[0], hosts[2], hosts[1], hosts[3]])

    def check(self, output, mapping):
        found = dict(re.findall(r"^rank (\d+) on (\S+):", output, re.MULTILINE))
        self.assertEqual([found.get(str(rank)) for rank in range(self.lab.ranks)], self.lab.hosts_of(mapping), output)
        self.assertEqual(len(re.findall("^step 0 copy .*: loss", output, re.MULTILINE)), 2, output)

    def test_ranks_with_the_same_parameters_share_a_switch(self):
        switch_of = lambda mapping: [self.lab.hosts.index(host) // 2 for host in self.lab.hosts_of(mapping)]  # noqa: E731
        for first in (0, 4):
            self.assertEqual(len({switch_of("auto.map")[first + rank] for rank in range(4)}), 1)
            self.assertEqual(len({switch_of("list.map")[first + rank] for rank in range(4)}), 2)

    def test_fewer_bytes_cross_the_uplinks(self):
        crossed = {}
        for mapping in ("list.map", "auto.map"):
            before = self.lab.uplink_bytes()
            self.check(self.lab.run(mapping, ARGUMENTS), mapping)
            crossed[mapping] = self.lab.uplink_bytes() - before
        self.assertGreater(crossed["list.map"], 1_000_000)
        self.assertLess(crossed["auto.map"], crossed["list.map"] / 2)

    def test_verified_with_mpi(self):
        if installed_torch.missing("mpi"):
            self.skipTest(installed_torch.missing("mpi"))
        self.check(self.lab.run("auto.map", ARGUMENTS, "mpi"), "auto.map")

    def test_table_of_ranks(self):
        """One process per line of `emit --to json`."""
        self.lab.rankloom("emit", "auto.map", "-t", "lab.json", "--to", "json", "-o", "table", "--force")
        table = json.loads(pathlib.Path(self.directory.name, "table/ranks.json").read_text())
        variables = [f"MASTER_ADDR={table[0]['host']}", f"MASTER_PORT={PORT}", f"WORLD_SIZE={len(table)}"]
        processes = [self.lab.start(*self.lab.on(line["host"], "env", *variables, f"RANK={line['global_rank']}", f"LOCAL_RANK={line['local_rank']}",
                                                 sys.executable, str(TRAINING), "--backend", "gloo", *ARGUMENTS)) for line in table]
        self.check("".join([self.lab.finish(process) for process in processes]), "auto.map")

    def test_torchrun(self):
        """The script of `emit --to torchrun` on every host."""
        for name, text in (("torchrun", TORCHRUN), ("process.py", PROCESS)):
            script = pathlib.Path(self.directory.name, name)
            script.write_text(text.format(python=sys.executable))
            script.chmod(0o755)
        self.lab.rankloom("emit", "auto.map", "-t", "lab.json", "--to", "torchrun", "-o", "launch", "--force")
        variables = [f"PATH={self.directory.name}:{self.lab.environment['PATH']}", "USE_LIBUV=0", "OMP_NUM_THREADS=1"]
        processes = [self.lab.start(*self.lab.on(host, "env", *variables, "sh", "launch/torchrun.sh", "process.py", str(TRAINING), "--backend", "gloo", *ARGUMENTS)) for host in self.lab.hosts]
        self.check("".join([self.lab.finish(process) for process in processes]), "auto.map")


if __name__ == "__main__":
    lacking = missing_requirements()
    if lacking:
        print("; ".join(lacking))
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
