// ui: a picture with its title, a one-line caption, and its table.
// SPDX-License-Identifier: Apache-2.0
import { element, fresh_id, type Child } from "./dom";

export function figure(title: string, note: string, picture: Child, table?: HTMLElement, attributes: { class?: string } = {}): HTMLElement {
  const id = fresh_id("figure");
  return element(
    "figure",
    { class: attributes.class ?? "card", "aria-labelledby": id },
    element("figcaption", {}, element("h3", { id }, title), note !== "" && element("p", {}, note)),
    picture,
    table,
  );
}

/** A section of the page; navigation.ts lists it by its heading. */
export function section(id: string, title: string, lead: Child, ...children: Child[]): HTMLElement {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title),
    lead && (typeof lead === "string" ? element("p", { class: "lead" }, lead) : lead),
    ...children,
  );
}
