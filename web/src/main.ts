// Entry point: reads the document from the page, decodes it, and builds the sections in reading order.
// SPDX-License-Identifier: Apache-2.0
import { allocation_section } from "./allocation/section";
import { button, element } from "./ui/dom";
import { experiment_sections } from "./experiment";
import { heat_section } from "./heat/section";
import { bare_machine_section } from "./machine/bare";
import { machine_section } from "./machine/section";
import { mappers_section } from "./mappers";
import { bare_network_section } from "./network/bare";
import { network_section } from "./network/section";
import { navigation } from "./ui/navigation";
import { online_section } from "./online";
import { decode_report } from "./data/report";
import { reproduce_section } from "./reproduce";
import type { DirectedLink } from "./data/network";
import type { ReportDocument } from "./data/schema";
import { rank_of_address } from "./ui/rank_field";
import { Selection } from "./ui/selection";
import { start_theme } from "./ui/theme";
import { make_table } from "./ui/table";
import { say, start_tooltip } from "./ui/tooltip";
import { timeline_section } from "./timeline/section";
import { traffic_section } from "./traffic";
import { verdict_section } from "./verdict";

const SCHEMA = "rankloom-report/1";

function read_document(): ReportDocument {
  const text = document.getElementById("rankloom-data")?.textContent?.trim() ?? "";
  if (text === "") throw new Error("This page contains no data: run `rankloom report RESULT -o report.html`.");
  const value = JSON.parse(text) as ReportDocument;
  if (value.schema !== SCHEMA) throw new Error(`This page shows ${SCHEMA}, the data inside is "${value.schema}": write the report again with the matching version of rankloom.`);
  return value;
}

/** Everything about one problem, below its title. */
async function body_of(value: ReportDocument, summary: HTMLElement | undefined): Promise<HTMLElement> {
  const report = await decode_report(value);
  const selection = new Selection(), links = new Selection<DirectedLink>();
  const sections = [
    verdict_section(report, selection, links),
    network_section(report, selection, links) ?? bare_network_section(report),
    heat_section(report, selection),
    machine_section(report, selection) ?? bare_machine_section(report),
    timeline_section(report),
    traffic_section(report),
    mappers_section(report),
    await allocation_section(report),
    online_section(report),
    ...experiment_sections(report),
    reproduce_section(report),
  ].filter((section): section is HTMLElement => section !== undefined);
  if (report.traffic) selection.select(rank_of_address(location.hash, report.traffic.ranks));
  return element("div", { class: "body" }, navigation(sections), element("main", { id: "content", tabindex: -1 }, summary, element("h1", {}, value.title), ...sections));
}

/** Reports of several problems: one table of all, and one of them below it. Nothing of one enters another. */
function problems_table(documents: ReportDocument[], shown: number, choose: (index: number) => void): HTMLElement {
  const rows = documents.map((value, index) => ({ value, index }));
  return element(
    "div",
    { class: "card problems" },
    make_table(
      `${documents.length} problems: costs of different problems are not compared`,
      [
        { name: "Problem", cell: (row) => ({ show: button(row.value.title, () => choose(row.index), { class: "link", "aria-current": row.index === shown ? "true" : undefined }), value: row.value.title }) },
        { name: "Result", cell: (row) => row.value.verdict?.sentence ?? "–" },
      ],
      rows,
    ),
  );
}

async function start(): Promise<void> {
  const page = document.getElementById("page")!;
  const theme = start_theme();
  start_tooltip();
  try {
    const first = read_document(), documents = [first, ...(first.others ?? [])];
    const bodies = new Map<number, HTMLElement>();
    const body_at = async (index: number): Promise<HTMLElement> => {
      const body = bodies.get(index) ?? (await body_of(documents[index], documents.length > 1 ? problems_table(documents, index, (next) => void show(next)) : undefined));
      bodies.set(index, body);
      document.title = `${documents[index].title} – rankloom report`;
      return body;
    };
    const show = async (index: number): Promise<void> => {
      page.querySelector(":scope > .body")!.replaceWith(await body_at(index));
      document.querySelector<HTMLElement>(".problems [aria-current]")?.focus();
      say(`Showing ${documents[index].title}.`);
    };
    const body = await body_at(0);
    page.replaceChildren(
      element(
        "header",
        { class: "top" },
        element("div", { class: "brand" }, element("span", { class: "mark", "aria-hidden": "true" }), element("span", {}, "rankloom report")),
        theme,
      ),
      body,
      element("footer", {}, `Made by ${first.reproduce.version}. This file is self-contained.`),
    );
  } catch (error) {
    page.replaceChildren(element("main", { id: "content", class: "message" }, element("h1", {}, "No report to show"), element("p", {}, error instanceof Error ? error.message : String(error))));
  }
  // Two frames later everything has been laid out and drawn.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      performance.mark("rankloom-ready");
      document.documentElement.dataset.ready = "true";
    }),
  );
}

void start();
