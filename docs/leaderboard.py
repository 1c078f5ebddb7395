#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/leaderboard.md: every set of instances of `rankloom bench`, with the lowest cost of each mapper.

    docs/leaderboard.py build/bin/rankloom [FOLDER]    (runs what FOLDER, build/leaderboard, does not contain yet)
"""

import collections
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MAPPERS = ["auto:effort=fast", "auto", "eager", "scotch", "metis"]
SEEDS = 2

HEAD = """# Leaderboard

The sets of instances of [`rankloom bench`](bench.md#sets-of-instances), and the lowest cost that each mapper found with {seeds} seeds, as a ratio to the lowest cost of the row; bold: the lowest. The CPU time is the geometric mean of the whole
process on one thread. One command writes this page:

<!-- skip: takes minutes -->
```sh
docs/leaderboard.py build/bin/rankloom
```

Your own mapper on the same instances: `rankloom bench pack:meshes -a auto -a 'exec:./mine {{graph}} {{out}}'` ([experiments](bench.md#your-own-mapper)). The last column compares with the best known cost and names who found it: the literature (QAPLIB), or a
mapper, with more seeds or a higher effort than here; only those called optimal are proved. Costs of `metis` and
`scotch` depend on the version of the library: here Debian 12's.
"""


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def run_pack(program, pack, folder):
    done = subprocess.run([program, "bench", f"pack:{pack}", "-a", ",".join(MAPPERS), "--seeds", str(SEEDS), "-o", folder / pack, "--json"], stdout=subprocess.PIPE, check=True)
    rows = [json.loads(line) for line in (folder / pack / "rows.jsonl").read_text().splitlines()]
    return json.loads(done.stdout), [row for row in rows if "error" not in row]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def table(result, rows):
    times = collections.defaultdict(list)
    for row in rows:
        times[row["mapper"]].append(row["cpu_seconds"])
    known = any("best_known" in entry for entry in result["leaderboard"])
    last = " best known |" if known else ""
    lines = ["| graph | machine | lowest cost |" + "".join(f" `{mapper}` |" for mapper in MAPPERS) + last,
             "|---|---|---|" + "---|" * (len(MAPPERS) + bool(known))]
    ratios = collections.defaultdict(list)
    for entry in result["leaderboard"]:
        lowest, cells = min(entry["costs"].values()), []
        for mapper in MAPPERS:
            cost = entry["costs"].get(mapper)
            cells.append("–" if cost is None else "**1**" if cost <= lowest * (1 + 1e-9) else f"{cost / lowest:.3f}")
            if cost is not None and lowest > 0:
                ratios[mapper].append(cost / lowest)
        line = f"| `{entry['graph'].removeprefix('gen:')}` | `{entry['machine']}` | {number(lowest)} | " + " | ".join(cells) + " |"
        if known:
            best = entry.get("best_known")
            gap = "–" if best is None else f"{number(best)}, now {number(lowest)}" if lowest < best * (1 - 1e-9) else f"{number(best)}, reached" if lowest <= best * (1 + 1e-9) else f"{number(best)}, {100 * (lowest / best - 1):.1f} % above it"
            line += f" {gap} ({entry['found_by']}) |"
        lines.append(line)
    lines.append("| geometric mean | | | " + " | ".join(f"{geometric_mean(ratios[mapper]):.3f}" for mapper in MAPPERS) + " |" + (" |" if known else ""))
    lines.append("| CPU time, s | | | " + " | ".join(f"{geometric_mean(times[mapper]):.2g}" for mapper in MAPPERS) + " |" + (" |" if known else ""))
    return lines


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/leaderboard")
    folder.mkdir(parents=True, exist_ok=True)
    listed = json.loads(subprocess.run([program, "list", "packs", "--json"], check=True, stdout=subprocess.PIPE).stdout)["packs"]
    text = HEAD.format(seeds=SEEDS)
    for pack in listed:
        print(f"pack:{pack['name']}", file=sys.stderr)
        result, rows = run_pack(program, pack["name"], folder)
        what = re.sub(r"^(.)", lambda first: first.group().upper(), pack["summary"] if "summary" in pack else pack["name"])
        model = rows[0]["model"]
        text += f"\n## {pack['name']}\n\n{what}; model `{model}`.\n\n" + "\n".join(table(result, rows)) + "\n"
    (ROOT / "docs/leaderboard.md").write_text(text)


if __name__ == "__main__":
    main()
