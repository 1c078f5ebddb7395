#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests: what CMake says if a compiler or a library is missing or too old: minimum_test.py PROJECT CMAKE"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT, CMAKE = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)


class Minimum(unittest.TestCase):
    def configure(self, *lines, compiler=("GNU", "12.2.0")):
        """Runs lines after minimum_versions.cmake, with a compiler of this name and version; returns the error, without line breaks."""
        script = [f"set(CMAKE_CXX_COMPILER_ID {compiler[0]})", f"set(CMAKE_CXX_COMPILER_VERSION {compiler[1]})", "set(CMAKE_CXX_COMPILER /usr/bin/c++)",
                  f'include("{PROJECT}/cmake/minimum_versions.cmake")', *lines, "rankloom_check_required()"]
        with tempfile.NamedTemporaryFile("w", suffix=".cmake") as file:
            file.write("\n".join(script))
            file.flush()
            done = subprocess.run([CMAKE, "-P", file.name], capture_output=True, text=True, timeout=50, check=False)
        self.assertEqual(done.returncode != 0, bool(done.stderr), done.stderr)
        return " ".join(done.stderr.split())

    def test_compilers_below_the_minimum_are_refused(self):
        self.assertIn("GCC 12 or later is required; /usr/bin/c++ is GCC 10.2.1", self.configure(compiler=("GNU", "10.2.1")))
        self.assertIn("Clang 14 or later is required", self.configure(compiler=("Clang", "13.0.1")))
        for compiler in (("GNU", "12.2.0"), ("GNU", "16.2.0"), ("Clang", "14.0.6"), ("Another", "1.0")):
            self.assertEqual(self.configure(compiler=compiler), "")

    def test_all_libraries_are_in_one_message(self):
        said = self.configure("rankloom_require(fmt TRUE 8.1.1 9 libfmt-dev fmt-devel)", 'rankloom_require(CLI11 "" "" 2.1 libcli11-dev cli11-devel)',
                              'rankloom_require(zlib "" "" "" zlib1g-dev zlib-devel)', "rankloom_require(Eigen TRUE 5.0.1 3.4 libeigen3-dev eigen3-devel)")
        self.assertIn("fmt 9 or later (found: 8.1.1) CLI11 2.1 or later (not found) zlib (not found)", said)
        self.assertIn("apt install libfmt-dev libcli11-dev zlib1g-dev (Debian), dnf install fmt-devel cli11-devel zlib-devel (Fedora)", said)
        self.assertNotIn("Eigen", said)

    def test_later_versions_are_accepted_also_of_another_major_version(self):
        self.assertEqual(self.configure("rankloom_require(Eigen 1 5.0.1 3.4 libeigen3-dev eigen3-devel)", "rankloom_require(fmt TRUE 9 9 a b)"), "")


if __name__ == "__main__":
    unittest.main()
