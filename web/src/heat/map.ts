// Heat map, third step: draws one map (tiles, borders of nodes or clusters, axes, cursor) and finds the cell at a point.
// SPDX-License-Identifier: Apache-2.0
import { heat_pixels } from "../ui/colour";
import { Surface } from "../ui/surface";
import { is_dark, token } from "../ui/theme";
import type { HeatMatrix } from "./matrix";
import { SIDE, Tiles, type Scale } from "./tiles";
import type { HeatView } from "./view";

export interface HeatCell {
  row: number;
  column: number;
}

// A frame has 16 ms; half of it is for new tiles.
const TILE_MS = 7;
const LIGHT = heat_pixels(false), DARK = heat_pixels(true);

/** 1, 2, 5, 10, 20, … not below a value. */
function round_step(least: number): number {
  for (let size = 1; ; size *= 10) for (const digit of [1, 2, 5]) if (digit * size >= least) return digit * size;
}

export class HeatMap {
  readonly surface: Surface;
  private tiles: Tiles;
  private heaviest: Tiles;
  private densities?: Tiles;
  private density?: Scale;
  cursor?: HeatCell;
  private margin = { left: 66, top: 40, right: 2, bottom: 2 };

  constructor(
    readonly canvas: HTMLCanvasElement,
    public matrix: HeatMatrix,
    readonly view: HeatView,
  ) {
    this.tiles = this.heaviest = new Tiles(matrix);
    this.surface = new Surface(canvas, (width) => this.side(width) + this.margin.top + this.margin.bottom, () => this.draw());
  }

  /** Pixels of several pairs show their mean on this scale, or without it the pair with the most bytes. */
  show_density(density: Scale | undefined): void {
    this.density = density;
    this.tiles = density ? (this.densities ??= new Tiles(this.matrix, density)) : this.heaviest;
    this.surface.invalidate();
  }

  /** The same traffic in another order. */
  show_matrix(matrix: HeatMatrix): void {
    this.matrix = matrix;
    this.cursor = undefined;
    this.heaviest = new Tiles(matrix);
    this.densities = undefined;
    this.show_density(this.density);
  }

  private side(width: number): number {
    return Math.max(40, width - this.margin.left - this.margin.right);
  }

  /** Pixels of a cell. */
  private get scale(): number {
    return this.side(this.surface.width) / this.view.span;
  }

  /** A point of the canvas in fractions of the side of the map. */
  share(x: number, y: number): [number, number] {
    const side = this.side(this.surface.width);
    return [(x - this.margin.left) / side, (y - this.margin.top) / side];
  }

  /** The cell at a point; for very small cells, the one with the most bytes near the point. */
  cell_at(x: number, y: number): HeatCell | undefined {
    const [fx, fy] = this.share(x, y);
    if (fx < 0 || fy < 0 || fx >= 1 || fy >= 1) return undefined;
    const column = this.view.x + fx * this.view.span, row = this.view.y + fy * this.view.span;
    if (this.scale < 3) {
      const reach = 1.5 / this.scale;
      const found = this.matrix.heaviest(Math.floor(row - reach), Math.ceil(row + reach), Math.floor(column - reach), Math.ceil(column + reach));
      if (found) return found;
    }
    return { row: Math.min(this.matrix.count - 1, Math.floor(row)), column: Math.min(this.matrix.count - 1, Math.floor(column)) };
  }

  /** The middle of a cell on the canvas. */
  point_of(cell: HeatCell): { x: number; y: number } {
    return {
      x: this.margin.left + (cell.column + 0.5 - this.view.x) * this.scale,
      y: this.margin.top + (cell.row + 0.5 - this.view.y) * this.scale,
    };
  }

