#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/before-after.svg: the traffic of a shuffled program in the launcher's order and as mapped.

before_after.py RANKLOOM OUT.svg
"""
import json
import subprocess
import sys
import tempfile

TOPOLOGY = "switch:2=4.1 node:6=3.7 core:16=1"
PATTERN = ["groups", "--groups", "12", "--per-group", "16"]
CELL, GAP, TOP = 2, 60, 46
NODE = 16


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def heat_map(pairs, position, ranks, left):
    """One path: a dash for every pair with traffic, at the positions of its two ranks."""
    dashes = []
    for source, target in pairs:
        x = left + CELL * position[target]
        y = TOP + CELL * position[source]
        dashes.append(f"M{x} {y}h{CELL}v{CELL}h-{CELL}z")
    side = CELL * ranks
    lines = "".join(
        f'<path d="M{left + CELL * k} {TOP}v{side}M{left} {TOP + CELL * k}h{side}" class="{"switch" if k % (6 * NODE) == 0 else "node"}"/>'
        for k in range(0, ranks + 1, NODE)
    )
    return f'<path d="{"".join(dashes)}" class="cell"/>{lines}'


def main() -> None:
    rankloom, out = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        text = f"{folder}/app.txt"
        run(rankloom, "gen", *PATTERN, "--to", "pairs", "-o", text)
        result = json.loads(run(rankloom, "map", text, "-t", TOPOLOGY, "--model", "bytes", "--json"))
        rows = [line.split() for line in open(text) if not line.startswith("#")]
    mapping = result["mapping"]
    ranks = len(mapping)
    volume = {(int(row[0]), int(row[1])): float(row[2]) + float(row[4]) for row in rows}
    pairs = [pair for pair, amount in volume.items() if amount > max(volume.values()) / 100]
    side = CELL * ranks
    width, height = 2 * side + GAP + 20, side + TOP + 40
    gain = result["cost_default"] / result["cost"]
    svg = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui,sans-serif" font-size="15">
<title>Traffic between 192 ranks before and after mapping</title>
<style>.cell{{fill:#0b6e99}}.node{{stroke:#bbb;stroke-width:.6;fill:none}}.switch{{stroke:#555;stroke-width:1.4;fill:none}}text{{fill:#333}}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="20" font-weight="600">launcher's default placement</text><text x="10" y="38" font-size="12">senders in rows, receivers in columns; a box is a node of 16 cores</text>
<text x="{10 + side + GAP}" y="20" font-weight="600">placed by rankloom</text><text x="{10 + side + GAP}" y="38" font-size="12">the same traffic: communicating ranks share a node</text>
{heat_map(pairs, list(range(ranks)), ranks, 10)}
{heat_map(pairs, mapping, ranks, 10 + side + GAP)}
<text x="10" y="{TOP + side + 26}">cost (bytes x time per byte): {result["cost_default"]:.4g}</text>
<text x="{10 + side + GAP}" y="{TOP + side + 26}">cost: {result["cost"]:.4g}, {gain:.2f} times less</text>
</svg>
"""
    with open(out, "w", encoding="utf-8") as file:
        file.write(svg)
    print(f"{out}: cost {result['cost_default']:.6g} -> {result['cost']:.6g}")


if __name__ == "__main__":
    main()
