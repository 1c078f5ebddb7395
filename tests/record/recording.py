# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of the MPI recorder: compile a program with an MPI library, run it with and without the recorder, and read the profile.

    python3 NAME_test.py RANKLOOM openmpi|mpich [CLASS[.TEST]]
"""

import collections
import ctypes
import functools
import hashlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
KEEP_LOADED = SUPPORT / "keep_loaded.c"
SKIPPED = 77  # SKIP_RETURN_CODE of ctest
HANGS = 150  # seconds after which a command counts as hanging, also on a busy machine

OPERATIONS = ("barrier", "bcast", "reduce", "gather", "scatter", "allreduce", "allgather", "alltoall", "reduce_scatter", "scan")
WORLD = ()  # the members of a communicator of all ranks

Volume = collections.namedtuple("Volume", "bytes messages")
Communicator = collections.namedtuple("Communicator", "name members")
Collective = collections.namedtuple("Collective", "communicator operation root bytes count")
Phase = collections.namedtuple("Phase", "name begin end collectives pairs")
Activity = collections.namedtuple("Activity", "inside outside instructions")


class Mpi:
    def __init__(self, name, launcher, sources=()):
        self.name = name
        self.launcher = launcher
        self.sources = list(sources)  # part of each program
        self.compilers = {".c": f"mpicc.{name}", ".f90": f"mpif90.{name}", ".F90": f"mpif90.{name}"}

    def missing(self):
        return [tool for tool in {self.launcher[0], *self.compilers.values()} if shutil.which(tool) is None]

    def launch(self, ranks, *words):
        return [*self.launcher, "-n", str(ranks), *words]


MPIS = {
    "openmpi": Mpi("openmpi", ["mpirun.openmpi", *installed_mpi.open_mpi().oversubscribe, "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"], [KEEP_LOADED]),
    "mpich": Mpi("mpich", ["mpiexec.mpich"], [PROGRAMS / "yield.c"]),
}

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PRTE_", "PMIX_", "PMI_", "LD_PRELOAD", "RANKLOOM"))}
ENVIRONMENT |= {
    **installed_mpi.open_mpi().as_root,
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # needs privileges that containers do not have
    "UCX_LOG_LEVEL": "error",  # its warnings are on standard output
    "OMPI_MCA_orte_tmpdir_base": tempfile.gettempdir(),
}

ONE_SIDED = installed_mpi.open_mpi().one_sided


def decompress(stored, size):
    zstd = ctypes.CDLL("libzstd.so.1")
    out = ctypes.create_string_buffer(size)
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), stored, ctypes.c_size_t(len(stored)))
    assert got == size, "a chunk cannot be decompressed"
    return out.raw


class Reader:
    """Reads values from the content of a chunk."""

    def __init__(self, content):
        self.content, self.place = content, 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.content, self.place)
        self.place += struct.calcsize("<" + layout)
        return values if len(values) > 1 else values[0]

    def text(self):
        size = self.take("I")
        self.place += size
        return self.content[self.place - size:self.place].decode()

    def more(self):
        return self.place < len(self.content)


class Profile:
    """A native profile, read independently of rankloom as docs/formats.md describes it, so that both implementations check each other."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        magic = b"rankloom profile 1\n"
        assert data.startswith(magic), data[:20]
        self.pairs, self.expanded = {}, {}  # (from, to) → Volume
        self.communicators, self.collective_list, self.activity = [], [], []
        self.sizes, self.origin = {}, {}
        phases, graphs = [], []
        for tag, content in self.chunks(data, len(magic)):
            chunk = Reader(content)
            if tag == "GRPH":
                graphs.append(collections.defaultdict(bytes, GRPH=content))
            elif tag in ("ROWS", "DEST", "BYTE", "MSGS", "LOAD"):
                assert tag != "DEST" or tag not in graphs[-1], "only small graphs are supported here"
                graphs[-1][tag] += content
            while tag in ("ORIG", "COMM", "COLL", "ACTV", "SIZE", "PHAS") and chunk.more():
                if tag == "ORIG":
                    key = chunk.text()
                    self.origin[key] = chunk.text()
                elif tag == "COMM":
                    name, members = chunk.text(), chunk.take("I")
                    self.communicators.append(Communicator(name, tuple(chunk.take("I") for _ in range(members))))
                elif tag == "COLL":
                    self.collective_list.append(self.collective(chunk))
                elif tag == "ACTV":
                    self.activity.append(Activity(*chunk.take("ddd")))
                elif tag == "SIZE":
                    size, count = chunk.take("QQ")
                    self.sizes[size] = count
                else:
                    name, begin, end, calls = chunk.text(), *chunk.take("ddQ")
                    phases.append((name, begin, end, [self.collective(chunk) for _ in range(calls)]))
        of_phases = []
        for graph in graphs:
            role, ranks, pairs = self.graph(graph)
            if role == 0:
                self.ranks, self.pairs = ranks, pairs
            elif role == 1:
                self.expanded = pairs
            elif role == 2:
                of_phases.append(pairs)
        assert len(phases) == len(of_phases)
        self.phases = [Phase(*phase, pairs) for phase, pairs in zip(phases, of_phases)]

    @staticmethod
    def chunks(data, place):
        while True:
            tag, flags, stored, size, check, head_check = struct.unpack_from("<4sIQQII", data, place)
            assert head_check == zlib.crc32(data[place:place + 28])
            content = data[place + 32:place + 32 + stored]
            assert check == zlib.crc32(content)
            place += 32 + stored
            if tag == b"END ":
                assert place == len(data)
                return
            yield tag.decode(), decompress(content, size) if flags & 1 else content

    @staticmethod
    def collective(chunk):
        communicator, operation, root, _, size, count = chunk.take("IIIIdd")
        return Collective(communicator, OPERATIONS[operation], root, size, count)

    @staticmethod
    def graph(columns):
        role, flags, ranks, _, edges = struct.unpack_from("<IIIIQ", columns["GRPH"])
        assert flags & 2 or edges == 0, "a recording counts messages"
        degrees = struct.unpack(f"<{ranks}I", columns["ROWS"])
        steps = struct.unpack(f"<{edges}I", columns["DEST"])
        amounts = struct.unpack(f"<{edges}d", columns["BYTE"])
        messages = struct.unpack(f"<{edges}d", columns["MSGS"])  # empty if there are no edges
        pairs, edge = {}, 0
        for rank in range(ranks):
            target = rank
            for _ in range(degrees[rank]):
                target = (target + steps[edge]) % 2**32
                pairs[rank, target] = Volume(amounts[edge], messages[edge])
                edge += 1
        return role, ranks, pairs

    def members(self, index):
        """In the order of the communicator; WORLD for all ranks in the order of MPI_COMM_WORLD."""
        members = self.communicators[index].members
        return WORLD if members == tuple(range(self.ranks)) else members

    def calls(self, collectives=None):
        """(members, operation, root, bytes) → count, independent of the names of communicators."""
        calls = collections.Counter()
        for call in self.collective_list if collectives is None else collectives:
            calls[self.members(call.communicator), call.operation, call.root, call.bytes] += call.count
        return dict(calls)

    def named_calls(self):
        """(name, members, operation) → count"""
        calls = collections.Counter()
        for call in self.collective_list:
            calls[self.communicators[call.communicator].name, self.members(call.communicator), call.operation] += call.count
        return dict(calls)

    def operations(self):
        """operation → {bytes: count}, of all communicators."""
        operations = collections.defaultdict(collections.Counter)
        for call in self.collective_list:
            operations[call.operation][call.bytes] += call.count
        return {operation: dict(sizes) for operation, sizes in operations.items()}

    def total(self):
        return Volume(sum(volume.bytes for volume in self.pairs.values()), sum(volume.messages for volume in self.pairs.values()))


