#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`srun --rankloom` for steps with GPUs, which are device files that nothing opens: scripts print the GPUs that they see.

    spank_gpus_test.py PROGRAM [CLASS]
"""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from spank_test import PROGRAM, InSlurm, run_tests

# Prints "rank host cpus visible-gpus local-rank gpus-of-the-step", and the number of variables of the plugin that it sees.
WHERE_WITH_GPUS = """#!/bin/sh
echo "$SLURM_PROCID $(hostname) $(sed -n 's/^Cpus_allowed_list:\\t//p' /proc/self/status) ${CUDA_VISIBLE_DEVICES:-none} $SLURM_LOCALID ${SLURM_STEP_GPUS:-none} $(env | grep -c SLURM_RANKLOOM)"
"""


class Gpus(InSlurm):
    """Two nodes with as many GPUs as processors. As on nodes with MI250X, GPUs are not numbered in the order of NUMA nodes: the last
    GPU is near the first processor."""

    CPUS = 4
    CONFINED = False  # programs number only the GPUs of their step
    SCRIPTS = {"where_with_gpus": WHERE_WITH_GPUS}

    @classmethod
    def write_machine(cls, path, first_gpu=0):
        parts = [{"kind": "numa", "devices": [{"kind": "gpu", "number": first_gpu + cls.CPUS - 1 - i}], "children": [{"kind": "core"}]} for i in range(cls.CPUS)]
        nodes = [{"kind": "node", "between": 1, "repeat": 2, "children": parts}]
        path.write_text(json.dumps({"rankloom": "topology", "version": 1, "machine": {"kind": "machine", "between": 10, "children": nodes}}))

    @classmethod
    def machine(cls):
        cls.write_machine(cls.directory / "machine.json")
        return "machine.json"

    def setUp(self):
        self.ranks = 2 * self.CPUS
        self.run_command(PROGRAM, "gen", "ring", "--ranks", self.ranks, "--shuffle", "-o", "ring.prof")

    def in_job(self, *command, options=(), **run):
        gpus = options or (f"--gres=gpu:{self.CPUS}",)
        return self.run_command("salloc", "-Q", "-w", ",".join(self.nodes), "-n", self.ranks, *gpus, *command, **run)

    def rows(self, done):
        """By rank: host, processing units, visible GPUs, the number of the rank on its host, GPUs of the step."""
        rows = sorted((line.split() for line in done.stdout.splitlines()), key=lambda row: int(row[0]))
        self.assertEqual([int(row[0]) for row in rows], list(range(self.ranks)))
        self.assertEqual({row[6] for row in rows}, {"0"}, "variables of the plugin are visible")
        return [(row[1], row[2], row[3].split(","), int(row[4]), row[5].split(",")) for row in rows]

    def unit_near(self, gpu):
        return self.binding(self.CPUS - 1 - gpu)[1]

    def placement(self, *srun):
        """The host and the GPUs of each rank as `rankloom slurm place` computes them."""
        network = ("--network", self.lab / "topology.json", "--nodes", ",".join(self.nodes))
        placement = json.loads(self.in_job(PROGRAM, "slurm", "place", "--json", *network, "--", "srun", *srun, "./app").stdout)
        return [(binding["host"], binding["gpus"]) for binding in placement["bindings"]]

    def computed(self, *srun):
        return [(host, gpus[0]) for host, gpus in self.placement(*srun)]

    def test_ranks_have_a_gpu_and_the_processing_units_near_it(self):
        for request in ("--gpus-per-task=1", "--ntasks-per-gpu=1"):
            with self.subTest(request=request):
                done = self.in_job("srun", request, "--rankloom=ring.prof", "./where_with_gpus")
                rows = self.rows(done)
                self.assertEqual(done.stderr, "")
                self.assertEqual([(host, [str(gpu)], self.unit_near(gpu)) for host, gpu in self.computed(request, "--rankloom=ring.prof")], [(host, visible, cpus) for host, cpus, visible, _, _ in rows])
                for node in self.nodes:
                    self.assertEqual(sorted(visible[0] for host, _, visible, _, _ in rows if host == node), [str(gpu) for gpu in range(self.CPUS)])
                self.assertTrue(all(visible == step for _, _, visible, _, step in rows))

    def test_ranks_have_several(self):
        self.ranks = self.CPUS  # half as many, each with two processors and two GPUs
        self.run_command(PROGRAM, "gen", "ring", "--ranks", self.ranks, "--shuffle", "-o", "wide.prof")
        step = ("-c", "2", "--gpus-per-task=2", "--rankloom=wide.prof")
        done = self.in_job("srun", *step, "./where_with_gpus")
        self.assertEqual(done.stderr, "")
        self.assertEqual([(host, visible) for host, _, visible, _, _ in self.rows(done)], [(host, [str(gpu) for gpu in gpus]) for host, gpus in self.placement(*step)])
        self.assertEqual(sorted(sum((gpus for _, gpus in self.placement(*step)), [])), sorted(2 * list(range(self.CPUS))))

    def test_of_a_job_are_those_of_its_step(self):
        done = self.in_job("srun", "--rankloom=ring.prof", "./where_with_gpus", options=("--gpus-per-task=1",))
        self.assertEqual([(host, visible, cpus) for host, cpus, visible, _, _ in self.rows(done)], [(host, [str(gpu)], self.unit_near(gpu)) for host, gpu in self.computed("--gpus-per-task=1", "--rankloom=ring.prof")])

    def test_a_mapping_chooses_them(self):
        cores = self.shuffled(self.ranks, 5)
        self.write("gpus.map", "# --gpus-per-rank 1\n" + "".join(f"{core}\n" for core in cores))
        done = self.in_job("srun", "--gpus-per-task=1", "--rankloom=gpus.map,topology=machine.json", "./where_with_gpus")
        self.assertEqual([(host, cpus, visible) for host, cpus, visible, _, _ in self.rows(done)], [(*self.binding(core), [str(self.CPUS - 1 - core % self.CPUS)]) for core in cores])

    def test_that_all_ranks_see_are_in_the_order_of_ranks(self):
        for request in (f"--gpus-per-node={self.CPUS}", f"--gres=gpu:{self.CPUS}", f"--gpus={self.ranks}"):
            with self.subTest(request=request):
                rows = self.rows(self.in_job("srun", request, "--rankloom=ring.prof", "./where_with_gpus"))
                computed = self.computed(request, "--rankloom=ring.prof")
                self.assertEqual([(host, int(visible[local]), cpus) for host, cpus, visible, local, _ in rows], [(host, gpu, self.unit_near(gpu)) for host, gpu in computed])
                for node in self.nodes:
                    orders = {tuple(visible) for host, _, visible, _, _ in rows if host == node}
                    self.assertEqual([sorted(order) for order in orders], [[str(gpu) for gpu in range(self.CPUS)]])

    def test_are_those_of_slurm_if_the_step_lacks_those_of_the_mapping(self):
        machine = self.lab / "topology.json"
        self.addCleanup(machine.write_text, machine.read_text())
        self.write_machine(machine, first_gpu=10)
        done = self.in_job("srun", "--gpus-per-task=1", "--rankloom=ring.prof", "./where_with_gpus")
        self.assertEqual([visible for _, _, visible, _, _ in self.rows(done)], [[str(local)] for _, _, _, local, _ in self.rows(done)])
        self.assertEqual(done.stderr.count("the step does not have all GPUs and processing units of the mapping"), 2, done.stderr)

    def test_of_a_part_of_a_node_have_the_names_of_the_step(self):
        """While another step has one GPU and the first processor of the job."""
        os.mkfifo(self.directory / "wake")
        self.addCleanup((self.directory / "wake").unlink)
        step = "srun -n 1 -c 1 --exact --gpus-per-task=1"
        self.write("steps.sh", f"""{step} sh -c 'echo $SLURM_STEP_GPUS > started; cat wake > /dev/null' &
