// Heat map: the description of a cell, for the tooltip (rows) and for a screen reader (one sentence).
// SPDX-License-Identifier: Apache-2.0
import { bytes, count, plural } from "../ui/format";
import type { Places } from "../data/places";
import type { HeatCell } from "./map";
import type { HeatMatrix } from "./matrix";

export interface CellWords {
  title: string;
  lines: { name: string; text: string }[];
}

function rank_name(matrix: HeatMatrix, row: number): string {
  const { block } = matrix.order.traffic;
  if (block === 1) return `rank ${matrix.order.ranks[row]}`;
  const first = matrix.order.ranks[row] * block;
  return `${matrix.order.id === "before" ? "ranks" : "places"} ${first}–${first + block - 1}`;
}

export function cell_words(matrix: HeatMatrix, cell: HeatCell, places: Places | undefined): CellWords {
  const { traffic, core_of, ranks } = matrix.order;
  const at = matrix.find(cell.row, cell.column);
  const lines: CellWords["lines"] = [];
  if (at < 0) lines.push({ name: "traffic", text: "none" });
  else {
    const entry = matrix.entries[at];
    lines.push({ name: "traffic", text: bytes(traffic.bytes[entry]) });
    if (traffic.messages) {
      const messages = traffic.messages[entry];
      const each = messages > 0 ? `, ${bytes(traffic.bytes[entry] / messages)} each` : "";
      lines.push({ name: "messages", text: count(messages) + each });
    }
  }
  if (core_of && places) {
    const from = core_of[ranks[cell.row]], to = core_of[ranks[cell.column]];
    lines.push({ name: "sender", text: places.words(from) });
    lines.push({ name: "receiver", text: places.words(to) });
    lines.push({ name: "crosses", text: places.between_words(from, to) });
  }
  return { title: `${rank_name(matrix, cell.row)} → ${rank_name(matrix, cell.column)}`, lines };
}

export function cell_sentence(words: CellWords): string {
  return `${words.title}: ${words.lines.map((line) => `${line.name} ${line.text}`).join("; ")}.`;
}

export function whole_sentence(matrix: HeatMatrix): string {
  return `${plural(matrix.count, "row")}, ${plural(matrix.columns.length, "pair")} with traffic`;
}
