// Figure: points and lines over two axes, linear or logarithmic, with a key and a table of the values.
// SPDX-License-Identifier: Apache-2.0
import { element, svg } from "./ui/dom";
import { figure } from "./ui/figure";
import type { PlotAxisDocument, PlotDocument, PlotSeriesDocument } from "./data/schema";
import { folded_table, make_table } from "./ui/table";

const WIDTH = 560, HEIGHT = 330, LEFT = 62, RIGHT = 12, TOP = 10, BOTTOM = 46, COLOURS = 6;

export function short_number(value: number): string {
  return String(Number(value.toPrecision(4)));
}

interface Scale {
  shows: (value: number) => boolean;
  /** 0 to 1. */
  place: (value: number) => number;
  ticks: number[];
}

export function scale_of(axis: PlotAxisDocument, values: number[]): Scale {
  const shows = (value: number) => Number.isFinite(value) && (!axis.logarithmic || value > 0);
  const on = (value: number) => (axis.logarithmic ? Math.log10(value) : value);
  const known = values.filter(shows).map(on);
  let low = Math.min(...known), high = Math.max(...known);
  if (known.length === 0) [low, high] = [0, 1];
  if (high <= low) {
    const margin = axis.logarithmic ? 0.5 : Math.max(0.5, Math.abs(low) * 0.1);
    [low, high] = [low - margin, high + margin];
  }
  const space = (high - low) * 0.03;
  [low, high] = [low - space, high + space];
  const ticks: number[] = [];
  if (axis.logarithmic) {
    const digits = high - low < 2 ? [1, 2, 5] : [1], every = Math.max(1, Math.ceil((high - low) / 7));
    for (let power = Math.floor(low); power <= high; power += every) for (const digit of digits) ticks.push(digit * 10 ** power);
  } else {
    const raw = (high - low) / 6, power = 10 ** Math.floor(Math.log10(raw)), digit = raw / power;
    const step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
    for (let number = Math.ceil(low / step); number * step <= high; ++number) ticks.push(number * step);
  }
  return { shows, place: (value) => (on(value) - low) / (high - low), ticks: ticks.filter((tick) => on(tick) >= low && on(tick) <= high) };
}

/** Every series has its own mark, so that colour is not the only difference. */
function mark(index: number, x: number, y: number): SVGElement {
  const shape = Math.floor(index / COLOURS + index) % 4, style = `fill:var(--category-${(index % COLOURS) + 1})`;
  if (shape === 0) return svg("circle", { cx: x, cy: y, r: 4, style });
  const path = shape === 1 ? "M-4 -4h8v8h-8z" : shape === 2 ? "M0 -5l5 9h-10z" : "M0 -5l5 5l-5 5l-5 -5z";
  return svg("path", { d: path, transform: `translate(${x} ${y})`, style });
}

export function plot_figure(plot: PlotDocument): HTMLElement {
  const points = plot.series.flatMap((series) => series.points);
  const x = scale_of(plot.x, points.map((point) => point[0])), y = scale_of(plot.y, points.map((point) => point[1]));
  const at_x = (value: number) => LEFT + (WIDTH - LEFT - RIGHT) * x.place(value), at_y = (value: number) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y.place(value);
  const drawn = (series: PlotSeriesDocument, index: number): SVGElement[] => {
    const shown = series.points.filter((point) => x.shows(point[0]) && y.shows(point[1]));
    const line = series.line && shown.length > 1 && svg("polyline", { points: shown.map((point) => `${at_x(point[0]).toFixed(1)},${at_y(point[1]).toFixed(1)}`).join(" "), style: `fill:none;stroke-width:2;stroke:var(--category-${(index % COLOURS) + 1});stroke-dasharray:${index < COLOURS ? "none" : "6 4"}` });
    const marks = series.marks ? shown.map((point) => svg("g", {}, mark(index, at_x(point[0]), at_y(point[1])), svg("title", {}, point[2] || series.name))) : [];
    return line ? [line, ...marks] : marks;
  };
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "columns plot", role: "img", "aria-label": `${plot.title}: ${plot.y.title} over ${plot.x.title}, of ${plot.series.map((series) => series.name).join(", ")}. The table contains the values.` },
    ...x.ticks.flatMap((tick) => [svg("line", { x1: at_x(tick), x2: at_x(tick), y1: TOP, y2: HEIGHT - BOTTOM, class: "gridline" }), svg("text", { x: at_x(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, short_number(tick))]),
    ...y.ticks.flatMap((tick) => [svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: at_y(tick), y2: at_y(tick), class: "gridline" }), svg("text", { x: LEFT - 7, y: at_y(tick) + 4, "text-anchor": "end" }, short_number(tick))]),
    svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, class: "axis" }),
    svg("line", { x1: LEFT, x2: LEFT, y1: TOP, y2: HEIGHT - BOTTOM, class: "axis" }),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, plot.x.title),
    svg("text", { x: 13, y: (TOP + HEIGHT - BOTTOM) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(TOP + HEIGHT - BOTTOM) / 2})` }, plot.y.title),
    ...plot.series.flatMap(drawn),
  );
  const key = element("p", { class: "key" }, ...plot.series.map((series, index) => element("span", {}, svg("svg", { viewBox: "-6 -6 12 12", width: 12, height: 12, "aria-hidden": "true" }, mark(index, 0, 0)), ` ${series.name}`)));
  const rows = plot.series.flatMap((series) => series.points.map((point) => ({ series: series.name, point })));
  return figure(
    plot.title,
    "",
    element("div", {}, picture, key),
    folded_table("Table: the values", () =>
      make_table(
        plot.title,
        [
          { name: "Mapper", cell: (row: (typeof rows)[0]) => row.series },
          { name: plot.x.title, cell: (row) => ({ show: short_number(row.point[0]), value: row.point[0] }) },
          { name: plot.y.title, cell: (row) => ({ show: short_number(row.point[1]), value: row.point[1] }) },
        ],
        rows,
        { sortable: true },
      ),
    ),
  );
}
