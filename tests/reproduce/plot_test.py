# SPDX-License-Identifier: Apache-2.0
"""tests: plots are well-formed SVG, bars and points are where their values say, light and dark."""

import re
import unittest
import xml.etree.ElementTree as xml

import support  # noqa: F401
from reproduce.harness import plot
from reproduce.harness.plot import Series

SVG = "{http://www.w3.org/2000/svg}"


def parts(text, tag):
    return list(xml.fromstring(text).iter(SVG + tag))


class Bars(unittest.TestCase):
    def heights(self, text):
        return [float(rect.get("height")) for rect in parts(text, "rect") if rect.find(SVG + "title") is not None]

    def test_heights_are_in_proportion(self):
        drawn = self.heights(plot.bars("t", ["a", "b"], [Series("x", [1, 2]), Series("y", [4, None])], "s"))
        self.assertEqual(len(drawn), 3)
        self.assertAlmostEqual(drawn[1] / drawn[0], 4, delta=0.02)
        self.assertAlmostEqual(drawn[2] / drawn[0], 2, delta=0.02)

    def test_negative_bars_hang_from_zero(self):
        text = plot.bars("t", ["a"], [Series("x", [10]), Series("y", [-5])], "s")
        up, down = [rect for rect in parts(text, "rect") if rect.find(SVG + "title") is not None]
        self.assertAlmostEqual(float(up.get("y")) + float(up.get("height")), float(down.get("y")), delta=0.2)

    def test_what_the_paper_printed_is_a_diamond(self):
        text = plot.bars("t", ["a", "b"], [Series("x", [1, 2]), Series("paper", [1, None], is_paper=True)], "s")
        self.assertEqual(text.count('class="mark"'), 2)  # one in the legend, one at its value

    def test_names_are_escaped(self):
        self.assertIn("a &lt; b", plot.bars("a < b", ["x & y"], [Series("s", [1])], "s"))
        xml.fromstring(plot.bars("a < b", ["x & y"], [Series('"s"', [1])], "s"))


class Lines(unittest.TestCase):
    def test_equal_ratios_are_equal_steps_on_logarithmic_axes(self):
        text = plot.lines("t", [Series("x", [(10, 1), (100, 10), (1000, 100)])], "n", "s")
        points = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in parts(text, "circle")]
        self.assertAlmostEqual(points[1][0] - points[0][0], points[2][0] - points[1][0], delta=0.2)
        self.assertAlmostEqual(points[0][1] - points[1][1], points[1][1] - points[2][1], delta=0.2)

    def test_missing_values_are_left_out(self):
        text = plot.lines("t", [Series("x", [(1, 1), (2, None), (4, 2)])], "n", "s")
        self.assertEqual(len(parts(text, "circle")), 2)


class Readable(unittest.TestCase):
    def test_on_light_and_on_dark_pages(self):
        text = plot.bars("t", ["a"], [Series("x", [1])], "s")
        self.assertIn("prefers-color-scheme: dark", text)

    def test_colours_differ_in_lightness_or_hue_for_everybody(self):
        self.assertEqual(len(set(plot.COLOURS)), len(plot.COLOURS))
        self.assertTrue(all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in plot.COLOURS))

    def test_axes_end_at_round_numbers(self):
        self.assertEqual(plot.round_ticks(0, 9.4), [0, 2, 4, 6, 8, 10])
        self.assertEqual(plot.round_ticks(-25, 133), [-50, 0, 50, 100, 150])
        self.assertEqual(plot.round_ticks(0, 1), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1])

    def test_wide_names_are_broken(self):
        self.assertEqual(plot.in_two_lines("stencil2d bimodal", 80), ["stencil2d", "bimodal"])
        self.assertEqual(plot.in_two_lines("CG", 80), ["CG"])


if __name__ == "__main__":
    unittest.main()
