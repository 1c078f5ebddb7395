#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that tell about themselves through real launchers: Open MPI, MPICH, and a stand-in for ssh."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
OPEN_MPI = ["mpirun.openmpi", "--oversubscribe", "--tag-output"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
MPICH = ["mpiexec.mpich", "-prepend-rank"]


def run(*words, status=0):
    done = subprocess.run([PROGRAM, "topo", "discover", *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Launchers(unittest.TestCase):
    def test_every_launcher_tells_the_same(self):
        here = json.loads(run("--json").stdout)
        for launcher in (OPEN_MPI, MPICH):
            if shutil.which(launcher[0]) is None:
                continue
            with self.subTest(launcher=launcher[0]), tempfile.TemporaryDirectory() as folder:
                said = json.loads(run("--json", "-o", f"{folder}/m.json", "--", *launcher, "-n", "4").stdout)
                self.assertEqual([said["nodes"], said["cores"], said["pus"]], [1, here["cores"], here["pus"]])
                machine = json.loads(pathlib.Path(f"{folder}/m.json").read_text())["machine"]
                self.assertEqual(machine["children"][0]["name"], socket.gethostname())

    def test_a_network_keeps_the_hosts_that_answered(self):
        if shutil.which(MPICH[0]) is None:
            self.skipTest("no MPICH")
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder, "topology.conf")
            conf.write_text(f"SwitchName=a Nodes={socket.gethostname()},other\nSwitchName=b Nodes=third\nSwitchName=t Switches=a,b\n")
            said = json.loads(run("--json", "--network", str(conf), "--", *MPICH, "-n", "2").stdout)
            self.assertEqual(said["nodes"], 1)

    def test_hosts_are_asked_one_by_one(self):
        with tempfile.TemporaryDirectory() as folder:
            # Says the host's name where gethostname would: the last word of the report's host is ours to choose.
            rsh = pathlib.Path(folder, "rsh")
            rsh.write_text("#!/bin/sh\nhost=$1; shift\nexec unshare --uts sh -c \"hostname $host; $*\"\n")
            rsh.chmod(0o755)
            if subprocess.run([rsh, "probe", "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("no namespaces here")
            said = json.loads(run("--json", "--rsh", str(rsh), "--hosts", "n[1-3]").stdout)
            self.assertEqual(said["nodes"], 3)
            here = json.loads(run("--json").stdout)
            self.assertEqual(said["pus"], 3 * here["pus"])

    def test_failures_say_what_to_do(self):
        self.assertIn("could not be started", run("--", "/no/such/launcher", status=5).stderr)
        self.assertIn("no host reported itself", run("--", "true", status=5).stderr)
        self.assertIn("ended with status 1", run("--", "false", status=5).stderr)
        self.assertIn("no Slurm allocation", run("--slurm", status=5).stderr)

    def test_an_allocation_of_slurm_is_kept(self):
        env = dict(os.environ, SLURM_JOB_NODELIST="n[1-3]", SLURM_TASKS_PER_NODE="4(x2),2")
        done = subprocess.run([PROGRAM, "topo", "discover", "--slurm", "--json"], capture_output=True, text=True, env=env, check=True)
        self.assertEqual(json.loads(done.stdout)["pus"], 10)


if __name__ == "__main__":
    if "built without" in subprocess.run([PROGRAM, "topo", "discover"], capture_output=True, text=True, check=False).stderr:
        sys.exit(77)
    unittest.main()
