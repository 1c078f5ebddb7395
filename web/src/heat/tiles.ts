// Heat map, second step: tiles of 256 × 256 cells and of coarser levels, computed on demand in small time slices, and cached.
// SPDX-License-Identifier: Apache-2.0
import type { HeatMatrix } from "./matrix";

export const SIDE = 256;
// 64 KiB of shades and 256 KiB of pixels each.
const MAX_TILES = 192;

/** At level L a pixel represents 2^L × 2^L cells and has the shade of the pair with the most bytes. */
class Tile {
  readonly shades = new Uint8Array(SIDE * SIDE);
  /** The next row of the matrix to process; the end when done. */
  next: number;
  last_used = 0;
  private picture?: HTMLCanvasElement;
  private painted_with?: Uint32Array;

  constructor(
    readonly level: number,
    readonly row: number,
    readonly column: number,
  ) {
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
        if (matrix.shades[at] > this.shades[pixel]) this.shades[pixel] = matrix.shades[at];
      }
      if ((row & 63) === 63 && performance.now() > deadline) return this.next >= end;
    }
    return true;
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

export class Tiles {
  readonly top_level: number;
  private readonly done = new Map<string, Tile>();
  private readonly started = new Map<string, Tile>();
  private clock = 0;

  constructor(readonly matrix: HeatMatrix) {
    this.top_level = Math.max(0, Math.ceil(Math.log2(matrix.count / SIDE)));
  }

  /** The tile, or undefined if the deadline passed first; then call again in the next frame. */
  get(level: number, row: number, column: number, deadline: number): Tile | undefined {
    const key = `${level}/${row}/${column}`;
    let tile = this.done.get(key);
    if (!tile) {
      tile = this.started.get(key) ?? new Tile(level, row, column);
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
