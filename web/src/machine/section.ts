// Machine, last step: the picture with its switch, keys, panel of partners and table.
// SPDX-License-Identifier: Apache-2.0
import { css, soft_heat } from "../ui/colour";
import { choice, element, fresh_id } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { bytes, count, percent, plural, ranges } from "../ui/format";
import { contains, type PlacedDevice } from "../data/places";
import type { Report } from "../data/report";
import type { MachineBox } from "../data/schema";
import type { Selection } from "../ui/selection";
import { folded_table, make_table } from "../ui/table";
import { is_dark, on_theme } from "../ui/theme";
import { hide_tooltip, say, show_tooltip } from "../ui/tooltip";
import { Camera } from "./camera";
import { device_lines, device_table } from "./devices";
import { Occupants, PartnerBook, type Partner } from "./occupants";
import { is_folded, type MachineScene } from "./painter";
import { partner_panel } from "./panel";
import { arrow_of, attach_keys, attach_view, machine_surface, zoom_buttons } from "./view";

const MOVE_MS = 700;

/** The values of the colours: bytes exchanged with the chosen rank, otherwise the share of traffic that leaves the node. */
function ramp_legend(unit: string): { root: HTMLElement; show: (partners: Partner[], rank: number | undefined) => void } {
  const bar = element("span", { class: "ramp", "aria-hidden": "true" });
  const paint = () => (bar.style.background = `linear-gradient(to right, ${Array.from({ length: 9 }, (_, i) => css(soft_heat(i / 8, is_dark()))).join(", ")})`);
  paint();
  on_theme(paint);
  const low = element("span"), high = element("span");
  const show = (partners: Partner[], rank: number | undefined) => {
    const amounts = partners.map((p) => p.sent + p.received);
    const chosen = rank !== undefined && amounts.length > 0;
    low.textContent = chosen ? `bytes with rank ${rank}: ${bytes(Math.min(...amounts))}` : `traffic that leaves the ${unit}: 0 %`;
    high.textContent = chosen ? bytes(Math.max(...amounts)) : "100 %";
  };
  show([], undefined);
  return { root: element("span", { class: "ramp-legend" }, low, bar, high), show };
}

