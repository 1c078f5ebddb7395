// Machine without a program: the picture of its parts and devices, and its costs and widths.
// SPDX-License-Identifier: Apache-2.0
import { element } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { count, plural } from "../ui/format";
import { contains, type PlacedDevice } from "../data/places";
import type { Report } from "../data/report";
import type { MachineBox, MachineLevel, NumberDocument } from "../data/schema";
import { folded_table, make_table } from "../ui/table";
import { hide_tooltip, say, show_tooltip } from "../ui/tooltip";
import { Camera } from "./camera";
import { device_lines, device_table } from "./devices";
import { Occupants } from "./occupants";
import { is_folded, type MachineScene } from "./painter";
import { arrow_of, attach_keys, attach_view, find_field, machine_surface, zoom_buttons } from "./view";

function numbers_card(numbers: NumberDocument[]): HTMLElement {
  return element(
    "div",
    { class: "card" },
    element("h3", {}, "Costs and widths"),
    element("p", { class: "soft" }, "The numbers of every prediction and mapping: nanoseconds per byte, or relative costs; widths, which are numbers of messages at full rate; and where each number comes from."),
    make_table(
      "Costs and widths",
      [
        { name: "What", cell: (row: NumberDocument) => row.what },
        { name: "Value", cell: (row: NumberDocument) => row.value },
        { name: "Origin", cell: (row: NumberDocument) => row.origin },
      ],
      numbers,
    ),
  );
}

export function bare_machine_section(report: Report): HTMLElement | undefined {
  const { places, document } = report, numbers = document.numbers ?? [];
  if (document.verdict?.kind !== "machine" || (!places && numbers.length === 0)) return undefined;
  if (!places) return section("machine", "The machine", undefined, numbers_card(numbers));
  const unoccupied = new Occupants({ id: "", label: "" }, new Uint32Array(0), places);
  const scene: MachineScene = { camera: new Camera(places.machine.size), from: unoccupied, to: unoccupied, progress: 1, leaving: new Map(), partners: [] };
  const canvas = element("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture of the machine",
    "aria-label": `The machine: ${[places.units_words(), plural(places.machine.cores, "core"), ...places.devices_words()].join(", ")}. Arrow keys go from ${places.unit_word} to ${places.unit_word}, Enter shows one, Escape lets go, plus and minus zoom, 0 shows all.`,
  });
  const surface = machine_surface(canvas, scene);
  const redraw = () => surface.invalidate();

  const unit_at = (x: number, y: number) => places.units.find((box) => contains(box, scene.camera.from_screen(x, y)));
  const device_at = (unit: MachineBox, x: number, y: number): PlacedDevice | undefined =>
    places.devices[places.unit_of_core[unit.first_core]].find((device) => contains(device, scene.camera.from_screen(x, y)));
  const core_at = (unit: MachineBox, x: number, y: number): number | undefined => {
    const at = scene.camera.from_screen(x, y);
    for (let core = unit.first_core; core < unit.first_core + unit.cores; ++core) if (contains(places.rectangle(core), at)) return core;
    return undefined;
  };
  const about = (unit: MachineBox) => [
    { name: "cores", text: count(unit.cores) },
    ...["gpu", "nic"].map((kind) => ({ name: kind === "gpu" ? "GPUs" : "network cards", text: count(places.devices[places.unit_of_core[unit.first_core]].filter((device) => device.kind === kind).length) })).filter((line) => line.text !== "0"),
  ];
  const choose = (unit: MachineBox | undefined) => {
    scene.unit = unit;
    if (unit) {
      if (!scene.camera.whole) scene.camera.reveal(unit, 8);
      say(`${unit.label}: ${about(unit).map((line) => `${line.text} ${line.name}`).join(", ")}`);
    }
    redraw();
  };
  const unfold = (unit: MachineBox) => {
    hide_tooltip();
    scene.camera.show(unit);
    say(`${unit.label} shown.`);
    redraw();
  };

  attach_view(canvas, scene.camera, redraw, {
    point: (x, y) => {
      const unit = unit_at(x, y), folded = unit && is_folded(unit, scene);
      canvas.style.cursor = folded ? "pointer" : scene.camera.whole ? "default" : "grab";
      if (!unit) hide_tooltip();
      else if (folded) show_tooltip(canvas, x, y, unit.label, [...about(unit), { name: "", text: "click to unfold" }]);
      else {
        const device = device_at(unit, x, y), core = core_at(unit, x, y);
        if (device) show_tooltip(canvas, x, y, device.label, device_lines(device, unoccupied));
        else show_tooltip(canvas, x, y, core === undefined ? unit.label : places.words(core), core === undefined ? about(unit) : []);
      }
    },
    press: (x, y) => {
      const unit = unit_at(x, y);
      if (unit && is_folded(unit, scene)) unfold(unit);
      else choose(undefined);
    },
  });
  attach_keys(canvas, scene.camera, redraw, (event) => {
    const arrow = arrow_of(event), at = scene.unit ? places.units.indexOf(scene.unit) : -1;
    if (arrow) choose(places.units[at < 0 ? 0 : Math.min(places.units.length - 1, Math.max(0, at + arrow[0] + arrow[1]))]);
    else if (event.key === "Enter" && scene.unit) unfold(scene.unit);
    else if (event.key === "Escape") choose(undefined);
    else return false;
    return true;
  });

  const find = (name: string) => {
    const text = name.toLowerCase(), named = (matches: (label: string) => boolean) => places.units.find((box) => matches(box.label.toLowerCase()));
    const unit = text === "" ? undefined : (named((label) => label === text) ?? named((label) => label.includes(text)));
    if (text !== "" && !unit) say(`No ${places.unit_word} is called ${name}.`);
    choose(unit);
  };
  const tools = element("div", { class: "tools" }, ...zoom_buttons(scene.camera, redraw), ...find_field(places.unit_word[0].toUpperCase() + places.unit_word.slice(1), find));
  const levels = folded_table("Table: levels of the machine", () =>
    make_table(
      "Levels of the machine, top down",
      [
        { name: "Level", cell: (level: MachineLevel) => level.kind },
        { name: "Objects", cell: (level: MachineLevel) => ({ show: count(level.count ?? 0), value: level.count ?? 0 }) },
      ],
      places.machine.levels ?? [],
    ),
  );
  const devices = device_table([unoccupied]);
  return section(
    "machine",
    "The machine",
    `${places.units_words()} with ${[plural(places.machine.cores, "core"), ...places.devices_words()].join(", ")}.`,
    tools,
    figure("Parts of the machine", places.machine.note ?? "", element("div", { class: "canvas-box" }, canvas), devices ? element("div", {}, levels, devices) : levels, { class: "card" }),
    numbers.length > 0 && numbers_card(numbers),
  );
}
