// Heat map: which part of the matrix is seen; one view for both maps, so they move together.
// SPDX-License-Identifier: Apache-2.0

export class HeatView {
  /** First cell seen, and how many cells the side of the map spans. */
  x = 0;
  y = 0;
  span: number;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly count: number) {
    this.span = count;
  }

  get least_span(): number {
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

  /** Factor > 1: nearer. fx, fy: the point that stays, as a share of the map's side. False: as far as it goes. */
  zoom(factor: number, fx = 0.5, fy = 0.5): boolean {
    const span = Math.min(this.count, Math.max(this.least_span, this.span / factor));
    if (span === this.span) return false;
    this.x += fx * (this.span - span);
    this.y += fy * (this.span - span);
    this.span = span;
    this.settle();
    return true;
  }

  /** By shares of the map's side. */
  pan(dx: number, dy: number): void {
    this.x += dx * this.span;
    this.y += dy * this.span;
    this.settle();
  }

  /** Moves as little as needed to have the cell inside. */
  show(row: number, column: number): void {
    const margin = Math.min(2, this.span / 8);
    this.x = Math.min(column - margin, Math.max(column + 1 + margin - this.span, this.x));
    this.y = Math.min(row - margin, Math.max(row + 1 + margin - this.span, this.y));
    this.settle();
  }
}
