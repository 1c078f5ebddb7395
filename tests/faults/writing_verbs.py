# SPDX-License-Identifier: Apache-2.0
"""Every verb that writes files, each with two variants of a command whose outputs differ. The tests kill them or fill the disk, and compare the
files with those of undisturbed runs."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import installed_mpi  # noqa: E402

LIST = ".rankloom"  # of the files that rankloom wrote
# mpiexec of MPICH may end by SIGPIPE, 5 times in 800, if a program ends at once.
SHORT_PROGRAM = ("sh", "-c", "sleep 0.2")
BY_RANKS = re.compile(r"/report/[^/]+$")  # ranks append to these files in any order
TEMPORARY = re.compile(r"(^|/)\.(rankloom[-_][a-z]+[-_]\w{6}|.*\.rankloom-[0-9a-f]{8}-\d+)(/|$)")
TIMEOUT = 120


class Verb:
    """A command with two variants, which runs in an empty directory that contains its outputs."""

    def __init__(self, name, *arguments, before=(), is_complete=None, slow=False, kept=None, own_status=False):
        self.name = name
        self.arguments = arguments  # a list of two is what differs between the variants
        self.before = before  # the arguments of a command that has to run once before
        self.is_complete = is_complete  # whether a file of an output that differs from run to run is complete
        self.slow = slow  # starts an MPI program
        self.kept = kept  # leftovers that are kept on purpose
        self.own_status = own_status  # exits with the status of its program

    def command(self, variant):
        return [part[variant] if isinstance(part, list) else part for part in self.arguments]


class Bench:
    """Runs verbs and remembers what undisturbed runs write."""

    def __init__(self, program, directory):
        self.program = pathlib.Path(program).resolve()
        self.root = pathlib.Path(directory)
        self.inputs, self.temporary = self.root / "inputs", self.root / "tmp"
        for folder in (self.inputs, self.temporary):
            folder.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary), MALLOC_ARENA_MAX="2", OMPI_MCA_mpi_yield_when_idle="1", HYDRA_LAUNCHER="fork",
                                **installed_mpi.open_mpi().environment)
        self.references, self.durations = {}, {}
        self.verbs = self.table()

    def table(self):
        def machine(nodes):
            return f"node:{nodes}=10 core:4=1"

        inputs = self.inputs
        self.check_run(inputs, "gen", "stencil2d", "--size", "8x8", "-o", "app.prof")
        self.check_run(inputs, "map", "app.prof", "-t", machine(16), "-a", "block", "-o", "block.map")
        self.check_run(inputs, "map", "app.prof", "-t", machine(16), "-a", "round-robin", "-o", "round.map")
        (inputs / "windows.prof").symlink_to(pathlib.Path(__file__).resolve().parents[2] / "reproduce" / "windows" / "two-phases-8.prof")
        (inputs / "times").write_text("0 1 100\n0 2 200\n")
        maps = [str(inputs / "block.map"), str(inputs / "round.map")]
        profile, here = str(inputs / "app.prof"), f"node:1=10 core:{os.cpu_count()}=1"
        verbs = [
            Verb("gen", "gen", "stencil2d", "--size", ["100x100", "90x110"], "-o", "out.prof"),
            Verb("import", "import", ["gen:stencil2d:size=60x60", "gen:ring:ranks=5000"], "--to", "metis", "-o", "out.graph"),
            Verb("map", "map", profile, "-t", machine(16), "-a", ["block", "greedy"], "-o", "out.map"),
            Verb("topo convert", "topo", "convert", [machine(4000), "switch:30=20 node:100=10 core:8=1"], "-o", "machine.json"),
            Verb("topo show", "topo", "show", [machine(4000), "switch:30=20 node:100=10 core:8=1"], "-o", "machine.html"),
            Verb("emit", "emit", maps, "-t", machine(16), "--to", "mpich", "-o", "launch"),
            Verb("emit into this directory", "emit", maps, "-t", machine(16), "--to", "slurm", "-o", "."),
            Verb("report", "report", maps, "-p", profile, "-t", machine(16), "-o", "report.json"),
            Verb("report page", "report", maps, "-p", profile, "-t", machine(16), "-o", "report.html"),
            Verb("report drawings", "report", maps, "-p", profile, "-t", machine(16), "--svg", "pictures"),
            Verb("gen workload", "gen", "workload", "--jobs", "3000", "--nodes", "64", "--seed", ["1", "2"], "-o", "jobs.swf"),
            Verb("online replay", "online", "--replay", str(inputs / "windows.prof"), "-t", ["package:2=1GB/s,1us core:4=10GB/s,200ns", "core:8=10GB/s,200ns"],
                 "-o", "online.json", is_complete=is_json),
            # An experiment with fewer seeds than one in the directory is refused without --force.
            Verb("bench", "bench", "gen:ring:ranks=8", "-t", machine(2), "-a", "block", "--seeds", ["1", "3"], "--force", "-o", "bench", is_complete=is_experiment),
            Verb("man", "man", "-o", "."),
            Verb("alloc init", "alloc", "init", "--force", "-t", [machine(9), machine(12)], is_complete=self.is_state),
            Verb("alloc drain", "alloc", "drain", "3", ["--failed", "--resume"], before=("alloc", "init", "-t", machine(9)), is_complete=self.is_state),
            Verb("alloc status", "alloc", "status", "--state", [str(inputs / "a.state"), str(inputs / "b.state")], "-o", "machine.svg"),
        ]
        self.check_run(inputs, "alloc", "init", "-t", "mesh:8x8 core:1", "--state", "a.state")
        self.check_run(inputs, "alloc", "init", "-t", "torus:6x6 core:1", "--state", "b.state")
        if (self.program.parent / "rankloom-simulate").exists():
            verbs += [
                Verb("simulate", "simulate", ["block", "round-robin"], "--profile", profile, "-t", machine(16)),
                Verb("simulate --calibrate", "simulate", "--calibrate", "-t", ["torus:3x3=1,500ns core:2=1,100ns", "node:4=10,1us core:2=1,100ns"], "-o", "calibration.json"),
            ]
        groups = self.program.parent / "rankloom-groups.mpich"
        if groups.exists():
            launch = ["mpiexec.mpich", "-n", "2"]
            app = [str(groups), "--per-group", "2", "--iterations", ["2", "3"]]
            (inputs / "two.map").write_text("0\n1\n" if os.cpu_count() > 1 else "0\n0\n")
            verbs += [
                Verb("record", "record", "-o", "app.prof", "--", *launch, *app, is_complete=self.is_profile, slow=True, kept=r"\.rankloom-record-\w{6}", own_status=True),
                Verb("record --trace", "record", "--trace", "trace", "-o", "app.prof", "--", *launch, *app, is_complete=self.is_profile_or_trace, slow=True,
                     kept=r"\.rankloom-record-\w{6}", own_status=True),
                Verb("run", "run", str(inputs / "two.map"), "-t", here, "-o", "launch", "--", *launch, *SHORT_PROGRAM, ["a", "b"], slow=True, own_status=True),
                Verb("run without -o", "run", str(inputs / "two.map"), "-t", here, "--", *launch, *SHORT_PROGRAM, slow=True, own_status=True),
                Verb("tune", "tune", "--force", "--runs", "1", "--max-runs", "1", "-t", here, "-o", "tuned", "--", *launch, *app, is_complete=is_json, slow=True,
                     kept=r"\.rankloom-record-\w{6}", own_status=True),
            ]
        return verbs

    # Running

    def start(self, folder, arguments, **options):
        return subprocess.Popen([str(self.program), *arguments], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace", **options)

    def run(self, folder, *arguments, **options):
        process = self.start(folder, arguments, **options)
        output, _ = process.communicate(timeout=TIMEOUT)
        return process.returncode, output

    def check_run(self, folder, *arguments):
        status, output = self.run(folder, *arguments)
        assert status == 0, f"rankloom {' '.join(arguments)}: status {status}\n{output}"

    def prepare(self, verb, folder):
        """A directory with the outputs of variant 0, and what both variants write."""
        if verb.name not in self.references:
            self.references[verb.name] = [self.reference(verb, variant) for variant in (0, 1)]
        if verb.before:
            self.check_run(folder, *verb.before)
        self.check_run(folder, *verb.command(0))

    def reference(self, verb, variant):
        folder = self.root / f"reference-{len(self.durations)}-{variant}"
        folder.mkdir()
        if verb.before:
            self.check_run(folder, *verb.before)
        begin = time.monotonic()
        self.check_run(folder, *verb.command(variant))
        self.durations[verb.name] = time.monotonic() - begin
        return files_in(folder)

    # Checking

    def broken(self, verb, folder):
        """The files of which neither the old nor the complete new version is there."""
        references = self.references[verb.name]
        wrong = []
        for name, content in files_in(folder).items():
            if name.endswith((LIST, "-journal")) or TEMPORARY.search(name) or BY_RANKS.search(name):
                continue
            if verb.is_complete is not None:
                good = verb.is_complete(folder / name)
            else:
                good = any(reference.get(name) == content for reference in references)
            if not good:
                wrong.append(name)
        return wrong

    def leftovers(self, verb, folder, variant):
        """What an undisturbed run would not have left."""
        expected = self.references[verb.name][variant]
        names = [name for name in files_in(folder) if verb.is_complete is None and name not in expected or TEMPORARY.search(name)]
        if verb.kept:
            names = [name for name in names if not re.search(verb.kept, name)]
        return names + [str(path) for path in self.temporary.rglob("*")]

    def is_state(self, path):
        return self.run(path.parent, "alloc", "verify", "--state", path.name)[0] == 0

    def is_profile(self, path):
        return path.suffix != ".prof" or self.run(path.parent, "show", path.name)[0] == 0

    def is_profile_or_trace(self, path):
        if path.name.startswith("rank-"):
            return path.read_text().endswith(" finalize\n")
        if path.name == "smpi_simgrid.txt":
            return self.run(path.parent, "show", ".")[0] == 0
        return self.is_profile(path)


def is_json(path):
    return path.suffix != ".json" or is_json_text(path.read_text())


def is_json_text(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_experiment(path):
    """Rows are appended; the last one may be incomplete, and the next run removes it."""
    text = path.read_text()
    if path.suffix == ".jsonl":
        return all(is_json_text(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))
    ends = {".svg": "</svg>\n", ".tex": "\\end{tabular}\n", ".csv": "\n"}
    return text.endswith(ends[path.suffix]) if path.suffix in ends else is_json(path)


def files_in(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
            elif TEMPORARY.search(path.name):
                found[str(path.relative_to(folder))] = b""
        except FileNotFoundError:
            pass
    return found

