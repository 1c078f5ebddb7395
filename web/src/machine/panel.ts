// Machine: the list of partners of the chosen rank, next to the picture.
// SPDX-License-Identifier: Apache-2.0
import { button, element } from "../ui/dom";
import { bytes, count, percent, plural } from "../ui/format";
import type { Report } from "../data/report";
import { make_table } from "../ui/table";
import type { Occupants, PartnerBook } from "./occupants";

const MAX_ROWS = 200;

export function partner_panel(
  report: Report,
  book: PartnerBook,
  order: () => Occupants,
  choose: (rank: number | undefined) => void,
): { root: HTMLElement; show: (rank: number | undefined) => void } {
  const root = element("div", { class: "card panel", role: "region", "aria-label": "Partners of the chosen rank", "aria-live": "polite" });
  const places = report.places!;

  function show(rank: number | undefined): void {
    if (rank === undefined) {
      root.replaceChildren(
        element("h3", {}, "No rank chosen"),
        element("p", { class: "soft" }, "Click a rank, type its number, or press Enter on it. Its partners are listed here and highlighted in the picture."),
      );
      return;
    }
    const occupants = order(), partners = book.of(rank), core = occupants.core_of[rank], occupied = occupants.slot_words(rank);
    const total = partners.reduce((sum, p) => sum + p.sent + p.received, 0);
    const most = partners.length > 0 ? partners[0].sent + partners[0].received : 1;
    const inside = partners.filter((p) => places.unit_of_core[occupants.core_of[p.rank]] === places.unit_of_core[core]).reduce((sum, p) => sum + p.sent + p.received, 0);
    root.replaceChildren(
      element("div", { class: "panel-head" }, element("h3", {}, `Rank ${rank}`), button("Deselect this rank", () => choose(undefined), { class: "quiet" }, "×")),
      element("p", { class: "soft" }, `${places.words(core)} · ${occupants.order.label}`),
      ...(occupied === "" ? [] : [element("p", {}, `Occupies ${occupied}.`)]),
      element(
        "p",
        {},
        `${plural(partners.length, "partner")}, ${bytes(total)} sent and received`,
        total > 0 ? `, ${percent(inside / total)} of it within the ${places.unit_word}.` : ".",
      ),
      ...(partners.length === 0 ? [] : [
        make_table(
          `Partners of rank ${rank}${partners.length > MAX_ROWS ? `, the ${MAX_ROWS} heaviest` : ""}`,
          [
            { name: "Rank", cell: (p) => ({ show: button(`${p.rank}`, () => choose(p.rank), { class: "link", "aria-label": `Choose rank ${p.rank}` }), value: p.rank }) },
            {
              name: "Bytes",
              cell: (p) => ({
                show: element("span", { class: "bar-cell", style: `--share:${((p.sent + p.received) / most).toFixed(3)}` }, bytes(p.sent + p.received)),
                value: p.sent + p.received,
              }),
            },
            ...(report.traffic!.messages ? [{ name: "Messages", cell: (p: { messages: number }) => ({ show: count(p.messages), value: p.messages }) }] : []),
            { name: "Where", cell: (p) => {
                const unit = places.unit_label(occupants.core_of[p.rank]), level = places.between(core, occupants.core_of[p.rank])?.label ?? (occupants.core_of[p.rank] === core ? "same core" : "");
                return { show: element("span", {}, unit, element("span", { class: "sub" }, level)), value: `${unit} ${level}` };
              } },
          ],
          partners.slice(0, MAX_ROWS),
        ),
      ]),
    );
  }
  show(undefined);
  return { root, show };
}
