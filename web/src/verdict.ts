// First section: the verdict in one sentence, with its spread, and the commands to type.
// SPDX-License-Identifier: Apache-2.0
import { glance } from "./glance";
import { command_line } from "./ui/copy";
import { button, element, svg, type Child } from "./ui/dom";
import { figure } from "./ui/figure";
import { bytes, factor, number, percent, plural, seconds } from "./ui/format";
import type { DirectedLink } from "./data/network";
import type { Report } from "./data/report";
import type { BottleneckDocument, VerdictDocument } from "./data/schema";
import type { Selection } from "./ui/selection";
import { folded_table, make_table } from "./ui/table";

const BADGES: Record<VerdictDocument["kind"], string> = {
  gain: "Gain",
  none: "No gain",
  comparison: "Comparison",
  profile: "Profile",
  machine: "Machine",
  allocation: "Allocation",
  online: "Online migration",
  simulation: "Simulated",
};

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

interface Line {
  name: string;
  predicted?: number;
  simulated?: number;
  runs: number[];
  /** Of the predicted time, the longest first. */
  bottlenecks: BottleneckDocument[];
}

/** The values of the bars: measured, otherwise simulated, otherwise predicted. */
function bar_value(line: Line): number {
  return line.runs.length > 0 ? mean(line.runs) : (line.simulated ?? line.predicted ?? 0);
}

function time_words(value: number, unit: string): string {
  return unit === "s" ? seconds(value) : `${number(value)} ${unit}`;
}

/** "node 3's card, out: 1.2 GB in 400 ms" */
function bottleneck_words(bottleneck: BottleneckDocument | undefined): string {
  if (!bottleneck) return "–";
  const traffic = bottleneck.bytes > 0 ? `${bytes(bottleneck.bytes)} in ` : "";
  return `${bottleneck.name}: ${traffic}${seconds(bottleneck.seconds)}`;
}

/** Bars, one dot per run, a diamond for the prediction and a square for the simulation unless the bar shows it. */
function times_picture(lines: Line[], unit: string): SVGSVGElement {
  const width = 430, left = 76, right = 72, row = 46;
  const most = Math.max(...lines.flatMap((line) => [...line.runs, line.predicted ?? 0, line.simulated ?? 0]), 1e-300);
  const x = (value: number) => left + (value / most) * (width - left - right);
  const parts: SVGElement[] = [];
  lines.forEach((line, i) => {
    const y = 8 + i * row, middle = y + 15;
    const value = bar_value(line);
    parts.push(svg("text", { x: left - 10, y: middle + 4, "text-anchor": "end", class: "strong" }, line.name));
    parts.push(svg("rect", { x: left, y, width: Math.max(1, x(value) - left), height: 30, rx: 3, class: i === 0 ? "before" : "after" }));
    for (const run of line.runs) parts.push(svg("circle", { cx: x(run), cy: middle, r: 4, class: "run" }));
    const others = [line.runs.length > 0 ? line.simulated : undefined, line.runs.length > 0 || line.simulated !== undefined ? line.predicted : undefined];
    if (others[0] !== undefined) parts.push(svg("rect", { x: x(others[0]) - 5, y: middle - 5, width: 10, height: 10, class: "prediction" }));
    if (others[1] !== undefined) parts.push(svg("path", { d: `M${x(others[1])} ${middle - 7}l6 7l-6 7l-6 -7z`, class: "prediction" }));
    const end = Math.max(x(value), ...line.runs.map(x), ...others.map((other) => (other === undefined ? 0 : x(other))));
    parts.push(svg("text", { x: end + 12, y: middle + 4 }, time_words(value, unit)));
  });
  const height = lines.length * row + 2;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "times", role: "img", "aria-label": lines.map((line) => `${line.name}: ${time_words(bar_value(line), unit)}`).join(", ") },
    ...parts,
  );
}

function times(verdict: VerdictDocument): HTMLElement | undefined {
  const { measured } = verdict;
  // Predicted times are not compared with measured rates.
  const { predicted, simulated } = measured && measured.unit !== "s" ? { predicted: undefined, simulated: undefined } : verdict;
  const unit = (measured ?? simulated ?? predicted)?.unit;
  if (unit === undefined) return undefined;
  const kind = unit === "s" ? "Time" : "Rate";
  const lines: Line[] = [
    { name: "before", predicted: predicted?.before, simulated: simulated?.before, runs: measured?.before ?? [], bottlenecks: predicted?.bottlenecks_before ?? [] },
    { name: "after", predicted: predicted?.after, simulated: simulated?.after, runs: measured?.after ?? [], bottlenecks: predicted?.bottlenecks_after ?? [] },
  ];
  const runs = measured ? Math.max(measured.before.length, measured.after.length) : 0;
  const note = measured ? `Bars: mean of ${plural(runs, "run")}; dots: each run${simulated ? "; squares: simulated" : ""}${predicted ? "; diamonds: predicted" : ""}.`
    : simulated
      ? `Communication as simulated${predicted ? "; diamonds: predicted analytically" : ""}; not measured.`
      : "Predicted, not measured.";
  const cell = (value: number | undefined) => (value === undefined ? "–" : { show: time_words(value, unit), value });
  const table = make_table(
    `${kind}s before and after`,
    [
      { name: "Order", cell: (line: Line) => line.name },
      ...(predicted ? [{ name: "Predicted", cell: (line: Line) => cell(line.predicted) }] : []),
      ...(lines.some((line) => line.bottlenecks.length > 0) ? [
        { name: "Limited by", cell: (line: Line) => bottleneck_words(line.bottlenecks[0]) },
        { name: "Next", cell: (line: Line) => bottleneck_words(line.bottlenecks[1]) },
      ] : []),
      ...(simulated ? [{ name: "Simulated", cell: (line: Line) => cell(line.simulated) }] : []),
      ...(measured ? [{ name: "Measured, mean", cell: (line: Line) => cell(mean(line.runs)) }] : []),
      ...Array.from({ length: runs }, (_, i) => ({ name: `Run ${i + 1}`, cell: (line: Line) => cell(line.runs[i]) })),
    ],
    lines,
  );
  return figure(kind, note, times_picture(lines, unit), folded_table(measured ? "Table: every run" : "Table: times", () => table), { class: "times-figure" });
}

