#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/auto-flow.svg: the way of a problem through the default mapper.

auto_flow.py OUT.svg
"""
import sys

WIDTH, HEIGHT = 900, 672
INK, LINE = "#222", "#555"
GIVEN, ASK, GRID, CUT, SEARCH, END = "#eceff1", "#fff3cd", "#d9ead3", "#d6e6f4", "#ede0f2", "#c8e6c9"


def box(x, y, width, height, fill, title, *lines):
    """A box whose upper left corner is (x, y): a title and lines below it, centred."""
    first = y + height / 2 - 8.5 * len(lines) + 5
    text = [f'<text x="{x + width / 2}" y="{first}" font-weight="600">{title}</text>']
    text += [f'<text x="{x + width / 2}" y="{first + 17 * at}" class="small">{line}</text>' for at, line in enumerate(lines, 1)]
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{fill}" stroke="{LINE}"/>' + "".join(text)


def arrow(path, label="", x=0, y=0, anchor="start"):
    note = f'<text x="{x}" y="{y}" class="small" style="text-anchor:{anchor}">{label}</text>' if label else ""
    return f'<path d="{path}" class="arrow"/>{note}'


def drawing():
    yield box(270, 44, 320, 50, GIVEN, "first candidates", "block, round-robin and --start")
    yield arrow("M430 94v20")
    yield box(270, 116, 320, 50, ASK, "is it a grid of ranks?", "seen in the traffic, in any order of the ranks")
    yield arrow("M270 141H150V198", "yes", 258, 135, "end")
    yield arrow("M590 141H620V184", "no", 602, 135)

    yield box(20, 200, 220, 66, GRID, "tiling", "boxes along the machine,", "computed, not searched")
    yield arrow("M80 266V612H268", "all regular: done", 88, 600)
    yield arrow("M240 233H324", "else also", 282, 225, "middle")

    yield f'<rect x="328" y="186" width="556" height="218" rx="9" fill="none" stroke="{LINE}" stroke-dasharray="5 4"/>'
    yield '<text x="876" y="398" class="small" style="text-anchor:end">each run with another seed</text>'
    yield box(344, 200, 248, 66, CUT, "coarsen", "pairs with the most traffic merge,", "until few vertices are left")
    yield arrow("M592 233h24")
    yield box(620, 200, 248, 66, CUT, "cut along the machine", "switches, then nodes, … then cores,", "each part for itself")
    yield arrow("M744 266v22")
    yield box(620, 290, 248, 82, CUT, "refine on every level", "moves with rollback,", "chains where all is full,", "flows along borders")
    yield arrow("M620 331h-26")
    yield box(344, 298, 248, 66, CUT, "whole groups change places", "nodes, then switches,", "on the true distances")

    yield arrow("M430 404v34", "the cheapest by the true cost", 438, 426)
    yield box(270, 440, 320, 50, SEARCH, "exchanges", "of ranks near each other's partners")
    yield arrow("M430 490v20")
    yield box(270, 512, 320, 50, SEARCH, "annealing or tabu search", "balanced: a fixed number of trials; best: --budget")
    yield arrow("M590 465H650V612H592", "fast", 658, 545)
    yield arrow("M430 562v20")
    yield box(270, 584, 320, 56, END, "the cheapest of all", "valid, never above block or --start")
    yield arrow("M590 628H648")
    yield box(650, 600, 180, 56, GIVEN, "certificate", "lower bound and gap")


def main():
    svg = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" font-family="system-ui,sans-serif" font-size="14">
<title>What the default mapper does</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{LINE}"/></marker></defs>
<style>text{{fill:{INK};text-anchor:middle}}.small{{font-size:12px}}.arrow{{stroke:{LINE};stroke-width:1.4;fill:none;marker-end:url(#tip)}}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="430" y="26" font-size="16" font-weight="600">communication graph and topology</text>
{chr(10).join(drawing())}
</svg>
"""
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(svg)


if __name__ == "__main__":
    main()
