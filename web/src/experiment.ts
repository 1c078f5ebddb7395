// Sections of an experiment of `rankloom bench`: what it says about each mapper, and its plots.
// SPDX-License-Identifier: Apache-2.0
import { element } from "./ui/dom";
import { section } from "./ui/figure";
import { number, plural, seconds } from "./ui/format";
import type { Report } from "./data/report";
import type { ExperimentMapper } from "./data/schema";
import { make_table } from "./ui/table";
import { plot_figure } from "./plot";

const ratio = (value: number) => ({ show: value.toFixed(3), value });

export function experiment_sections(report: Report): HTMLElement[] {
  const { experiment } = report.document;
  if (!experiment) return [];
  const table = (name: string, instances: number, rows: ExperimentMapper[]) =>
    make_table(
      `${name}: ${plural(instances, "instance")}`,
      [
        { name: "Mapper", cell: (row: ExperimentMapper) => row.mapper },
        { name: "Cost", cell: (row) => ({ show: number(row.cost), value: row.cost }) },
        { name: `Cost relative to ${experiment.baseline}`, cell: (row) => ratio(row.cost_ratio) },
        { name: "Lowest cost on", cell: (row) => row.best },
        { name: "CPU time", cell: (row) => ({ show: seconds(row.cpu_seconds), value: row.cpu_seconds }) },
        { name: `CPU time relative to ${experiment.baseline}`, cell: (row) => ratio(row.cpu_ratio) },
      ],
      rows,
      { sortable: true },
    );
  const classes = experiment.classes.filter((one) => one.mappers.length > 0);
  return [
    section(
      "results",
      "Results",
      "Geometric means over the instances that every mapper solved.",
      element("div", { class: "card" }, element("ul", {}, ...experiment.sentences.map((sentence) => element("li", {}, sentence)), experiment.failed > 0 && element("li", {}, `${plural(experiment.failed, "run")} failed.`))),
      ...classes.map((one) => element("div", { class: "card" }, table(one.class || "all", one.mappers[0].instances, one.mappers))),
    ),
    section("plots", "Plots", "Point at a mark to see its values.", element("div", { class: "grid" }, ...experiment.plots.map(plot_figure))),
  ];
}
