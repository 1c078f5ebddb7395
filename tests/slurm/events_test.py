#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rankloom's node selection when more happens in a Slurm than jobs that start and end: preemption, reservations, nodes that fail, a new
configuration, several waiting jobs. The machine is a 4 x 4 mesh.

    events_test.py PROGRAM [CLASS]
"""
import sys
import unittest

import select_test
from select_test import Cluster, is_rectangle

SIDE = 4


class Mesh(Cluster):
    MACHINE = f"mesh:{SIDE}x{SIDE}"

    def state_of(self, job):
        return self.jobs().get(job, ("GONE",))[0]

    def started(self, size, *options, **limits):
        """Submits a job, waits until it runs, and returns its number and its nodes, which are a rectangle."""
        job = self.queue(size, *options, **limits)
        nodes = self.wait_for_start(job)
        self.assertEqual(len(nodes), size)
        self.assertTrue(is_rectangle(nodes, SIDE), nodes)
        return job, nodes


class Preemption(Mesh):
    """Jobs of the partition `urgent` preempt those of the default partition, which return to the queue."""

    OPTIONS = ("--conf", "PreemptType=preempt/partition_prio", "--conf", "PreemptMode=REQUEUE",
               "--conf", "PartitionName=urgent Nodes=ALL OverSubscribe=EXCLUSIVE PriorityTier=10 State=UP")

    def check_preempted(self, quarters, nodes, count):
        """Exactly the jobs whose nodes were taken no longer run."""
        preempted = {job for job, old in quarters.items() if set(old) & set(nodes)}
        self.assertEqual(len(preempted), count)
        self.assertEqual({job for job in quarters if self.state_of(job) == "RUNNING"}, set(quarters) - preempted)
        self.check_contention()

    def test_takes_the_nodes_of_as_few_jobs_as_necessary(self):
        quarters = dict(self.started(4) for _ in range(4))
        _, nodes = self.started(4, "-p", "urgent")
        self.check_preempted(quarters, nodes, 1)

    def test_takes_the_nodes_of_several_jobs(self):
        quarters = dict(self.started(4) for _ in range(4))
        _, nodes = self.started(8, "-p", "urgent")
        self.check_preempted(quarters, nodes, 2)

    def test_does_not_happen_if_nodes_are_free(self):
        quarters = dict(self.started(4) for _ in range(3))
        _, nodes = self.started(4, "-p", "urgent")
        self.check_preempted(quarters, nodes, 0)

    def test_spares_jobs_of_the_same_priority(self):
        urgent = dict(self.started(4, "-p", "urgent") for _ in range(4))
        waiting = self.queue(4, "-p", "urgent")
        self.wait_for_backfill(2)
        self.assertEqual(self.state_of(waiting), "PENDING")
        self.check_preempted(urgent, [], 0)


class Events(Mesh):
    def test_a_reservation_keeps_its_nodes(self):
        self.slurm("scontrol", "create", "reservation", "ReservationName=kept", "StartTime=now", "Duration=60", "Users=root", "Nodes=n[1-2,5-6]")
        self.addCleanup(self.slurm, "scontrol", "delete", "ReservationName=kept", status=None)
        self.addCleanup(self.slurm, "scancel", "-u", "root", status=None)
        for _ in range(2):
            _, nodes = self.started(4)
            self.assertFalse({0, 1, 4, 5} & set(nodes))
        _, nodes = self.started(4, "--reservation=kept")
        self.assertEqual(nodes, [0, 1, 4, 5])
        self.check_contention()

    def test_a_node_that_is_down_is_not_used(self):
        kept, before = self.started(4)
        self.slurm("scontrol", "update", "NodeName=n11", "State=DOWN", "Reason=test")
        self.addCleanup(self.resume, 10)
        others = dict(self.started(2) for _ in range(3))
        self.assertFalse(any(10 in nodes for nodes in others.values()))
        self.assertEqual(self.nodes_of(kept), before)
        self.check_contention()

    def test_a_new_configuration_does_not_affect_running_jobs(self):
        running = dict(self.started(size) for size in (4, 6))
        before = len(self.log())
        self.slurm("scontrol", "reconfigure")
        self.wait(lambda: "node selection: 16 nodes" in self.log()[before:], "the plugin has read its configuration")
        self.assertEqual({job: self.nodes_of(job) for job in running}, running)
        self.started(4)
        self.check_contention()

    def test_several_waiting_jobs_start_one_after_another(self):
        first, _ = self.started(8, minutes=10)
        whole = self.queue(16, minutes=10)
        nine = self.queue(9, minutes=10)
        self.wait_for_backfill(1)
        short, _ = self.started(4, minutes=1)  # ends before the job that needs the whole machine can start
        long = self.queue(4, minutes=600)
        self.wait_for_backfill(2)
        self.assertEqual([self.state_of(job) for job in (whole, nine, long)], ["PENDING"] * 3)
        self.cancel(short)
        self.wait_for_backfill(2)
        self.assertEqual(self.state_of(long), "PENDING", "it would delay the job that needs the whole machine")
        self.cancel(first)
        self.assertEqual(len(self.wait_for_start(whole)), 16)
        self.cancel(whole)
        self.assertTrue(is_rectangle(self.wait_for_start(nine), SIDE))
        self.wait_for_start(long)
        self.check_contention()


if __name__ == "__main__":
    reason = select_test.missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(select_test.SKIP)
    unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[2:] or ["Preemption", "Events"])])
