#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains examples/training/tiny_gpt.py with torch and MPI, records its traffic, and compares it with the traffic that
`rankloom gen llm` computes from the same arguments: the calls and the bytes of every group, and every message.

    torch_training_test.py PROGRAM TRAINING_PROGRAM [CLASS]
"""

import collections
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402
import installed_torch  # noqa: E402

PROGRAM, TRAINING = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
SKIPPED = 77
STEPS = 2  # the loss of the second one depends on the gradients of the first one
HIDDEN = 128
SIZES = ["--num-layers", "4", "--hidden-size", str(HIDDEN), "--num-attention-heads", "4", "--vocab-size", "512",
         "--seq-length", "32", "--micro-batch-size", "1", "--global-batch-size", "8"]
NUMBER = 4  # bytes of an activation, a parameter or a gradient
DEGREES = ["--tensor-model-parallel-size", "2", "--pipeline-model-parallel-size", "2"]
UNTIED = ["--untie-embeddings-and-output-weights"]
EXPERTS = ["--num-experts", "4", "--moe-router-topk", "2"]


def missing_requirements():
    missing = [tool for tool in ("mpirun.openmpi",) if not shutil.which(tool)]
    return [*missing, *filter(None, [installed_torch.missing("mpi")])]


def environment():
    return dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_mpi_yield_when_idle="1",
                **installed_mpi.open_mpi().environment)


def run(*arguments, folder=None):
    done = subprocess.run(["timeout", "-k", "5", "500", *arguments], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(arguments)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def rankloom(*arguments, folder):
    return run(str(PROGRAM), *arguments, folder=folder)


def mean_losses(output):
    """The mean over the copies of the model, one per step."""
    losses = collections.defaultdict(list)
    for step, loss in re.findall(r"step (\d+) copy \d+: loss (\S+)", output):
        losses[int(step)].append(float(loss))
    return [sum(losses[step]) / len(losses[step]) for step in sorted(losses)]


@functools.cache
def losses_of_one_rank(arguments):
    return mean_losses(run(sys.executable, str(TRAINING), *SIZES, *arguments, "--train-iters", str(STEPS)))


def bytes_sent(operation, bytes_of_blocks, members):
    """What each member of a group sends with algorithms that send no byte twice."""
    return 2 * (members - 1) / members * bytes_of_blocks if operation == "allreduce" else (members - 1) * bytes_of_blocks


def traffic(profile, folder, steps):
    """Of one step: {(ranks, operation): (calls, bytes that each rank sends)}, and the lines of messages.

    The training program has no reduce-scatter: it uses an all-to-all of the same blocks.
    """
    shown = json.loads(rankloom("show", profile, "--collectives", "none", "--top", "1000", "--json", folder=folder))
    groups = collections.defaultdict(lambda: [0, 0])
    for group in shown["collectives"]["groups"]:
        if group["bytes"] == 0:  # barriers
            continue
        ranks = tuple(group["ranks"]) or tuple(range(shown["ranks"]))
        operation = group["operation"].replace("reduce_scatter", "alltoall")
        total = groups[ranks, operation]
        total[0] += group["calls"] / steps
        total[1] += bytes_sent(operation, group["bytes"], len(ranks)) / steps
    messages = {}
    for line in rankloom("import", profile, "--to", "pairs", folder=folder).splitlines():
        if line.startswith("#"):
            continue
        source, target, size, number = line.split()[:4]
        if float(number) > 0:
            messages[int(source), int(target)] = (float(size) / steps, float(number) / steps)
    return {key: tuple(value) for key, value in groups.items()}, messages


class Comparison(unittest.TestCase):
    """`gen llm` leaves out the weights of norms. Everything else is equal, byte by byte."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="torch-")
        self.addCleanup(self.directory.cleanup)
        self.folder = self.directory.name

    def record(self, ranks, arguments):
        mpirun = ["mpirun.openmpi", *installed_mpi.open_mpi().oversubscribe, "-n", str(ranks)]
        output = rankloom("record", "--force", "-o", "recorded.prof", "--", *mpirun, sys.executable, str(TRAINING), *SIZES, *arguments, "--train-iters", str(STEPS), folder=self.folder)
        return output, *traffic("recorded.prof", self.folder, STEPS)

    def generate(self, ranks, arguments):
        command = ["gen", "llm", "--gpus", str(ranks), "--number-bytes", str(NUMBER), "--gradient-bytes", str(NUMBER)]
        rankloom(*command, "-o", "generated.prof", "--", *SIZES, *arguments, folder=self.folder)
        explained = json.loads(rankloom(*command, "--explain", "--json", "--", *SIZES, *arguments, folder=self.folder))
        return explained, *traffic("generated.prof", self.folder, 1)

    def compare(self, ranks, *arguments, norms=None, alone=()):
        """`norms`: the calls and bytes that each rank sends for the weights of norms, by the group and the operation."""
        output, recorded, recorded_messages = self.record(ranks, arguments)
        explained, generated, generated_messages = self.generate(ranks, arguments)
        self.assertEqual(mean_losses(output), [unittest.mock.ANY] * STEPS)
        for parallel, single in zip(mean_losses(output), losses_of_one_rank(alone)):
            self.assertAlmostEqual(parallel, single, delta=2e-5, msg="the ranks do not train the same model as one rank")
        self.assertEqual(recorded_messages, generated_messages)
        self.assertEqual(sorted(recorded), sorted({*generated, *(norms or {})}))
        for key, (calls, sent) in recorded.items():
            expected_calls, expected = generated.get(key, (0, 0))
            norm_calls, of_norms = (norms or {}).get(key, (0, 0))
            self.assertEqual((calls, sent), (expected_calls + norm_calls, expected + of_norms), key)
        self.assertEqual(sum(row["bytes"] for row in explained["traffic"]),
                         sum(len(ranks) * sent for (ranks, _), (_, sent) in generated.items()) + sum(size for size, _ in generated_messages.values()))
        self.check_kinds(explained, recorded, recorded_messages)
        return recorded, generated

    def check_kinds(self, explained, recorded, messages):
        """Each kind of traffic in total: within 1 %, with the norms."""
        tensor, stages, data = explained["tp"], explained["pp"], explained["dp"]
        expert = explained["ep"]

        def kind_of(members):
            same_stage = len({rank // (tensor * data) for rank in members}) == 1
            same_tensor = len({rank % tensor for rank in members}) == 1
            if not same_stage:
                return "embd"
            if not same_tensor:
                return "tp"
            copies = [rank // tensor % data for rank in members]
            if expert > 1 and len(members) == expert and copies[0] // expert == copies[-1] // expert:
                return "ep"
            return "dp" if len(members) == data else "edp"

        found = collections.Counter({"pp": sum(size for size, _ in messages.values())})
        for (members, _), (_, sent) in recorded.items():
            found[kind_of(members)] += len(members) * sent
        expected = collections.Counter()
        for row in explained["traffic"]:
            expected[row["group"]] += row["bytes"]
        self.assertEqual(sorted(+found), sorted(+expected))
        for kind, total in expected.items():
            self.assertLess(abs(found[kind] / total - 1), 0.01, kind)
        self.assertTrue(stages == 1 or found["pp"] > 0)

    # The groups of 8 ranks with tensor groups of 2, 2 stages and 2 copies.
    TENSOR = [(0, 1), (2, 3), (4, 5), (6, 7)]
    DATA = [(0, 2), (1, 3), (4, 6), (5, 7)]

    @staticmethod
    def norm_bytes(ranks):
        """Of two norms in each of two layers, and one more on the last stage."""
        return (2 * 2 + (1 if ranks[0] >= 4 else 0)) * HIDDEN * NUMBER


class Volumes(Comparison):
    def test_tensor_pipeline_and_data_parallelism(self):
        norms = {(group, "allreduce"): (0, bytes_sent("allreduce", self.norm_bytes(group), 2)) for group in self.DATA}
        recorded, generated = self.compare(8, *DEGREES, norms=norms)
        self.assertEqual({(0, 1), (4, 5), (0, 2), (4, 6), (0, 4)} - {group for group, _ in recorded}, set())
        # The comparison sees a difference: these arguments describe another job.
        _, other, _ = self.generate(8, [*DEGREES, "--sequence-parallel"])
        self.assertNotEqual(other, generated)

    def test_sequence_parallelism_and_distributed_optimizer(self):
        norms = {(group, "allreduce"): (1, bytes_sent("allreduce", self.norm_bytes(group), 2)) for group in self.TENSOR}
        for group in self.DATA:
            for operation in ("alltoall", "allgather"):
                norms[group, operation] = (0, bytes_sent(operation, self.norm_bytes(group) / 2, 2))
        for group in self.TENSOR[2:]:  # the loss has the same operation
            norms[group, "allreduce"] = (1, bytes_sent("allreduce", self.norm_bytes(group), 2))
        self.compare(8, *DEGREES, "--sequence-parallel", "--use-distributed-optimizer", norms=norms)

    def test_experts(self):
        """8 ranks with tensor groups of 2 and 4 copies, of which 2 share the experts."""
        of_norms = (2 * 4 + 1) * HIDDEN * NUMBER
        norms = {((tensor, tensor + 2, tensor + 4, tensor + 6), "allreduce"): (0, bytes_sent("allreduce", of_norms, 4)) for tensor in (0, 1)}
        for group in self.TENSOR:
            norms[group, "allreduce"] = (1, bytes_sent("allreduce", of_norms, 2))
        self.compare(8, "--tensor-model-parallel-size", "2", "--sequence-parallel", "--expert-model-parallel-size", "2", *EXPERTS, norms=norms, alone=tuple(EXPERTS))


class Sharding(Comparison):
    def test_sharded_gradients(self):
        """ZeRO 2, once per micro-batch."""
        norms = {(group, operation): (0, times * bytes_sent(operation, self.norm_bytes(group) / 2, 2)) for group in self.DATA for operation, times in (("alltoall", 4), ("allgather", 1))}
        self.compare(8, *DEGREES, *UNTIED, "--zero-stage", "2", norms=norms, alone=tuple(UNTIED))

    def test_sharded_parameters(self):
        """ZeRO 3, twice per micro-batch."""
        norms = {(group, operation): (0, times * bytes_sent(operation, self.norm_bytes(group) / 2, 2)) for group in self.DATA for operation, times in (("alltoall", 4), ("allgather", 8))}
        self.compare(8, *DEGREES, *UNTIED, "--zero-stage", "3", norms=norms, alone=tuple(UNTIED))

    def test_recomputation(self):
        norms = {(group, "allreduce"): (0, bytes_sent("allreduce", self.norm_bytes(group), 2)) for group in self.DATA}
        self.compare(8, *DEGREES, "--recompute-granularity", "full", norms=norms)


if __name__ == "__main__":
    lacking = missing_requirements()
    if lacking:
        print("; ".join(lacking))
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
