// Machine, second step: draws boxes, collapsed nodes, ranks, devices and the lines to the partners of a rank.
// SPDX-License-Identifier: Apache-2.0
import { css, ink_on, log_share, soft_heat, type Rgb } from "../ui/colour";
import type { PlacedDevice, Rectangle } from "../data/places";
import type { MachineBox } from "../data/schema";
import { is_dark, token } from "../ui/theme";
import type { Camera } from "./camera";
import type { Occupants, Partner } from "./occupants";

/** The state of a picture of the machine. */
export interface MachineScene {
  camera: Camera;
  from: Occupants;
  to: Occupants;
  /** 0: ranks are drawn at their position in `from`, 1: in `to`. */
  progress: number;
  /** By rank, 0 to 1, for each placement. */
  leaving: Map<Occupants, Float32Array>;
  chosen?: number;
  cursor?: number;
  /** The marked node of a machine without ranks. */
  unit?: MachineBox;
  partners: Partner[];
}

// Smaller cores are not drawn; their node is drawn as one tile.
const MIN_CORE_PIXELS = 3;
const MAX_LINES = 48;

export function is_folded(box: MachineBox, scene: MachineScene): boolean {
  const core = scene.to.places.rectangle(box.first_core);
  return Math.min(core.w, core.h) * scene.camera.scale < MIN_CORE_PIXELS;
}

function rounded(context: CanvasRenderingContext2D, r: Rectangle, radius: number): void {
  context.beginPath();
  context.roundRect(r.x, r.y, r.w, r.h, Math.min(radius, r.w / 3, r.h / 3));
}

function mixed(a: Rectangle, b: Rectangle, t: number): Rectangle {
  return { x: a.x + t * (b.x - a.x), y: a.y + t * (b.y - a.y), w: a.w + t * (b.w - a.w), h: a.h + t * (b.h - a.h) };
}

