// ui: the tooltip that follows the pointer, and the live region for screen readers.
// SPDX-License-Identifier: Apache-2.0
import { element } from "./dom";

const box = element("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
const voice = element("div", { class: "visually-hidden", "aria-live": "polite", role: "status" });

export function start_tooltip(): void {
  document.body.append(box, voice);
}

/** x, y within target. */
export function show_tooltip(target: HTMLElement, x: number, y: number, title: string, lines: { name: string; text: string }[]): void {
  box.replaceChildren(
    element("strong", {}, title),
    element("dl", {}, ...lines.flatMap((line) => [element("dt", {}, line.name), element("dd", {}, line.text)])),
  );
  box.hidden = false;
  const around = target.getBoundingClientRect();
  const px = around.left + x, py = around.top + y;
  const left = px + 16 + box.offsetWidth > innerWidth - 8 ? px - 16 - box.offsetWidth : px + 16;
  const top = Math.min(innerHeight - box.offsetHeight - 8, py + 14);
  box.style.left = `${Math.max(8, left)}px`;
  box.style.top = `${Math.max(8, top)}px`;
}

export function hide_tooltip(): void {
  box.hidden = true;
}

export function say(text: string): void {
  voice.textContent = text;
}
