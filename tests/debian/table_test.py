#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests: the table of docs/versions.md is made from the results of runs: table_test.py PROJECT"""

import json
import pathlib
import re
import sys
import tempfile
import unittest

import table

PROJECT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path.cwd()
REPORT = """<?xml version="1.0"?>
<testsuite name="all" tests="{number}">
{cases}
</testsuite>
"""


def report(path, **results):
    """Writes what ctest writes; in a keyword, __ stands for a full stop."""
    cases = "\n".join(f'<testcase name="{name.replace("__", ".")}" status="{status}"/>' for name, status in results.items())
    path.write_text(REPORT.format(number=len(results), cases=cases))
    return path


def entry(suite, outcome="complete", date="2026-11-01", **results):
    names = {name.replace("__", "."): result for name, result in results.items()}
    proved = {mpi: {proof: table.cell(names, patterns[mpi]) for proof, patterns in table.MPI_PROOFS.items()} for mpi in table.MPI_NAMES}
    proved["slurm"] = {proof: table.cell(names, pattern) for proof, pattern in table.SLURM_PROOFS.items()}
    return json.dumps({"suite": suite, "outcome": outcome, "date": date, "commit": "abc", "architecture": "x86_64", "versions": {"openmpi": "5.0.7", "gcc": "14.2"},
                       "tests": {"passed": 2}, "failed": [], "proved": proved})


class Results(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_a_second_attempt_replaces_the_first(self):
        first = report(self.path / "tests.xml", tune__Host="run", web__speed="fail", web__page="notrun")
        again = report(self.path / "tests_again.xml", web__speed="run")
        self.assertEqual(table.test_results([again, first]), {"tune.Host": "passed", "web.speed": "passed", "web.page": "skipped"})

    def test_a_cell_counts_what_failed_passed_and_was_skipped(self):
        self.assertEqual(table.cell({"a.1": "passed", "a.2": "failed", "b": "failed"}, r"a\..*"), "1 of 2 failed")
        self.assertEqual(table.cell({"a.1": "passed", "a.2": "skipped"}, r"a\..*"), "1 passed, 1 skipped")
        self.assertEqual(table.cell({"a.1": "skipped"}, r"a\..*"), "skipped")
        self.assertEqual(table.cell({"b": "passed"}, r"a\..*"), "–")

    def test_versions_are_those_of_the_programs(self):
        for version, plain in (("4.3.0+really4.2.1", "4.2.1"), ("6.0.0~rc2", "6.0.0rc2"), ("10.1.1+ds1", "10.1.1"), ("3.12.0.really.3.12.0.really.3.11.3", "3.11.3")):
            self.assertEqual(table.plain_version(version), plain)

    def test_each_mpi_library_has_its_own_tests(self):
        names = {"record.fortran.Module.mpich": "failed", "record.one_sided.mpich": "passed", "reorder.VirtualCluster": "passed"}
        self.assertEqual(table.cell(names, table.MPI_PROOFS["record Fortran"]["mpich"]), "1 of 1 failed")
        self.assertEqual(table.cell(names, table.MPI_PROOFS["record C"]["mpich"]), "1 passed")
        self.assertEqual(table.cell(names, table.MPI_PROOFS["record C"]["openmpi"]), "–")
        self.assertEqual(table.cell(names, table.MPI_PROOFS["reorder"]["openmpi"]), "1 passed")
        self.assertEqual(table.cell(names, table.MPI_PROOFS["reorder"]["mpich"]), "–")


class Page(unittest.TestCase):
    def test_only_the_last_complete_run_of_a_suite_counts(self):
        lines = [entry("trixie", date="2026-01-01"), entry("trixie", date="2026-02-02"), entry("trixie", outcome="selected"), entry("forky", outcome="not built"), entry("bookworm")]
        rows = table.latest_complete(lines)
        self.assertEqual(list(rows), ["bookworm", "trixie"])
        self.assertEqual(rows["trixie"]["date"], "2026-02-02")

    def test_without_a_complete_run_the_page_says_so(self):
        self.assertEqual(table.tables(table.latest_complete([entry("trixie", outcome="selected")])), ["No complete run yet.", ""])

    def test_a_row_names_suite_library_and_proof(self):
        text = "\n".join(table.tables(table.latest_complete([entry("trixie", record__one_sided__openmpi="passed", slurm__spank__Gpus="skipped")])))
        self.assertRegex(text, r"\| Debian 13 \| Open MPI 5\.0\.7 \| 1 passed \| – ")
        self.assertRegex(text, r"\| Debian 13 \| Slurm – \| – \| skipped ")
        self.assertIn("gcc 14.2", text)

    def test_text_outside_the_two_comments_stays(self):
        page = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
        text = table.with_tables(page, ["new", ""])
        self.assertEqual(text, f"before\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter\n")
        self.assertEqual(table.with_tables(text, ["new", ""]), text)
        with self.assertRaises(ValueError):
            table.with_tables("no comments", [])

    def test_the_page_in_docs_is_made_from_the_results(self):
        page = PROJECT / "docs" / "versions.md"
        self.assertEqual(page.read_text(), table.page_of(PROJECT / "tests" / "debian" / "results.jsonl", page),
                         "run tests/debian/table.py page tests/debian/results.jsonl docs/versions.md")

    def test_the_page_names_the_minimum_versions_of_the_build(self):
        page = (PROJECT / "docs" / "versions.md").read_text()
        minimum = re.findall(r'^set\(RANKLOOM_MINIMUM_(\w+) ([\d.]+)\)', (PROJECT / "cmake" / "minimum_versions.cmake").read_text(), re.MULTILINE)
        self.assertGreater(len(minimum), 5)
        minimum += re.findall(r'^(cmake)_minimum_required\(VERSION ([\d.]+)\)', (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)
        for name, version in minimum:
            self.assertRegex(page.lower(), rf"\| {re.escape(name.lower().replace('_', ' '))} \| {re.escape(version)} \|")


if __name__ == "__main__":
    unittest.main()