def without_self(pairs):
    return {pair: volume for pair, volume in pairs.items() if pair[0] != pair[1] and volume.bytes > 0}


def total(*graphs):
    """The sum of several matrices."""
    result = {}
    for graph in graphs:
        for pair, volume in graph.items():
            before = result.get(pair, Volume(0, 0))
            result[pair] = Volume(before.bytes + volume.bytes, before.messages + volume.messages)
    return result


def bits(*places):
    return sum(1 << place for place in places)


@functools.cache
def declarations(compiler):
    """What mpi.h declares."""
    return subprocess.run([compiler, "-E", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True, text=True, check=True, timeout=HANGS).stdout


class RecordingTest(unittest.TestCase):
    rankloom = None
    mpi = None
    maxDiff = None
    plain_runs = {}  # outputs of programs without the recorder, by command

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="record-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def only(self, mpi, why):
        if self.mpi.name != mpi:
            self.skipTest(why)

    @property
    def loses_status(self):
        """Whether the launcher itself may return 0 although the ranks failed."""
        return self.mpi.name == "mpich" and installed_mpi.mpich().loses_status

    def needs_several_programs(self):
        """Skips the test if the launcher itself cannot start several programs in one job."""
        if self.mpi.name == "openmpi" and not installed_mpi.open_mpi().starts_several_programs:
            self.skipTest("mpirun 5.0.7 crashes if a command has several programs")

    def has(self, function):
        """Whether mpi.h declares the function."""
        return bool(re.search(rf"\b{function}\b", declarations(self.mpi.compilers[".c"])))

    def kinds_of_calls(self):
        """The flags of collectives.c and one_sided.c: which kinds of calls of MPI-4 there are."""
        return [flag for flag, function in (("-DLARGE_COUNTS", "MPI_Bcast_c"), ("-DPERSISTENT_COLLECTIVES", "MPI_Bcast_init")) if self.has(function)]

    def needs(self, function):
        """Skips the test if mpi.h does not declare the function."""
        if not self.has(function):
            self.skipTest(f"{self.mpi.name} does not have {function}")

    def program(self, source, *flags, mpi=None, linker=(), out=None):
        """A program of programs/, compiled once for each MPI library and set of flags, and cached in the build directory for all tests."""
        mpi = mpi or self.mpi
        source = PROGRAMS / source
        # mpif.h has no interfaces: buffers of different types are passed to one procedure.
        strict = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable", "-Wno-stringop-overflow", "-Wno-stringop-overread"] if source.suffix == ".c" else ["-fallow-argument-mismatch", "-ffree-line-length-none", "-w"]
        words = [mpi.compilers[source.suffix], "-O1", "-g", *strict, *flags]
        cached = self.program_cache() / self.fingerprint([source, *mpi.sources], [*words, *linker]) / (out or source.stem)
        if not cached.exists():
            cached.parent.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cached.parent.parent) as directory:  # tests run in parallel: the last compilation is used
                modules = [] if source.suffix == ".c" else ["-J", directory]
                done = subprocess.run([*words, *modules, "-o", pathlib.Path(directory) / cached.name, source, *mpi.sources, *linker], env=ENVIRONMENT, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                cached.parent.mkdir(exist_ok=True)
                (pathlib.Path(directory) / cached.name).replace(cached)
        return cached

    @classmethod
    def program_cache(cls):
        return cls.rankloom.parent.parent / "test-programs"

    @staticmethod
    def fingerprint(sources, command):
        """Hash of everything that determines a program: its sources, the headers next to them, the compiler and its arguments."""
        compiler = pathlib.Path(shutil.which(command[0])).resolve()
        digest = hashlib.sha256(repr((command, compiler, compiler.stat().st_mtime_ns)).encode())
        for file in [*sources, *sorted(sources[0].parent.glob("*.h"))]:
            digest.update(file.read_bytes())
        return digest.hexdigest()[:16]

    def run_command(self, words, environment=None, timeout=HANGS, directory=None):
        """Runs a command. A command that hangs is ended and fails the test."""
        child = subprocess.Popen([str(word) for word in words], cwd=directory or self.directory, env={**ENVIRONMENT, **(environment or {})}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.terminate()  # launchers end their ranks
            try:
                out, err = child.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                out, err = child.communicate()
            self.fail(f"hangs: {' '.join(str(word) for word in words)}\n{out.decode()}{err.decode()}")
        return subprocess.CompletedProcess(words, child.returncode, out.decode(), err.decode())

    def output_of(self, *words, status=0):
        """The standard output of rankloom."""
        done = self.run_command([self.rankloom, *words])
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def command(self, ranks, program, *words):
        """The command of the launcher, or of the program itself if ranks is 0."""
        return self.mpi.launch(ranks, program, *words) if ranks else [program, *words]

    def record_command(self, command, options=(), environment=None, out="out.prof", timeout=HANGS, status=None):
        """Runs `rankloom record`. Returns the profile, if one was written; the output is in self.done."""
        done = self.run_command([self.rankloom, "record", "-o", out, *options, "--", *command], environment, timeout)
        self.done = done
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        path = self.directory / out
        return Profile(path) if path.is_file() else None

    def assert_same_output(self, plain, recorded):
        """Compares the lines in any order, because ranks print in any order."""
        self.assertEqual(sorted(recorded.stdout.splitlines()), sorted(plain.stdout.splitlines()), recorded.stderr)
        self.assertEqual(recorded.returncode, plain.returncode, recorded.stderr)

    def record(self, ranks, program, *words, options=(), environment=None, status=0, timeout=HANGS):
        """The profile of a run, which must have the output and the exit status of the program without the recorder. The latter runs once per process."""
        command = self.command(ranks, program, *words)
        key = (*map(str, command), *sorted((environment or {}).items()))
        if key not in self.plain_runs:
            self.plain_runs[key] = self.run_command(command, environment, timeout)
        plain = self.plain_runs[key]
        self.assertEqual(plain.returncode, status, f"the program itself fails: {plain.stdout}{plain.stderr}")
        self.plain = plain
        profile = self.record_command(command, options, environment, timeout=timeout)
        self.assert_same_output(plain, self.done)
        self.assertIsNotNone(profile, f"no profile was written\n{self.done.stderr}")
        self.assertNotIn("missing", self.done.stderr)
        self.assertEqual(profile.ranks, ranks or 1)
        return profile

    def growth(self, ranks):
        """Growth of the memory of each rank in kilobytes, measured by the program."""
        lines = [(self.directory / f"memory.{rank}").read_text().split() for rank in range(ranks)]
        return [int(after) - int(before) for before, after in lines]

    def assert_pairs(self, profile, expected):
        self.assertEqual({pair: tuple(volume) for pair, volume in profile.pairs.items()}, expected)

    def assert_calls(self, profile, expected, collectives=None):
        self.assertEqual(profile.calls(collectives), expected)


def main():
    RecordingTest.rankloom = pathlib.Path(sys.argv.pop(1)).resolve()
    RecordingTest.mpi = MPIS.get(sys.argv.pop(1))
    needed = [RecordingTest.mpi] if RecordingTest.mpi else MPIS.values()
    missing = [tool for mpi in needed for tool in mpi.missing()]
    if missing:
        print("not installed:", *missing)
        sys.exit(SKIPPED)
    unittest.main()
