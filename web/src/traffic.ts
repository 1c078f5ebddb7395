// Section: the traffic in figures: levels, links, sizes, kinds, time in MPI, phases.
// SPDX-License-Identifier: Apache-2.0
import { bar_chart, bar_key, columns_chart } from "./ui/bars";
import { element, type Child } from "./ui/dom";
import { figure, section } from "./ui/figure";
import { binary, bytes, count, percent, plural, seconds, short } from "./ui/format";
import type { Report } from "./data/report";
import type { LevelDocument, PhaseDocument } from "./data/schema";
import { series_chart } from "./ui/series";
import { size_distance } from "./size_distance";
import { folded_table, make_table } from "./ui/table";

const BOTH = ["before", "after"];

function bytes_cell(value: number | undefined) {
  return value === undefined ? "–" : { show: bytes(value), value };
}
function count_cell(value: number | undefined) {
  return value === undefined ? "–" : { show: count(value), value };
}

function levels(rows: LevelDocument[]): HTMLElement {
  const both = rows.some((row) => row.bytes_after !== undefined);
  const total = rows.reduce((sum, row) => sum + row.bytes_before, 0) || 1;
  const picture = element(
    "div",
    {},
    both && bar_key(BOTH),
    bar_chart("Bytes at each level", rows.map((row) => ({ label: row.label, values: both ? [row.bytes_before, row.bytes_after ?? 0] : [row.bytes_before] })), bytes),
  );
  return figure(
    "Bytes at each level",
    both ? "Bytes that cross each level of the machine. Shorter bars at the top are better." : "Bytes that cross each level of the machine.",
    picture,
    folded_table("Table: bytes and messages of each level", () =>
      make_table(
        "Bytes and messages of each level",
        [
          { name: "Level", cell: (row) => row.label },
          { name: both ? "Bytes before" : "Bytes", cell: (row) => bytes_cell(row.bytes_before) },
          { name: "Share", cell: (row) => ({ show: percent(row.bytes_before / total), value: row.bytes_before / total }) },
          ...(both
            ? [
                { name: "Bytes after", cell: (row: LevelDocument) => bytes_cell(row.bytes_after) },
                { name: "Share", cell: (row: LevelDocument) => ({ show: percent((row.bytes_after ?? 0) / total), value: (row.bytes_after ?? 0) / total }) },
              ]
            : []),
          { name: both ? "Messages before" : "Messages", cell: (row) => count_cell(row.messages_before) },
          ...(both ? [{ name: "Messages after", cell: (row: LevelDocument) => count_cell(row.messages_after) }] : []),
        ],
        rows,
      ),
    ),
  );
}

function links(rows: { label: string; before: number; after?: number }[]): HTMLElement {
  const both = rows.some((row) => row.after !== undefined);
  return figure(
    "Most loaded links",
    both ? "The most loaded links before, and their load after." : "The links with the highest load.",
    element("div", {}, both && bar_key(BOTH), bar_chart("Most loaded links", rows.map((row) => ({ label: row.label, values: both ? [row.before, row.after ?? 0] : [row.before] })), bytes)),
    folded_table("Table: most loaded links", () =>
      make_table(
        "Bytes over the most loaded links",
        [
          { name: "Link", cell: (row) => row.label },
          { name: both ? "Before" : "Bytes", cell: (row) => bytes_cell(row.before) },
          ...(both ? [{ name: "After", cell: (row: { after?: number }) => bytes_cell(row.after) }] : []),
        ],
        rows,
      ),
    ),
  );
}

function sizes(rows: { from: number; to: number; messages: number }[]): HTMLElement {
  const total = rows.reduce((sum, row) => sum + row.messages, 0);
  return figure(
    "Message sizes",
    `${plural(total, "message")} by size in bytes (powers of two).`,
    columns_chart("Messages by size", rows.map((row) => ({ label: binary(row.from), value: row.messages })), short),
    folded_table("Table: message sizes", () =>
      make_table(
        "Messages by size",
        [
          { name: "From, bytes", cell: (row) => count_cell(row.from) },
          { name: "To, bytes", cell: (row) => count_cell(row.to) },
          { name: "Messages", cell: (row) => count_cell(row.messages) },
        ],
        rows,
      ),
    ),
  );
}

function kinds(value: NonNullable<Report["document"]["kinds"]>): HTMLElement {
  const collectives = value.collectives ?? [];
  const by_op = new Map<string, number>();
  for (const entry of collectives) by_op.set(entry.op, (by_op.get(entry.op) ?? 0) + entry.bytes);
  const ops = [...by_op].filter(([, amount]) => amount > 0).sort((a, b) => b[1] - a[1]);
  const all = value.point_to_point + collectives.reduce((sum, entry) => sum + entry.bytes, 0) || 1;
  return figure(
    "Point-to-point and collective operations",
    `${percent(value.point_to_point / all)} of ${bytes(all)} goes point to point.`,
    bar_chart("Bytes by kind", [{ label: "point to point", values: [value.point_to_point] }, ...ops.slice(0, 7).map(([op, amount]) => ({ label: op, values: [amount] }))], bytes),
    folded_table("Table: collectives", () =>
      make_table(
        "Bytes by kind of communication",
        [
          { name: "Kind", cell: (row) => row.op },
          { name: "Communicator", cell: (row) => row.communicator ?? "–" },
          { name: "Members", cell: (row) => count_cell(row.members) },
          { name: "Calls", cell: (row) => count_cell(row.count) },
          { name: "Bytes", cell: (row) => bytes_cell(row.bytes) },
        ],
        [{ op: "point to point", bytes: value.point_to_point, communicator: undefined, members: undefined, count: undefined }, ...collectives],
      ),
    ),
  );
}

