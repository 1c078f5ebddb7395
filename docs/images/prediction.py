#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/prediction.svg: predicted and simulated times of 44 mappings of each of six programs.

prediction.py RANKLOOM OUT.svg
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

MATRICES = pathlib.Path(__file__).resolve().parents[2] / "tests/data/matrices"
CLUSTER = "switch:2=2.7GB/s,1.7us node:6=3GB/s,1.3us core:16=5.5GB/s,300ns width:node=2,bus=4,switch=12"
CASES = [("NPB BT, 64 ranks, cluster", "bt.A.64.txt", CLUSTER),
         ("NPB SP, 144 ranks, cluster", "sp.A.144.txt", CLUSTER),
         ("NPB CG, 128 ranks, cluster", "cg.A.128.txt", CLUSTER),
         ("NPB MG, 64 ranks, torus", "mg.A.64.txt", "torus:4x4=2,500ns core:8=1,100ns"),
         ("OpenFOAM, 64 ranks, fat tree", "openfoam.cavity3d.64.txt", "fattree:4,4/2,1=2,500ns core:8=1,100ns"),
         ("27-point stencil, 64 ranks, dragonfly", "gen:stencil3d:size=4x4x4,block=64x64x64,shuffle", "dragonfly:4,2,2=2,500ns core:8=1,100ns")]
LABELS = ("block", "auto")
ITERATIONS = 4
SIDE, GAP, LEFT, TOP = 200, 70, 60, 40


def run(*command: str) -> dict:
    return json.loads(subprocess.run([*map(str, command), "--json"], check=True, capture_output=True, text=True).stdout)


def mappings(rankloom, profile, machine, folder):
    """Files and names: results of mappers, these with more and more ranks exchanged, and random mappings."""
    generator = random.Random(1)
    starts = {name: run(rankloom, "map", profile, "-t", machine, "-a", name, "--raw")["mapping"] for name in ("block", "auto")}
    names = ["block", "round-robin", "greedy", "auto"]
    for i in range(30):
        cores = list(starts["auto" if i % 2 else "block"])
        for _ in range(1 + i * len(cores) // 60):
            a, b = generator.randrange(len(cores)), generator.randrange(len(cores))
            cores[a], cores[b] = cores[b], cores[a]
        names.append(str(folder / f"{i}.map"))
        pathlib.Path(names[-1]).write_text("".join(f"{core}\n" for core in cores))
    for i in range(10):
        cores = run(rankloom, "map", profile, "-t", machine, "-a", "random", "--seed", i, "--raw")["mapping"]
        names.append(str(folder / f"random-{i}.map"))
        pathlib.Path(names[-1]).write_text("".join(f"{core}\n" for core in cores))
    return names


def times(rankloom, profile, machine):
    """[(name, predicted by channels, predicted by flows, simulated)] of ITERATIONS rounds."""
    with tempfile.TemporaryDirectory() as folder:
        names = mappings(rankloom, profile, machine, pathlib.Path(folder))
        answer = run(rankloom, "eval", *names, "--profile", profile, "-t", machine, "--simulate", "--compute", "none", "--iterations", ITERATIONS)
    rounds = answer["simulation"]["rounds"] / ITERATIONS
    return [(pathlib.Path(row["name"]).stem, row["predicted_seconds"] / rounds, row["predicted_by_flows_seconds"] / rounds, row["simulated_seconds"])
            for row in answer["mappings"]]


def ranks_of(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for at in order[begin:end]:
            ranks[at] = (begin + end - 1) / 2
        begin = end
    return ranks


def spearman(xs, ys):
    a, b = ranks_of(xs), ranks_of(ys)
    middle = (len(a) - 1) / 2
    covariance = sum((x - middle) * (y - middle) for x, y in zip(a, b))
    return covariance / math.sqrt(sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b))


def words(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            return f"{seconds / size:.3g} {unit}"
    return ""


def scatter(title, points, left, top):
    """Both axes are logarithmic and have the same range: points on the diagonal are predicted exactly."""
    values = [value for _, *times in points for value in times]
    low, high = math.log(min(values)) - 0.1, math.log(max(values)) + 0.1
    at = lambda value: SIDE * (math.log(value) - low) / (high - low)
    mark = lambda x, y, kind: f'<circle cx="{left + at(x):.1f}" cy="{top + SIDE - at(y):.1f}" r="3.5" class="{kind}"/>'
    named = [(name, flows, simulated) for name, _, flows, simulated in points if name in LABELS]
    if len({(round(at(x)), round(at(y))) for _, x, y in named}) == 1:
        named = [("block and auto", *named[0][1:])]
    marks = "".join(mark(channels, simulated, "channels") for _, channels, _, simulated in points)
    marks += "".join(mark(flows, simulated, "named" if name in LABELS else "flows") for name, _, flows, simulated in points)
    marks += "".join(f'<text x="{left + at(x) + 6:.1f}" y="{top + SIDE - at(y) + 12:.1f}" font-size="11">{name}</text>' for name, x, y in named)
    by_channels, by_flows = (spearman([point[i] for point in points], [point[3] for point in points]) for i in (1, 2))
    return (f'<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" class="frame"/><path d="M{left} {top + SIDE}L{left + SIDE} {top}" class="diagonal"/>'
            f'{marks}<text x="{left}" y="{top - 22}" font-weight="600">{title}</text>'
            f'<text x="{left}" y="{top - 7}" font-size="11">Spearman: channels {by_channels:.3f}, flows {by_flows:.3f}</text>'
            f'<text x="{left}" y="{top + SIDE + 15}" font-size="11">{words(min(values))}</text>'
            f'<text x="{left + SIDE}" y="{top + SIDE + 15}" font-size="11" text-anchor="end">{words(max(values))}</text>')


def main() -> None:
    rankloom, out = sys.argv[1:3]
    pictures = []
    for i, (title, name, machine) in enumerate(CASES):
        points = times(rankloom, name if name.startswith("gen:") else str(MATRICES / name), machine)
        pictures.append(scatter(title, points, LEFT + (SIDE + GAP) * (i % 3), TOP + 20 + (SIDE + GAP + 10) * (i // 3)))
    width, height = LEFT + 3 * (SIDE + GAP), TOP + 2 * (SIDE + GAP + 20) + 10
    pathlib.Path(out).write_text(f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" font-family="system-ui,sans-serif" font-size="13">
<title>Predicted and simulated times of the communication</title>
<style>.frame{{fill:none;stroke:#999}}.diagonal{{stroke:#bbb;stroke-dasharray:4 3;fill:none}}.channels{{fill:none;stroke:#888}}.flows{{fill:#0b6e99;fill-opacity:.45}}.named{{fill:#c4461a}}text{{fill:#333}}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="{LEFT}" y="18">{ITERATIONS} rounds: predicted time to the right (hollow: busiest channels, blue: flows), simulated time upwards; dashed: equal</text>
{"".join(pictures)}
</svg>
""", encoding="utf-8")


if __name__ == "__main__":
    main()
