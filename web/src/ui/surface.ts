// ui: a canvas that is sharp on every screen and redrawn when its size, colours or contents change.
// SPDX-License-Identifier: Apache-2.0
import { on_theme } from "./theme";

export class Surface {
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
  /** In CSS pixels. */
  width = 0;
  height = 0;
  /** Device pixels per CSS pixel. */
  ratio = 1;
  private waiting = false;

  /** height_of: the height that suits a width. draw: returns true to be called again in the next frame. */
  constructor(
    canvas: HTMLCanvasElement,
    private readonly height_of: (width: number) => number,
    private readonly draw: (surface: Surface) => boolean | void,
  ) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d")!;
    new ResizeObserver(() => this.fit()).observe(canvas.parentElement ?? canvas);
    on_theme(() => this.draw_now());
  }

  fit(): void {
    const width = Math.floor(this.canvas.clientWidth || this.canvas.parentElement?.clientWidth || 0);
    const ratio = Math.min(3, devicePixelRatio || 1);
    if (width <= 0) return;
    const height = Math.round(this.height_of(width));
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    // Resizing clears the canvas; filling it at once avoids a white flash.
    this.draw_now();
  }

  invalidate(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw_now();
    });
  }

  private draw_now(): void {
    if (this.width === 0) return;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    if (this.draw(this)) this.invalidate();
  }
}
