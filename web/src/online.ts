// Section: online migration: phases and migrations of each node, the cost without migration, the gain of a restart.
// SPDX-License-Identifier: Apache-2.0
import { CATEGORIES, ink_on } from "./ui/colour";
import { element, svg } from "./ui/dom";
import { figure, section } from "./ui/figure";
import { clock, number, percent, plural, seconds, time_ticks } from "./ui/format";
import type { Report } from "./data/report";
import type { OnlineNode } from "./data/schema";
import { series_chart } from "./ui/series";
import { folded_table, make_table } from "./ui/table";

function hex_ink(hex: string): string {
  const value = parseInt(hex.slice(1), 16);
  return ink_on([value >> 16, (value >> 8) & 255, value & 255]);
}

/** Bands for phases, triangles for migrations. */
function timeline(nodes: OnlineNode[], kinds: string[], width: number): SVGSVGElement {
  const left = width < 500 ? 64 : 120, row = 54;
  const end = Math.max(...nodes.flatMap((node) => [...(node.phases ?? []).map((p) => p.end), ...(node.migrations ?? []).map((b) => b.at), ...(node.cost?.time ?? [])]), 1e-9);
  const x = (t: number) => left + (t / end) * (width - left - 12);
  const parts: SVGElement[] = [];
  nodes.forEach((node, i) => {
    const y = 18 + i * row;
    parts.push(svg("text", { x: left - 10, y: y + 17, "text-anchor": "end", class: "strong" }, node.name));
    for (const phase of node.phases ?? []) {
      const colour = CATEGORIES[Math.max(0, kinds.indexOf(phase.kind)) % CATEGORIES.length];
      const w = Math.max(1, x(phase.end) - x(phase.begin) - 1);
      parts.push(svg("rect", { x: x(phase.begin), y, width: w, height: 26, rx: 3, fill: colour }, svg("title", {}, `phase ${phase.kind}: ${seconds(phase.begin)} to ${seconds(phase.end)}`)));
      if (w > 10 + 8 * phase.kind.length) parts.push(svg("text", { x: x(phase.begin) + w / 2, y: y + 18, "text-anchor": "middle", style: `fill:${hex_ink(colour)}`, class: "on-colour" }, phase.kind));
    }
    for (const burst of node.migrations ?? []) {
      const bx = x(burst.at);
      parts.push(svg("path", { d: `M${bx} ${y + 29}l6 10h-12z`, class: "burst" }, svg("title", {}, `${plural(burst.moved, "rank")} moved at ${seconds(burst.at)}`)));
      parts.push(svg("text", { x: bx + 9, y: y + 39, class: "small" }, String(burst.moved)));
    }
  });
  const height = 18 + nodes.length * row + 22;
  for (const t of time_ticks(0, end, Math.max(2, Math.floor(width / 110))))
    parts.push(svg("text", { x: x(t), y: height - 6, "text-anchor": t === 0 ? "start" : x(t) > width - 40 ? "end" : "middle", class: "small" }, clock(t, end)));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "timeline", role: "img", "aria-label": `Phases of ${plural(nodes.length, "node")} over ${seconds(end)}; ${plural(nodes.reduce((sum, node) => sum + (node.migrations?.length ?? 0), 0), "migration")}. The table lists all of them.` }, ...parts);
}

function cost_figure(node: OnlineNode): HTMLElement | null {
  const { cost } = node;
  if (!cost?.time.length) return null;
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const [stayed, online] = node.effect ? [node.effect.stayed, node.effect.online] : [sum(cost.stayed), sum(cost.online)];
  const share = stayed > 0 ? online / stayed : 1;
  return figure(
    `Cost on ${node.name}`,
    `With migration the cost is ${percent(share)} of the cost without.`,
    series_chart(
      "Cost of the traffic over time; the table contains the values",
      { name: "time", values: cost.time, words: seconds, time: true },
      [
        { name: "had they stayed", values: cost.stayed, colour: "--before-ink", dashed: true, stepped: true },
        { name: "online", values: cost.online, colour: "--after", filled: true, stepped: true },
      ],
      (v) => number(v),
      170,
    ),
    folded_table("Table: cost", () =>
      make_table(
        `Cost on ${node.name}`,
        [
          { name: "Time", cell: (i: number) => ({ show: seconds(cost.time[i]), value: cost.time[i] }) },
          { name: "Without migration", cell: (i: number) => ({ show: number(cost.stayed[i]), value: cost.stayed[i] }) },
          { name: "Online", cell: (i: number) => ({ show: number(cost.online[i]), value: cost.online[i] }) },
        ],
        cost.time.map((_, i) => i),
      ),
      false,
    ),
  );
}

export function online_section(report: Report): HTMLElement | undefined {
  const { online } = report.document;
  if (!online || online.nodes.length === 0) return undefined;
  const kinds = [...new Set(online.nodes.flatMap((node) => (node.phases ?? []).map((phase) => phase.kind)))].sort();
  const rows = online.nodes.flatMap((node) => [
    ...(node.phases ?? []).map((phase) => ({ node: node.name, what: `phase ${phase.kind}`, begin: phase.begin, end: phase.end as number | undefined, moved: 0 })),
    ...(node.migrations ?? []).map((burst) => ({ node: node.name, what: "burst of moves", begin: burst.at, end: undefined as number | undefined, moved: burst.moved })),
  ]);
  const host = element("div", { class: "timeline-box" });
  let width = 0;
  new ResizeObserver(() => {
    if (host.clientWidth === width || host.clientWidth === 0) return;
    width = host.clientWidth;
    host.replaceChildren(timeline(online.nodes, kinds, width));
  }).observe(host);
  const { restart } = online;
  const advice = restart && restart.cost_now > 0
    ? restart.cost_mapped < restart.cost_now * 0.98
      ? `A restart with the mapping of this run's traffic would reduce the cost to ${percent(restart.cost_mapped / restart.cost_now)} (${number(restart.cost_mapped)} instead of ${number(restart.cost_now)}).`
      : "A restart would gain almost nothing: the present placement costs almost as little as a mapping for this traffic."
    : undefined;
  const lead = online.windows ? `${plural(online.windows, "window")}${online.window_s ? ` of ${seconds(online.window_s)}` : ""} on ${plural(online.nodes.length, "node")}.` : null;
  return section(
    "online",
    "Online migration",
    lead,
    advice && element("p", { class: "advice card" }, element("strong", {}, "Restart? "), advice),
    figure(
      "Phases and migrations",
      "One letter per kind of phase; a triangle for each migration, with the number of ranks.",
      host,
      folded_table("Table: phases and migrations", () =>
        make_table(
          "Phases and migrations",
          [
            { name: "Node", cell: (row) => row.node },
            { name: "What", cell: (row) => row.what },
            { name: "Begin", cell: (row) => ({ show: seconds(row.begin), value: row.begin }) },
            { name: "End", cell: (row) => (row.end === undefined ? "–" : { show: seconds(row.end), value: row.end }) },
            { name: "Ranks moved", cell: (row) => row.moved },
          ],
          rows,
        ),
      ),
    ),
    element("div", { class: "grid" }, ...online.nodes.slice(0, 8).map(cost_figure)),
    online.nodes.length > 8 && element("p", { class: "note" }, `The cost of the first 8 of ${online.nodes.length} nodes is drawn.`),
  );
}
