#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/mappers/NAME.svg for every mapper: where it puts the ranks of a small halo exchange.

Each square is a rank, at its place in the program's grid; its colour is the node it sits on, the shade of nodes under one
switch is alike, and a line is drawn where neighbours sit on different nodes. Fewer and shorter lines are better.

mapper_pictures.py RANKLOOM FOLDER [NAME…]
"""
import json
import pathlib
import subprocess
import sys

ROWS, COLUMNS, NODE = 12, 12, 16
TOPOLOGY = "switch:3=4.1 node:3=3.7 core:16=1"
SMALL = (3, 3, 3, "node:3=3.7 core:3=1")  # for mappers that take only small problems
FROM_RANDOM = {"greedy", "pair-exchange", "pe-500k", "refine"}  # local searches, for which the default placement is an end
COLOURS = ["#1b6ca8", "#4f9bd0", "#9cc9e8", "#b3541e", "#e08a4e", "#f2c29b", "#2f7d4f", "#66b083", "#abd8bb"]
CELL, MARGIN, HEAD = 24, 12, 54


def run(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True)


def mapped(rankloom, spec, rows, columns, topology):
    start = ["--start", "random"] if spec in FROM_RANDOM else []
    done = run(rankloom, "map", f"gen:grid2d:size={rows}x{columns}", "-t", topology, "-a", spec, "--raw", "--json", *start)
    return json.loads(done.stdout) if done.returncode == 0 else None


def borders(nodes, rows, columns):
    """Lines between neighbours on different nodes, in cells."""
    lines = []
    for row in range(rows):
        for column in range(columns):
            here = nodes[row * columns + column]
            if column + 1 < columns and nodes[row * columns + column + 1] != here:
                lines.append(f"M{column + 1} {row}v1")
            if row + 1 < rows and nodes[(row + 1) * columns + column] != here:
                lines.append(f"M{column} {row + 1}h1")
    return lines


def draw(name, result, rows, columns, per_node):
    nodes = [core // per_node for core in result["mapping"]]
    squares = "".join(
        f'<rect x="{rank % columns}" y="{rank // columns}" width="1" height="1" fill="{COLOURS[node]}"/>'
        for rank, node in enumerate(nodes))
    lines = borders(nodes, rows, columns)
    width = max(CELL * columns + 2 * MARGIN, 430)
    height = CELL * rows + HEAD + MARGIN
    cost, default = result["cost"], result["cost_default"]
    change = "the default placement" if name == "block" else "as the default placement" if cost == default else \
        f"{abs(default - cost) / default:.1%} {'below' if cost < default else 'above'} the default placement"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" font-family="system-ui,sans-serif" font-size="13">
<title>{rows} x {columns} halo exchange placed by {name}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="{MARGIN}" y="20" font-weight="600" fill="#222">{name}{' from a random placement' if name in FROM_RANDOM else ''}</text>
<text x="{MARGIN}" y="40" fill="#444">cost {cost:,.1f}, {change}; {len(lines)} pairs leave their node</text>
<g transform="translate({MARGIN} {HEAD}) scale({CELL})">{squares}<path d="{''.join(lines)}" stroke="#111" stroke-width=".12" fill="none" stroke-linecap="square"/></g>
</svg>
"""


def main():
    rankloom, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    names = sys.argv[3:] or [row["name"] for row in json.loads(run(rankloom, "list", "mappers", "--json").stdout)["mappers"]]
    for name in names:
        rows, columns, per_node = ROWS, COLUMNS, NODE
        result = mapped(rankloom, name, rows, columns, TOPOLOGY)
        if result is None:
            rows, columns, per_node, topology = SMALL
            result = mapped(rankloom, name, rows, columns, topology)
        (folder / f"{name}.svg").write_text(draw(name, result, rows, columns, per_node), encoding="utf-8")
        print(f"{name}: {result['cost_default']:.6g} -> {result['cost']:.6g}")


if __name__ == "__main__":
    main()
