# SPDX-License-Identifier: Apache-2.0
"""reproduce: plots as SVG: grouped bars, and lines. The colours are suitable for colour-blind readers (Okabe and Ito), and
every series also has its own marker or dash pattern; readable on light and dark pages."""

import dataclasses
import html
import math

# Readable on white and on near-black backgrounds.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#B8A800"]
DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 4", "12 4", "6 2 1 2"]
WIDTH, LEFT, RIGHT, BOTTOM = 760, 70, 16, 52
STYLE = """<style>
 text { font-family: sans-serif; font-size: 12px; fill: #222 } .paper { fill: #fff }
 .axis { stroke: #222; fill: none } .grid { stroke: #ddd }
 .mark { fill: #fff; stroke: #222; stroke-width: 1.5 }
 @media (prefers-color-scheme: dark) {
  text { fill: #ddd } .paper { fill: #15181c } .axis { stroke: #ddd } .grid { stroke: #3a3f45 } .mark { fill: #15181c; stroke: #ddd } }
</style>"""


@dataclasses.dataclass
class Series:
    """Values in the order of the groups (bars) or pairs of x and y (lines). None is omitted."""

    name: str
    values: list
    is_paper: bool = False  # values from the paper: drawn as a diamond instead of a bar


def bars(title, groups, series, y_title, height=360, line_at=None):
    """One cluster of bars per group."""
    values = [value for one in series for value in one.values if value is not None]
    ticks = round_ticks(min([*values, 0]), max([*values, line_at or 0, 0]))
    bottom_value, top_value = ticks[0], ticks[-1]
    page = Page(title, series, y_title, height)
    page.y_axis(ticks, lambda value: (value - bottom_value) / (top_value - bottom_value))
    drawn = [one for one in series if not one.is_paper]
    group_width = page.inner_width / max(1, len(groups))
    width = 0.8 * group_width / max(1, len(drawn))
    zero = page.y(-bottom_value / (top_value - bottom_value))
    for at, group in enumerate(groups):
        left = LEFT + at * group_width + 0.1 * group_width
        for line, word in enumerate(in_two_lines(str(group), group_width)):
            page.text(LEFT + (at + 0.5) * group_width, page.floor + 16 + 15 * line, word, "middle")
        for number, one in enumerate(drawn):
            value = one.values[at]
            if value is None:
                continue
            y = page.y((value - bottom_value) / (top_value - bottom_value))
            page.add(f'<rect x="{left + number * width:.1f}" y="{min(y, zero):.1f}" width="{width * 0.92:.1f}" '
                     f'height="{abs(zero - y):.1f}" '
                     f'fill="{page.colour(one)}"><title>{html.escape(f"{group}, {one.name}: {value:.4g}")}</title></rect>')
        for one in series:
            if one.is_paper and one.values[at] is not None:
                y = page.y((one.values[at] - bottom_value) / (top_value - bottom_value))
                page.add(diamond(LEFT + (at + 0.5) * group_width, y))
    page.add(f'<path class="axis" d="M{LEFT} {zero:.1f}H{WIDTH - RIGHT}"/>')
    if line_at is not None:
        y = page.y((line_at - bottom_value) / (top_value - bottom_value))
        page.add(f'<path class="axis" stroke-dasharray="4 3" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
    return page.svg()


def lines(title, series, x_title, y_title, height=380, log_x=True, log_y=True):
    """Lines over numbers, by default on logarithmic axes."""
    points = [point for one in series for point in one.values if point[1] is not None]
    xs, ys = sorted({x for x, _ in points}), [y for _, y in points]
    page = Page(title, series, y_title, height)
    y_ticks = decades(min(ys), max(ys)) if log_y else round_ticks(min([*ys, 0]), max(ys))
    x_at, y_at = scale(min(xs), max(xs), log_x), scale(y_ticks[0], y_ticks[-1], log_y)
    page.y_axis(y_ticks, y_at)
    last = -100.0
    for x in xs:
        place = page.x(x_at(x))
        page.add(f'<path class="axis" d="M{place:.1f} {page.floor}v5"/>')
        if place - last > 46:
            page.text(place, page.floor + 18, f"{x:,}", "middle")
            last = place
    page.text(LEFT + page.inner_width / 2, page.floor + 38, x_title, "middle")
    for number, one in enumerate(series):
        known = [(page.x(x_at(x)), page.y(y_at(y)), x, y) for x, y in one.values if y is not None]
        colour = page.colour(one)
        if not one.is_paper and len(known) > 1:
            path = "L".join(f"{px:.1f} {py:.1f}" for px, py, _, _ in known)
            page.add(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{DASHES[number % len(DASHES)]}"/>')
        for px, py, x, y in known:
            mark = diamond(px, py) if one.is_paper else f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{colour}"/>'
            page.add(f"<g>{mark}<title>{html.escape(f'{one.name}, {x:,}: {y:.4g}')}</title></g>")
    page.add(f'<path class="axis" d="M{LEFT} {page.floor}H{WIDTH - RIGHT}"/>')
    return page.svg()


class Page:
    """The frame of both kinds of plots: title, legend, value axis."""

    def __init__(self, title, series, y_title, height):
        self.series, self.parts = series, []
        self.text(LEFT, 20, title, weight="bold")
        x, y = LEFT, 40
        for number, one in enumerate(series):
            width = 30 + 7 * len(one.name)
            if x + width > WIDTH - RIGHT:
                x, y = LEFT, y + 18
            if one.is_paper:
                self.add(diamond(x + 7, y - 4))
            else:
                self.add(f'<rect x="{x}" y="{y - 10}" width="13" height="12" fill="{self.colour(one)}"/>')
            self.text(x + 18, y, one.name)
            x += width
        self.roof, self.floor, self.height = y + 24, y + 24 + height - 100, y + 24 + height - 100 + BOTTOM
        self.inner_width = WIDTH - LEFT - RIGHT
        self.text(LEFT - 60, self.roof - 10, y_title)

    def colour(self, one):
        drawn = [other for other in self.series if not other.is_paper]
        return COLOURS[drawn.index(one) % len(COLOURS)] if not one.is_paper else "#888"

    def x(self, share):
        return LEFT + 14 + share * (self.inner_width - 28)

    def y(self, share):
        return self.floor - share * (self.floor - self.roof)

    def y_axis(self, ticks, share):
        for value in ticks:
            y = self.y(share(value))
            self.add(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
            self.text(LEFT - 8, y + 4, f"{value:g}", "end")

    def add(self, part):
        self.parts.append(part)

    def text(self, x, y, words, anchor="start", weight="normal"):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{html.escape(str(words))}</text>')

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
                f'height="{self.height}">\n{STYLE}\n'
                f'<rect class="paper" width="{WIDTH}" height="{self.height}"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def diamond(x, y):
    return f'<path class="mark" d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"/>'


def round_ticks(least, most):
    """Round numbers in about five steps that cover the range from `least` to `most`."""
    rough = ((most - least) or 1) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999999)
    low, high = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [at * step for at in range(low, max(high, low + 1) + 1)]


def in_two_lines(label, width):
    """Breaks a label that is wider than `width` at the space closest to its middle."""
    if 6.5 * len(label) <= width or " " not in label:
        return [label]
    at = min((at for at, letter in enumerate(label) if letter == " "), key=lambda at: abs(at - len(label) / 2))
    return [label[:at], label[at + 1:]]


def decades(least, most):
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def scale(least, most, logarithmic):
    if logarithmic:
        least, most = math.log(least), math.log(most)
    span = (most - least) or 1
    return lambda value: ((math.log(value) if logarithmic else value) - least) / span
