# SPDX-License-Identifier: Apache-2.0
"""reproduce: calls of the programs; each call is a cached step.

Every experiment gets a Run. The arguments of its calls are those a user would type; a file among them is an Input, so that
the name of the step depends on the contents of the file and not on its path.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import time

from .steps import Steps, digest, digest_of_file, write_atomically


class Failed(Exception):
    """A program failed; the message contains its output."""


@dataclasses.dataclass(frozen=True)
class Input:
    """A file among the arguments of a call."""

    path: pathlib.Path

    def __str__(self):
        return str(self.path)


class Run:
    """One run of experiments: the directory of the programs, the cached steps, the progress."""

    def __init__(self, programs, work, progress, quick=False, at_once=None, time_limit=1800):
        self.programs = pathlib.Path(programs)
        self.work = pathlib.Path(work)
        self.steps = Steps(self.work / "steps")
        self.progress = progress
        self.quick = quick
        self.at_once = at_once or max(1, os.cpu_count() or 1)
        self.time_limit = time_limit
        # Steps also depend on the contents of the program and of its helper programs.
        helpers = sorted(path for path in self.programs.glob("rankloom*") if path.is_file() and not path.is_symlink())
        self.version = digest(*(word for path in helpers for word in (path.name, digest_of_file(path))))

    def name(self, words, also=""):
        return digest(self.version, also, *(digest_of_file(w.path) if isinstance(w, Input) else w for w in words))

    def file(self, content, ending=".txt"):
        """A file with this content, text or bytes, as an Input."""
        path = self.work / "inputs" / f"{digest(content)}{ending}"
        if not path.exists():
            write_atomically(path, content)
        return Input(path)

    def mapping(self, cores):
        """A mapping file: one core per line."""
        return self.file("".join(f"{core}\n" for core in cores), ".map")

    def rankloom(self, *words):
        """The JSON object that `rankloom ARGUMENTS --json` prints."""
        return self.steps(self.name(words), lambda: self._call(words))

    def session(self, calls):
        """Calls that share a state file (`rankloom alloc`), one after another, as one step. Returns the list of their objects."""

        def work():
            with tempfile.TemporaryDirectory(prefix="reproduce-") as folder:
                return [self._call([*words, "--state", f"{folder}/state"]) for words in calls]

        return self.steps(self.name([word for words in calls for word in (*words, ";")], also="session"), work)

    def recorded(self, ranks, *words):
        """The traffic of an MPI program from the directory of rankloom, recorded in a run on this machine, in the format `pairs`."""
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")

        def work():
            with tempfile.TemporaryDirectory(prefix="reproduce-") as folder:
                self._run([self.programs / "rankloom", "record", "-o", f"{folder}/app.prof", "--", "mpirun", "--oversubscribe", "-n",
                           str(ranks), self.programs / words[0], *words[1:]],
                          environment)
                return self._run([self.programs / "rankloom", "import", f"{folder}/app.prof", "--to", "pairs"]).decode()

        return self.steps(self.name(words, also=f"recorded {ranks}"), work)

    def text(self, *words):
        """The output of `rankloom ARGUMENTS`."""
        return self.steps(self.name(words, also="text"), lambda: self._run([self.programs / "rankloom", *words]).decode())

    def seconds(self, *words, times=5):
        """The shortest wall time of the whole command `rankloom ARGUMENTS` in several runs; other programs on the machine can only
        increase it. The output is discarded, and no other step runs at the same time."""

        def work():
            taken = []
            for _ in range(times):
                start = time.monotonic()
                self._run([self.programs / "rankloom", *words])
                taken.append(time.monotonic() - start)
            return min(taken)

        return self.steps(self.name(words, also=f"seconds {times}"), work)

    def all(self, label, calls):
        """Many calls of rankloom, several in parallel: the list of their objects, in order. Reports progress."""
        return self.each(label, calls, lambda words: self.rankloom(*words))

    def each(self, label, items, work):
        """work(item) for each item, several in parallel; the results are in the order of the items."""
        items = list(items)
        answers = [None] * len(items)
        with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
            waiting = {pool.submit(work, item): at for at, item in enumerate(items)}
            try:
                for done, future in enumerate(concurrent.futures.as_completed(waiting)):
                    answers[waiting[future]] = future.result()
                    self.progress.report(label, done + 1, len(items))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return answers

    def _call(self, words):
        words = [self.programs / "rankloom", *words, "--json"]
        try:
            return json.loads(self._run(words))
        except ValueError as error:
            raise Failed(f"{command_line(words)}\ndid not print JSON: {error}") from error

    def _run(self, words, environment=None):
        try:
            done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=self.time_limit, env=environment, check=False)
        except OSError as error:
            raise Failed(f"{words[0]}: {error.strerror}\nbuild the programs first: ./dev build") from error
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{command_line(words)}\ndid not finish within {self.time_limit} s") from error
        if done.returncode != 0:
            raise Failed(f"{command_line(words)}\nexited with status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done.stdout


def command_line(words):
    return " ".join(str(word) for word in words)
