#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation check: changes single lines of the library at random, one at a time, and runs the unit tests of the stage. A change that
no test detects has survived: a test is missing, or the change has no effect (tests/mutation/equivalent.txt lists those).

The changed source is compiled and linked before the library in a temporary directory; neither the working tree nor the build changes.
The same seed gives the same changes.

    ./dev mutants [N]
    mutate.py [--mutants N] [--seed S] [--stages map,model,…] [--only FILE:LINE] [--jobs N] [--list] [--json FILE]
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-mutants"

Stage = collections.namedtuple("Stage", "name folders tests share")
STAGES = (
    Stage("map", ("rankloom/map",), "map_tests", 20),
    Stage("model", ("rankloom/model",), "model_tests", 14),
    Stage("allocate", ("rankloom/allocate",), "allocate_tests", 12),
    Stage("place", ("rankloom/place",), "place_tests", 10),
    Stage("statistics", ("rankloom/evaluate/statistics.cpp",), "evaluate_tests", 4),
)
# Code that only runs inside MPI programs, agents and namespaces: live tests cover it, and no unit test can.
LIVE_ONLY = ("rankloom/place/virtual_cluster/", "rankloom/place/online/agent/", "rankloom/place/reorder/library/")

# Lines that have no effect on results: memory, progress, assertions, declarations, error messages.
SKIPPED = re.compile(r"^\s*(//|#|/\*|\*|using |namespace |template|static_assert|assert|return fail|fail\()|\.reserve\(|shrink_to_fit|progress|fmt::print|LCOV_EXCL")
# An assignment or a call: its target has no blanks, unlike a declaration.
STATEMENT = re.compile(r"^\s*(?!return\b|break;|continue;|throw\b)(\+\+|--)?\w[\w.:>\-\[\]()*&]+( [-+*/|&^%]?= .*|\(.*\)|\+\+|--)?;\s*$")

Mutant = collections.namedtuple("Mutant", "stage file line old new")
Rule = collections.namedtuple("Rule", "name pattern replacement")


def rule(name, pattern, replacement):
    return Rule(name, re.compile(pattern), replacement)


RULES = (
    rule("< → <=", r" < ", " <= "), rule("<= → <", r" <= ", " < "),
    rule("> → >=", r" > ", " >= "), rule(">= → >", r" >= ", " > "),
    rule("== → !=", r" == ", " != "), rule("!= → ==", r" != ", " == "),
    rule("+ → -", r" \+ ", " - "), rule("- → +", r" - ", " + "),
    rule("* → /", r" \* ", " / "), rule("/ → *", r" / ", " * "),
    rule("+= → -=", r" \+= ", " -= "), rule("-= → +=", r" -= ", " += "),
    rule("&& → ||", r" && ", " || "), rule("|| → &&", r" \|\| ", " && "),
    rule("min → max", r"\bstd::min\b", "std::max"), rule("max → min", r"\bstd::max\b", "std::min"),
    rule("true → false", r"\btrue\b", "false"), rule("false → true", r"\bfalse\b", "true"),
    rule("n → n + 1", r"(?<![\w.'])(\d+)(?![\w.'\d])", lambda found: str(int(found[1]) + 1)),
    rule("negated condition", r"\bif \(([^;]+)\)(?= |$)", lambda found: f"if (!({found[1]}))"),
)


def without_literals(line):
    """The line with strings, characters and comments replaced by blanks of the same length."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', lambda found: " " * len(found[0]), line)
    return re.sub(r"//.*", lambda found: " " * len(found[0]), line)


def mutations_of(line, before=";"):
    """All changed versions of a line of code; `before` is the line before it."""
    if SKIPPED.search(line):
        return
    code = without_literals(line)
    for _, pattern, replacement in RULES:
        for found in pattern.finditer(code):
            new = replacement if isinstance(replacement, str) else replacement(found)
            if callable(replacement) and '"' in line[found.start():found.end()]:
                continue  # the condition contains a literal
            yield line[:found.start()] + new + line[found.end():]
    if before.rstrip().endswith((";", "{", "}", ":", ")")) and STATEMENT.match(code) and code.count("(") == code.count(")") and code.count("{") == code.count("}"):
        yield re.match(r"\s*", line)[0] + ";  // removed: " + line.strip()


def sources_of(stage, root):
    for folder in stage.folders:
        path = root / folder
        yield from [path] if path.is_file() else sorted(path.rglob("*.cpp"))


def candidates_of(stage, root=ROOT):
    """Line by line, so that every line is equally likely, however many changes it allows."""
    for path in sources_of(stage, root):
        name = str(path.relative_to(root))
        if name.startswith(LIVE_ONLY):
            continue
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            changed = list(mutations_of(line, lines[number - 2]))
            if changed:
                yield [Mutant(stage.name, name, number, line, new) for new in changed]


def choose(count, seed, stages):
    chance = random.Random(seed)
    total = sum(stage.share for stage in stages)
    chosen = []
    for place, stage in enumerate(stages):
        wanted = count - len(chosen) if place == len(stages) - 1 else round(count * stage.share / total)
        lines = list(candidates_of(stage))
        chosen += [chance.choice(line) for line in chance.sample(lines, min(wanted, len(lines)))]
    return chosen


def equivalents():
    """(file, changed line) → why it has no effect."""
    found = {}
    for line in (pathlib.Path(__file__).parent / "equivalent.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            file, changed, why = line.split(" | ", 2)
            found[file, changed] = why
    return found


def compile_commands():
    """File → its compile command, without the outputs."""
    return {command["file"]: shlex.split(command["command"]) for command in json.loads((BUILD / "compile_commands.json").read_text())}


def link_command(tests):
    """The command that links a test program: the last one that ninja would run, without what follows the linker."""
    lines = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", tests], capture_output=True, text=True, check=True).stdout.splitlines()
    return shlex.split(lines[-1].removeprefix(": && ").split(" && ")[0])


def with_output(command, output):
    return [output if before == "-o" else word for before, word in zip([None, *command], command)]


def run_tests(program, limit):
    """survived if all tests pass, killed, or hung, and the time."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        child = subprocess.Popen([program, "--gtest_fail_fast", "--gtest_brief=1"], cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            outcome = "survived" if child.wait(timeout=limit) == 0 else "killed"
        except subprocess.TimeoutExpired:
            outcome = "hung"
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return outcome, time.monotonic() - begin


