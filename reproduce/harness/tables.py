# SPDX-License-Identifier: Apache-2.0
"""reproduce: tables as Markdown and CSV."""

import csv
import dataclasses
import io


@dataclasses.dataclass
class Table:
    title: str
    head: list
    rows: list = dataclasses.field(default_factory=list)

    def row(self, *cells):
        assert len(cells) == len(self.head), (self.title, cells)
        self.rows.append(list(cells))

    def markdown(self):
        def line(cells):
            return "| " + " | ".join(text(cell).replace("|", "\\|") for cell in cells) + " |"

        align = ["---" if isinstance(cell, str) else "---:" for cell in (self.rows[0] if self.rows else self.head)]
        return "\n".join([line(self.head), "|" + "|".join(align) + "|", *map(line, self.rows)]) + "\n"

    def csv(self):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows([["" if cell is None else cell for cell in row] for row in self.rows])
        return out.getvalue()


def text(cell):
    """A number with its significant digits."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        if cell == 0:
            return "0"
        size = abs(cell)
        if size >= 1000:
            return f"{cell:,.0f}"
        return f"{cell:.3g}" if size < 0.1 else f"{cell:.3f}" if size < 10 else f"{cell:.1f}"
    return str(cell)
