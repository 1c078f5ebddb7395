// data: the position of a core in the machine, as boxes and as text, and the level between two cores.
// SPDX-License-Identifier: Apache-2.0
import { plural, ranges } from "../ui/format";
import type { DeviceBox, MachineBox, MachineDocument, MachineLevel, MachineTemplate, TemplateBox } from "./schema";

export interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}

export function contains(box: Rectangle, at: { x: number; y: number }): boolean {
  return at.x >= box.x && at.y >= box.y && at.x < box.x + box.w && at.y < box.y + box.h;
}

/** A device at its position in the machine; its cores are numbered over the whole machine. */
export interface PlacedDevice extends DeviceBox {
  /** Index into Places.units. */
  unit: number;
}

// Layout units.
const LABEL_ROOM = 16;

export class Places {
  readonly machine: MachineDocument;
  /** The innermost box of each core, an index of machine.boxes; -1: none. */
  readonly box_of_core: Int32Array;
  /** Boxes whose contents are hidden when they are small: nodes. */
  readonly units: MachineBox[];
  /** Index into units of each core; -1: none. */
  readonly unit_of_core: Int32Array;
  /** The devices of each unit. */
  readonly devices: PlacedDevice[][];
  private readonly by_id: Map<number, MachineBox>;
  /** x, y, w, h of each core in layout units. */
  private readonly rectangles: Float32Array;

  constructor(machine: MachineDocument) {
    this.machine = machine;
    this.by_id = new Map(machine.boxes.map((box) => [box.id, box]));
    const parents = new Set(machine.boxes.map((box) => box.parent));
    const leaves = machine.boxes.filter((box) => !parents.has(box.id));
    const nodes = machine.boxes.filter((box) => box.kind === "node");
    this.units = nodes.length > 0 ? nodes : leaves;
    this.box_of_core = new Int32Array(machine.cores).fill(-1);
    this.unit_of_core = new Int32Array(machine.cores).fill(-1);
    this.rectangles = new Float32Array(4 * machine.cores);
    machine.boxes.forEach((box, index) => this.cover(this.box_of_core, box, index));
    this.units.forEach((box, index) => this.cover(this.unit_of_core, box, index));
    for (const box of leaves) this.place_cores(box);
    this.devices = this.units.map((box, unit) => this.place_devices(box, unit));
  }

  private cover(into: Int32Array, box: TemplateBox, value: number): void {
    into.fill(value, box.first_core, box.first_core + box.cores);
  }

  private place_cores(box: MachineBox): void {
    const template = this.template_of(box);
    if (template) {
      const sx = box.w / template.w, sy = box.h / template.h;
      for (const inner of template.boxes)
        this.split({ x: box.x + inner.x * sx, y: box.y + inner.y * sy, w: inner.w * sx, h: inner.h * sy }, box.first_core + inner.first_core, inner.cores);
    } else {
      // The top is reserved for the label.
      const head = Math.min(LABEL_ROOM, box.h / 3), side = Math.min(head, box.w, box.h) / 4;
      this.split({ x: box.x + side, y: box.y + head, w: box.w - 2 * side, h: box.h - head - side }, box.first_core, box.cores);
    }
  }

  private place_devices(box: MachineBox, unit: number): PlacedDevice[] {
    const template = this.template_of(box);
    if (!template?.devices) return [];
    const sx = box.w / template.w, sy = box.h / template.h;
    return template.devices.map((device) => ({
      ...device,
      unit,
      x: box.x + device.x * sx,
      y: box.y + device.y * sy,
      w: device.w * sx,
      h: device.h * sy,
      first_core: box.first_core + device.first_core,
    }));
  }

  /** Divides a box without contents into a grid of equal parts for its cores. */
  private split(box: Rectangle, first: number, cores: number): void {
    const columns = Math.min(cores, Math.max(1, Math.ceil(Math.sqrt((cores * box.w) / box.h))));
    const rows = Math.ceil(cores / columns);
    for (let i = 0; i < cores; ++i) {
      const at = 4 * (first + i);
      this.rectangles[at] = box.x + (box.w * (i % columns)) / columns;
      this.rectangles[at + 1] = box.y + (box.h * Math.floor(i / columns)) / rows;
      this.rectangles[at + 2] = box.w / columns;
      this.rectangles[at + 3] = box.h / rows;
    }
  }

