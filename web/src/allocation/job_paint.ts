// Allocation: the appearance of a job in the chart over time and in the machine. Jobs that share links are red, striped and marked.
// SPDX-License-Identifier: Apache-2.0
import { ink_on, JOB_COLOURS, type Rgb } from "../ui/colour";
import { token } from "../ui/theme";
import type { Job } from "./jobs";

function rgb(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export class JobPaint {
  private readonly red = token("--alarm");
  private readonly font = token("--font");
  private readonly panel = token("--panel");
  private readonly stripes: CanvasPattern | null;

  constructor(private readonly context: CanvasRenderingContext2D) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const c = tile.getContext("2d")!;
    c.strokeStyle = "rgb(255 255 255 / .55)";
    c.lineWidth = 2;
    c.beginPath();
    for (const shift of [-8, 0, 8]) {
      c.moveTo(shift - 1, 9);
      c.lineTo(shift + 9, -1);
    }
    c.stroke();
    this.stripes = context.createPattern(tile, "repeat");
  }

  colour(job: Job): string {
    return job.shares_links ? this.red : JOB_COLOURS[job.colour];
  }

  rectangle(job: Job, x: number, y: number, w: number, h: number): void {
    const { context } = this;
    context.fillStyle = this.colour(job);
    context.fillRect(x, y, w, h);
    if (job.shares_links && this.stripes && w > 3 && h > 2) {
      context.fillStyle = this.stripes;
      context.fillRect(x, y, w, h);
    }
    if (w > 4 && h > 4) {
      context.strokeStyle = this.panel;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
  }

  label(job: Job, x: number, y: number, w: number, h: number): void {
    const text = job.shares_links ? `${job.id} ⚠` : job.id;
    const { context } = this;
    const size = Math.min(12, h - 2);
    if (size < 8) return;
    context.font = `600 ${size}px ${this.font}`;
    const wide = context.measureText(text).width;
    if (wide > w - 4) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    if (job.shares_links) {
      context.fillStyle = this.red;
      context.fillRect(x + w / 2 - wide / 2 - 2, y + h / 2 - size / 2 - 1, wide + 4, size + 2);
      context.fillStyle = token("--alarm-ink");
    } else context.fillStyle = ink_on(rgb(this.colour(job)));
    context.fillText(text, x + w / 2, y + h / 2 + 0.5);
  }
}
