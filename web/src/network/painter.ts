// Network, first step: draws planes, pods and groups, the cables in the colours of their loads, switches and nodes.
// SPDX-License-Identifier: Apache-2.0
import { css, ink_on, soft_heat, type Rgb } from "../ui/colour";
import { bytes, count } from "../ui/format";
import { is_dark, token } from "../ui/theme";
import type { DirectedLink, Network } from "../data/network";
import type { Camera } from "../machine/camera";
import { lines_of, type Lines } from "./lines";

/** The state of one picture of the network. */
export interface NetworkScene {
  network: Network;
  camera: Camera;
  /** Index of the loads. */
  order: number;
  /** The highest load in any of the pictures. */
  most: number;
  /** Colours show the difference to the first loads. */
  change: boolean;
  link?: DirectedLink;
  rank?: { rank: number; node: number; partners: Set<number> };
  vertex?: number;
  /** The ranks of each node; undefined: not known. */
  ranks_of?: (node: number) => ArrayLike<number>;
}

const STEPS = 12;
// With more cables in view, a line stands for several of them.
const MAX_LINES = 24000;
// Cables whose ends are closer than this, in pixels, cannot be told apart.
const CLOSE = 2;

type Point = [number, number];

/** What a line stands for, if it stands for several cables; else nothing. */
export function lines_note({ cables, total, most }: Lines, loaded: boolean): string {
  return most > 1 ? `${count(cables.length)} lines stand for ${count(total)} cables in view. A line is up to ${count(most)} of them${loaded ? ", in the colour of the busiest one" : ""}. Zoom in to see each cable.` : "";
}

