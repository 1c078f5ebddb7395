// Figure: bytes by distance and message size, before and after.
// SPDX-License-Identifier: Apache-2.0
import { css, ink_on, log_share, soft_heat } from "./ui/colour";
import { choice, element, svg } from "./ui/dom";
import { figure } from "./ui/figure";
import { binary, bytes, percent, short } from "./ui/format";
import type { SizeDistanceDocument } from "./data/schema";
import { folded_table, make_table } from "./ui/table";
import { is_dark, on_theme } from "./ui/theme";

const WIDTH = 560, LEFT = 178, TOP = 4, ROW = 26, BOTTOM = 34;

/** The cells of one order, the farthest distance at the top. Colours are logarithmic and the same before and after. */
function picture(map: SizeDistanceDocument, rows: number[][], words: string): SVGSVGElement {
  const all = [...map.before, ...(map.after ?? [])].flat().filter((value) => value > 0);
  const most = Math.max(...all), least = Math.max(Math.min(...all), most / 1e6);
  const step = (WIDTH - LEFT) / map.sizes.length, every = Math.max(1, Math.ceil(40 / step)), height = TOP + ROW * rows.length + BOTTOM;
  const cells = rows.flatMap((row, y) => row.map((value, x) => ({ value, x, y }))).filter((cell) => cell.value > 0);
  const place = (cell: { x: number; y: number }) => ({ x: LEFT + cell.x * step, y: TOP + cell.y * ROW });
  const drawn = cells.map((cell) => {
    const { x, y } = place(cell);
    const box = svg("rect", { x: x + 1, y: y + 1, width: Math.max(1, step - 2), height: ROW - 2, rx: 2 }, svg("title", {}, `${map.distances[cell.y]}, from ${binary(map.sizes[cell.x])} bytes: ${bytes(cell.value)}`));
    const text = step >= 34 ? svg("text", { x: x + step / 2, y: y + ROW / 2 + 4, "text-anchor": "middle", class: "small" }, short(cell.value)) : undefined;
    return { cell, box, text };
  });
  const paint = () => {
    for (const { cell, box, text } of drawn) {
      const colour = soft_heat(0.15 + 0.85 * log_share(Math.max(cell.value, least), least, most), is_dark());
      box.style.fill = css(colour);
      if (text) text.style.fill = ink_on(colour);
    }
  };
  paint();
  on_theme(paint);
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, class: "columns", role: "img", "aria-label": words },
    ...map.distances.map((label, y) => svg("text", { x: LEFT - 8, y: TOP + y * ROW + ROW / 2 + 4, "text-anchor": "end", textLength: label.length > 26 ? LEFT - 12 : undefined, lengthAdjust: "spacingAndGlyphs" }, label)),
    ...map.sizes.map((size, x) => x % every === 0 && svg("text", { x: LEFT + (x + 0.5) * step, y: height - BOTTOM + 16, "text-anchor": "middle" }, binary(size))).filter((text): text is SVGTextElement => text !== false),
    svg("line", { x1: LEFT, x2: WIDTH, y1: height - BOTTOM + 0.5, y2: height - BOTTOM + 0.5, class: "axis" }),
    ...drawn.flatMap(({ box, text }) => (text ? [box, text] : [box])),
  );
}

export function size_distance(map: SizeDistanceDocument): HTMLElement {
  const orders = map.after ? [{ name: "before", rows: map.before }, { name: "after", rows: map.after }] : [{ name: "", rows: map.before }];
  const words = (order: { name: string; rows: number[][] }) => {
    const total = order.rows.flat().reduce((sum, value) => sum + value, 0) || 1;
    const shares = order.rows.map((row, y) => `${map.distances[y]} ${percent(row.reduce((sum, value) => sum + value, 0) / total)}`);
    return `Bytes by distance and message size${order.name && `, ${order.name}`}: ${shares.join("; ")}. The table contains the values.`;
  };
  const pictures = orders.map((order) => picture(map, order.rows, words(order)));
  const host = element("div", {}, pictures.at(-1));
  const lines = orders.flatMap((order) => order.rows.flatMap((row, y) => row.map((value, x) => ({ order: order.name, distance: map.distances[y], size: map.sizes[x], value })))).filter((line) => line.value > 0);
  return figure(
    "Message sizes and distances",
    "Bytes between pairs of ranks, by their distance and mean message size in bytes; the farthest at the top. Short messages over long distances depend on the latency.",
    element(
      "div",
      {},
      orders.length > 1 && element("div", { class: "tools" }, choice("Order", [{ value: "before", label: "Before" }, { value: "after", label: "After" }], "after", (value) => host.replaceChildren(pictures[value === "before" ? 0 : 1])).root),
      host,
    ),
    folded_table("Table: bytes by distance and size", () =>
      make_table(
        "Bytes by distance and message size",
        [
          { name: "Distance", cell: (line: (typeof lines)[0]) => line.distance },
          ...(orders.length > 1 ? [{ name: "Order", cell: (line: (typeof lines)[0]) => line.order }] : []),
          { name: "From, bytes", cell: (line) => ({ show: binary(line.size), value: line.size }) },
          { name: "Bytes", cell: (line) => ({ show: bytes(line.value), value: line.value }) },
        ],
        lines,
        { sortable: true },
      ),
    ),
  );
}
