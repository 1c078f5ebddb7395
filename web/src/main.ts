// Entry point: reads the document from the page, decodes it, and builds the sections in reading order.
// SPDX-License-Identifier: Apache-2.0
import { allocation_section } from "./allocation/section";
import { element } from "./ui/dom";
import { heat_section } from "./heat/section";
import { machine_section } from "./machine/section";
import { mappers_section } from "./mappers";
import { navigation } from "./ui/navigation";
import { online_section } from "./online";
import { decode_report } from "./data/report";
import { reproduce_section } from "./reproduce";
import type { ReportDocument } from "./data/schema";
import { Selection } from "./ui/selection";
import { start_theme } from "./ui/theme";
import { start_tooltip } from "./ui/tooltip";
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

async function start(): Promise<void> {
  const page = document.getElementById("page")!;
  const theme = start_theme();
  start_tooltip();
  try {
    const report = await decode_report(read_document());
    const selection = new Selection();
    document.title = `${report.document.title} – rankloom report`;
    const sections = [
      verdict_section(report),
      heat_section(report, selection),
      machine_section(report, selection),
      traffic_section(report),
      mappers_section(report),
      await allocation_section(report),
      online_section(report),
      reproduce_section(report),
    ].filter((section): section is HTMLElement => section !== undefined);
    page.replaceChildren(
      element(
        "header",
        { class: "top" },
        element("div", { class: "brand" }, element("span", { class: "mark", "aria-hidden": "true" }), element("span", {}, "rankloom report")),
        theme,
      ),
      element(
        "div",
        { class: "body" },
        navigation(sections),
        element("main", { id: "content", tabindex: -1 }, element("h1", {}, report.document.title), ...sections),
      ),
      element("footer", {}, `Made by ${report.document.reproduce.version}. This file is self-contained.`),
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
