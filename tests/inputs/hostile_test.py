#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile inputs: small files that would crash a naive reader, keep it busy for ever, or need gigabytes of memory.

Every verb that reads a kind of file reads all hostile files of that kind, with 2 GiB of address space and a time limit. It must
end by itself with one of rankloom's exit statuses, and need less than 1 GB of memory. `--report` prints the time and memory of
every command.
"""

import concurrent.futures
import gzip
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
REPORT = "--report" in sys.argv and not sys.argv.remove("--report")
SANITIZED = "ASAN_OPTIONS" in os.environ  # the address sanitizer reserves address space, and needs several times the memory and time
ADDRESS_SPACE = resource.RLIM_INFINITY if SANITIZED else 2 << 30
MAX_MEMORY = 4_000_000_000 if SANITIZED else 1_000_000_000
TIMEOUT = 200 if SANITIZED else 30
STATUSES = (0, 2, 3, 4, 5)
MEGABYTE = 1 << 20


# ---- Files. All are smaller than a megabyte.

def zeros_as_zstd(size):
    """A zstd frame that contains `size` zeros, in 4 bytes for each block of 128 KiB."""
    block = 1 << 17
    blocks = []
    while size > 0:
        part = min(size, block)
        size -= part
        blocks.append(struct.pack("<I", part << 3 | 1 << 1 | (size == 0))[:3] + b"\0")
    return struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3) + b"".join(blocks)  # a window of 128 KiB


def chunk(tag, content=b"", *, zeros=0):
    """A chunk of a profile, whose content is given or, compressed, that many zeros."""
    stored = zeros_as_zstd(zeros) if zeros else content
    head = tag + struct.pack("<IQQI", int(zeros > 0), len(stored), zeros or len(content), zlib.crc32(stored))
    return head + struct.pack("<I", zlib.crc32(head)) + stored


def profile(*chunks, ranks=2, rows=None):
    graph = chunk(b"GRPH", struct.pack("<IIIIQ", 0, 0, ranks, 0, 0))
    return b"rankloom profile 1\n" + graph + (rows or chunk(b"ROWS", bytes(4 * ranks))) + b"".join(chunks) + chunk(b"END ")


def one_edge(amount):
    return (b"rankloom profile 1\n" + chunk(b"GRPH", struct.pack("<IIIIQ", 0, 0, 2, 0, 1)) + chunk(b"ROWS", struct.pack("<II", 1, 0))
            + chunk(b"DEST", struct.pack("<I", 1)) + chunk(b"BYTE", struct.pack("<d", amount)) + chunk(b"END "))


def nested(depth, opening="[", closing="]", inside=""):
    return opening * depth + inside + closing * depth


# Contents that every reader of text must survive.
TEXTS = {
    "empty": "",
    "blanks": " \n\t\r\n" * 1000,
    "comment": "# a comment without a line end",
    "comments": "#\n" * 100_000,
    "zeros": "\0" * 100_000,
    "long line": "1" * 900_000,
    "long words": ("x" * 1000 + " ") * 900,
    "line ends": "\n" * 900_000,
    "byte order mark": "\ufeff0\n1\n",
    "carriage returns": "0\r\n1\r\n",
    "negative": "-1\n-2\n",
    "not numbers": "nan\ninf\n1e999\n",
    "huge numbers": "99999999999999999999999999\n4294967295\n1e308\n",
    "brackets": nested(100_000),
    "open brackets": "[" * 900_000,
    "braces": nested(100_000, '{"a":', "}", "1"),
    "empty arrays": "[" + "[]," * 250_000 + "[]]",
    "empty objects": '{"mapping":[' + "{}," * 250_000 + "{}]}",
    "repeated keys": '{"mapping":[0,1],"mapping":[' + nested(50) + "]}",
    "huge JSON number": '{"mapping":[1e999]}',
    "JSON string": '{"mapping":"' + "x" * 900_000 + '"}',
    "not UTF-8": '{"mapping":["\udcff\udcfe"]}',
}

MAPPINGS = {
    **TEXTS,
    "list of brackets": '{"mapping":[' + nested(100_000) + "]}",
    "large cores": "4294967295\n" * 1000,
    "rank 67108863": "rank 67108863=node0 slot=0\n",
    "many ranks": "node0:4294967295\n",
    "many lines of ranks": "node0:1000000\n" * 10_000,
    "many processes": "-n 4294967295 -host node0 app\n",
    "long host": "x" * 900_000 + ":1000000\n",
    "geometry": "{(16777216)}",
    "ranges": "0-3," * 200_000,
    "coordinates": "(4294967295)\n" * 10_000,
    "table": "0 node0 4294967295\n",
}
LAUNCHERS = ("hostfile", "openmpi4", "openmpi5", "openmpi6", "intelmpi", "cray", "lsf", "fujitsu", "wrapper", "plain")

PROFILES = {
    **TEXTS,
    "communicators": profile(chunk(b"COMM", zeros=1 << 30)),
    "origin": profile(chunk(b"ORIG", zeros=1 << 30)),
    "collectives": profile(chunk(b"COLL", zeros=1 << 30)),
    "activity": profile(chunk(b"ACTV", zeros=24 << 25)),
    "sizes": profile(chunk(b"SIZE", zeros=1 << 30)),
    "phases": profile(chunk(b"PHAS", zeros=28 << 25)),
    "rows": profile(ranks=1 << 28, rows=chunk(b"ROWS", zeros=1 << 30)),
    "sixteen million ranks": profile(ranks=1 << 24, rows=chunk(b"ROWS", zeros=1 << 26)),
    "many graphs": profile(*[chunk(b"GRPH", struct.pack("<IIIIQ", 2, 0, 2, 0, 0)) + chunk(b"ROWS", bytes(8)) for _ in range(5000)]),
    "size of a chunk": profile(b"COMM" + struct.pack("<IQQI", 1, 10, 1 << 62, 0)),
    "infinite bytes": one_edge(float("inf")),
    "1e308 bytes": one_edge(1e308),
    "recording": b"RKLMRANK" + struct.pack("<IIQII", 2, 1344, 1344, 0, 1 << 28) + bytes(1312),
    "METIS header": "4000000000 9000000000\n1\n",
    "METIS vertices": "900000 0\n" + "\n" * 899_000,
    "Matrix Market header": "%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 99999999999\n1 1 1\n",
    "Matrix Market ranks": "%%MatrixMarket matrix coordinate real general\n4194304 4194304 1\n1 1 1\n",
    "Matrix Market amounts": "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1e300\n",
    "pairs header": "# app; ranks=4194304\n0 1 10\n",
    "pairs": "# app; ranks=4000000000\n0 1 10\n",
    "QAPLIB": "3000000\n0 1\n",
    "QAPLIB distances": "2\n0 1\n1 0\n0 1e90\n1e90 0\n",
    "IPM": '<ipm\n<task ipm_version="2" mpi_rank="0" mpi_size="4000000000">\n<hent call="MPI_Send" bytes="1e99" orank="1" count="1e99"></hent>\n</task>\n',
    "Intel": "~~~~ Process 0 of 18446744073709551615 on node x\nData Transfers\n0 --> 4000000000 1e99 1e99\nTotals 1e99\n",
    "trace": "0 init\n0 send 4000000000 0 1e99 6\n0 finalize\n",
    "list of itself": "PATH\n" * 10_000,
    "monitoring": "# POINT TO POINT\nE\t0\t4294967000\t18446744073709551615 bytes\t1 msgs sent\n# COLLECTIVES\n",
}

MACHINES = {
    **TEXTS,
    "16 million cores": "node:4000 core:4000",
    "too many nodes": "node:25000000 core:1",
    "too many cores": "node:100000 core:100000",
    "many levels": " ".join(f"l{i}:2" for i in range(10_000)),
    "mesh": "mesh:60000x60000 core:1",
    "dimensions": "mesh:" + "x".join(["1"] * 100_000),
    "fat tree": "fattree:4294967294,4294967294/4294967294,1 core:1",
    "dragonfly": "dragonfly:4294967294,4294967294,4294967294 core:1",
    "infinite cost": "node:2=1e300 core:2=1",
    "holes": "core:1000000 !core:" + ",".join(str(i) for i in range(0, 250_000, 2)),
    "counts": "node:100000 core:" + "+".join(["1"] * 100_000),
    "JSON graph": '{"rankloom":"topology","version":1,"machine":{"kind":"machine","children":[{"kind":"core"}]},'
                  '"network":{"kind":"graph","nodes":4294967294,"cables":[]}}',
    "JSON tree": '{"rankloom":"topology","version":1,"machine":{"kind":"machine","children":[{"kind":"core"}]},'
                 '"network":{"kind":"tree","nodes":4294967294,"parent":[0],"per_hop":1}}',
    "JSON repeats": '{"rankloom":"topology","version":1,"machine":{"kind":"machine","children":[' +
                    nested(50, '{"kind":"group","repeat":4294967294,"children":[', "]}", '{"kind":"core"}') + "]}}",
    "JSON levels": '{"rankloom":"topology","version":1,"machine":' + nested(20_000, '{"kind":"a","children":[', "]}", '{"kind":"core"}') + "}",
    "JSON cost": '{"rankloom":"topology","version":1,"machine":{"kind":"machine","between":1e300,"children":[{"kind":"core","repeat":2}]}}',
    "Slurm hosts": "SwitchName=s Nodes=n[0-999999999]\n",
    "Slurm lists": "".join(f"SwitchName=s{i} Nodes=n[1-262144]\n" for i in range(1000)),
    "Slurm names": "SwitchName=s Nodes=" + "x" * 500_000 + "[0-999999]\n",
    "Slurm blocks": "BlockName=b Nodes=n0\nAggregatedBlock=b[0-262143]\n",
    "Slurm chain": "".join(f"SwitchName=s{i} Switches=s{i + 1}\n" for i in range(20_000)) + "SwitchName=s20000 Nodes=n1\n",
    "YAML brackets": "- topology: t\n  tree: " + nested(100_000),
    "YAML dashes": "- topology: t\n  tree:\n   " + "- " * 20_000 + "x\n",
    "YAML aliases": "- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: [&a 'n[1-262144]'" + ", *a" * 1000 + "]}\n",
    "YAML keys": "- topology: t\n  tree:\n" + "".join(f"    k{i}: 1\n" for i in range(40_000)),
    "many hosts": "".join(f"n{i} 1000\n" for i in range(60_000)),
    "XML": '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">' + '<object type="Group" cpuset="0x1">' * 25_000,
    "InfiniBand": "".join(f'Switch 36 "S-{i}" # "s"\n[1] "S-{i + 1}"[1] # 4xEDR\n' for i in range(15_000)),
}

WORKLOADS = {
    **TEXTS,
    "jobs": ("1 0 -1 1e15 1e15 -1 -1 1e15 1e300 -1 1 -1 -1 -1 -1 -1 -1 -1\n" * 100),
    "gzip": gzip.compress(b"\n" * (300 * MEGABYTE), 9),
    "gzip of gzip": b"\x1f\x8b" + bytes(1000),
}

JSON_RESULTS = {
    **TEXTS,
    "replay": '{"policies":[{"policy":"x","jobs":[' + ",".join(['{"id":1,"size":1,"submit":0,"start":0,"end":1,"nodes":"0-4294967294","shares_links":false}'] * 1000) + "]}]}",
    "comparison": '{"mappers":[' + ",".join(['{"mapper":"x","cost":1e308,"time_ms":1e308}'] * 10_000) + "]}",
    "evaluation": '{"mappings":[{"mapping":' + nested(300) + "}]}",
}

PROBES = {**TEXTS, "ranks": "rankloom-probe 1\n" + "".join(f"rank {i} h 0\n" for i in range(40_000)),
          "times": "rankloom-probe 1\nrank 0 h 0\nrank 1 h 1\npair 0 1 alone 1e308:1e308:1e-308\nend\n"}

CONFIGURATIONS = {**TEXTS, "nodes": "topology = x.json\nnodes = n[0-999999999]\n", "device": "topology = /dev/zero\n"}


class Case:
    def __init__(self, name, arguments, environment=None):
        self.name = name
        self.arguments = arguments
        self.environment = environment or {}

    def run(self, directory):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        begin = time.monotonic()
        log = open(directory / "log" / f"{abs(hash(self.name))}", "w+b")
        process = subprocess.Popen([str(PROGRAM), *map(str, self.arguments)], cwd=directory, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, preexec_fn=limit, env={**os.environ, **self.environment})
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() - begin > TIMEOUT:
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
                self.problem = f"still running after {TIMEOUT} s"
                break
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - begin
        self.memory = usage.ru_maxrss * 1024
        log.seek(0)
        self.output = log.read(4000).decode(errors="replace")
        log.close()
        if not hasattr(self, "problem"):
            self.problem = self.find_problem(process.returncode)
        return self

    def find_problem(self, status):
        if status not in STATUSES:
            return f"exit status {status}"
        if self.memory > MAX_MEMORY:
            return f"{self.memory / 1e6:.0f} MB of memory"
        if "report this as a bug" in self.output or "not enough memory" in self.output:
            return "an error without a remedy"
        return None


class Hostile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hostile-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        (self.directory / "log").mkdir()
        (self.directory / "pairs.txt").write_text("0 1 1000000000 1\n1 0 1000000000 1\n2 3 5 1\n3 2 5 1\n")
        (self.directory / "good.map").write_text("0\n1\n2\n3\n")

    def files(self, contents):
        """Writes the files; also a device and a directory."""
        for number, (name, content) in enumerate(contents.items()):
            path = self.directory / f"f{number}.txt"
            if isinstance(content, str):
                content = content.replace("PATH", str(path)).encode(errors="surrogateescape")
            self.assertLessEqual(len(content), MEGABYTE, name)
            path.write_bytes(content)
            yield name, path
        yield "device", pathlib.Path("/dev/zero")
        yield "directory", self.directory / "log"

    def check(self, cases):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(lambda case: case.run(self.directory), cases))
        if REPORT:
            for case in sorted(done, key=lambda case: -case.memory):
                print(f"{case.memory / 1e6:7.1f} MB {case.seconds:6.2f} s  {case.name}")
        worst = max(done, key=lambda case: case.memory)
        slowest = max(done, key=lambda case: case.seconds)
        print(f"{len(done)} commands, at most {worst.memory / 1e6:.0f} MB ({worst.name}) and {slowest.seconds:.1f} s ({slowest.name})")
        problems = [f"{case.name}: {case.problem}\n  {' '.join(map(str, case.arguments))[:300]}\n  {case.output[:600]}" for case in done if case.problem]
        self.assertEqual(problems, [], "\n".join(problems))

    def test_mappings(self):
        slurm = {"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_CPUS_PER_NODE": "2(x2)"}
        machine = ("-t", "node:2=10 core:2=1")
        cases = []
        for name, file in self.files(MAPPINGS):
            cases += [Case(f"eval {name}", ["eval", file, "--profile", "pairs.txt", *machine]),
                      Case(f"map --start {name}", ["map", "pairs.txt", *machine, "-a", "refine", "--start", file]),
                      Case(f"emit {name}", ["emit", file, *machine, "--to", "hostfile"]),
                      Case(f"run {name}", ["run", file, *machine, "--dry-run", "--", "mpirun", "-n", "4", "true"]),
                      Case(f"simulate {name}", ["simulate", file, "--profile", "pairs.txt", *machine]),
                      Case(f"report {name}", ["report", file, "-p", "pairs.txt", *machine]),
                      Case(f"slurm place {name}", ["slurm", "place", "--", "srun", "-n4", f"--rankloom={file}", "./app"], slurm)]
        self.check(cases)

    def test_files_of_launchers(self):
        self.check([Case(f"emit --from {launcher} {name}", ["emit", file, "--from", launcher, "-t", "node:2=10 core:2=1", "--to", "plain"])
                    for name, file in self.files(MAPPINGS) if name not in TEXTS or name in ("comment", "long line", "zeros", "line ends") for launcher in LAUNCHERS])

    def test_profiles(self):
        cases = []
        for name, file in self.files(PROFILES):
            cases += [Case(f"show {name}", ["show", file]), Case(f"import {name}", ["import", file, "-o", "out.prof"]),
                      Case(f"map {name}", ["map", file, "-t", "core:4", "--budget", "1s"]),
                      Case(f"report {name}", ["report", file])]
            if name not in TEXTS:
                cases.append(Case(f"simulate {name}", ["simulate", "block", "--profile", file, "-t", "core:4"]))
        self.check(cases)

    def test_machines(self):
        cases = []
        for name, file in self.files(MACHINES):
            cases += [Case(f"topo show {name}", ["topo", "show", file]), Case(f"topo check {name}", ["topo", "check", file]),
                      Case(f"map -t {name}", ["map", "pairs.txt", "-t", file, "--budget", "1s"])]
            if name not in TEXTS:
                cases += [Case(f"topo convert {name}", ["topo", "convert", file, "--json"]),
                          Case(f"alloc init {name}", ["alloc", "init", "-t", file, "--state", f"state-{len(cases)}.db"])]
        self.check(cases)

    def test_results_workloads_and_settings(self):
        cases = [Case(f"report {name}", ["report", file]) for name, file in self.files(JSON_RESULTS)]
        self.check(cases)
        cases = [Case(f"alloc replay {name}", ["alloc", "replay", file, "-t", "mesh:8x8 core:1"]) for name, file in self.files(WORKLOADS)]
        self.check(cases)
        cases = [Case(f"topo probe {name}", ["topo", "probe", "--table", file]) for name, file in self.files(PROBES)]
        self.check(cases)
        cases = []
        for name, file in self.files(CONFIGURATIONS):
            cases += [Case(f"slurm check {name}", ["slurm", "check", "--conf", file]), Case(f"alloc status {name}", ["alloc", "status", "--state", file]),
                      Case(f"simulate --calibration {name}", ["simulate", "block", "--profile", "pairs.txt", "-t", "core:4", "--calibration", file])]
        self.check(cases)

    def test_costs_and_traffic_at_their_limits(self):
        """With the largest and smallest costs, every mapper ends, and it honours its budget."""
        (self.directory / "large.txt").write_text("".join(f"{i} {(i * 7 + 1) % 24} 1e100 1e100\n" for i in range(24)))
        (self.directory / "mixed.txt").write_text("".join(f"{i} {(i * 5 + 1) % 24} {'1e100' if i % 2 else '1'} 1\n" for i in range(24)))
        mappers = subprocess.run([PROGRAM, "list", "mappers", "--json"], capture_output=True, text=True, check=True).stdout
        names = [row["name"] for row in json.loads(mappers)["mappers"]]
        self.assertGreater(len(names), 10)
        cases = [Case(f"{mapper} {traffic} {machine}", ["map", traffic, "-t", machine, "-a", mapper, "--budget", "500ms"])
                 for mapper in names for traffic in ("large.txt", "mixed.txt")
                 for machine in ("node:6=1e40 core:4=1e-40", "torus:3x4=1e40,1e40 core:2=1e-40")]
        cases += [Case("infinite", ["map", "pairs.txt", "-t", "node:2=1e300 core:2=1", "--budget", "1s"]),
                  Case("infinite hierarchy", ["map", "pairs.txt", "--hierarchy", "2:2", "--distance", "1:1e300"])]
        self.check(cases)


if __name__ == "__main__":
    unittest.main()