/** What the reader came for: the measured time, otherwise the expected one, the traffic inside nodes, or the cost in the model. */
function headline(verdict: VerdictDocument, model?: string): { figure: string; words: string; kind: "measured" | "expected" } | undefined {
  const { measured, saved } = verdict;
  if (measured) {
    const speedup = measured.speedup ?? mean(measured.before) / mean(measured.after);
    const spread = measured.spread === undefined ? "" : ` ± ${number(measured.spread, 2)}`;
    const words = verdict.kind === "none" ? "as fast, no gain measured" : speedup >= 1 ? "faster, measured" : "as fast, measured";
    return { figure: `${factor(speedup)}×`, words: words + spread, kind: "measured" };
  }
  if (verdict.kind !== "gain" && verdict.kind !== "comparison") return undefined;
  const times = verdict.simulated ?? verdict.predicted;
  if (times && times.after > 0 && times.before > times.after) return { figure: `${factor(times.before / times.after)}×`, words: `faster communication, ${verdict.simulated ? "simulated" : "predicted"}`, kind: "expected" };
  if (verdict.inside && verdict.inside.after > verdict.inside.before) return { figure: `${percent(verdict.inside.before)} → ${percent(verdict.inside.after)}`, words: "of the traffic stays inside a node", kind: "expected" };
  if (saved !== undefined && verdict.kind === "gain") return { figure: `${(100 * saved).toFixed(1)} %`, words: model === "predicted" ? "less communication time, predicted" : "less cost, by the model", kind: "expected" };
  return undefined;
}

/** Green only for a gain that was measured. */
function badge(verdict: VerdictDocument): HTMLElement {
  if (verdict.kind === "gain" && !verdict.measured) return element("span", { class: "badge" }, verdict.simulated ? "Gain, simulated" : "Gain, predicted");
  const kind = verdict.kind === "machine" ? "" : verdict.kind;  // a class of its own, which is not one of badges
  return element("span", { class: `badge ${kind}`.trim() }, BADGES[verdict.kind] ?? verdict.kind);
}

/** The text with every link that the network knows as a button, which finds it in the pictures. */
function with_links(text: string, report: Report, links: Selection<DirectedLink>): Child[] {
  if (!report.network) return [text];
  const parts: Child[] = [];
  let end = 0;
  for (const match of text.matchAll(/link from (.+?) to (.+?)(?=:)/g)) {
    const link = report.network.link(match[1], match[2]);
    if (!link) continue;
    const find = () => {
      links.select(undefined);
      links.select(link);
      document.getElementById("network")?.scrollIntoView();
    };
    parts.push(text.slice(end, match.index), button(match[0], find, { class: "link inline" }));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

export function verdict_section(report: Report, selection: Selection, links: Selection<DirectedLink>): HTMLElement | undefined {
  const { verdict } = report.document;
  if (!verdict) return undefined;
  const head = headline(verdict, report.document.model), picture = times(verdict), facts = glance(report, selection, links);
  return element(
    "section",
    { id: "verdict", class: "verdict", "aria-labelledby": "verdict-title" },
    element("h2", { id: "verdict-title", class: "visually-hidden" }, verdict.kind === "machine" ? "Summary" : "Verdict"),
    element(
      "div",
      { class: ["verdict-grid", picture ? "with-times" : "", facts ? "with-glance" : ""].join(" ").trim() },
      element(
        "div",
        { class: "lead" },
        badge(verdict),
        head && element("p", { class: `headline ${head.kind}` }, element("span", { class: "figure" }, head.figure), " ", element("span", { class: "words" }, head.words)),
        verdict.inside && !head?.words.includes("inside a node") && element("p", { class: "soft" }, `Traffic that stays inside a node: ${percent(verdict.inside.before)} before, ${percent(verdict.inside.after)} after.`),
      ),
      facts,
      element(
        "div",
        { class: "text" },
        element("p", { class: "sentence" }, verdict.sentence),
        verdict.notes?.length ? element("ul", { class: "notes" }, ...verdict.notes.map((note) => element("li", {}, ...with_links(note, report, links)))) : null,
      ),
      picture,
    ),
    verdict.commands?.length
      ? element("div", { class: "commands" }, element("h3", {}, "What to type"), ...verdict.commands.map(command_line))
      : null,
  );
}