export function machine_section(report: Report, selection: Selection): HTMLElement | undefined {
  const { places, traffic } = report;
  const orders = report.orders.filter((order) => order.core_of);
  if (!places || !traffic || traffic.block !== 1 || orders.length === 0) return undefined;
  const occupants = orders.map((order) => new Occupants(order, order.core_of!, places));
  const book = new PartnerBook(traffic);
  const last = occupants[occupants.length - 1];
  const scene: MachineScene = {
    camera: new Camera(places.machine.size),
    from: last,
    to: last,
    progress: 1,
    leaving: new Map(occupants.map((o) => [o, o.leaving(traffic)])),
    partners: [],
  };
  const canvas = element("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture of the machine",
    "aria-label": `The machine: ${[places.units_words(), plural(places.machine.cores, "core"), ...places.devices_words(), plural(traffic.ranks, "rank")].join(", ")}. Arrow keys go from rank to rank, Enter chooses one and lists its partners, Escape lets go, plus and minus zoom, 0 shows all.`,
  });
  const wrapper = element("div", { class: "canvas-box" }, canvas);
  const surface = machine_surface(canvas, scene);

  const legend = ramp_legend(places.unit_word);
  const panel = partner_panel(report, book, () => scene.to, (rank) => selection.select(rank));

  // The picture moves to a rank that was chosen elsewhere, unless the rank is visible.
  selection.on_change((rank) => {
    scene.chosen = rank;
    scene.partners = rank === undefined ? [] : book.of(rank);
    if (rank !== undefined) {
      scene.cursor = rank;
      if (!scene.camera.whole) scene.camera.reveal(scene.to.chip(rank), 4);
    }
    panel.show(rank);
    legend.show(scene.partners, rank);
    surface.invalidate();
  });

  function switch_to(id: string): void {
    const next = occupants.find((o) => o.order.id === id)!;
    if (next === scene.to) return;
    scene.from = scene.to;
    scene.to = next;
    panel.show(scene.chosen);
    say(`Showing ${next.order.label}.`);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      scene.progress = 1;
      surface.invalidate();
      return;
    }
    const begin = performance.now();
    const step = (now: number) => {
      if (scene.to !== next) return;
      const t = Math.min(1, Math.max(0, (now - begin) / MOVE_MS));
      scene.progress = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      surface.invalidate();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  const unit_at = (x: number, y: number): MachineBox | undefined => {
    const at = scene.camera.from_screen(x, y);
    return places.units.find((box) => contains(box, at));
  };
  const rank_at = (x: number, y: number): number | undefined => {
    const unit = unit_at(x, y);
    if (!unit || is_folded(unit, scene)) return undefined;
    const at = scene.camera.from_screen(x, y);
    for (let i = scene.to.starts[unit.first_core]; i < scene.to.starts[unit.first_core + unit.cores]; ++i) {
      const rank = scene.to.ranks[i];
      for (let leaf = 0; leaf < scene.to.leaf_count(rank); ++leaf) if (contains(scene.to.chip(rank, leaf), at)) return rank;
    }
    return undefined;
  };
  const device_at = (x: number, y: number): PlacedDevice | undefined => {
    const unit = unit_at(x, y);
    if (!unit || is_folded(unit, scene)) return undefined;
    const at = scene.camera.from_screen(x, y);
    return places.devices[places.unit_of_core[unit.first_core]].find((device) => contains(device, at));
  };
  const ranks_in = (box: MachineBox, o: Occupants) => [...o.ranks.subarray(o.starts[box.first_core], o.starts[box.first_core + box.cores])];
  const leaving_of = (ranks: number[], o: Occupants) => (ranks.length === 0 ? 0 : ranks.reduce((sum, rank) => sum + scene.leaving.get(o)![rank], 0) / ranks.length);

  const describe_rank = (rank: number) => {
    const lines = [
      { name: "is on", text: places.words(scene.to.core_of[rank]) },
      { name: `leaves its ${places.unit_word}`, text: percent(scene.leaving.get(scene.to)![rank]) },
    ];
    const occupied = scene.to.slot_words(rank);
    if (occupied !== "") lines.splice(1, 0, { name: "occupies", text: occupied });
    if (scene.chosen !== undefined && scene.chosen !== rank) {
      const partner = scene.partners.find((p) => p.rank === rank);
      lines.push({ name: `with rank ${scene.chosen}`, text: partner ? bytes(partner.sent + partner.received) : "no traffic" });
    }
    return lines;
  };

  const redraw = () => surface.invalidate();
  attach_view(canvas, scene.camera, redraw, {
    point: (x, y) => {
      const rank = rank_at(x, y), unit = unit_at(x, y), device = device_at(x, y);
      canvas.style.cursor = rank !== undefined || (device && scene.to.users_of(device).length > 0) || (unit && is_folded(unit, scene)) ? "pointer" : scene.camera.whole ? "default" : "grab";
      if (rank !== undefined) show_tooltip(canvas, x, y, `rank ${rank}`, describe_rank(rank));
      else if (device) show_tooltip(canvas, x, y, device.label, device_lines(device, scene.to));
      else if (unit && is_folded(unit, scene)) {
        const inside = ranks_in(unit, scene.to);
        show_tooltip(canvas, x, y, unit.label, [
          { name: "ranks", text: inside.length > 12 ? `${plural(inside.length, "rank")}` : ranges(inside) },
          { name: `leaves the ${places.unit_word}`, text: percent(leaving_of(inside, scene.to)) },
          { name: "", text: "click to unfold" },
        ]);
      } else hide_tooltip();
    },
    press: (x, y) => {
      const device = device_at(x, y), rank = rank_at(x, y) ?? (device && scene.to.users_of(device)[0]);
      if (rank !== undefined) {
        selection.select(rank === scene.chosen ? undefined : rank);
        return;
      }
      const unit = unit_at(x, y);
      if (unit && is_folded(unit, scene)) {
        hide_tooltip();
        scene.camera.show(unit);
        say(`${unit.label} unfolded.`);
        surface.invalidate();
      } else selection.select(undefined);
    },
  });

  /** The next rank in a direction, by the centres of their boxes. */
  function neighbour(rank: number, dx: number, dy: number): number {
    const from = scene.to.chip(rank);
    let best = rank, least = Infinity;
    for (const other of scene.to.ranks) {
      if (other === rank) continue;
      const to = scene.to.chip(other);
      const along = dx * (to.x + to.w / 2 - from.x - from.w / 2) + dy * (to.y + to.h / 2 - from.y - from.h / 2);
      const across = Math.abs(dy * (to.x + to.w / 2 - from.x - from.w / 2) + dx * (to.y + to.h / 2 - from.y - from.h / 2));
      if (along <= from.w * 0.2 || across > along * 1.5) continue;
      const far = along + 3 * across;
      if (far < least) {
        least = far;
        best = other;
      }
    }
    return best;
  }

  attach_keys(canvas, scene.camera, redraw, (event) => {
    const arrow = arrow_of(event);
    if (arrow) {
      scene.cursor = scene.cursor === undefined ? scene.to.ranks[0] : neighbour(scene.cursor, arrow[0], arrow[1]);
      scene.camera.reveal(scene.to.chip(scene.cursor), 8);
      say(`rank ${scene.cursor}: ${describe_rank(scene.cursor).map((line) => `${line.name} ${line.text}`).join("; ")}`);
    } else if (event.key === "Enter" || event.key === " ") {
      if (scene.cursor !== undefined) selection.select(scene.cursor === scene.chosen ? undefined : scene.cursor);
    } else if (event.key === "Escape") selection.select(undefined);
    else return false;
    return true;
  });
  canvas.addEventListener("blur", () => {
    if (scene.chosen === undefined) scene.cursor = undefined;
    surface.invalidate();
  });

  const find_id = fresh_id("find");
  const find = element("input", { id: find_id, type: "number", min: 0, max: traffic.ranks - 1, step: 1, inputmode: "numeric", placeholder: "rank" });
  const go = () => {
    const rank = Number(find.value);
    if (find.value === "" || !Number.isInteger(rank) || rank < 0 || rank >= traffic.ranks) return;
    selection.select(rank);
    scene.camera.reveal(scene.to.chip(rank), 8);
    surface.invalidate();
  };
  find.addEventListener("change", go);

  const tools = element(
    "div",
    { class: "tools" },
    orders.length > 1 &&
      choice("Order", orders.map((o) => ({ value: o.id, label: o.id === "before" ? "Before" : o.id === "after" ? "After" : o.label })), last.order.id, switch_to).root,
    ...zoom_buttons(scene.camera, redraw),
    element("label", { class: "find", for: find_id }, "Rank"),
    find,
    element("span", { class: "spread" }),
    legend.root,
  );

  const table = folded_table(
    `Table: ranks of each ${places.unit_word}`,
    () =>
      make_table(
        `Ranks of each ${places.unit_word}`,
        [
          { name: places.unit_word[0].toUpperCase() + places.unit_word.slice(1), cell: (box: MachineBox) => box.label },
          ...occupants.flatMap((o) => [
            { name: `Ranks, ${o.order.label}`, cell: (box: MachineBox) => ranges(ranks_in(box, o)) || "–" },
            { name: `Leaves the ${places.unit_word}`, cell: (box: MachineBox) => ({ show: percent(leaving_of(ranks_in(box, o), o)), value: leaving_of(ranks_in(box, o), o) }) },
          ]),
        ],
        places.units,
        { sortable: true },
      ),
    false,
  );
  const devices = device_table(occupants);
  const has_gpus = orders.some((order) => order.slots?.gpus.length);
  const notes = [places.machine.note, orders.some((order) => order.slots) && `A rank has its number on every core${has_gpus ? " and GPU" : ""} that it occupies.`];
  return section(
    "machine",
    "The machine",
    `${count(traffic.ranks)} ranks on ${places.units_words()}. Choose a rank to see whom it talks to, and how far they are.`,
    tools,
    element("div", { class: "machine" }, figure("Ranks on their cores", notes.filter(Boolean).join(". "), wrapper, devices ? element("div", {}, table, devices) : table, { class: "card" }), panel.root),
  );
}
