// ui: a command with a button that copies it.
// SPDX-License-Identifier: Apache-2.0
import { button, element } from "./dom";
import { say } from "./tooltip";

async function put_into_clipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Local files may not have the clipboard API.
    const area = element("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function command_line(command: string): HTMLElement {
  const label = element("span", {}, "Copy");
  const act = button(
    `Copy: ${command}`,
    async () => {
      const done = await put_into_clipboard(command);
      label.textContent = done ? "Copied" : "Press Ctrl+C";
      say(done ? "Copied." : "Could not copy: select the text and press Ctrl+C.");
      setTimeout(() => (label.textContent = "Copy"), 1800);
    },
    { class: "copy" },
    label,
  );
  return element("div", { class: "command" }, element("pre", { tabindex: 0 }, element("code", {}, command)), act);
}
