// Heat map: the visible part of the matrix; both maps share one view, so they move together.
// SPDX-License-Identifier: Apache-2.0

export class HeatView {
  /** First visible cell, and the number of cells along the side of the map. */
  x = 0;
  y = 0;
  span: number;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly count: number) {
    this.span = count;
  }

  get min_span(): number {
    return Math.min(this.count, 8);
  }

  get whole(): boolean {
    return this.span >= this.count;
  }

  on_change(listener: () => void): void {
    this.listeners.push(listener);
  }

  private settle(): void {
    const room = this.count - this.span;
    this.x = Math.min(room, Math.max(0, this.x));
    this.y = Math.min(room, Math.max(0, this.y));
    for (const listener of this.listeners) listener();
  }

  reset(): void {
    this.span = this.count;
    this.settle();
  }

  /** factor > 1 zooms in. fx, fy: the fixed point, as a fraction of the side. Returns false at the limit. */
  zoom(factor: number, fx = 0.5, fy = 0.5): boolean {
    const span = Math.min(this.count, Math.max(this.min_span, this.span / factor));
    if (span === this.span) return false;
    this.x += fx * (this.span - span);
    this.y += fy * (this.span - span);
    this.span = span;
    this.settle();
    return true;
  }

  /** In fractions of the side of the map. */
  pan(dx: number, dy: number): void {
    this.x += dx * this.span;
    this.y += dy * this.span;
    this.settle();
  }

  /** Moves as little as needed to make the cell visible. */
  show(row: number, column: number): void {
    const margin = Math.min(2, this.span / 8);
    this.x = Math.min(column - margin, Math.max(column + 1 + margin - this.span, this.x));
    this.y = Math.min(row - margin, Math.max(row + 1 + margin - this.span, this.y));
    this.settle();
  }
}
