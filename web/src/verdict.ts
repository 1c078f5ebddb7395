// First section: what came out, in one sentence, with its spread, and what to type.
// SPDX-License-Identifier: Apache-2.0
import { command_line } from "./copy";
import { element, svg } from "./dom";
import { figure } from "./figure";
import { number, plural } from "./format";
import type { Report } from "./report";
import type { VerdictDocument } from "./schema";
import { folded_table, make_table } from "./table";

const BADGES: Record<VerdictDocument["kind"], string> = {
  gain: "Gain",
  none: "No gain",
  profile: "Profile",
  allocation: "Allocation",
  online: "Moved while running",
};

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

interface Line {
  name: string;
  predicted?: number;
  runs: number[];
}

/** Bars of the means, a dot for each run, a diamond for the prediction. */
function times_picture(lines: Line[], unit: string): SVGSVGElement {
  const width = 430, left = 76, right = 72, row = 46;
  const most = Math.max(...lines.flatMap((line) => [...line.runs, line.predicted ?? 0]));
  const x = (value: number) => left + (value / most) * (width - left - right);
  const parts: SVGElement[] = [];
  lines.forEach((line, i) => {
    const y = 8 + i * row, middle = y + 15;
    const value = line.runs.length > 0 ? mean(line.runs) : (line.predicted ?? 0);
    parts.push(svg("text", { x: left - 10, y: middle + 4, "text-anchor": "end", class: "strong" }, line.name));
    parts.push(svg("rect", { x: left, y, width: Math.max(1, x(value) - left), height: 30, rx: 3, class: i === 0 ? "before" : "after" }));
    for (const run of line.runs) parts.push(svg("circle", { cx: x(run), cy: middle, r: 4, class: "run" }));
    if (line.predicted !== undefined && line.runs.length > 0) {
      const px = x(line.predicted);
      parts.push(svg("path", { d: `M${px} ${middle - 7}l6 7l-6 7l-6 -7z`, class: "prediction" }));
    }
    const end = Math.max(x(value), ...line.runs.map(x), line.predicted === undefined ? 0 : x(line.predicted));
    parts.push(svg("text", { x: end + 12, y: middle + 4 }, `${number(value)} ${unit}`));
  });
  const height = lines.length * row + 2;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "times", role: "img", "aria-label": lines.map((line) => `${line.name}: ${number(line.runs.length > 0 ? mean(line.runs) : (line.predicted ?? 0))} ${unit}`).join(", ") },
    ...parts,
  );
}

function times(verdict: VerdictDocument): HTMLElement | undefined {
  const { measured, predicted } = verdict;
  if (!measured && !predicted) return undefined;
  const lines: Line[] = [
    { name: "before", predicted: predicted?.before, runs: measured?.before ?? [] },
    { name: "after", predicted: predicted?.after, runs: measured?.after ?? [] },
  ];
  const unit = measured?.unit ?? predicted!.unit;
  const runs = measured ? Math.max(measured.before.length, measured.after.length) : 0;
  const note = measured ? `Bars: mean of ${plural(runs, "run")}; dots: each run${predicted ? "; diamonds: predicted" : ""}.` : "Predicted, not measured.";
  const table = make_table(
    `Times in ${unit}`,
    [
      { name: "Order", cell: (line: Line) => line.name },
      ...(predicted ? [{ name: "Predicted", cell: (line: Line) => ({ show: number(line.predicted!), value: line.predicted! }) }] : []),
      ...(measured ? [{ name: "Measured, mean", cell: (line: Line) => ({ show: number(mean(line.runs)), value: mean(line.runs) }) }] : []),
      ...Array.from({ length: runs }, (_, i) => ({ name: `Run ${i + 1}`, cell: (line: Line) => (line.runs[i] === undefined ? "–" : { show: number(line.runs[i]), value: line.runs[i] }) })),
    ],
    lines,
  );
  return figure("Time", note, times_picture(lines, unit), folded_table("Table: every run", () => table), { class: "times-figure" });
}

/** "2.43×" where that is the answer. */
function headline(verdict: VerdictDocument): { figure: string; words: string } | undefined {
  if (verdict.kind === "none") return { figure: "1×", words: "no measurable gain" };
  const { measured, predicted } = verdict;
  if (measured) {
    const speedup = measured.speedup ?? mean(measured.before) / mean(measured.after);
    const spread = measured.spread === undefined ? "" : ` ± ${number(measured.spread, 2)}`;
    return { figure: `${speedup.toFixed(2)}×`, words: `${speedup >= 1 ? "faster" : "as fast"}, measured${spread}` };
  }
  if (predicted && predicted.after > 0 && verdict.kind === "gain") return { figure: `${number(predicted.before / predicted.after)}×`, words: "faster communication, predicted" };
  return undefined;
}

export function verdict_section(report: Report): HTMLElement | undefined {
  const { verdict } = report.document;
  if (!verdict) return undefined;
  const head = headline(verdict), picture = times(verdict);
  return element(
    "section",
    { id: "verdict", class: "verdict", "aria-labelledby": "verdict-title" },
    element("h2", { id: "verdict-title", class: "visually-hidden" }, "Verdict"),
    element(
      "div",
      { class: picture ? "verdict-grid" : "" },
      element(
        "div",
        {},
        element("span", { class: `badge ${verdict.kind}` }, BADGES[verdict.kind] ?? verdict.kind),
        head && element("p", { class: "headline" }, element("span", { class: "figure" }, head.figure), " ", element("span", { class: "words" }, head.words)),
        element("p", { class: "sentence" }, verdict.sentence),
        verdict.notes?.length ? element("ul", { class: "notes" }, ...verdict.notes.map((note) => element("li", {}, note))) : null,
      ),
      picture,
    ),
    verdict.commands?.length
      ? element("div", { class: "commands" }, element("h3", {}, "What to type"), ...verdict.commands.map(command_line))
      : null,
  );
}
