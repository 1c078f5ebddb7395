// ui: the list of sections, with the visible one marked.
// SPDX-License-Identifier: Apache-2.0
import { element } from "./dom";

export function navigation(sections: HTMLElement[]): HTMLElement {
  const links = sections.map((section) => element("a", { href: `#${section.id}` }, section.querySelector("h2")?.textContent ?? section.id));
  const seen = new Map<Element, boolean>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) seen.set(entry.target, entry.isIntersecting);
      const current = sections.findIndex((section) => seen.get(section));
      links.forEach((link, i) => (i === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    },
    { rootMargin: "-20% 0px -60% 0px" },
  );
  sections.forEach((section) => observer.observe(section));
  return element("nav", { class: "contents", "aria-label": "Sections" }, element("ul", {}, ...links.map((link) => element("li", {}, link))));
}
