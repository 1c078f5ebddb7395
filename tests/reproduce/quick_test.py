# SPDX-License-Identifier: Apache-2.0
"""tests: experiments at their smallest through the real program: results are written, and the second run finds all steps.

    quick_test.py FOLDER_OF_THE_PROGRAMS
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support

PROGRAMS = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else support.ROOT / "build/bin"


class Quick(unittest.TestCase):
    def reproduce(self, folder, *names):
        return subprocess.run([sys.executable, "-m", "reproduce", *names, "--quick", "--programs", PROGRAMS, "--work", folder,
                               "--results", pathlib.Path(folder) / "results"],
                              cwd=support.ROOT, capture_output=True, text=True, timeout=250, check=False)

    def test_experiments_without_a_simulation(self):
        with tempfile.TemporaryDirectory(prefix="reproduce-") as folder:
            first = self.reproduce(folder, "cruz-quality", "cruz-load", "cruz-time", "cruz-online")
            self.assertEqual(first.returncode, 0, first.stderr)
            for name, kind in (("cruz-quality", "computed"), ("cruz-load", "computed"), ("cruz-time", "measured"), ("cruz-online", "computed")):
                result = json.loads((pathlib.Path(folder) / f"results/{name}.json").read_text())
                self.assertEqual(result["kind"], kind)
                self.assertTrue(result["verdicts"] and result["tables"] and result["parameters"])
                self.assertIn(result["line"], first.stdout)
                for plot in result["plots"]:
                    self.assertTrue((pathlib.Path(folder) / "results" / plot).exists())
            again = self.reproduce(folder, "cruz-quality", "cruz-load", "cruz-time", "cruz-online")
            self.assertEqual(again.stdout.count("  0 steps run"), 4, again.stdout)

    def test_a_simulated_experiment(self):
        if not (PROGRAMS / "rankloom-simulate").exists():
            self.skipTest("built without SimGrid")
        with tempfile.TemporaryDirectory(prefix="reproduce-") as folder:
            done = self.reproduce(folder, "getmanskiy-groups")
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads((pathlib.Path(folder) / "results/getmanskiy-groups.json").read_text())
            self.assertEqual(result["kind"], "simulated")
            self.assertTrue(all(must["reached"] for must in result["musts"]), result["musts"])


if __name__ == "__main__":
    unittest.main()
