# SPDX-License-Identifier: Apache-2.0
"""The experiments of the four papers, repeated: ./dev reproduce JOB

  list          list the experiments and their verdicts
  NAME…         run these experiments; writes tables, plots and a verdict to reproduce/results/
  all           run all experiments, then write the page
  page          write docs/reproduction.md from the existing results

Finished steps are cached in build/reproduce under a hash of their inputs, so an interrupted run continues where it stopped.
"""

import argparse
import json
import pathlib
import signal
import sys
import time

from . import experiments
from .harness import outcome, page
from .harness.program import Failed, Run
from .harness.progress import Progress

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="./dev reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB", default=["list"])
    parser.add_argument("--quick", action="store_true",
                        help="run the smallest sizes only, which takes seconds; results go to build/reproduce/quick")
    parser.add_argument("--again", action="store_true", help="discard the cached steps first")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="directory of the built programs")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/reproduce", help="directory of the cached steps")
    parser.add_argument("--results", type=pathlib.Path, help="directory for tables and plots [reproduce/results]")
    given = parser.parse_args(arguments)
    results = given.results or (given.work / "quick" if given.quick else ROOT / "reproduce/results")
    if given.jobs == ["list"]:
        return show(results)
    if given.jobs == ["page"]:
        page.write(results, ROOT / "docs/reproduction.md")
        return 0
    everything = given.jobs == ["all"]
    chosen = experiments.TABLE if everything else [experiments.find(name) for name in given.jobs]
    if None in chosen:
        unknown = given.jobs[chosen.index(None)]
        print(f"./dev reproduce: unknown experiment '{unknown}'; choose from: {', '.join(row.name for row in experiments.TABLE)}",
              file=sys.stderr)
        return 2
    if given.again:
        for step in (given.work / "steps").glob("*.json"):
            step.unlink()
    status = run_experiments(chosen, given, results)
    if status == 0 and everything and not given.quick:
        page.write(results, ROOT / "docs/reproduction.md")
        print("docs/reproduction.md")
    return status


def run_experiments(chosen, given, results):
    progress = Progress()
    run = Run(given.programs, given.work, progress, quick=given.quick)
    failed = 0
    for experiment in chosen:
        start, ran, cached = time.monotonic(), run.steps.ran, run.steps.cached
        progress.begin(experiment.name)
        try:
            made = experiment.run(run)
        except Failed as error:
            progress.finish()
            print(f"{experiment.name}: failed: {error}", file=sys.stderr)
            failed += 1
            continue
        except KeyboardInterrupt:
            progress.finish()
            print(f"interrupted in {experiment.name}; finished steps are cached, run the same command again to continue", file=sys.stderr)
            return 130
        progress.finish()
        outcome.write(made, experiment, results, run.version)
        print(outcome.markdown(made, experiment) if len(chosen) == 1 else made.line(experiment.name))
        print(f"  {run.steps.ran - ran} steps run, {run.steps.cached - cached} from the cache, {time.monotonic() - start:.0f} s; "
              f"{results / experiment.name}.md", flush=True)
    return 5 if failed else 0


def show(results):
    for row in experiments.TABLE:
        path = results / f"{row.name}.json"
        verdict = json.loads(path.read_text())["word"] if path.exists() else "not run yet"
        print(f"{row.name:<19}{row.title:<46}{row.paper:<46}{verdict}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `| head` ends the program silently
    sys.exit(main())