function time_in_mpi(in_mpi: Float32Array, outside: Float32Array | undefined): HTMLElement {
  const ranks = Array.from(in_mpi, (_, i) => i);
  const mean = in_mpi.reduce((sum, value) => sum + value, 0) / in_mpi.length;
  let most = 0;
  in_mpi.forEach((value, i) => (most = value > in_mpi[most] ? i : most));
  const share = outside ? in_mpi.reduce((sum, value) => sum + value, 0) / (in_mpi.reduce((sum, value) => sum + value, 0) + outside.reduce((sum, value) => sum + value, 0)) : undefined;
  const shown = ranks.length > 256 ? [...ranks].sort((a, b) => in_mpi[b] - in_mpi[a]).slice(0, 256) : ranks;
  return figure(
    "Time in MPI",
    `Mean ${seconds(mean)} per rank${share === undefined ? "" : ` (${percent(share)} of its time)`}; most: rank ${most} with ${seconds(in_mpi[most])}.`,
    series_chart(
      "Seconds in MPI and outside by rank; the table contains the values",
      { name: "rank", values: ranks, words: (v) => (Number.isInteger(v) ? count(v) : "") },
      [
        { name: "in MPI", values: in_mpi, colour: "--after", filled: true, stepped: in_mpi.length <= 512 },
        ...(outside ? [{ name: "outside", values: outside, colour: "--before-ink", dashed: true, stepped: in_mpi.length <= 512 }] : []),
      ],
      seconds,
    ),
    folded_table(
      ranks.length > 256 ? `Table: the 256 of ${count(ranks.length)} ranks with most time in MPI` : "Table: every rank",
      () =>
        make_table(
          "Seconds in MPI and outside",
          [
            { name: "Rank", cell: (rank: number) => rank },
            { name: "In MPI", cell: (rank: number) => ({ show: seconds(in_mpi[rank]), value: in_mpi[rank] }) },
            ...(outside ? [{ name: "Outside", cell: (rank: number) => ({ show: seconds(outside[rank]), value: outside[rank] }) }] : []),
          ],
          shown,
          { sortable: true },
        ),
      false,
    ),
  );
}

function phases(rows: PhaseDocument[]): HTMLElement {
  const x = [...rows.map((row) => row.begin), rows[rows.length - 1].end];
  const rate = (row: PhaseDocument) => (row.end > row.begin ? row.bytes / (row.end - row.begin) : 0);
  const values = rows.map(rate);
  const heaviest = rows.reduce((best, row) => (rate(row) > rate(best) ? row : best));
  return figure(
    "Phases",
    `Bytes per second over the run; highest rate: ${heaviest.label}.`,
    series_chart(
      "Bytes per second over time; the table contains the values",
      { name: "time", values: x, words: seconds, time: true },
      [{ name: "bytes a second", values: [...values, values[values.length - 1]], colour: "--after", filled: true, stepped: true }],
      (v) => `${bytes(v)}/s`,
    ),
    folded_table("Table: phases", () =>
      make_table(
        "Phases",
        [
          { name: "Phase", cell: (row) => row.label },
          { name: "Begin", cell: (row) => ({ show: seconds(row.begin), value: row.begin }) },
          { name: "End", cell: (row) => ({ show: seconds(row.end), value: row.end }) },
          { name: "Bytes", cell: (row) => bytes_cell(row.bytes) },
          { name: "Messages", cell: (row) => count_cell(row.messages) },
        ],
        rows,
      ),
    ),
  );
}

export function traffic_section(report: Report): HTMLElement | undefined {
  const { document } = report;
  const figures: Child[] = [
    document.levels?.length ? levels(document.levels) : null,
    document.size_distance ? size_distance(document.size_distance) : null,
    document.links?.length && !report.network ? links(document.links) : null,
    document.sizes?.length ? sizes(document.sizes) : null,
    document.kinds?.collectives?.length ? kinds(document.kinds) : null,
    report.in_mpi?.length ? time_in_mpi(report.in_mpi, report.outside) : null,
    document.phases?.length ? phases(document.phases) : null,
  ].filter(Boolean);
  if (figures.length === 0) return undefined;
  const total = document.traffic?.total_bytes, messages = document.traffic?.total_messages;
  const lead = total === undefined ? null : `${bytes(total)}${messages ? ` in ${plural(messages, "message")}` : ""} between ${plural(document.traffic!.world_ranks ?? document.traffic!.ranks * (document.traffic!.block ?? 1), "rank")}.`;
  return section("figures", "The traffic in figures", lead, element("div", { class: "grid" }, ...figures));
}
