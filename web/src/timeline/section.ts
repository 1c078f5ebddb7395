// Section: simulated runs over time: what each rank does, and the critical path.
// SPDX-License-Identifier: Apache-2.0
import { bar_chart } from "../ui/bars";
import { element } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { count, percent, plural, seconds } from "../ui/format";
import type { Report } from "../data/report";
import { PATH_KINDS, type PathStep, type Timeline } from "../data/timeline";
import { folded_table, make_table } from "../ui/table";
import { STATES, timeline_chart } from "./chart";

const TABLE_ROWS = 256, PATH_ROWS = 100;

function key(): HTMLElement {
  return element(
    "p",
    { class: "key" },
    ...STATES.map((state) => element("span", { class: "swatch", style: `--swatch:var(${state.colour})` }, state.name)),
    element("span", { class: "swatch line" }, "critical path"),
  );
}

function time_cell(value: number) {
  return { show: seconds(value), value };
}

function rank_table(timeline: Timeline): HTMLElement {
  const all = Array.from({ length: timeline.ranks }, (_, rank) => rank);
  const shown = all.length > TABLE_ROWS ? [...all].sort((a, b) => timeline.wait[b] - timeline.wait[a] || a - b).slice(0, TABLE_ROWS) : all;
  return folded_table(
    all.length > TABLE_ROWS ? `Table: the ${TABLE_ROWS} of ${count(all.length)} ranks that wait longest` : "Table: every rank",
    () =>
      make_table(
        `Simulated seconds of each rank with ${timeline.name}`,
        [
          { name: "Rank", cell: (rank: number) => rank },
          { name: "Computation", cell: (rank) => time_cell(timeline.compute[rank]) },
          { name: "Transfer", cell: (rank) => time_cell(timeline.transfer[rank]) },
          { name: "Waiting", cell: (rank) => time_cell(timeline.wait[rank]) },
        ],
        shown,
        { sortable: true },
      ),
    false,
  );
}

function path_table(timeline: Timeline): HTMLElement {
  const longest = [...timeline.path].sort((a, b) => b.end - b.begin - (a.end - a.begin)).slice(0, PATH_ROWS).sort((a, b) => a.begin - b.begin);
  return folded_table(
    `Table: ${timeline.path_steps > longest.length ? `the ${longest.length} longest of ${plural(timeline.path_steps, "step")}` : "every step"} of the critical path`,
    () =>
      make_table(
        `Critical path with ${timeline.name}`,
        [
          { name: "Begin", cell: (step: PathStep) => time_cell(step.begin) },
          { name: "Duration", cell: (step) => time_cell(step.end - step.begin) },
          { name: "What", cell: (step) => PATH_KINDS[step.kind] },
          { name: "Rank", cell: (step) => step.to },
          { name: "Other rank", cell: (step) => (step.kind === 0 || step.from === step.to ? "–" : step.from) },
        ],
        longest,
        { sortable: true },
      ),
    false,
  );
}

function run_figure(timeline: Timeline, span: number): HTMLElement {
  const parts = timeline.path_parts.filter((part) => part.seconds > 0).sort((a, b) => b.seconds - a.seconds);
  const whole = parts.reduce((sum, part) => sum + part.seconds, 0) || 1;
  const note = `${seconds(timeline.seconds)}. ${timeline.ranks_per_row > 1 ? `A row is ${timeline.ranks_per_row} ranks. ` : ""}Waiting: the partner of a message, or the last rank of a collective, has not begun its call.`;
  return figure(
    timeline.name,
    note,
    element(
      "div",
      {},
      key(),
      timeline_chart(timeline, span),
      element("h4", {}, "Critical path"),
      element("p", { class: "note" }, "The chain of computation and messages that determines the time: only a shorter step of it can make the run shorter."),
      bar_chart("Critical path", parts.map((part) => ({ label: `${part.label}, ${percent(part.seconds / whole)}`, values: [part.seconds] })), seconds),
      path_table(timeline),
    ),
    rank_table(timeline),
    { class: "card timeline" },
  );
}

export function timeline_section(report: Report): HTMLElement | undefined {
  const { timelines } = report;
  if (timelines.length === 0) return undefined;
  const span = Math.max(...timelines.map((timeline) => timeline.seconds));
  return section(
    "time",
    "Simulated time",
    "What the ranks do over time, simulated by SimGrid, not measured. All pictures have the same scale.",
    ...timelines.map((timeline) => run_figure(timeline, span)),
  );
}
