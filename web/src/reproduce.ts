// Last section: what is needed to reproduce the report.
// SPDX-License-Identifier: Apache-2.0
import { command_line } from "./ui/copy";
import { element } from "./ui/dom";
import { section } from "./ui/figure";
import { bytes } from "./ui/format";
import type { Report } from "./data/report";
import { make_table } from "./ui/table";

export function reproduce_section(report: Report): HTMLElement {
  const { reproduce } = report.document;
  const facts: [string, string][] = [["Version", reproduce.version]];
  if (reproduce.seed !== undefined) facts.push(["Seed", String(reproduce.seed)]);
  if (reproduce.libraries?.length) facts.push(["Libraries", reproduce.libraries.join(", ")]);
  const files = reproduce.files?.length
    ? make_table(
        "Input files",
        [
          { name: "File", cell: (file) => file.name },
          { name: "Size", cell: (file) => ({ show: bytes(file.bytes), value: file.bytes }) },
          { name: "SHA-256", cell: (file) => ({ show: element("code", { class: "hash" }, file.sha256), value: file.sha256 }) },
        ],
        reproduce.files,
      )
    : null;
  return section(
    "reproduce",
    "How to reproduce",
    "The same files, version and seed give the same result.",
    element("dl", { class: "facts card" }, ...facts.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)))),
    ...(reproduce.commands ?? []).map(command_line),
    files && element("div", { class: "card" }, files),
  );
}