export class NetworkPainter {
  private readonly dark = is_dark();
  private readonly ink = token("--ink");
  private readonly soft = token("--ink-soft");
  private readonly line = token("--line-strong");
  private readonly faint = token("--line");
  private readonly panel = token("--panel");
  private readonly well = token("--well");
  private readonly accent = token("--accent");
  private readonly font = token("--font");
  readonly lines: Lines;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scene: NetworkScene,
    private readonly width: number,
    private readonly height: number,
  ) {
    const cables: number[] = [], { network, camera } = scene;
    for (let cable = 0; cable < network.a.length; ++cable) if (this.is_drawn(cable) && this.visible(cable)) cables.push(cable);
    this.lines = lines_of(network, cables, (cable) => this.share(cable), 2 ** Math.ceil(Math.log2(CLOSE / camera.scale)), MAX_LINES);
  }

  draw(): void {
    this.draw_frames();
    this.draw_cables();
    const link = this.marked();
    if (link && this.is_drawn(link.cable)) this.draw_marked_cable(link.cable);
    this.draw_switches();
    this.draw_nodes();
    this.draw_marks();
  }

  private at(x: number, y: number): Point {
    const { camera } = this.scene;
    return [(x - camera.x) * camera.scale, (y - camera.y) * camera.scale];
  }

  private vertex(v: number): Point {
    return this.at(this.scene.network.x[v], this.scene.network.y[v]);
  }

  private draw_frames(): void {
    const { context, scene } = this, scale = scene.camera.scale, circle = scene.network.kinds.some((kind) => kind.stroke === "curve");
    for (const frame of scene.network.frames) {
      if (frame.points.length > 0) {
        context.beginPath();
        for (const [x, y] of frame.points) context.lineTo(...this.at(x, y));
        context.closePath();
        context.fillStyle = this.well;
        context.globalAlpha = 0.6;
        context.fill();
        context.globalAlpha = 1;
        context.strokeStyle = this.line;
        context.lineWidth = 0.75;
        context.stroke();
      }
      const size = Math.min(13, Math.max(8.5, scale * 1.4));
      context.font = `${size}px ${this.font}`;
      const wide = frame.points.length > 0 ? (Math.max(...frame.points.map((p) => p[0])) - Math.min(...frame.points.map((p) => p[0]))) * scale : this.width;
      if (context.measureText(frame.label).width > Math.max(wide, 5 * scale)) continue;
      context.fillStyle = this.soft;
      context.textAlign = "center";
      context.textBaseline = "middle";
      const [x, y] = this.at(frame.x, frame.y), half = context.measureText(frame.label).width / 2;
      // Labels around a circle do not reach into it.
      const aside = circle ? (Math.min(1, Math.max(-1, (4 * frame.x) / scene.network.size[0] - 2)) * half) : 0;
      context.fillText(frame.label, circle ? Math.min(this.width - half - 1, Math.max(half + 1, x + aside)) : x, y);
    }
  }

  /** The value of the colour of a cable, 0 to 1; the colour of changes has a sign. */
  private share(cable: number): number {
    const { network, order, most, change } = this.scene;
    if (most <= 0) return 0;
    const load = network.cable_load(cable, order);
    return change ? (load - network.cable_load(cable, 0)) / most : load / most;
  }

  private colour(share: number): Rgb {
    if (!this.scene.change) return soft_heat(share, this.dark);
    const strength = Math.min(1, 0.25 + 0.9 * Math.abs(share)), ground = this.dark ? 34 : 255;
    const target: Rgb = share < 0 ? (this.dark ? [86, 180, 233] : [0, 90, 160]) : this.dark ? [255, 158, 100] : [194, 65, 12];
    return target.map((c) => ground + strength * (c - ground)) as Rgb;
  }

  /** Visits the lines of a cable on the screen, one or two: stubs at both ends. */
  private trace(cable: number, visit: (from: Point, to: Point, by?: Point) => void): void {
    const { network, camera } = this.scene, kind = network.kinds[network.kind[cable]];
    const a = network.a[cable], b = network.b[cable], from = this.vertex(a), to = this.vertex(b);
    const dx = to[0] - from[0], dy = to[1] - from[1], length = Math.hypot(dx, dy);
    if (kind.stroke === "axis" && kind.direction) {
      if (length > 2.1 * camera.scale || Math.abs(kind.direction[0] * kind.direction[1]) > 0) {
        const [sx, sy] = [kind.direction[0] * camera.scale, kind.direction[1] * camera.scale];
        visit(from, [from[0] + sx, from[1] + sy]);
        visit(to, [to[0] - sx, to[1] - sy]);
      } else visit(from, to);
    } else if (kind.stroke === "curve") {
      const [cx, cy] = this.at(network.size[0] / 2, network.size[1] / 2), mx = (from[0] + to[0]) / 2, my = (from[1] + to[1]) / 2;
      const far = Math.hypot(cx - mx, cy - my) || 1, reach = Math.min(far, (kind.bend ?? 0) * length);
      visit(from, to, [mx + ((cx - mx) / far) * reach * 2, my + ((cy - my) / far) * reach * 2]);
    } else if (Math.abs(dy) < 1 && length > 2.5 * camera.scale) visit(from, to, [(from[0] + to[0]) / 2, from[1] - 0.5 * Math.min(length, 8 * camera.scale)]);
    else visit(from, to);
  }

  private add_path(cable: number): void {
    const { context } = this;
    this.trace(cable, (from, to, by) => {
      context.moveTo(...from);
      if (by) context.quadraticCurveTo(...by, ...to);
      else context.lineTo(...to);
    });
  }

  private visible(cable: number): boolean {
    const { network } = this.scene, [ax, ay] = this.vertex(network.a[cable]), [bx, by] = this.vertex(network.b[cable]);
    return !(Math.max(ax, bx) < -20 || Math.min(ax, bx) > this.width + 20 || Math.max(ay, by) < -20 || Math.min(ay, by) > this.height + 20);
  }

  private is_drawn(cable: number): boolean {
    const { network } = this.scene;
    return network.kinds[network.kind[cable]].stroke !== "node";
  }

  private draw_cables(): void {
    const { context, scene } = this, { network } = scene;
    const buckets: number[][] = Array.from({ length: STEPS + 1 }, () => []);
    for (const cable of this.lines.cables) buckets[Math.min(STEPS, Math.ceil(Math.abs(this.share(cable)) * STEPS - 1e-9))].push(cable);
    const zoom = Math.min(1.6, Math.max(0.55, scene.camera.scale / 7));
    // Heavier cables above lighter ones.
    for (const [step, cables] of buckets.entries()) {
      for (const sign of scene.change ? [-1, 1] : [1]) {
        context.beginPath();
        for (const cable of cables) if (!scene.change || Math.sign(this.share(cable)) * sign >= 0) this.add_path(cable);
        const share = step / STEPS;
        context.strokeStyle = step === 0 ? (network.loaded ? this.faint : this.line) : css(this.colour(sign * share));
        context.lineWidth = step === 0 ? 0.75 : (1 + 2.6 * share) * zoom;
        context.stroke();
      }
    }
  }

  private draw_switches(): void {
    const { context, scene } = this, { network, camera } = scene;
    const w = 1.15 * camera.scale, h = 0.8 * camera.scale;
    context.fillStyle = this.panel;
    context.strokeStyle = this.soft;
    context.lineWidth = Math.min(1.2, Math.max(0.6, camera.scale / 8));
    context.beginPath();
    const written: number[] = [];
    for (let v = network.nodes; v < network.labels.length; ++v) {
      const [x, y] = this.vertex(v);
      if (x < -w || y < -h || x > this.width + w || y > this.height + h) continue;
      context.roundRect(x - w / 2, y - h / 2, w, h, h / 4);
      written.push(v);
    }
    context.fill();
    context.stroke();
    if (w < 15) return;
    context.fillStyle = this.ink;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const v of written) {
      const text = network.labels[v].replace(/^switch /, ""), [x, y] = this.vertex(v);
      context.font = `${Math.min(11, h * 0.75, (w * 1.5) / Math.max(2, text.length))}px ${this.font}`;
      context.fillText(text, x, y + 0.5, w);
    }
  }

  private draw_nodes(): void {
    const { context, scene } = this, { network, camera } = scene, side = camera.scale * (network.cable_of_node.some((c) => c >= 0) ? 1.1 : 1);
    for (let node = 0; node < network.nodes; ++node) {
      const [x, y] = this.vertex(node);
      if (x < -side || y < -side || x > this.width + side || y > this.height + side) continue;
      const cable = network.cable_of_node[node], share = cable < 0 ? 0 : this.share(cable), colour = share !== 0 ? this.colour(share) : undefined;
      context.fillStyle = colour ? css(colour) : this.panel;
      context.fillRect(x - side / 2, y - side / 2, side, side);
      if (side > 3) {
        context.strokeStyle = colour ? css(colour) : this.soft;
        context.lineWidth = 0.75;
        context.strokeRect(x - side / 2, y - side / 2, side, side);
      }
      if (side < 12 || !scene.ranks_of) continue;
      const ranks = scene.ranks_of(node);
      if (ranks.length === 0) continue;
      const text = ranks.length > 1 ? `${ranks[0]}+` : String(ranks[0]);
      const size = Math.min(11, side * 0.6, (side * 1.55) / text.length);
      if (size < 6.5) continue;
      context.font = `${size}px ${this.font}`;
      context.fillStyle = colour ? ink_on(colour) : this.ink;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(text, x, y + 0.5, side - 1);
    }
  }

  /** The chosen link, otherwise the busiest one. */
  private marked(): DirectedLink | undefined {
    return this.scene.link ?? this.scene.network.busiest_in(this.scene.order);
  }

  /** The ends of the marked link, and the node of the chosen rank, each with its name. */
  private draw_marks(): void {
    const { scene } = this, { network } = scene, placed: { x: number; y: number; w: number; h: number }[] = [];
    if (scene.rank) {
      for (const node of scene.rank.partners) this.ring(node, this.ink, 1.25);
      this.ring(scene.rank.node, this.accent, 3);
      this.callout(this.vertex(scene.rank.node), `rank ${scene.rank.rank}: ${network.labels[scene.rank.node]}`, placed);
    }
    if (scene.vertex !== undefined) {
      this.ring(scene.vertex, this.accent, 3);
      this.callout(this.vertex(scene.vertex), network.labels[scene.vertex], placed);
    }
    const own = this.marked();
    if (!own) return;
    const drawn = this.is_drawn(own.cable);
    for (const end of drawn ? [network.a[own.cable], network.b[own.cable]] : [Math.min(network.a[own.cable], network.b[own.cable])]) this.ring(end, this.ink, drawn ? 1.75 : 2.5);
    // The name does not cover the ends of a short link.
    let where: Point = [0, 0], clear = 0;
    this.trace(own.cable, (from, to) => (clear = Math.min(Math.abs(from[1] - to[1]) / 2, 3 * scene.camera.scale)));
    this.trace(own.cable, (from, to, by) => (where = by ? [(from[0] + 2 * by[0] + to[0]) / 4, (from[1] + 2 * by[1] + to[1]) / 4] : [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]));
    if (!drawn) where = this.vertex(Math.min(network.a[own.cable], network.b[own.cable]));
    this.callout(where, `${scene.link ? "" : "busiest: "}${network.link_words(own)}${network.loaded ? `, ${bytes(network.load(own, scene.order))}` : ""}`, placed, clear);
  }

  private draw_marked_cable(cable: number): void {
    const { context, scene } = this, { network } = scene;
    let lines = 0;
    this.trace(cable, () => ++lines);
    if (lines > 1) {
      // Both ends of a link that is drawn as stubs.
      context.strokeStyle = this.soft;
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(...this.vertex(network.a[cable]));
      context.lineTo(...this.vertex(network.b[cable]));
      context.stroke();
      context.setLineDash([]);
    }
    for (const [style, width] of [[this.panel, 8], [this.ink, 5.5], [css(this.colour(this.share(cable))), 2.5]] as const) {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.lineCap = "round";
      context.beginPath();
      this.add_path(cable);
      context.stroke();
      context.lineCap = "butt";
    }
  }

  private ring(vertex: number, style: string, width: number): void {
    const { context, scene } = this, [x, y] = this.vertex(vertex), half = Math.max(4, 0.62 * scene.camera.scale + 1);
    context.strokeStyle = style;
    context.lineWidth = width;
    context.beginPath();
    context.roundRect(x - half, y - half, 2 * half, 2 * half, 2);
    context.stroke();
  }

  private callout([x, y]: Point, text: string, placed: { x: number; y: number; w: number; h: number }[], clear = 0): void {
    if (x < -30 || y < -30 || x > this.width + 30 || y > this.height + 30) return;
    const { context } = this, size = this.width < 420 ? 11 : 12.5;
    context.font = `600 ${size}px ${this.font}`;
    const w = Math.min(this.width - 4, context.measureText(text).width + 12), h = size + 9, gap = Math.max(10, 0.8 * this.scene.camera.scale) + clear;
    const clamp = (value: number, most: number) => Math.max(2, Math.min(most - 2, value));
    const tries = [{ x: x - w / 2, y: y - gap - h }, { x: x - w / 2, y: y + gap }, { x: x - w / 2, y: y - gap - 2.3 * h }, { x: x - w / 2, y: y + gap + 1.3 * h }];
    const boxes = tries.map((box) => ({ x: clamp(box.x, this.width - w), y: clamp(box.y, this.height - h), w, h }));
    const free = (box: (typeof boxes)[0]) => placed.every((p) => box.x > p.x + p.w || p.x > box.x + box.w || box.y > p.y + p.h || p.y > box.y + box.h);
    const inside = (box: (typeof boxes)[0]) => y < box.y || y > box.y + box.h || x < box.x || x > box.x + box.w;
    const box = boxes.find((one) => free(one) && inside(one)) ?? boxes[0];
    placed.push(box);
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(Math.min(box.x + w, Math.max(box.x, x)), y < box.y ? box.y : box.y + h);
    context.stroke();
    context.beginPath();
    context.roundRect(box.x, box.y, w, h, 4);
    context.fillStyle = this.panel;
    context.fill();
    context.stroke();
    context.fillStyle = this.ink;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, box.x + 6, box.y + h / 2 + 0.5, w - 10);
  }

  /** What is at a point of the screen: a vertex, or the cable of the nearest line and how many cables this line stands for. */
  pick(px: number, py: number): { vertex?: number; cable?: number; cables?: number } {
    const { network, camera } = this.scene, reach = Math.max(0.55 * camera.scale, 5);
    let vertex: number | undefined, near = Infinity;
    for (let v = 0; v < network.labels.length; ++v) {
      const [x, y] = this.vertex(v), apart = Math.max(Math.abs(x - px), Math.abs(y - py));
      if (apart < reach && apart < near) [near, vertex] = [apart, v];
    }
    if (vertex !== undefined && near < 0.55 * camera.scale) return { vertex };
    let line: number | undefined, least = 6;
    this.lines.cables.forEach((c, index) => {
      this.trace(c, (from, to, by) => {
        const steps = by ? 10 : 1;
        for (let i = 0, last = from; i < steps; ++i) {
          const t = (i + 1) / steps, next: Point = by ? [(1 - t) ** 2 * from[0] + 2 * t * (1 - t) * by[0] + t * t * to[0], (1 - t) ** 2 * from[1] + 2 * t * (1 - t) * by[1] + t * t * to[1]] : to;
          const apart = distance([px, py], last, next) - 2 * Math.abs(this.share(c));
          if (apart < least) [least, line] = [apart, index];
          last = next;
        }
      });
    });
    return line === undefined ? { vertex } : { cable: this.lines.cables[line], cables: this.lines.amounts[line] };
  }
}

function distance(p: Point, a: Point, b: Point): number {
  const dx = b[0] - a[0], dy = b[1] - a[1], length = dx * dx + dy * dy;
  const t = length > 0 ? Math.min(1, Math.max(0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length)) : 0;
  return Math.hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy);
}
