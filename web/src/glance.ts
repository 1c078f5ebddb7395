// Verdict, at a glance: the busiest link, where the gain is, and the node of a rank.
// SPDX-License-Identifier: Apache-2.0
import { button, element, type Child } from "./ui/dom";
import { bytes, percent } from "./ui/format";
import type { DirectedLink, Network } from "./data/network";
import type { Order, Report } from "./data/report";
import type { LevelDocument } from "./data/schema";
import type { Selection } from "./ui/selection";
import { rank_field } from "./ui/rank_field";
import { say } from "./ui/tooltip";

/** "39 % less", "twice as much" */
export function change_words(before: number, after: number): string {
  if (before === after) return "the same";
  if (before === 0) return `${bytes(after)} more`;
  if (after < before) return `${percent(1 - after / before)} less`;
  return after < 2 * before ? `${percent(after / before - 1)} more` : `${(after / before).toFixed(1)} times as much`;
}

/** The kind of link or the level whose bytes decrease most. */
function largest_saving<T>(rows: T[], bytes_of: (row: T) => [number, number]): T | undefined {
  const saved = (row: T) => bytes_of(row)[0] - bytes_of(row)[1];
  const best = rows.reduce<T | undefined>((one, other) => (one === undefined || saved(other) > saved(one) ? other : one), undefined);
  return best !== undefined && saved(best) > 0 ? best : undefined;
}

/** Whether a level is left by what crosses it; traffic within one core costs nothing. */
const is_crossed = (row: LevelDocument) => !/same core|within a core/.test(row.label);

function gain_words(report: Report): string | undefined {
  const { network } = report, levels = report.document.levels ?? [];
  if (network?.loaded && network.loads.length > 1) {
    const best = largest_saving(network.by_kind(), (row) => [row.total[0], row.total[1]]);
    return best ? `Links ${best.label} carry ${change_words(best.total[0], best.total[1])}: ${bytes(best.total[0])} before, ${bytes(best.total[1])} after; the busiest of them ${change_words(best.most[0], best.most[1])}.` : "No kind of link carries fewer bytes than before.";
  }
  if (!levels.some((row) => row.bytes_after !== undefined)) return undefined;
  const best = largest_saving(levels.filter(is_crossed), (row) => [row.bytes_before, row.bytes_after ?? row.bytes_before]);
  return best ? `${best.label[0].toUpperCase()}${best.label.slice(1)}: ${change_words(best.bytes_before, best.bytes_after!)}, ${bytes(best.bytes_before)} before, ${bytes(best.bytes_after!)} after.` : "No level of the machine carries fewer bytes than before.";
}

/** The name of the node of a rank. */
function node_name(report: Report, order: Order, rank: number): string {
  const core = order.core_of![rank];
  return report.network ? report.network.labels[report.network.node_of_core(core)] : report.places!.unit_label(core);
}

/** The field for a rank, and where it is before and after. */
function rank_row(report: Report, orders: Order[], ranks: number, selection: Selection): Child[] {
  const answer = element("dd", {});
  const field = rank_field("Node of rank", ranks, selection, () => (answer.textContent = `There are ranks 0 to ${ranks - 1}.`));
  const show = (rank: number | undefined) => {
    answer.textContent = rank === undefined ? "Type its number." : orders.map((order, i) => `${orders.length > 1 ? (i === 0 ? "before: " : "after: ") : ""}${node_name(report, order, rank)}`).join(", ");
    if (rank !== undefined) say(`rank ${rank}: ${answer.textContent}`);
  };
  selection.on_change(show);
  show(selection.chosen);
  return [element("dt", {}, field.label, field.input), answer];
}

export function link_button(network: Network, link: DirectedLink, links: Selection<DirectedLink>): HTMLButtonElement {
  return button(
    network.link_words(link),
    () => {
      links.select(undefined);
      links.select(link);
      document.getElementById("network")?.querySelector("canvas")?.scrollIntoView({ block: "nearest" });
    },
    { class: "link" },
  );
}

/** Undefined: there is nothing to say. */
export function glance(report: Report, selection: Selection, links: Selection<DirectedLink>): HTMLElement | undefined {
  const { network, traffic } = report, rows: Child[] = [];
  if (network?.loaded) {
    const compared = network.loads.length > 1;
    const values = network.loads.map((_, order) => {
      const link = network.busiest_in(order), when = compared ? (order === 0 ? "before: " : "after: ") : "";
      return element("dd", {}, when, link ? link_button(network, link, links) : "none", link ? `, ${bytes(network.load(link, order))}` : "");
    });
    rows.push(element("dt", {}, "Busiest link"), ...values);
  }
  const gain = gain_words(report);
  if (gain) rows.push(element("dt", {}, "Where the gain is"), element("dd", {}, gain));
  const placed = report.orders.filter((order) => order.core_of).slice(0, 2);
  if (traffic?.block === 1 && placed.length > 0 && (network || report.places)) rows.push(...rank_row(report, placed, traffic.ranks, selection));
  return rows.length > 0 ? element("dl", { class: "glance" }, ...rows) : undefined;
}
