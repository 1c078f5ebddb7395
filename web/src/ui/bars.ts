// ui: horizontal bars, one or two per row. "Before" is hatched and "after" is solid, so that colour is not the only difference.
// SPDX-License-Identifier: Apache-2.0
import { element, fresh_id, svg } from "./dom";

export interface BarRow {
  label: string;
  /** One value or a pair (before, after). */
  values: number[];
}

export function bar_key(names: string[]): HTMLElement {
  return element(
    "p",
    { class: "key" },
    ...names.map((name, i) => element("span", { class: `swatch ${i === 0 ? "before" : "after"}` }, name)),
  );
}

/** The hatching of "before", defined once per picture. */
export function hatch(id: string): SVGDefsElement {
  return svg(
    "defs",
    {},
    svg(
      "pattern",
      { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { width: 6, height: 6, class: "hatch-ground" }),
      svg("rect", { width: 2.5, height: 6, class: "hatch-line" }),
    ),
  );
}

export function bar_chart(name: string, rows: BarRow[], words: (value: number) => string, log = false): HTMLElement {
  const pairs = rows.some((row) => row.values.length > 1);
  const values = rows.flatMap((row) => row.values).filter((value) => value > 0);
  const most = Math.max(...values, 1e-300), least = Math.min(...values, most);
  const width_of = (value: number) => {
    if (value <= 0) return 0;
    if (!log) return value / most;
    return 0.03 + 0.97 * (most > least ? Math.log(value / least) / Math.log(most / least) : 1);
  };
  // HTML rather than SVG: labels wrap and bars follow the width of any screen.
  return element(
    "div",
    { class: "bars", role: "img", "aria-label": `${name}: ${rows.slice(0, 12).map((row) => `${row.label} ${row.values.map(words).join(" before, ")}${row.values.length > 1 ? " after" : ""}`).join("; ")}` },
    ...rows.map((row) =>
      element(
        "div",
        { class: "bar-row" },
        element("span", { class: "bar-label" }, row.label),
        element(
          "span",
          { class: "bar-pair" },
          ...row.values.map((value, i) =>
            element(
              "span",
              { class: "bar-line" },
              element("span", { class: `bar ${pairs && i === 0 ? "before" : "after"}`, style: `width:calc((100% - 5.5rem) * ${width_of(value).toFixed(4)})` }),
              element("span", { class: "bar-value" }, words(value)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Vertical bars for histograms. */
export function columns_chart(name: string, columns: { label: string; value: number }[], words: (value: number) => string): SVGSVGElement {
  const width = 560, height = 190, left = 4, bottom = 34, top = 18;
  const most = Math.max(...columns.map((column) => column.value), 1e-300);
  const step = (width - left) / columns.length;
  const every = Math.max(1, Math.ceil(46 / step));
  const id = fresh_id("columns");
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "columns", role: "img", id, "aria-label": `${name}: ${columns.filter((c) => c.value > 0).map((c) => `${c.label} ${words(c.value)}`).join("; ")}` },
    svg("line", { x1: left, x2: width, y1: height - bottom + 0.5, y2: height - bottom + 0.5, class: "axis" }),
    ...columns.flatMap((column, i) => {
      const h = (column.value / most) * (height - bottom - top);
      const x = left + i * step;
      return [
        column.value > 0 && svg("rect", { x: x + step * 0.08, y: height - bottom - Math.max(1.5, h), width: step * 0.84, height: Math.max(1.5, h), rx: 2, class: "after" }, svg("title", {}, `${column.label}: ${words(column.value)}`)),
        i % every === 0 && svg("text", { x: x + step / 2, y: height - bottom + 16, "text-anchor": "middle" }, column.label),
        column.value === most && svg("text", { x: Math.min(width - 30, Math.max(30, x + step / 2)), y: height - bottom - h - 5, "text-anchor": "middle" }, words(column.value)),
      ].filter(Boolean) as SVGElement[];
    }),
  );
}
