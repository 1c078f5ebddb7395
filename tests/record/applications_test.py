#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real applications of Debian packages (hpcc, lammps, openfoam), and a run with 256 ranks."""

import pathlib
import shutil
import statistics

from recording import RecordingTest, WORLD, main
from comparison_test import pairs_of

INPUTS = pathlib.Path(__file__).resolve().parent / "applications"


class Applications(RecordingTest):
    def need(self, *programs):
        missing = [program for program in programs if shutil.which(program) is None]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")

    def monitored(self, ranks, *words):
        """The traffic that Open MPI's own monitoring counts."""
        options = {"enable": "2", "enable_output": "3", "filename": f"{self.directory}/monitored"}
        flags = [word for key, value in options.items() for word in ("--mca", f"pml_monitoring_{key}", value)]
        done = self.run_command([*self.mpi.launcher, *flags, "-n", str(ranks), *words], timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return pairs_of(self.output_of("import", "--from", "monitoring", "monitored", "--to", "pairs"))

    def recorded(self, ranks, *words, environment=None):
        profile = self.record_command(self.command(ranks, *words), environment=environment, timeout=900, status=0)
        self.assertIsNotNone(profile, self.done.stderr)
        self.assertEqual(profile.ranks, ranks)
        self.assertNotIn("missing", self.done.stderr)
        self.assertIn(f"{ranks} ranks", self.output_of("show", "out.prof"))
        return profile

    def test_hpcc_on_32_ranks(self):
        self.need("hpcc")
        shutil.copy(INPUTS / "hpccinf.txt", self.directory)
        profile = self.recorded(32, "hpcc")
        self.assertIn("Success=1", (self.directory / "hpccoutf.txt").read_text())
        self.assertGreater(len({pair for pair in profile.pairs if pair[0] != pair[1]}), 31 * 2)
        self.assertTrue({"barrier", "bcast", "reduce", "allreduce", "alltoall"} <= set(profile.operations()), profile.operations().keys())
        rows = {members for members, *_ in profile.calls() if members != WORLD}
        self.assertTrue(rows, "the rows and columns of its process grid have communicators")

    def test_lammps_equals_open_mpis_own_monitoring(self):
        self.need("lmp")
        words = ["lmp", "-in", INPUTS / "melt.lmp", "-log", "none"]
        profile = self.recorded(8, *words)
        self.assertIn("Dangerous builds", self.done.stdout)
        monitored = self.monitored(8, *words)
        self.assertGreaterEqual(len(monitored), 8 * 3, "each subdomain has neighbours in three directions")
        self.assert_pairs(profile, monitored)

    def test_openfoam_in_parallel(self):
        self.need("icoFoam", "blockMesh", "decomposePar")
        for name in ("0", "constant", "system"):
            shutil.copytree(INPUTS / "cavity" / name, self.directory / name)
        environment = {"WM_PROJECT_DIR": "/usr/share/openfoam"}
        for tool in ("blockMesh", "decomposePar"):
            done = self.run_command([tool], environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        profile = self.recorded(4, "icoFoam", "-parallel", environment=environment)
        self.assertIn("Finalising parallel run", self.done.stdout)
        # The 2 x 2 subdomains have four common sides; rank 0 also communicates with all ranks.
        for pair in ((0, 1), (0, 2), (1, 3), (2, 3)):
            self.assertGreater(profile.pairs[pair].messages, 100, pair)
            self.assertGreater(profile.pairs[pair[::-1]].messages, 100, pair)

    def test_256_ranks_need_less_than_a_megabyte_each(self):
        program = self.program("crowd.c")
        # Otherwise this many ranks on a few cores search for networks for minutes.
        command = self.command(256, program)
        command[1:1] = ["--mca", "pml", "ob1", "--mca", "btl", "self,vader"]
        plain = self.run_command(command, timeout=600)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        before = self.growth(256)
        profile = self.record_command(command, timeout=600)
        self.assert_same_output(plain, self.done)
        self.assertIsNotNone(profile, self.done.stderr)
        expected = {(rank, (rank + (1 << bit)) % 256): (64, 1) for rank in range(256) for bit in range(8)}
        self.assert_pairs(profile, expected)
        self.assert_calls(profile, {(WORLD, "allreduce", 0, 4): 1})
        more = [recorded - plainly for recorded, plainly in zip(self.growth(256), before)]
        self.assertLess(statistics.median(more), 1024, "kilobytes")


if __name__ == "__main__":
    main()