  private draw(): boolean {
    const { context } = this.surface;
    const side = this.side(this.surface.width), { left, top } = this.margin;
    context.fillStyle = token("--map");
    context.fillRect(left, top, side, side);
    context.save();
    context.beginPath();
    context.rect(left, top, side, side);
    context.clip();
    const more = this.draw_tiles();
    this.draw_borders(side);
    if (this.cursor) this.draw_cursor(this.cursor, side);
    context.restore();
    context.strokeStyle = token("--line-strong");
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, top + 0.5, side - 1, side - 1);
    this.draw_axes(side);
    return more;
  }

  /** True if tiles are still missing. */
  private draw_tiles(): boolean {
    const { context, ratio } = this.surface;
    const { view, tiles } = this, scale = this.scale;
    const cells_per_pixel = 1 / (scale * ratio);
    const level = Math.min(tiles.top_level, Math.max(0, Math.ceil(Math.log2(cells_per_pixel) - 0.01)));
    const size = SIDE * 2 ** level;
    const deadline = performance.now() + TILE_MS;
    const pixels = is_dark() ? DARK : LIGHT;
    const { left, top } = this.margin;
    // Edges on whole device pixels: no seams between tiles.
    const edge = (origin: number, cell: number, from: number) => Math.round((origin + (cell - from) * scale) * ratio) / ratio;
    context.imageSmoothingEnabled = false;
    let missing = false;
    // The coarsest level replaces missing tiles.
    const top_tile = tiles.get(tiles.top_level, 0, 0, Infinity);
    for (let row = Math.floor(view.y / size); row * size < view.y + view.span; ++row)
      for (let column = Math.floor(view.x / size); column * size < view.x + view.span; ++column) {
        if (row * size >= this.matrix.count || column * size >= this.matrix.count) continue;
        const tile = tiles.get(level, row, column, deadline);
        const x0 = edge(left, column * size, view.x), y0 = edge(top, row * size, view.y);
        const x1 = edge(left, (column + 1) * size, view.x), y1 = edge(top, (row + 1) * size, view.y);
        if (tile) {
          context.drawImage(tile.paint(pixels), x0, y0, x1 - x0, y1 - y0);
        } else {
          missing = true;
          const shrink = 2 ** (tiles.top_level - level);
          if (top_tile) context.drawImage(top_tile.paint(pixels), (column * SIDE) / shrink, (row * SIDE) / shrink, SIDE / shrink, SIDE / shrink, x0, y0, x1 - x0, y1 - y0);
        }
      }
    return missing;
  }

  /** First rows of the visible nodes, and the minimum height of a node in pixels. */
  private seen_nodes(): { first: number; last: number; index: number }[] {
    const { borders } = this.matrix.order, { view } = this;
    const seen = [];
    for (let i = 0; i < borders.length; ++i) {
      const last = i + 1 < borders.length ? borders[i + 1] : this.matrix.count;
      if (last > view.y - view.span && borders[i] < Math.max(view.x, view.y) + view.span) seen.push({ first: borders[i], last, index: i });
    }
    return seen;
  }

  private draw_borders(side: number): void {
    const { borders } = this.matrix.order;
    if (borders.length < 2) return;
    const { context } = this.surface, { left, top } = this.margin, { view } = this;
    const gap = (this.matrix.count / borders.length) * this.scale;
    if (gap < 5) return;
    context.strokeStyle = token("--map-line");
    context.globalAlpha = Math.min(1, gap / 24);
    context.lineWidth = 1;
    context.beginPath();
    for (const border of borders) {
      const x = Math.round(left + (border - view.x) * this.scale) + 0.5, y = Math.round(top + (border - view.y) * this.scale) + 0.5;
      if (border > view.x && border < view.x + view.span) {
        context.moveTo(x, top);
        context.lineTo(x, top + side);
      }
      if (border > view.y && border < view.y + view.span) {
        context.moveTo(left, y);
        context.lineTo(left + side, y);
      }
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  private draw_cursor(cell: HeatCell, side: number): void {
    const { context } = this.surface, { left, top } = this.margin, { view } = this;
    const size = Math.max(5, this.scale);
    const x = left + (cell.column + 0.5 - view.x) * this.scale, y = top + (cell.row + 0.5 - view.y) * this.scale;
    const lines = () => {
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(x - size / 2, y);
      context.moveTo(x + size / 2, y);
      context.lineTo(left + side, y);
      context.moveTo(x, top);
      context.lineTo(x, y - size / 2);
      context.moveTo(x, y + size / 2);
      context.lineTo(x, top + side);
      context.rect(x - size / 2, y - size / 2, size, size);
      context.stroke();
    };
    // Two tones, visible on every colour.
    context.lineWidth = 3;
    context.strokeStyle = token("--map");
    context.globalAlpha = 0.7;
    lines();
    context.globalAlpha = 1;
    context.lineWidth = 1.25;
    context.strokeStyle = token("--accent");
    lines();
  }

  private draw_axes(side: number): void {
    const { context } = this.surface, { left, top } = this.margin, { view } = this;
    context.fillStyle = token("--ink-soft");
    context.font = `12px ${token("--font")}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const axis_font = context.font;
    context.font = `11px ${token("--font")}`;
    let ticks = this.ticks();
    // If one name is too long, all of them are shortened: one style of names.
    const kind = /^(node|cluster)/.exec(ticks[0]?.text ?? "")?.[1];
    const short = kind !== undefined && ticks.some(({ text }) => text.startsWith(kind) && context.measureText(text).width > left - 24);
    if (short) ticks = ticks.map((tick) => ({ ...tick, text: tick.text.replace(/^(node|cluster) ?/, "") }));
    context.font = axis_font;
    context.fillText(short ? `receiving ${kind} →` : "receiver →", left, 8);
    context.save();
    context.translate(8, top);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.fillText(short ? `← sending ${kind}` : "← sender", 0, 0);
    context.restore();

    context.font = `11px ${token("--font")}`;
    const widest = Math.max(...ticks.map(({ text }) => context.measureText(text).width), 1);
    const apart = ticks.length > 1 ? Math.abs(ticks[1].at - ticks[0].at) * this.scale : Infinity;
    const every_x = round_step((widest + 10) / apart), every_y = round_step(15 / apart);
    for (const { at, text, number } of ticks) {
      const x = left + (at - view.x) * this.scale, y = top + (at - view.y) * this.scale;
      const width = context.measureText(text).width;
      if (x >= left && x <= left + side && number % every_x === 0) {
        const centre = Math.min(left + side - width / 2, Math.max(left + width / 2, x));
        context.textAlign = "center";
        context.fillText(text, centre, top - 12);
        context.fillRect(Math.round(x), top - 4, 1, 4);
      }
      if (y >= top && y <= top + side && number % every_y === 0) {
        context.textAlign = "right";
        context.fillText(text, left - 7, Math.min(top + side - 6, Math.max(top + 6, y)), left - 24);
        context.fillRect(left - 4, Math.round(y), 4, 1);
      }
    }
  }

  /** Ranks when cells are large, otherwise nodes or clusters, otherwise row numbers. */
  private ticks(): { at: number; text: string; number: number }[] {
    const { view, matrix } = this, { order } = matrix, block = order.traffic.block;
    const from = Math.max(0, Math.floor(Math.min(view.x, view.y))), to = Math.min(matrix.count, Math.ceil(Math.max(view.x, view.y) + view.span));
    if (this.scale >= 13 && block === 1) {
      const ticks = [];
      for (let i = from; i < to; ++i) ticks.push({ at: i + 0.5, text: String(order.ranks[i]), number: i });
      return ticks;
    }
    if (order.nodes.length > 1 && order.nodes.length === order.borders.length)
      return this.seen_nodes().map(({ first, last, index }) => ({ at: (first + last) / 2, text: order.nodes[index], number: index }));
    const step = round_step(view.span / 8);
    const ticks = [];
    for (let i = Math.ceil(from / step) * step; i < to; i += step) ticks.push({ at: i + 0.5, text: String(i * block), number: i / step });
    return ticks;
  }
}
