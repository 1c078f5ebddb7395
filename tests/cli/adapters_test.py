#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the lines for other mappers in docs/bench.md with programs that accept the same command lines and check them."""

import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "bench.md"
ROW = re.compile(r"^\| ([^|]+) \| `(exec:(?:[^`])+)` \|$", re.MULTILINE)

# Each program checks its arguments for a machine of 4:2:2 with the distances 1:10:100, and writes block i for rank i.
FAKES = {
    "gpmetis": """
seed, ufactor, graph, blocks = sys.argv[1:]
assert seed == "-seed=3" and ufactor == "-ufactor=1" and blocks == "16", sys.argv
write(f"{graph}.part.{blocks}", blocks_of(graph))
""",
    "global_multisection": """
graph, *options = sys.argv[1:]
given = dict(option.lstrip("-").split("=", 1) for option in options)
assert given["hierarchy_parameter_string"] == "4:2:2" and given["distance_parameter_string"] == "1:10:100", given
assert given["seed"] == "3" and given["preconfiguration"] == "fast" and given["imbalance"] == "0", given
write(given["output_filename"], blocks_of(graph))
""",
    "viem": """
graph, *options = sys.argv[1:]
given = dict(option.lstrip("-").split("=", 1) for option in options)
assert given == {"seed": "3", "hierarchy_parameter_string": "4:2:2", "distance_parameter_string": "1:10:100"}, given
write("permutation", blocks_of(graph))
""",
    "SharedMap": """
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert given["-h"] == "4:2:2" and given["-d"] == "1:10:100" and given["-c"] == "fast" and given["-s"] == "queue", given
assert given["--seed"] == "3" and given["-t"] == "1" and given["-e"] == "0", given
write(given["-m"], blocks_of(given["-g"]))
""",
    "KaMinPar": """
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert given["-k"] == "16" and given["-s"] == "3" and given["-t"] == "1", given
write(given["-o"], blocks_of(given["-G"]))
""",
    "gcv": """
assert sys.argv[1:3] == ["-ic", "-os"], sys.argv
write(sys.argv[4], blocks_of(sys.argv[3]))
""",
    "gmap": """
graph, target, out = sys.argv[1:]
assert open(target).read().split() == "tleaf 3 2 100 2 10 4 1".split(), open(target).read()
numbers = open(graph).read().split()
write(out, [str(len(numbers))] + [f"{i}\\t{i}" for i in reversed(range(len(numbers)))])
""",
    "mapping": """
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert given["-p"] == "1" and open(given["-t"]).read().split() == "tleaf 3 2 100 2 10 4 1".split(), given
matrix = [[float(number) for number in line.split()] for line in open(given["-c"])]
assert len(matrix) == 16 and all(len(row) == 16 for row in matrix), matrix
neighbours = lambda i: {j for j in range(16) if abs(i // 4 - j // 4) + abs(i % 4 - j % 4) == 1}
assert all({j for j in range(16) if row[j] > 0} == neighbours(i) for i, row in enumerate(matrix)), matrix
assert all(matrix[i][j] == matrix[j][i] for i in range(16) for j in range(16)), matrix
print("TreeMatch:", ",".join(map(str, range(16))), ": 24")
print("Packed:", ",".join(map(str, reversed(range(16)))), ": 24")
""",
}
COMMON = """#!{python}
import sys

def blocks_of(graph):
    ranks, edges, *rest = open(graph).readline().split()
    assert len(open(graph).read().splitlines()) == int(ranks) + 1
    return [str(i) for i in range(int(ranks))]

def write(path, lines):
    open(path, "w").write("".join(line + "\\n" for line in lines))
"""


class Adapters(unittest.TestCase):
    def test_every_line_of_the_page_works(self):
        rows = ROW.findall(PAGE.read_text())
        self.assertEqual(len(rows), 7, "a row of the page is not recognised")
        with tempfile.TemporaryDirectory() as folder:
            for name, body in FAKES.items():
                path = pathlib.Path(folder, name)
                path.write_text(COMMON.replace("{python}", sys.executable) + body)
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
            for name, line in rows:
                with self.subTest(name):
                    self.run_line(line.replace("\\|", "|"), folder)

    def run_line(self, line, folder):
        done = subprocess.run([str(PROGRAM), "map", "gen:stencil2d:size=4x4", "--hierarchy", "4:2:2", "--distance", "1:10:100", "--seed", "3", "--raw", "-a", line],
                              cwd=folder, env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [str(i) for i in range(16)])


if __name__ == "__main__":
    unittest.main()
