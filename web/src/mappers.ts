// Section: the cost of every mapper and the lower bound.
// SPDX-License-Identifier: Apache-2.0
import { element } from "./ui/dom";
import { section } from "./ui/figure";
import { factor, number, percent, seconds } from "./ui/format";
import type { Report } from "./data/report";
import type { MapperDocument } from "./data/schema";
import { make_table } from "./ui/table";

export function mappers_section(report: Report): HTMLElement | undefined {
  const { mappers, lower_bound, larger_is_better, model } = report.document;
  if (!mappers?.length) return undefined;
  const cost_words = (cost: number) => (model === "predicted" ? seconds(cost) : number(cost));
  const most = Math.max(...mappers.map((row) => row.cost), lower_bound ?? 0, 1e-300);
  const bound = lower_bound !== undefined && lower_bound > 0 ? lower_bound : undefined;  // the program leaves out a bound that says nothing
  const slowest = Math.max(...mappers.map((row) => row.time_ms ?? 0), 1e-9);
  const chosen = mappers.find((row) => row.chosen);
  const noted = mappers.some((row) => row.note);
  // As in the output of the program: the distance from the bound, as a share of the larger of the two.
  const gap = (row: MapperDocument) => (row.cost > 0 ? Math.max(0, 1 - Math.min(bound!, row.cost) / Math.max(bound!, row.cost)) : 0);
  const table = make_table(
    "Mappers",
    [
      { name: "Mapper", cell: (row: MapperDocument) => ({ show: element("span", {}, row.name, row.chosen && element("span", { class: "badge small" }, "chosen")), value: row.name }) },
      {
        name: "Cost",
        cell: (row) => ({
          show: element(
            "span",
            { class: `bar-cell wide${row.chosen ? " chosen" : ""}`, style: `--share:${(row.cost / most).toFixed(4)};${bound ? `--mark:${(bound / most).toFixed(4)}` : ""}` },
            cost_words(row.cost),
          ),
          value: row.cost,
        }),
      },
      { name: "Relative to the default placement", cell: (row) => (row.relative === undefined ? "–" : { show: row.relative < 10 ? percent(row.relative) : `${factor(row.relative)} times`, value: row.relative }) },
      ...(bound ? [{ name: "Gap to the bound", cell: (row: MapperDocument) => ({ show: gap(row) < 5e-7 ? "nothing" : percent(gap(row)), value: gap(row) }) }] : []),
      {
        name: "Spread over seeds",
        cell: (row) => (row.cost_spread === undefined ? "–" : { show: (row.seeds ?? 1) > 1 ? `± ${percent(row.cost > 0 ? row.cost_spread / row.cost : 0)} of ${row.seeds}` : "one run", value: row.cost_spread }),
      },
      ...(mappers.every((row) => row.time_ms === undefined) ? [] : [{
        name: "Time",
        cell: (row: MapperDocument) =>
          row.time_ms === undefined
            ? "–"
            : { show: element("span", { class: "bar-cell", style: `--share:${(row.time_ms / slowest).toFixed(4)}` }, seconds(row.time_ms / 1000)), value: row.time_ms },
      }]),
      ...(noted ? [{ name: "Note", cell: (row: MapperDocument) => row.note ?? "" }] : []),
    ],
    mappers,
    { sortable: true, row: (line, row) => row.chosen && line.classList.add("chosen") },
  );
  table.classList.add("card", "mappers");
  const reached = chosen && `; ${gap(chosen) < 5e-7 ? `${chosen.name} is there` : larger_is_better ? `${chosen.name} is at most ${percent(gap(chosen))} below it` : `at most ${percent(gap(chosen))} of what ${chosen.name} costs could be saved`}`;
  const lead = bound
    ? `No placement can ${larger_is_better ? "reach more" : "cost less"} than ${cost_words(bound)} under this model (the mark in each bar)${reached ?? ""}.`
    : `${larger_is_better ? "Value" : "Cost"} of each mapper; ${larger_is_better ? "more" : "less"} is better.`;
  return section("mappers", "Mappers", lead, table);
}
