#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that report their topology through real launchers: Open MPI, MPICH, and a replacement of ssh."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import installed_mpi  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
OPEN_MPI = ["mpirun.openmpi", *installed_mpi.open_mpi().oversubscribe, *installed_mpi.open_mpi().tag_output] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
MPICH = ["mpiexec.mpich", "-prepend-rank"]


def run(*arguments, status=0):
    done = subprocess.run([PROGRAM, "topo", "discover", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Launchers(unittest.TestCase):
    def test_every_launcher_gives_the_same_machine(self):
        this_host = json.loads(run("--json").stdout)
        for launcher in (OPEN_MPI, MPICH):
            if shutil.which(launcher[0]) is None:
                continue
            with self.subTest(launcher=launcher[0]), tempfile.TemporaryDirectory() as directory:
                reply = json.loads(run("--json", "-o", f"{directory}/m.json", "--", *launcher, "-n", "4").stdout)
                self.assertEqual([reply["nodes"], reply["cores"], reply["pus"]], [1, this_host["cores"], this_host["pus"]])
                machine = json.loads(pathlib.Path(f"{directory}/m.json").read_text())["machine"]
                self.assertEqual(machine["children"][0]["name"], socket.gethostname())

    def test_a_network_keeps_the_hosts_that_reported(self):
        if shutil.which(MPICH[0]) is None:
            self.skipTest("no MPICH")
        with tempfile.TemporaryDirectory() as directory:
            conf = pathlib.Path(directory, "topology.conf")
            conf.write_text(f"SwitchName=a Nodes={socket.gethostname()},other\nSwitchName=b Nodes=third\nSwitchName=t Switches=a,b\n")
            reply = json.loads(run("--json", "--network", str(conf), "--", *MPICH, "-n", "2").stdout)
            self.assertEqual(reply["nodes"], 1)

    def test_hosts_are_queried_one_by_one(self):
        with tempfile.TemporaryDirectory() as directory:
            # Changes the host name in a UTS namespace, so that the report contains the name of the queried host.
            rsh = pathlib.Path(directory, "rsh")
            rsh.write_text("#!/bin/sh\nhost=$1; shift\nexec unshare --uts sh -c \"hostname $host; $*\"\n")
            rsh.chmod(0o755)
            if subprocess.run([rsh, "probe", "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("UTS namespaces are not available")
            reply = json.loads(run("--json", "--rsh", str(rsh), "--hosts", "n[1-3]").stdout)
            self.assertEqual(reply["nodes"], 3)
            this_host = json.loads(run("--json").stdout)
            self.assertEqual(reply["pus"], 3 * this_host["pus"])

    def test_failures_name_a_remedy(self):
        self.assertIn("cannot be started", run("--", "/no/such/launcher", status=5).stderr)
        self.assertIn("no host sent a report", run("--", "true", status=5).stderr)
        self.assertIn("it ended with exit status 1", run("--", "false", status=5).stderr)
        self.assertIn("not inside a Slurm allocation", run("--slurm", status=5).stderr)

    def test_a_slurm_allocation_limits_the_hosts(self):
        env = dict(os.environ, SLURM_JOB_NODELIST="n[1-3]", SLURM_TASKS_PER_NODE="4(x2),2")
        done = subprocess.run([PROGRAM, "topo", "discover", "--slurm", "--json"], capture_output=True, text=True, env=env, check=True)
        self.assertEqual(json.loads(done.stdout)["pus"], 10)


if __name__ == "__main__":
    if "built without" in subprocess.run([PROGRAM, "topo", "discover"], capture_output=True, text=True, check=False).stderr:
        sys.exit(77)
    unittest.main()