  template_of(box: MachineBox): MachineTemplate | undefined {
    return box.template !== undefined && box.template >= 0 ? this.machine.templates?.[box.template] : undefined;
  }

  box(id: number): MachineBox | undefined {
    return this.by_id.get(id);
  }

  rectangle(core: number): Rectangle {
    const [x, y, w, h] = this.rectangles.subarray(4 * core, 4 * core + 4);
    return { x, y, w, h };
  }

  /** The boxes around a core, outermost first. */
  path(core: number): TemplateBox[] {
    const found: TemplateBox[] = [];
    const innermost = this.machine.boxes[this.box_of_core[core]];
    for (let box: MachineBox | undefined = innermost; box; box = this.box(box.parent)) found.unshift(box);
    const template = innermost && this.template_of(innermost);
    if (template)
      for (const inner of template.boxes) {
        const first = innermost.first_core + inner.first_core;
        if (core >= first && core < first + inner.cores) found.push({ ...inner, first_core: first });
      }
    return found;
  }

  /** "node 3 · package 0 · core 5" */
  words(core: number): string {
    const labels = this.path(core).map((box) => box.label);
    return labels.length > 0 ? labels.slice(-3).join(" · ") : `core ${core}`;
  }

  /** The label of the node around a core. */
  unit_label(core: number): string {
    return this.units[this.unit_of_core[core]]?.label ?? `core ${core}`;
  }

  /** The part of a node whose cores are near a device: "node 3 · numa 1". */
  near_words(device: PlacedDevice): string {
    const unit = this.units[device.unit], end = device.first_core + device.cores;
    const around = this.path(device.first_core).filter((box) => box.cores <= unit.cores && box.first_core + box.cores >= end);
    return around.map((box) => box.label).join(" · ") || unit.label;
  }

  /** ["4 GPUs", "1 network card"] */
  devices_words(): string[] {
    const all = this.devices.flat(), gpus = all.filter((device) => device.kind === "gpu").length;
    return [...(gpus > 0 ? [plural(gpus, "GPU")] : []), ...(all.length > gpus ? [plural(all.length - gpus, "network card")] : [])];
  }

  /** "cores 0–7": leaves of one node, numbered as its boxes are. */
  leaves_words(leaves: ArrayLike<number>): string {
    const unit = this.units[this.unit_of_core[leaves[0]]], kind = this.machine.levels?.at(-1)?.kind ?? "core";
    const first = unit && this.template_of(unit) ? unit.first_core : 0;
    const noun = kind === "pu" || kind === "thread" ? "processing unit" : kind;
    return `${noun}${leaves.length > 1 ? "s" : ""} ${ranges(Array.from(leaves, (leaf) => leaf - first))}`;
  }

  /** The level between two cores; undefined on the same core, or where the layout does not contain it. */
  between(a: number, b: number): MachineLevel | undefined {
    if (a === b) return undefined;
    const first = this.path(a), second = this.path(b);
    for (const level of this.machine.levels ?? []) {
      const one = first.find((box) => box.kind === level.kind), other = second.find((box) => box.kind === level.kind);
      if (one && other) {
        if (one.first_core !== other.first_core) return level;
      } else if (level.count && this.machine.cores % level.count === 0) {
        // Parts that are not drawn, all of one size.
        const size = this.machine.cores / level.count;
        if (Math.floor(a / size) !== Math.floor(b / size)) return level;
      } else return undefined;
    }
    return undefined;
  }

  /** The kind of the boxes that can be hidden, mostly "node". */
  get unit_word(): string {
    return this.units[0]?.kind ?? "node";
  }

  /** "3 nodes", "2 switches" */
  units_words(amount = this.units.length): string {
    return plural(amount, this.unit_word);
  }

  /** The same as text: "between nodes (cost 3.7)". */
  between_words(a: number, b: number): string {
    if (a === b) return "same core";
    const level = this.between(a, b);
    if (!level) return "";
    return level.gap !== undefined ? `${level.label} (cost ${Number(level.gap.toPrecision(4))})` : level.label;
  }
}
