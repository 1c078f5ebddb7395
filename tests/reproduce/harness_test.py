# SPDX-License-Identifier: Apache-2.0
"""tests: steps that are kept, runs that go on after they were killed, verdicts, tables, progress."""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support
from reproduce.harness import verdict
from reproduce.harness.program import Failed, Run
from reproduce.harness.progress import Progress
from reproduce.harness.steps import Steps
from reproduce.harness.tables import Table, text

# Stands for rankloom: counts its calls in a file and takes its time.
FAKE = """#!/bin/sh
echo call >> "$(dirname "$0")/calls"
[ "$1" = slow ] && sleep "$2"
[ "$1" = fail ] && { echo "error: no such thing" >&2; exit 3; }
echo '{"words": "'"$*"'"}'
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reproduce-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        program = self.path / "bin/rankloom"
        program.parent.mkdir()
        program.write_text(FAKE)
        program.chmod(0o755)

    def run_of(self, **options):
        return Run(self.path / "bin", self.path / "work", Progress(io.StringIO()), **options)

    def calls(self):
        path = self.path / "bin/calls"
        return len(path.read_text().splitlines()) if path.exists() else 0


class KeptSteps(Folder):
    def test_a_finished_step_is_not_run_again(self):
        self.assertEqual(self.run_of().rankloom("map", "x")["words"], "map x --json")
        again = self.run_of()
        self.assertEqual(again.rankloom("map", "x")["words"], "map x --json")
        self.assertEqual(self.calls(), 1)
        self.assertEqual((again.steps.ran, again.steps.cached), (0, 1))

    def test_other_words_are_another_step(self):
        run = self.run_of()
        run.rankloom("map", "x")
        run.rankloom("map", "y")
        self.assertEqual(self.calls(), 2)

    def test_an_input_counts_by_what_is_in_it(self):
        run = self.run_of()
        first, same, other = run.file("1\n"), run.file("1\n"), run.file("2\n")
        self.assertEqual(first, same)
        self.assertEqual(run.name(["map", first]), run.name(["map", same]))
        self.assertNotEqual(run.name(["map", first]), run.name(["map", other]))

    def test_another_program_runs_everything_again(self):
        self.run_of().rankloom("map", "x")
        program = self.path / "bin/rankloom"
        program.write_text(FAKE + "# newer\n")
        self.run_of().rankloom("map", "x")
        self.assertEqual(self.calls(), 2)

    def test_a_step_that_was_cut_short_is_run_again(self):
        steps = Steps(self.path / "steps")
        steps("a", lambda: [1, 2])
        (self.path / "steps/a.json").write_text("[1,")
        self.assertEqual(steps("a", lambda: [3]), [3])

    def test_a_failure_is_told_and_not_kept(self):
        run = self.run_of()
        for _ in range(2):
            with self.assertRaisesRegex(Failed, "status 3: error: no such thing"):
                run.rankloom("fail")
        self.assertEqual(self.calls(), 2)

    def test_a_missing_program_names_the_cure(self):
        (self.path / "bin/rankloom").unlink()
        with self.assertRaisesRegex(Failed, "./dev build"):
            self.run_of().rankloom("map")

    def test_results_of_many_calls_are_in_order(self):
        answers = self.run_of(at_once=2).all("calls", [("n", str(at)) for at in range(9)])
        self.assertEqual([answer["words"] for answer in answers], [f"n {at} --json" for at in range(9)])


class Killed(Folder):
    def test_continues_where_it_stopped(self):
        script = ("import sys; sys.path.insert(0, %r); from reproduce.harness.program import Run; from reproduce.harness.progress "
                  "import Progress\n"
                  "run = Run(%r, %r, Progress(), at_once=1)\n"
                  "run.all('steps', [('slow', '0', str(at)) for at in range(3)] + [('slow', %%s, 'last')])\n"
                  "print(run.steps.ran, run.steps.cached)") % (str(support.ROOT), str(self.path / "bin"), str(self.path / "work"))
        first = subprocess.Popen([sys.executable, "-c", script % "'60'"], start_new_session=True)
        deadline = time.monotonic() + 30
        while self.calls() < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        self.assertEqual(self.calls(), 4)
        second = subprocess.run([sys.executable, "-c", script % "'0'"], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(second.stdout.split(), ["1", "3"])
        self.assertEqual(list((self.path / "work/steps").glob("*.part")), [])


class Verdicts(unittest.TestCase):
    def test_all_some_or_none_of_the_claims(self):
        self.assertEqual(verdict.of_claims(True, True), "holds")
        self.assertEqual(verdict.of_claims(True, False), "holds partly")
        self.assertEqual(verdict.of_claims(False, False), "does not hold")

    def test_several_verdicts_make_one_word(self):
        self.assertEqual(verdict.together(["holds", "holds"]), "holds")
        self.assertEqual(verdict.together(["holds", "does not hold"]), "holds partly")
        self.assertEqual(verdict.together(["does not hold"]), "does not hold")

    def test_a_verdict_is_one_of_three_words(self):
        with self.assertRaises(AssertionError):
            verdict.Verdict("Table 1", "perhaps", "1", "2")

    def test_the_line_has_both_figures_and_the_results_not_reached(self):
        line = verdict.line("x", "simulated", [verdict.Verdict("Table 1", "holds", "2.1", "2.0")],
                            [verdict.Must("be quick", False, "slow")])
        self.assertEqual(line, "x: holds (simulated). Table 1: 2.1 (paper: 2.0). Not reached: be quick")


class Tables(unittest.TestCase):
    def test_markdown_and_csv(self):
        table = Table("t", ["name", "value"])
        table.row("a|b", 1234.5)
        table.row("c", None)
        self.assertEqual(table.markdown(), "| name | value |\n|---|---:|\n| a\\|b | 1,234 |\n| c | – |\n")
        self.assertEqual(table.csv(), "name,value\na|b,1234.5\nc,\n")

    def test_numbers_have_significant_digits(self):
        self.assertEqual([text(value) for value in (0.000123456, 1.23456, 45.678, 12345.6, 0, 144, None, True)],
                         ["0.000123", "1.235", "45.7", "12,346", "0", "144", "–", "yes"])


class TheProgressBar(unittest.TestCase):
    def test_is_hidden_when_piped(self):
        stream = io.StringIO()
        progress = Progress(stream)
        progress.begin("x")
        progress.report("y", 1, 2)
        progress.finish()
        self.assertEqual(stream.getvalue(), "")

    def test_shows_the_fraction_done_and_disappears(self):
        stream = io.StringIO()
        progress = Progress(stream, shown=True)
        progress.begin("x")
        progress.report("y", 1, 2)
        self.assertIn("x: y [##########..........] 1/2", stream.getvalue())
        progress.finish()
        self.assertTrue(stream.getvalue().endswith(" \r"))


class TheCommand(Folder):
    def command(self, *words):
        return subprocess.run([sys.executable, "-m", "reproduce", "--programs", self.path / "bin", "--work", self.path / "work",
                               "--results", self.path / "results", *words],
                              cwd=support.ROOT, capture_output=True, text=True, timeout=60, check=False)

    def test_lists_every_experiment(self):
        done = self.command("list")
        self.assertEqual(done.returncode, 0)
        names = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(sorted(names), ["cruz-cluster", "cruz-load", "cruz-online", "cruz-quality", "cruz-time", "getmanskiy-grid",
                                         "getmanskiy-groups", "wang-npb", "wang-time", "zhang-jobs"])
        self.assertIn("not run yet", done.stdout)

    def test_an_unknown_name_is_rejected_with_the_list_of_names(self):
        done = self.command("wang")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown experiment 'wang'; choose from: wang-time", done.stderr)

    def test_an_experiment_that_fails_reports_the_reason(self):
        (self.path / "bin/rankloom").write_text("#!/bin/sh\necho 'error: SimGrid is missing' >&2\nexit 5\n")
        done = self.command("wang-npb", "--quick")
        self.assertEqual(done.returncode, 5)
        self.assertIn("wang-npb: failed", done.stderr)
        self.assertIn("SimGrid is missing", done.stderr)
        self.assertFalse((self.path / "results/wang-npb.json").exists())


if __name__ == "__main__":
    unittest.main()