while [ ! -s started ]; do sleep 0.1; done
first=$(cat started)
second=$({step} sh -c 'echo $SLURM_STEP_GPUS')
echo $first $second
echo 0 {self.nodes[0]} 1 gpus $first > first
echo 0 {self.nodes[0]} 1 gpus $second > second
{step} --rankloom=second ./where_with_gpus
{step} --rankloom=first ./where_with_gpus
echo > wake
wait
""")
        self.addCleanup((self.directory / "started").unlink)
        done = self.run_command("salloc", "-Q", "-w", self.nodes[0], "-n", self.CPUS, "--gres=gpu:2", "sh", "steps.sh")
        (first, second), *rows = [line.split() for line in done.stdout.splitlines()]
        self.assertNotEqual(first, second)
        visible = "0" if self.CONFINED else second
        self.assertEqual(rows[0], ["0", self.nodes[0], str(self.units[1]), visible, "0", second, "0"], done.stderr)
        self.assertEqual([rows[1][3], rows[1][5]], [visible, second], f"not the GPU of the step; another step has {first}, {done.stderr}")
        self.assertEqual(done.stderr.count("the step does not have all GPUs and processing units of the mapping"), 1, done.stderr)

    def test_are_those_of_slurm_if_the_user_binds_them(self):
        plain = self.in_job("srun", "--gpus-per-task=1", "--gpu-bind=per_task:1", "./where_with_gpus")
        done = self.in_job("srun", "--gpus-per-task=1", "--gpu-bind=per_task:1", "--rankloom=ring.prof", "./where_with_gpus")
        self.assertEqual(done.stderr, "")
        on_nodes = [sorted((host, local, visible) for host, _, visible, local, _ in self.rows(each)) for each in (plain, done)]
        self.assertEqual(on_nodes[0], on_nodes[1])
        self.assertEqual([host for host, *_ in self.rows(done)], [host for host, _ in self.computed("--gpus-per-task=1", "--rankloom=ring.prof")])


class BoundGpus(Gpus):
    """The same with Slurm's own binding, on nodes with the real number of processors."""

    CPUS = 2
    OPTIONS = ("--conf", "TaskPlugin=task/affinity")

    def setUp(self):
        if len(self.units) != self.CPUS:
            self.skipTest("task/affinity needs the real number of processing units")
        super().setUp()


