// ui: tables, collapsed below their picture, sortable.
// SPDX-License-Identifier: Apache-2.0
import { element, type Child } from "./dom";

export interface Cell {
  /** The text of the cell. */
  show: Child;
  /** The sort key; numbers are right-aligned. */
  value: number | string;
}

export interface Column<Row> {
  name: string;
  cell: (row: Row) => Cell | string | number;
  /** The first column names the row. */
  header?: boolean;
}

function as_cell(cell: Cell | string | number): Cell {
  return typeof cell === "object" ? cell : { show: String(cell), value: cell };
}

function sort_rows(body: HTMLTableSectionElement, column: number, falling: boolean): void {
  const key = (row: HTMLTableRowElement) => row.cells[column].dataset.value ?? "";
  const rows = [...body.rows];
  const numeric = rows.every((row) => key(row) === "" || !Number.isNaN(Number(key(row))));
  rows.sort((a, b) => {
    const order = numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b), "en");
    return falling ? -order : order;
  });
  body.append(...rows);
}

export function make_table<Row>(caption: string, columns: Column<Row>[], rows: Row[], options: { sortable?: boolean; row?: (line: HTMLTableRowElement, row: Row) => void } = {}): HTMLElement {
  const body = element("tbody");
  for (const row of rows) {
    const line = element("tr");
    columns.forEach((column, i) => {
      const { show, value } = as_cell(column.cell(row));
      const attributes = { class: typeof value === "number" ? "number" : null, "data-value": value };
      line.append(column.header || (i === 0 && columns.every((c) => !c.header)) ? element("th", { scope: "row", ...attributes }, show) : element("td", attributes, show));
    });
    options.row?.(line, row);
    body.append(line);
  }
  const heads = columns.map((column, i) => {
    const numeric = rows.length > 0 && typeof as_cell(column.cell(rows[0])).value === "number";
    const head = element("th", { scope: "col", class: numeric ? "number" : null });
    if (!options.sortable) {
      head.append(column.name);
      return head;
    }
    const act = element("button", { type: "button", class: "sort" }, column.name, element("span", { class: "arrow", "aria-hidden": "true" }));
    act.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      sort_rows(body, i, falling);
    });
    head.append(act);
    return head;
  });
  const table = element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...heads)), body);
  return element("div", { class: "table-scroll", tabindex: 0, role: "group", "aria-label": caption }, table);
}

/** A table below its picture, created when it is opened (a short one at once). */
export function folded_table(summary: string, make: () => HTMLElement, short = true): HTMLDetailsElement {
  const details = element("details", { class: "data" }, element("summary", {}, summary));
  if (short) details.append(make());
  else
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(make());
    });
  return details;
}