export class MachinePainter {
  private readonly dark = is_dark();
  private readonly ink = token("--ink");
  private readonly soft = token("--ink-soft");
  private readonly line = token("--line-strong");
  private readonly faint = token("--line");
  private readonly panel = token("--panel");
  private readonly well = token("--well");
  private readonly accent = token("--accent");
  private readonly font = token("--font");
  private readonly head_rooms = new Map<number, number>();
  private readonly amounts = new Map<number, number>();
  private most = 0;
  private least = Infinity;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scene: MachineScene,
  ) {
    for (const partner of scene.partners) {
      const amount = partner.sent + partner.received;
      this.amounts.set(partner.rank, amount);
      this.most = Math.max(this.most, amount);
      this.least = Math.min(this.least, amount);
    }
  }

  draw(): void {
    const { places } = this.scene.to;
    this.draw_wires();
    for (const box of places.machine.boxes) {
      const on = this.scene.camera.to_screen(box);
      if (this.scene.camera.sees(on)) this.draw_box(box, on);
    }
    // Below the ranks, so that their numbers stay readable.
    this.draw_lines();
    this.draw_chips();
    this.draw_devices();
    if (this.scene.unit) this.mark(this.scene.camera.to_screen(this.scene.unit));
  }

  private mark(on: Rectangle): void {
    rounded(this.context, on, 6);
    this.context.strokeStyle = this.accent;
    this.context.lineWidth = 3;
    this.context.stroke();
  }

  private draw_wires(): void {
    const { machine } = this.scene.to.places, { context } = this;
    if (!machine.wires?.length) return;
    context.strokeStyle = this.line;
    context.lineWidth = 1;
    context.beginPath();
    for (const [a, b] of machine.wires) {
      const one = this.middle_of(a), other = this.middle_of(b);
      if (!one || !other) continue;
      const dx = other.x - one.x, dy = other.y - one.y;
      const aligned = Math.abs(dx) < 1 || Math.abs(dy) < 1;
      if (aligned && Math.hypot(dx, dy) > 2.5 * Math.max(one.w, one.h)) {
        // A wrap-around link of a torus is drawn as two halves.
        const reach = 0.66;
        context.moveTo(one.x, one.y);
        context.lineTo(one.x - Math.sign(dx) * one.w * reach, one.y - Math.sign(dy) * one.h * reach);
        context.moveTo(other.x, other.y);
        context.lineTo(other.x + Math.sign(dx) * other.w * reach, other.y + Math.sign(dy) * other.h * reach);
      } else {
        context.moveTo(one.x, one.y);
        context.lineTo(other.x, other.y);
      }
    }
    context.stroke();
  }

  private middle_of(id: number): Rectangle | undefined {
    const box = this.scene.to.places.box(id);
    if (!box) return undefined;
    const on = this.scene.camera.to_screen(box);
    return { x: on.x + on.w / 2, y: on.y + on.h / 2, w: on.w, h: on.h };
  }

  private draw_box(box: MachineBox, on: Rectangle): void {
    const { context, scene } = this, { places } = scene.to;
    const is_unit = places.units[places.unit_of_core[box.first_core]] === box;
    if (is_unit && is_folded(box, scene)) {
      this.draw_folded(box, on);
      return;
    }
    rounded(context, on, 6);
    context.fillStyle = is_unit ? this.panel : this.well;
    context.fill();
    context.strokeStyle = is_unit ? this.line : this.faint;
    context.lineWidth = 1;
    context.stroke();
    const template = places.template_of(box);
    if (!template) {
      this.label(box.label, on, this.head_room(box) * (on.h / box.h));
      return;
    }
    const sx = on.w / template.w, sy = on.h / template.h;
    this.label(box.label, on, Math.min(...template.boxes.map((inner) => inner.y)) * sy);
    for (const inner of template.boxes) {
      const r = { x: on.x + inner.x * sx, y: on.y + inner.y * sy, w: inner.w * sx, h: inner.h * sy };
      if (!scene.camera.sees(r)) continue;
      if (inner.cores > 1) {
        rounded(context, r, 4);
        context.strokeStyle = this.faint;
        context.stroke();
        const first = template.boxes.find((core) => core.cores === 1 && core.first_core === inner.first_core);
        this.label(inner.label, r, first ? (first.y - inner.y) * sy : 0);
      } else {
        rounded(context, r, 2);
        context.fillStyle = this.well;
        context.fill();
        // Without ranks, the number of the core.
        const size = Math.min(11, r.h * 0.55, r.w * 0.5);
        if (scene.to.ranks.length === 0 && size >= 6) this.write_inside(inner.label.replace(/^\D+/, ""), r, size, false, undefined);
      }
    }
  }

  /** Layout units between the top of a box and its contents. */
  private head_room(box: MachineBox): number {
    const known = this.head_rooms.get(box.h);
    if (known !== undefined) return known;
    const inside = this.scene.to.places.machine.boxes.filter((other) => other.parent === box.id);
    const room = inside.length > 0 ? Math.min(...inside.map((other) => other.y)) - box.y : box.h;
    this.head_rooms.set(box.h, room);
    return room;
  }

  /** Writes a label above the contents of a box, if it fits. */
  private label(text: string, on: Rectangle, room: number): void {
    const { context } = this;
    let size = Math.min(13, room * 0.72 > 9 ? room * 0.72 : Math.min(9, room * 0.85));
    context.font = `${size}px ${this.font}`;
    const wide = context.measureText(text).width;
    if (wide > on.w - 8) size *= (on.w - 8) / wide;
    if (size < 6.8) return;
    context.font = `${size}px ${this.font}`;
    context.fillStyle = this.soft;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(text, on.x + 5, on.y + Math.min(room, 22) / 2 + 0.5);
  }

  /** A node as one tile, with the mean of its ranks. */
  private draw_folded(box: MachineBox, on: Rectangle): void {
    const { context, scene } = this;
    const value = (occupants: Occupants) => {
      const leaving = scene.leaving.get(occupants);
      let sum = 0, ranks = 0;
      for (let i = occupants.starts[box.first_core]; i < occupants.starts[box.first_core + box.cores]; ++i) {
        const rank = occupants.ranks[i];
        ++ranks;
        if (scene.chosen === undefined) sum += leaving?.[rank] ?? 0;
        else sum += this.amounts.get(rank) ?? 0;
      }
      return { sum, ranks, holds: scene.chosen !== undefined && this.holds(occupants, box) };
    };
    const old = value(scene.from), now = value(scene.to), t = scene.progress;
    let colour: Rgb | undefined;
    if (scene.chosen === undefined) {
      if (now.ranks > 0) colour = soft_heat(((1 - t) * old.sum) / Math.max(1, old.ranks) + (t * now.sum) / now.ranks, this.dark);
    } else {
      const sum = (1 - t) * old.sum + t * now.sum;
      if (sum > 0) colour = soft_heat(0.2 + 0.8 * log_share(sum, this.least, Math.max(this.most, sum)), this.dark);
    }
    const gap = Math.min(1, on.w * 0.05);
    const r = { x: on.x + gap, y: on.y + gap, w: on.w - 2 * gap, h: on.h - 2 * gap };
    rounded(context, r, 3);
    context.fillStyle = colour ? css(colour) : this.well;
    context.fill();
    if (!colour) {
      context.strokeStyle = this.faint;
      context.lineWidth = 1;
      context.stroke();
    }
    if (now.holds) {
      context.strokeStyle = this.accent;
      context.lineWidth = 3;
      context.stroke();
    }
    if (on.w > 44 && on.h > 18) {
      context.font = `${Math.min(12, on.w / 6)}px ${this.font}`;
      context.fillStyle = colour ? ink_on(colour) : this.soft;
      context.textAlign = "center";
      context.textBaseline = "middle";
      const text = context.measureText(box.label).width < on.w - 6 ? box.label : box.label.replace(/^node /, "");
      context.fillText(text, on.x + on.w / 2, on.y + on.h / 2, on.w - 4);
    }
  }

  private holds(occupants: Occupants, box: MachineBox): boolean {
    const core = occupants.core_of[this.scene.chosen!];
    return core >= box.first_core && core < box.first_core + box.cores;
  }

  /** The current position of one leaf of a rank on the screen. */
  private chip(rank: number, at = 0): Rectangle {
    const { from, to, progress, camera } = this.scene;
    if (progress >= 1) return camera.to_screen(to.chip(rank, at));
    return camera.to_screen(mixed(from.chip(rank, Math.min(at, from.leaf_count(rank) - 1)), to.chip(rank, at), progress));
  }

  /** The colour of a rank: its traffic with the chosen rank, otherwise the share of its traffic that leaves the node. */
  private colour_of(rank: number): Rgb | undefined {
    const { scene } = this;
    if (scene.chosen !== undefined) {
      const amount = this.amounts.get(rank);
      return amount === undefined ? undefined : soft_heat(0.2 + 0.8 * log_share(amount, this.least, this.most), this.dark);
    }
    const before = scene.leaving.get(scene.from), now = scene.leaving.get(scene.to), t = scene.progress;
    return before && now ? soft_heat((1 - t) * before[rank] + t * now[rank], this.dark) : undefined;
  }

  private draw_chips(): void {
    const { context, scene } = this;
    const units = scene.to.places.units;
    if (units.length > 0 && is_folded(units[0], scene)) return;
    const late: number[] = [];
    const digits = String(scene.to.core_of.length - 1).length;
    const paint = (rank: number, r: Rectangle) => {
      const colour = this.colour_of(rank), chosen = rank === scene.chosen;
      const inset = Math.min(1, r.w * 0.06);
      rounded(context, { x: r.x + inset, y: r.y + inset, w: r.w - 2 * inset, h: r.h - 2 * inset }, 3);
      context.fillStyle = chosen ? this.accent : colour ? css(colour) : this.well;
      context.fill();
      if (!colour && !chosen) {
        context.strokeStyle = this.dark ? this.line : this.faint;
        context.lineWidth = 1;
        context.stroke();
      }
      if (chosen || rank === scene.cursor) {
        context.strokeStyle = rank === scene.cursor ? this.ink : this.accent;
        context.lineWidth = 2.5;
        context.stroke();
      }
      const text = String(rank);
      const size = Math.min(12, r.h * 0.55, (r.w * 1.5) / Math.max(2, digits));
      if (size < 6) return;
      this.write_inside(text, r, size, chosen, colour);
    };
    const paint_leaves = (rank: number) => {
      for (let at = 0; at < scene.to.leaf_count(rank); ++at) {
        const r = this.chip(rank, at);
        if (scene.camera.sees(r)) paint(rank, r);
      }
    };
    for (const rank of scene.to.ranks)
      if (rank === scene.chosen || rank === scene.cursor) late.push(rank);
      else paint_leaves(rank);
    for (const rank of late) paint_leaves(rank);
  }

  /** The devices of all nodes that are not collapsed; a GPU has the colour and the number of its rank. */
  private draw_devices(): void {
    const { scene } = this, { places } = scene.to;
    places.devices.forEach((devices, unit) => {
      const box = places.units[unit];
      if (devices.length === 0 || is_folded(box, scene) || !scene.camera.sees(scene.camera.to_screen(box))) return;
      for (const device of devices) this.draw_device(device);
    });
  }

  private draw_device(device: PlacedDevice): void {
    const { context, scene } = this, r = scene.camera.to_screen(device);
    const users = scene.to.users_of(device), chosen = users.some((rank) => rank === scene.chosen);
    const colour = users.length > 0 ? this.colour_of(users[0]) : undefined;
    const inset = Math.min(1.5, r.h * 0.1);
    rounded(context, { x: r.x + inset, y: r.y + inset, w: r.w - 2 * inset, h: r.h - 2 * inset }, r.h / 3);
    context.fillStyle = chosen ? this.accent : colour ? css(colour) : this.panel;
    context.fill();
    context.strokeStyle = this.soft;
    context.lineWidth = 1;
    context.stroke();
    const text = users.length > 0 ? `${device.label}: ${users[0]}${users.length > 1 ? "+" : ""}` : device.label;
    let size = Math.min(12, r.h * 0.55);
    context.font = `${size}px ${this.font}`;
    const wide = context.measureText(text).width, room = r.w - 2 * inset - 4;
    if (wide > room) size *= room / wide;
    if (size < 6) return;
    this.write_inside(text, r, size, chosen, colour);
  }

  /** The text of a rank or device in its box, readable on its colour. */
  private write_inside(text: string, r: Rectangle, size: number, chosen: boolean, colour: Rgb | undefined): void {
    const { context } = this;
    context.font = `${size}px ${this.font}`;
    context.fillStyle = chosen ? token("--accent-ink") : colour ? ink_on(colour) : this.soft;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, r.x + r.w / 2, r.y + r.h / 2 + 0.5);
  }

  private draw_lines(): void {
    const { context, scene } = this;
    if (scene.chosen === undefined || scene.partners.length === 0) return;
    const centre = (rank: number) => {
      const r = this.chip(rank);
      return { x: r.x + r.w / 2, y: r.y + r.h / 2 };
    };
    const start = centre(scene.chosen);
    context.strokeStyle = this.accent;
    context.globalAlpha = 0.55;
    for (const partner of scene.partners.slice(0, MAX_LINES)) {
      const end = centre(partner.rank);
      context.lineWidth = 0.75 + 2 * log_share(partner.sent + partner.received, this.least, this.most);
      context.beginPath();
      context.moveTo(start.x, start.y);
      const bend = 0.12;
      context.quadraticCurveTo((start.x + end.x) / 2 - bend * (end.y - start.y), (start.y + end.y) / 2 + bend * (end.x - start.x), end.x, end.y);
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}
