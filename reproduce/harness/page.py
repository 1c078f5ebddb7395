# SPDX-License-Identifier: Apache-2.0
"""reproduce: writes docs/reproduction.md: a verdict for every table and figure of the four papers, from the results."""

import json
import os
import pathlib

from .. import experiments
from .steps import write_atomically

PAPERS = pathlib.Path(__file__).resolve().parent.parent / "papers"
ORDER = ["wang-2015", "zhang-2014", "getmanskiy-2015", "cruz-2019"]

HEAD = """# Do the papers' results hold?

Written by `./dev reproduce page` from the results in `reproduce/results/`; do not edit it by hand.

rankloom implements the methods of four papers. This page gives a verdict for every table and every figure of these papers: **holds**,
**holds partly** or **does not hold**, with our figure next to the paper's. *Simulated* figures come from SimGrid, on a platform that is
built from the printed topology. *Measured* figures come from this project's programs on a machine with two cores. *Computed* figures come
from the cost model alone. Nothing was tuned to match the papers; where our figures differ, the page of the experiment gives the reason.
The papers' machines are not available to us, so absolute times cannot be compared, but ratios can.

<!-- skip: takes a quarter of an hour -->
```sh
./dev reproduce all           # continues an interrupted run
./dev reproduce wang-npb      # one experiment
./dev reproduce list
```
"""


def load(results):
    """All existing results, in the order of the table of experiments."""
    paths = [pathlib.Path(results) / f"{row.name}.json" for row in experiments.TABLE]
    return {path.stem: json.loads(path.read_text()) for path in paths if path.exists()}


def write(results, target):
    write_atomically(target, text(load(results), os.path.relpath(results, pathlib.Path(target).parent)))


def text(found, folder):
    page = HEAD + "\n## The experiments\n\n| | | verdict | |\n|---|---|---|---|\n"
    for name, one in found.items():
        page += f"| [{name}]({folder}/{name}.md) | {one['paper']} | **{one['word']}** | {one['kind']} |\n"
    page += musts(found)
    for paper in ORDER:
        page += of_paper(json.loads((PAPERS / f"{paper}.json").read_text()), found, folder)
    return page


def musts(found):
    rows = [(name, must) for name, one in found.items() for must in one["musts"]]
    if not rows:
        return ""
    page = "\n## Required results of the simulation\n\n| | | | figure |\n|---|---|---|---|\n"
    for name, must in rows:
        page += f"| {name} | {must['what']} | {'reached' if must['reached'] else '**not reached**'} | {must['figure']} |\n"
    return page


def of_paper(paper, found, folder):
    page = f"\n## {paper['name']}\n\n{paper['citation']}.\n\n| | | verdict | ours | paper | |\n|---|---|---|---|---|---|\n"
    plots = []
    for item in paper["items"]:
        page += row(item, found, folder)
        name = item.get("by")
        plots += [f"{folder}/{plot}" for plot in found.get(name, {}).get("plots", [])]
    page += "".join(f"\n![{plot.rsplit('/', 1)[-1][:-4]}]({plot})\n" for plot in dict.fromkeys(plots))
    return page


def row(item, found, folder):
    start = f"| {item['item']} | {item['what']} | "
    if "illustration" in item:
        return start + f"illustration | | | {item['illustration']} |\n"
    if "elsewhere" in item:
        return start + f"not reproduced | | | {item['elsewhere']} |\n"
    if "test" in item:
        return start + f"**{item['word']}** | {item['note']} | as printed | tested: `{item['test']}` |\n"
    result = found.get(item["by"])
    verdicts = [one for one in result["verdicts"] if one["item"] == item["item"]] if result else []
    if not verdicts:
        return start + f"not run | | | `./dev reproduce {item['by']}` |\n"
    return "".join(start + f"**{one['word']}** | {one['ours']} ({one.get('kind') or result['kind']}) | {one['paper']} | {one['why']} "
                   f"[{item['by']}]({folder}/{item['by']}.md) |\n"
                   for one in verdicts)
