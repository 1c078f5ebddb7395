// Heat map, second step: tiles of 256 × 256 cells and of coarser levels, computed on demand in small time slices, and cached.
// SPDX-License-Identifier: Apache-2.0
import { log_share } from "../ui/colour";
import type { HeatMatrix } from "./matrix";

export const SIDE = 256;
// 64 KiB of shades and 256 KiB of pixels each.
const MAX_TILES = 192;

export interface Scale {
  min: number;
  max: number;
}

/** At level L a pixel represents 2^L × 2^L cells. It has the shade of the pair with the most bytes; with a density, that of the mean of all its pairs. */
class Tile {
  readonly shades = new Uint8Array(SIDE * SIDE);
  /** The next row of the matrix to process; the end when done. */
  next: number;
  last_used = 0;
  /** Bytes of each pixel, until the tile is done. */
  private sums?: Float64Array;
  private picture?: HTMLCanvasElement;
  private painted_with?: Uint32Array;

  constructor(
    readonly level: number,
    readonly row: number,
    readonly column: number,
    private readonly density: Scale | undefined,
  ) {
    if (density) this.sums = new Float64Array(SIDE * SIDE);
    this.next = this.row * (SIDE << level);
  }

  /** Works until done or until the deadline. */
  fill(matrix: HeatMatrix, deadline: number): boolean {
    const { level } = this;
    const end = Math.min(matrix.count, (this.row + 1) * (SIDE << level));
    const first_column = this.column * (SIDE << level), end_column = first_column + (SIDE << level);
    while (this.next < end) {
      const row = this.next++;
      const offset = ((row - this.row * (SIDE << level)) >> level) * SIDE;
      for (let at = matrix.lower_bound(row, first_column); at < matrix.rows[row + 1] && matrix.columns[at] < end_column; ++at) {
        const pixel = offset + ((matrix.columns[at] - first_column) >> level);
        if (this.sums) this.sums[pixel] += matrix.order.traffic.bytes[matrix.entries[at]];
        else if (matrix.shades[at] > this.shades[pixel]) this.shades[pixel] = matrix.shades[at];
      }
      if ((row & 63) === 63 && this.next < end && performance.now() > deadline) return false;
    }
    this.shade_densities();
    return true;
  }

  private shade_densities(): void {
    if (!this.sums || !this.density) return;
    const pairs = 4 ** this.level, { min, max } = this.density;
    for (let pixel = 0; pixel < this.sums.length; ++pixel) if (this.sums[pixel] > 0) this.shades[pixel] = 1 + Math.round(254 * log_share(Math.max(min, this.sums[pixel] / pairs), min, max));
    this.sums = undefined;
  }

  paint(pixels: Uint32Array): HTMLCanvasElement {
    if (this.picture && this.painted_with === pixels) return this.picture;
    this.picture ??= document.createElement("canvas");
    this.picture.width = this.picture.height = SIDE;
    const context = this.picture.getContext("2d")!;
    const image = context.createImageData(SIDE, SIDE);
    const out = new Uint32Array(image.data.buffer);
    for (let i = 0; i < out.length; ++i) out[i] = pixels[this.shades[i]];
    context.putImageData(image, 0, 0);
    this.painted_with = pixels;
    return this.picture;
  }
}

/** The level at which all cells fit into one tile. */
export function top_level_of(count: number): number {
  return Math.max(0, Math.ceil(Math.log2(count / SIDE)));
}

export class Tiles {
  readonly top_level: number;
  private readonly done = new Map<string, Tile>();
  private readonly started = new Map<string, Tile>();
  private clock = 0;

  /** With a density, shades show the mean bytes of all pairs of a pixel, on this scale. */
  constructor(
    readonly matrix: HeatMatrix,
    private readonly density?: Scale,
  ) {
    this.top_level = top_level_of(matrix.count);
  }

  /** The tile, or undefined if the deadline passed first; then call again in the next frame. */
  get(level: number, row: number, column: number, deadline: number): Tile | undefined {
    const key = `${level}/${row}/${column}`;
    let tile = this.done.get(key);
    if (!tile) {
      tile = this.started.get(key) ?? new Tile(level, row, column, this.density);
      if (performance.now() > deadline || !tile.fill(this.matrix, deadline)) {
        this.started.set(key, tile);
        return undefined;
      }
      this.started.delete(key);
      this.done.set(key, tile);
      this.forget();
    }
    tile.last_used = ++this.clock;
    return tile;
  }

  /** The tile if it is already computed. */
  ready(level: number, row: number, column: number): Tile | undefined {
    return this.done.get(`${level}/${row}/${column}`);
  }

  private forget(): void {
    if (this.done.size <= MAX_TILES) return;
    const oldest = [...this.done].filter(([, tile]) => tile.level < this.top_level).sort((a, b) => a[1].last_used - b[1].last_used);
    for (const [key] of oldest.slice(0, MAX_TILES / 4)) this.done.delete(key);
  }
}
