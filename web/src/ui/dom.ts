// ui: creates elements. Text is always inserted as text, never as markup.
// SPDX-License-Identifier: Apache-2.0

export type Child = Node | string | null | undefined | false;
export type Attributes = Record<string, string | number | boolean | null | undefined>;

function fill(node: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) node.append(child);
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(node, attributes, children);
  return node;
}

export function button(label: string, act: () => void, attributes: Attributes = {}, ...children: Child[]): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, ...(children.length > 0 ? children : [label]));
  if (children.length > 0) {
    made.setAttribute("aria-label", label);
    made.title = label;
  }
  made.addEventListener("click", act);
  return made;
}

let used = 0;
/** An id that no other element has. */
export function fresh_id(prefix: string): string {
  return `${prefix}-${++used}`;
}

/** A group of radio buttons that looks like a switch. */
export function choice<T extends string>(
  legend: string,
  options: { value: T; label: string }[],
  chosen: T,
  changed: (value: T) => void,
): { root: HTMLFieldSetElement; set: (value: T) => void } {
  const name = fresh_id("choice");
  const inputs = options.map((option) => {
    const input = element("input", { type: "radio", name, value: option.value, checked: option.value === chosen });
    input.addEventListener("change", () => changed(option.value));
    return input;
  });
  const root = element(
    "fieldset",
    { class: "choice" },
    element("legend", {}, legend),
    ...options.map((option, i) => element("label", {}, inputs[i], element("span", {}, option.label))),
  );
  return { root, set: (value) => inputs.forEach((input) => (input.checked = input.value === value)) };
}