def judge(mutant, compile_command, link, limit):
    """killed, hung, survived, or not compiled."""
    lines = (ROOT / mutant.file).read_text().splitlines(keepends=True)
    assert lines[mutant.line - 1].rstrip("\n") == mutant.old
    lines[mutant.line - 1] = mutant.new + "\n"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        source, changed, program = directory / pathlib.Path(mutant.file).name, directory / "changed.o", directory / "tests"
        source.write_text("".join(lines))
        compiled = [str(source) if word == str(ROOT / mutant.file) else word for word in with_output(compile_command, str(changed))]
        # The object of the library is not used: the changed one defines all its symbols, and comes first.
        linked = with_output(link, str(program))
        linked.insert(linked.index(str(program)) + 1, str(changed))
        for command in (compiled, linked):
            if subprocess.run(command, cwd=BUILD, capture_output=True, check=False).returncode != 0:
                return "not compiled"
        return run_tests(program, limit)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=2015)
    parser.add_argument("--stages", default=",".join(stage.name for stage in STAGES))
    parser.add_argument("--only", default="", help="mutants of this file or line: rankloom/map/run.cpp:44")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--list", action="store_true", help="show the changes; build and run nothing")
    parser.add_argument("--json", type=pathlib.Path, default=BUILD / "mutants.json")
    arguments = parser.parse_args()
    stages = [stage for stage in STAGES if stage.name in arguments.stages.split(",")]
    mutants = [mutant for mutant in choose(arguments.mutants, arguments.seed, stages) if f"{mutant.file}:{mutant.line}".startswith(arguments.only)]
    if arguments.list:
        for mutant in mutants:
            print(f"{mutant.file}:{mutant.line}\n  - {mutant.old.strip()}\n  + {mutant.new.strip()}")
        sys.exit(not mutants)
    tests_of = {stage.name: stage.tests for stage in stages}
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O1 -g0 -D_GLIBCXX_ASSERTIONS", "-DRANKLOOM_CCACHE=OFF",
                        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], stdout=subprocess.DEVNULL, check=True)
    needed = sorted({tests_of[mutant.stage] for mutant in mutants})
    done = subprocess.run(["ninja", "-C", BUILD, *needed], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout[-4000:])
    limits, links, compile_of = {}, {tests: link_command(tests) for tests in needed}, compile_commands()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for tests, (outcome, seconds) in zip(needed, pool.map(lambda tests: run_tests(BUILD / "bin" / tests, 3600), needed)):
            if outcome != "survived":
                sys.exit(f"{tests} fails without a change")
            limits[tests] = 5 * seconds + 60
        known = equivalents()

        def outcome_of(mutant):
            if (mutant.file, mutant.new.strip()) in known:
                return "equivalent"
            if str(ROOT / mutant.file) not in compile_of:
                return "not compiled"  # a part that this build does not have
            tests = tests_of[mutant.stage]
            return judge(mutant, compile_of[str(ROOT / mutant.file)], links[tests], limits[tests])

        results = []
        running = {pool.submit(outcome_of, mutant): mutant for mutant in mutants}
        for number, done in enumerate(concurrent.futures.as_completed(running), 1):
            mutant, outcome = running[done], done.result()
            results.append({**mutant._asdict(), "outcome": outcome})
            print(f"{number:3} {outcome:12} {mutant.file}:{mutant.line}\n    - {mutant.old.strip()}\n    + {mutant.new.strip()}", flush=True)
            arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    counts = collections.Counter(result["outcome"] for result in results)
    killed = counts["killed"] + counts["hung"]
    judged = killed + counts["survived"]
    print(f"{killed} of {judged} killed ({100 * killed / max(judged, 1):.0f} %), {counts['hung']} of them by a time limit, {counts['survived']} survived, "
          f"{counts['equivalent']} equivalent, {counts['not compiled']} not compiled")
    sys.exit(killed < 0.8 * judged)


if __name__ == "__main__":
    main()
