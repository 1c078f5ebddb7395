// Machine: the visible part of the layout, in layout units.
// SPDX-License-Identifier: Apache-2.0
import type { Rectangle } from "../data/places";

// Margin in pixels around the machine, for links that wrap around.
const AIR = 10;

export class Camera {
  /** Layout units at the corner of the canvas, and pixels per layout unit. */
  x = 0;
  y = 0;
  scale = 1;
  private width = 1;
  private height = 1;

  constructor(readonly size: [number, number]) {}

  private get min_scale(): number {
    return Math.min((this.width - 2 * AIR) / this.size[0], (this.height - 2 * AIR) / this.size[1]);
  }

  get whole(): boolean {
    return this.scale <= this.min_scale * 1.001;
  }

  resize(width: number, height: number): void {
    const was_whole = this.width === 1 || this.whole;
    this.width = width;
    this.height = height;
    if (was_whole) this.reset();
    this.settle();
  }

  reset(): void {
    this.scale = this.min_scale;
    this.settle();
  }

  private settle(): void {
    this.scale = Math.min(Math.max(this.scale, this.min_scale), Math.max(80, this.min_scale));
    const wide = this.width / this.scale, high = this.height / this.scale;
    const air = AIR / this.scale;
    this.x = wide >= this.size[0] + 2 * air ? (this.size[0] - wide) / 2 : Math.min(this.size[0] + air - wide, Math.max(-air, this.x));
    this.y = high >= this.size[1] + 2 * air ? (this.size[1] - high) / 2 : Math.min(this.size[1] + air - high, Math.max(-air, this.y));
  }

  zoom(factor: number, px = this.width / 2, py = this.height / 2): boolean {
    const old = this.scale, at = this.from_screen(px, py);
    this.scale *= factor;
    this.settle();
    this.x = at.x - px / this.scale;
    this.y = at.y - py / this.scale;
    this.settle();
    return this.scale !== old;
  }

  pan(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.settle();
  }

  /** Zooms so that a box fills the canvas, with a margin. */
  show(box: Rectangle, air = 0.85): void {
    this.scale = air * Math.min(this.width / box.w, this.height / box.h);
    this.settle();
    this.x = box.x + box.w / 2 - this.width / this.scale / 2;
    this.y = box.y + box.h / 2 - this.height / this.scale / 2;
    this.settle();
  }

  /** Moves, and zooms in if needed, until a box is visible with at least this many pixels. */
  reveal(box: Rectangle, pixels: number): void {
    if (box.w * this.scale < pixels) this.scale = pixels / box.w;
    this.settle();
    const on = this.to_screen(box);
    if (on.x < 8 || on.y < 8 || on.x + on.w > this.width - 8 || on.y + on.h > this.height - 8) {
      this.x = box.x + box.w / 2 - this.width / this.scale / 2;
      this.y = box.y + box.h / 2 - this.height / this.scale / 2;
      this.settle();
    }
  }

  from_screen(px: number, py: number): { x: number; y: number } {
    return { x: this.x + px / this.scale, y: this.y + py / this.scale };
  }

  to_screen(box: Rectangle): Rectangle {
    return { x: (box.x - this.x) * this.scale, y: (box.y - this.y) * this.scale, w: box.w * this.scale, h: box.h * this.scale };
  }

  sees(on: Rectangle): boolean {
    return on.x < this.width && on.y < this.height && on.x + on.w > 0 && on.y + on.h > 0;
  }
}
