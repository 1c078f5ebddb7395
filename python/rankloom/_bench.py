# SPDX-License-Identifier: Apache-2.0
"""python: experiments, by the program `rankloom bench`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import Any, Optional, Sequence, Union

from ._error import Error

Texts = Union[str, Sequence[str]]
SOME_RUNS_FAILED = 4


def _texts(values: Optional[Texts]) -> list[str]:
    if values is None:
        return []
    return [os.fspath(values)] if isinstance(values, (str, os.PathLike)) else [os.fspath(value) for value in values]


def _program(program: Optional[str]) -> str:
    found = program or os.environ.get("RANKLOOM") or shutil.which("rankloom")
    if not found:
        raise Error("the program rankloom is not in PATH", "program", "install it, or pass its path as program", 5)
    return found


def bench(graphs: Texts, topologies: Optional[Texts] = None, mappers: Optional[Texts] = None, *, seeds: int = 3, seed: int = 0,
          model: Optional[str] = None, budget: Optional[str] = None, threads: int = 1, jobs: int = 1, time_limit: Optional[str] = None,
          efforts: Optional[Texts] = None, budgets: Optional[Texts] = None, directory: Optional[str] = None, force: bool = False,
          program: Optional[str] = None) -> list[dict[str, Any]]:
    """Runs every mapper on every graph and machine with every seed by `rankloom bench`, and returns one dictionary per run.

    graphs      files, "gen:PATTERN", or "pack:NAME", which has its own machines
    topologies  machines, as for -t
    mappers     as for -a, also "exec:COMMAND" and "file:FILE"; by default auto:effort=fast, metis and scotch
    budgets     time limits such as "10ms"; every mapper runs with each of them
    directory   where the rows and plots are kept; the same call continues an interrupted experiment. By default they are not kept
    program     the program; by default the variable RANKLOOM, or rankloom in PATH

    A run that failed has the key "error" and no cost. `pandas.DataFrame(rankloom.bench(...))` is a table.
    """
    with tempfile.TemporaryDirectory() as temporary:
        command = [_program(program), "bench", *_texts(graphs), "--json", "-o", directory or os.path.join(temporary, "bench"),
                   "--seeds", str(seeds), "--seed", str(seed), "--threads", str(threads), "--jobs", str(jobs)]
        for option, values in (("-t", _texts(topologies)), ("-a", _texts(mappers))):
            for value in values:
                command += [option, value]
        for option, value in (("--model", model), ("--budget", budget), ("--time-limit", time_limit)):
            if value is not None:
                command += [option, value]
        for option, words in (("--efforts", efforts), ("--budgets", budgets)):
            if words is not None:
                command += [option, ",".join(_texts(words))]
        if force:
            command.append("--force")
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        raise Error(f"rankloom bench ended with status {done.returncode}: {done.stderr.strip()}", "program", "", 5) from None
    if "error" in result or done.returncode not in (0, SOME_RUNS_FAILED):
        error = result.get("error", {})
        raise Error(error.get("what", done.stderr.strip()), error.get("where", ""), error.get("hint", ""), done.returncode)
    return result["rows"]
