#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs golden cases: small text files with input, commands and their expected output.

    # what the case shows (comments may be anywhere)
    > graph.txt            creates a file; its lines follow, each after "| "
    | 3 2
    | 2 3
    $ rankloom map graph.txt -t core:4      runs in bash, with rankloom on the PATH
    ? 3                                     the exit status, if it is not 0
    rankloom: …                             the expected output, stdout and stderr together

Every case runs in its own empty directory. In expected lines <...> stands for any text, and a line with only <...> for
any number of lines. Three things are always checked: a command that fails creates no file, no command gets more than
2 GiB of address space, and no line of a table has more than 100 columns without --wide.

    run.py --program build/bin/rankloom case.txt ...           checks
    run.py --program build/bin/rankloom --update case.txt ...  writes the output into the cases; read the diff
"""

import argparse
import difflib
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ANY = "<...>"
ADDRESS_SPACE = 2 << 30
TIMEOUT = 60
MAX_COLUMNS = 100
# A line of a table: indented, with a gap between two columns.
TABLE_LINE = re.compile(r"^ +(?![|{]).*[^ ]  +[^ ]")


# Output that differs between runs: --update writes wildcards for it.
TIME = r"[\d.e+-]+ (?:ns|µs|ms|s|min)"
VARYING = [
    (re.compile(r'("version":)"[^"]*"'), rf'\1"{ANY}"'),
    (re.compile(r'(_ms":)[\d.e+-]+'), rf"\1{ANY}"),
    (re.compile(r'(_ms":)\[[^\]]*\]'), rf"\1[{ANY}]"),
    (re.compile(rf"( in ){TIME}$"), rf"\1{ANY}"),
    (re.compile(rf"^(profile read|pattern generated) in {TIME}, machine {TIME}, scoring {TIME}$"), rf"\1 in {ANY}"),
    (re.compile(rf"( %) +{TIME}(?: ± {TIME})? *"), rf"\1{ANY}"),
    (re.compile(r"( gain| gap) +time$"), rf"\1{ANY}"),
    (re.compile(r"(, this machine has ).*$"), rf"\1{ANY}"),
]


def generalise(line):
    for pattern, replacement in VARYING:
        line = pattern.sub(replacement, line)
    return line


class Step:
    """One command with its expected exit status and output."""

    def __init__(self, command):
        self.command = command
        self.status = 0
        self.expected = []


def parse(text):
    """A case as a list of parts: comment lines, (file name, lines) and steps."""
    parts = []
    for line in text.splitlines():
        last = parts[-1] if parts else None
        if line.startswith("$ "):
            parts.append(Step(line[2:]))
        elif line.startswith("> ") and not isinstance(last, Step):
            parts.append((line[2:], []))
        elif line.startswith("|") and isinstance(last, tuple):
            last[1].append(line[2:])
        elif isinstance(last, Step) and line.startswith("? "):
            last.status = int(line[2:])
        elif isinstance(last, Step):
            last.expected.append(line)
        else:
            parts.append(line)
    return parts


def matches(expected, actual):
    """Whether the lines agree, with ANY as a wildcard inside lines and for complete lines."""
    pattern = ""
    for line in expected:
        if line == ANY:
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*?".join(re.escape(piece) for piece in line.split(ANY)) + "\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment(program):
    env = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR", "ASAN_OPTIONS", "TSAN_OPTIONS")}
    env["PATH"] = f"{program.parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    env["LC_ALL"] = "C.UTF-8"
    env["MALLOC_ARENA_MAX"] = "2"  # threads must not exhaust the address space
    env.setdefault("ASAN_OPTIONS", "detect_leaks=0")  # the leak check takes seconds at the end of every command
    return env


def listing(directory):
    return sorted(str(path.relative_to(directory)) for path in pathlib.Path(directory).rglob("*"))


def perform(step, directory, program, limited):
    """Runs the command. Returns its output, its exit status, and the files that a failing command created."""
    before = listing(directory)
    done = subprocess.run(
        ["bash", "-c", step.command], cwd=directory, env=environment(program), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=TIMEOUT, preexec_fn=limits if limited else None, check=False)
    left = [name for name in listing(directory) if name not in before] if done.returncode != 0 else []
    return done.stdout.decode("utf-8", "replace").splitlines(), done.returncode, left


def run_case(path, program, update, limited):
    parts = parse(path.read_text())
    problems = []
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        for part in parts:
            if isinstance(part, tuple):
                pathlib.Path(directory, part[0]).write_text("".join(line + "\n" for line in part[1]))
            if not isinstance(part, Step):
                continue
            actual, status, left = perform(part, directory, program, limited)
            actual = [line.replace(directory, "DIRECTORY") for line in actual]
            if "--wide" not in part.command:
                problems += [f"$ {part.command}\n  a line of a table has {len(line)} columns:\n{line}"
                             for line in actual if len(line) > MAX_COLUMNS and TABLE_LINE.match(line)]
            if left:
                problems.append(f"$ {part.command}\n  created although it failed: {', '.join(left)}")
            blank = 0
            while part.expected and not part.expected[-1].strip():  # blank lines before the next command are layout
                part.expected.pop()
                blank += 1
            if status != part.status or not matches(part.expected, actual):
                if update:
                    part.expected, part.status = [generalise(line) for line in actual], status
                else:
                    diff = "\n".join(difflib.unified_diff(part.expected, actual, "expected", "printed", lineterm=""))
                    problems.append(f"$ {part.command}\n  status {status}, expected {part.status}\n{diff}")
            part.expected += [""] * blank
    if update:
        path.write_text(render(parts))
    return problems


def render(parts):
    text = ""
    for part in parts:
        if isinstance(part, Step):
            text += f"$ {part.command}\n" + (f"? {part.status}\n" if part.status else "") + "".join(line + "\n" for line in part.expected)
        elif isinstance(part, tuple):
            text += f"> {part[0]}\n" + "".join(f"| {line}".rstrip() + "\n" for line in part[1])
        else:
            text += part + "\n"
    return text


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True, type=pathlib.Path)
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("--unlimited", action="store_true", help="no limit on memory, for sanitizer builds")
    arguments.add_argument("cases", nargs="+", type=pathlib.Path)
    given = arguments.parse_args()
    if hasattr(os, "sched_setaffinity"):  # the same number of threads on every machine, for the memory limit
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:4])
    failed = False
    for case in given.cases:
        for problem in run_case(case, given.program.resolve(), given.update, not given.unlimited):
            print(f"{case}:\n{problem}\n")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
