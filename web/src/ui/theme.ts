// ui: the light and the dark theme, chosen by the system or by the user. Pictures read their colours here and are notified of changes.
// SPDX-License-Identifier: Apache-2.0
import { choice } from "./dom";

type Wish = "auto" | "light" | "dark";

const system_dark = matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];
let wish: Wish = "auto";
const paper = matchMedia("print");
let printing = false;

export function is_dark(): boolean {
  return !printing && !paper.matches && (wish === "dark" || (wish === "auto" && system_dark.matches));
}

/** A colour of the style sheet, such as "--ink". */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function on_theme(listener: () => void): void {
  listeners.push(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = is_dark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function start_theme(): HTMLElement {
  // Local files may not have storage; the choice then lasts as long as the page.
  try {
    const stored = localStorage.getItem("rankloom-theme");
    if (stored === "light" || stored === "dark") wish = stored;
  } catch {}
  apply();
  system_dark.addEventListener("change", apply);
  // Paper is white.
  const set_printing = (value: boolean) => {
    if (printing === value) return;
    printing = value;
    apply();
  };
  paper.addEventListener("change", apply);
  addEventListener("beforeprint", () => set_printing(true));
  addEventListener("afterprint", () => set_printing(false));
  return choice<Wish>(
    "Colours",
    [
      { value: "auto", label: "Auto" },
      { value: "light", label: "Light" },
      { value: "dark", label: "Dark" },
    ],
    wish,
    (value) => {
      wish = value;
      try {
        localStorage.setItem("rankloom-theme", value);
      } catch {}
      apply();
    },
  ).root;
}