class ConfinedGpus(BoundGpus):
    """The same with cgroups: a program can open only the GPUs of its step, and only its own ones if Slurm has chosen them."""

    CONFINED = True
    OPTIONS = ("--conf", "TaskPlugin=task/affinity,task/cgroup")
    CGROUPS = pathlib.Path("/sys/fs/cgroup")

    @classmethod
    def setUpClass(cls):
        if not os.access(cls.CGROUPS / "devices" / "devices.deny", os.W_OK):
            raise unittest.SkipTest("needs cgroups of version 1 that restrict devices")
        cls.addClassCleanup(cls.remove_cgroups)  # after Slurm has ended
        super().setUpClass()
        (cls.lab / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={cls.CGROUPS}\nConstrainDevices=yes\nConstrainCores=yes\n")
        for node in cls.nodes:
            number = int((cls.lab / "spool" / f"{node}.pid").read_text())
            os.kill(number, signal.SIGTERM)
            cls.wait(lambda: not os.path.exists(f"/proc/{number}"))  # pylint: disable=cell-var-from-loop
            subprocess.run([PROGRAM, "slurm", "lab", "exec", "--name", cls.name, "--on", node, "--", "slurmd", "-f", cls.lab / "slurm.conf", "-N", node], env=cls.env, check=True)
        cls.wait(lambda: subprocess.run(["srun", "-N", str(len(cls.nodes)), "true"], env=cls.env, capture_output=True, timeout=60, check=False).returncode == 0)

    @staticmethod
    def wait(ready):
        end_of_wait = time.monotonic() + 60
        while not ready():
            assert time.monotonic() < end_of_wait
            time.sleep(0.1)

    @classmethod
    def remove_cgroups(cls):
        for node in cls.nodes:
            for directory in cls.CGROUPS.glob(f"*/slurm_{node}"):
                for path, _, _ in os.walk(directory, topdown=False):
                    os.rmdir(path)

    def test_can_be_opened_by_all_ranks_of_the_step(self):
        """The device files have no driver, so the system answers that the device does not exist, or refuses before that."""
        self.write("open.sh", f"for gpu in {self.lab}/gpu0 {self.lab}/gpu1; do cat $gpu 2>&1; done | grep -c 'No such device'\n")
        for options, opened in (((), "1"), (("--rankloom=ring.prof",), "2")):
            done = self.in_job("srun", "--gpus-per-task=1", *options, "sh", "open.sh")
            self.assertEqual(done.stdout.split(), [opened] * self.ranks)


if __name__ == "__main__":
    run_tests()
