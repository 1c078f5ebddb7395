# SPDX-License-Identifier: Apache-2.0
"""tests: the page has a verdict for every table and figure of the four papers, and is the one that the results make."""

import json
import pathlib
import unittest

import support
from reproduce import experiments
from reproduce.harness import page

PAPERS = support.ROOT / "reproduce/papers"
# How many tables and figures each paper has.
ITEMS = {"wang-2015": (1, 10), "zhang-2014": (1, 5), "getmanskiy-2015": (4, 12), "cruz-2019": (0, 11)}


class Papers(unittest.TestCase):
    def setUp(self):
        self.papers = {name: json.loads((PAPERS / f"{name}.json").read_text()) for name in ITEMS}

    def test_every_table_and_figure_is_listed(self):
        for name, (tables, figures) in ITEMS.items():
            listed = [item["item"] for item in self.papers[name]["items"]]
            self.assertEqual(listed, [f"Table {at + 1}" for at in range(tables)] + [f"Figure {at + 1}" for at in range(figures)], name)

    def test_every_item_says_where_its_verdict_comes_from(self):
        for paper in self.papers.values():
            for item in paper["items"]:
                sources = [key for key in ("by", "test", "illustration", "elsewhere") if key in item]
                self.assertEqual(len(sources), 1, item)
                if "by" in item:
                    self.assertIsNotNone(experiments.find(item["by"]), item)
                if "test" in item:
                    self.assertTrue((support.ROOT / item["test"]).exists(), item)

    def test_every_experiment_is_named_by_a_paper(self):
        named = {item["by"] for paper in self.papers.values() for item in paper["items"] if "by" in item}
        self.assertEqual(named, {row.name for row in experiments.TABLE})


class Page(unittest.TestCase):
    def test_what_was_not_run_says_so(self):
        self.assertIn("| Table 1 | time to compute a mapping: 144, 144, 192 ranks; 2,000 extrapolated | not run |",
                      page.text({}, "results"))

    def test_a_result_appears_with_both_figures(self):
        found = {"wang-time": {"name": "wang-time", "paper": "p", "word": "holds", "kind": "measured", "plots": ["wang-time-time.svg"],
                               "musts": [],
                               "verdicts": [{"item": "Table 1", "word": "holds", "ours": "0.1 s", "paper": "0.2 s", "why": ""}]}}
        text = page.text(found, "r")
        self.assertIn("| **holds** | 0.1 s (measured) | 0.2 s |", text)
        self.assertIn("![wang-time-time](r/wang-time-time.svg)", text)

    def test_the_page_in_docs_is_what_the_results_make(self):
        results = support.ROOT / "reproduce/results"
        written = (support.ROOT / "docs/reproduction.md").read_text()
        self.assertEqual(written, page.text(page.load(results), "../reproduce/results"), "write it again: ./dev reproduce page")

    def test_every_item_that_was_run_has_its_verdict(self):
        found = page.load(support.ROOT / "reproduce/results")
        for name in ITEMS:
            for item in json.loads((PAPERS / f"{name}.json").read_text())["items"]:
                if item.get("by") in found:
                    self.assertIn(item["item"], [one["item"] for one in found[item["by"]]["verdicts"]], item["by"])


if __name__ == "__main__":
    unittest.main()
