# SPDX-License-Identifier: Apache-2.0
"""reproduce: the result of an experiment and its files: NAME.json, NAME.md, tables as CSV, plots as SVG."""

import dataclasses
import json
import pathlib

from . import verdict
from .steps import write_atomically


@dataclasses.dataclass
class Outcome:
    """An experiment's result. Texts are Markdown."""

    kind: str  # one of verdict.KINDS
    parameters: list  # (what, value), printed with every result
    tables: list = dataclasses.field(default_factory=list)
    plots: dict = dataclasses.field(default_factory=dict)  # suffix of the file name: SVG
    verdicts: list = dataclasses.field(default_factory=list)
    musts: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)  # differences from the paper and their reasons

    def line(self, name):
        return verdict.line(name, self.kind, self.verdicts, self.musts)


def write(outcome, experiment, folder, version):
    """Writes all files into the directory; the page reads NAME.json."""
    folder, name = pathlib.Path(folder), experiment.name
    assert outcome.kind in verdict.KINDS
    for old in [*folder.glob(f"{name}.*"), *folder.glob(f"{name}-[0-9]*.csv"), *folder.glob(f"{name}-*.svg")]:
        if old.name.split(".")[0].removeprefix(name)[:1] in ("", "-"):
            old.unlink()
    for ending, svg in outcome.plots.items():
        write_atomically(folder / f"{name}-{ending}.svg", svg)
    for at, table in enumerate(outcome.tables):
        write_atomically(folder / f"{name}-{at + 1}.csv", table.csv())
    write_atomically(folder / f"{name}.md", markdown(outcome, experiment))
    write_atomically(folder / f"{name}.json", json.dumps({
        "name": name, "title": experiment.title, "paper": experiment.paper, "kind": outcome.kind, "version": version,
        "line": outcome.line(name), "word": verdict.together([one.word for one in outcome.verdicts]),
        "parameters": [[str(what), str(value)] for what, value in outcome.parameters],
        "plots": [f"{name}-{ending}.svg" for ending in outcome.plots],
        "verdicts": [dataclasses.asdict(one) for one in outcome.verdicts],
        "musts": [dataclasses.asdict(one) for one in outcome.musts], "notes": outcome.notes,
        "tables": [{"title": table.title, "head": table.head, "rows": table.rows} for table in outcome.tables],
    }, indent=1, ensure_ascii=False) + "\n")


def markdown(outcome, experiment):
    text = f"# {experiment.name}: {experiment.title}\n\n{experiment.paper}. **{outcome.kind.capitalize()}.** {experiment.about}\n\n"
    text += "**" + outcome.line(experiment.name) + "**\n"
    for ending in outcome.plots:
        text += f"\n![{experiment.name}]({experiment.name}-{ending}.svg)\n"
    for table in outcome.tables:
        text += f"\n## {table.title}\n\n{table.markdown()}"
    text += "\n## Verdicts\n\n| | verdict | ours | paper | |\n|---|---|---|---|---|\n"
    for one in outcome.verdicts:
        text += f"| {one.item} | **{one.word}** | {one.ours} | {one.paper} | {one.why} |\n"
    if outcome.musts:
        text += "\n## Required results\n\n| | | figure |\n|---|---|---|\n"
        for must in outcome.musts:
            text += f"| {must.what} | {'reached' if must.reached else '**not reached**'} | {must.figure} |\n"
    if outcome.notes:
        text += "\n## Differences from the paper\n\n" + "".join(f"- {note}\n" for note in outcome.notes)
    text += "\n## Parameters\n\n| | |\n|---|---|\n" + "".join(f"| {what} | {value} |\n" for what, value in outcome.parameters)
    return text
