// Allocation, second step: nodes × time, one rectangle per job; and the machine at one time.
// SPDX-License-Identifier: Apache-2.0
import { element } from "../ui/dom";
import { clock, count, plural, seconds, time_ticks } from "../ui/format";
import { attach_gestures } from "../ui/gestures";
import { Places } from "../data/places";
import type { MachineDocument } from "../data/schema";
import { Surface } from "../ui/surface";
import { token } from "../ui/theme";
import { hide_tooltip, show_tooltip } from "../ui/tooltip";
import { JobPaint } from "./job_paint";
import { jobs_at, type Job } from "./jobs";

const LEFT = 44, TOP = 4, BOTTOM = 24;

function job_lines(job: Job): { name: string; text: string }[] {
  return [
    { name: "nodes", text: `${job.size}: ${job.words.slice(0, 60)}` },
    { name: "waited", text: seconds(job.start - job.submit) },
    { name: "ran", text: `${seconds(job.end - job.start)} from ${seconds(job.start)}` },
    { name: "links", text: job.shares_links ? "shared with another job" : "its own" },
  ];
}

export interface TimeChart {
  root: HTMLElement;
  set_time(time: number): void;
}

export function job_chart(jobs: Job[], nodes: number, pick: (time: number) => void): TimeChart {
  const begin = Math.min(...jobs.map((job) => job.start)), end = Math.max(...jobs.map((job) => job.end));
  let from = begin, to = end, time = begin;
  const sharing = jobs.filter((job) => job.shares_links).length;
  const canvas = element("canvas", { role: "img", "aria-label": `${plural(nodes, "node")} over ${seconds(end - begin)}: ${plural(jobs.length, "job")}, ${sharing} of them share links with others. The table has every job; the slider moves through time.` });
  const x_of = (t: number) => LEFT + ((t - from) / (to - from)) * (surface.width - LEFT - 2);
  const t_of = (x: number) => from + ((x - LEFT) / (surface.width - LEFT - 2)) * (to - from);
  const row = () => (surface.height - TOP - BOTTOM) / nodes;
  const surface: Surface = new Surface(
    canvas,
    (width) => TOP + BOTTOM + Math.min(width < 600 ? 300 : 420, Math.max(160, nodes * 7)),
    (s) => {
      const { context } = s, paint = new JobPaint(context), h = row();
      context.fillStyle = token("--map");
      context.fillRect(LEFT, TOP, s.width - LEFT - 2, s.height - TOP - BOTTOM);
      context.save();
      context.beginPath();
      context.rect(LEFT, TOP, s.width - LEFT - 2, s.height - TOP - BOTTOM);
      context.clip();
      for (const job of jobs) {
        if (job.end < from || job.start > to) continue;
        const x = x_of(job.start), w = Math.max(1, x_of(job.end) - x);
        let tallest = job.ranges[0];
        for (const range of job.ranges) {
          paint.rectangle(job, x, TOP + range[0] * h, w, (range[1] - range[0] + 1) * h);
          if (range[1] - range[0] > tallest[1] - tallest[0]) tallest = range;
        }
        if (tallest) paint.label(job, x, TOP + tallest[0] * h, w, (tallest[1] - tallest[0] + 1) * h);
      }
      const now = x_of(time);
      context.strokeStyle = token("--panel");
      context.lineWidth = 4;
      const line = () => {
        context.beginPath();
        context.moveTo(now, TOP);
        context.lineTo(now, s.height - BOTTOM);
        context.stroke();
      };
      line();
      context.strokeStyle = token("--ink");
      context.lineWidth = 2;
      line();
      context.restore();
      context.fillStyle = token("--ink-soft");
      context.font = `11px ${token("--font")}`;
      context.textBaseline = "middle";
      context.textAlign = "right";
      const step = Math.max(1, 2 ** Math.ceil(Math.log2(18 / h)));
      for (let node = 0; node < nodes; node += step) context.fillText(count(node), LEFT - 6, TOP + (node + 0.5) * h);
      for (const t of time_ticks(from, to, Math.max(2, Math.floor(s.width / 90)))) {
        const x = x_of(t);
        context.textAlign = x > s.width - 24 ? "right" : "center";
        context.fillText(clock(t, to - from), x, s.height - BOTTOM / 2 + 2);
        context.fillRect(x, s.height - BOTTOM, 1, 4);
      }
    },
  );
  const job_at = (x: number, y: number): Job | undefined => {
    const t = t_of(x), node = Math.floor((y - TOP) / row());
    return jobs.find((job) => job.start <= t && t < job.end && job.ranges.some(([first, last]) => first <= node && node <= last));
  };
  const keep = () => {
    const span = Math.min(end - begin, to - from);
    from = Math.min(end - span, Math.max(begin, from));
    to = from + span;
    surface.invalidate();
  };
  attach_gestures(canvas, {
    point: (x, y) => {
      const job = x >= LEFT ? job_at(x, y) : undefined;
      if (job) show_tooltip(canvas, x, y, `job ${job.id}`, job_lines(job));
      else hide_tooltip();
    },
    leave: hide_tooltip,
    press: (x) => pick(Math.min(end, Math.max(begin, t_of(x)))),
    drag: (dx) => {
      const shift = (dx / (surface.width - LEFT)) * (to - from);
      from -= shift;
      to -= shift;
      keep();
    },
    zoom: (factor, x) => {
      const span = Math.min(end - begin, Math.max((end - begin) / 200, (to - from) / factor));
      if (span === to - from) return false;
      const share = (x - LEFT) / (surface.width - LEFT);
      from = t_of(x) - share * span;
      to = from + span;
      keep();
      return true;
    },
    zoomed: () => to - from < end - begin,
  });
  return {
    root: element("div", { class: "canvas-box" }, canvas),
    set_time: (t) => {
      time = t;
      surface.invalidate();
    },
  };
}

/** The machine's nodes, each in the colour of its job. */
export function machine_at(machine: MachineDocument, nodes: number, jobs: Job[]): TimeChart {
  const places = new Places(machine), units = places.units;
  let time = 0;
  const canvas = element("canvas", { role: "img", "aria-label": "The machine at the chosen time; the line above lists the jobs." });
  const [wide, high] = machine.size;
  let on: (Job | undefined)[] = [];
  const surface: Surface = new Surface(
    canvas,
    (width) => Math.min(380, Math.max(180, (width * high) / wide)),
    (s) => {
      const { context } = s, paint = new JobPaint(context);
      on = jobs_at(jobs, nodes, time);
      const scale = Math.min(s.width / wide, s.height / high), dx = (s.width - wide * scale) / 2, dy = (s.height - high * scale) / 2;
      const box = (b: { x: number; y: number; w: number; h: number }) => [dx + b.x * scale, dy + b.y * scale, b.w * scale, b.h * scale] as const;
      for (const outer of machine.boxes) {
        if (units.includes(outer)) continue;
        context.strokeStyle = token("--line-strong");
        context.strokeRect(...box(outer));
      }
      for (const [a, b] of machine.wires ?? []) {
        const one = places.box(a), other = places.box(b);
        if (!one || !other) continue;
        const [ax, ay, aw, ah] = box(one), [bx, by, bw, bh] = box(other);
        if (Math.abs(one.x - other.x) > 2.5 * one.w || Math.abs(one.y - other.y) > 2.5 * one.h) continue;
        const ja = on[units.indexOf(one)], jb = on[units.indexOf(other)];
        context.strokeStyle = ja && ja === jb ? paint.colour(ja) : token("--line-strong");
        context.lineWidth = ja && ja === jb ? 3 : 1;
        context.beginPath();
        context.moveTo(ax + aw / 2, ay + ah / 2);
        context.lineTo(bx + bw / 2, by + bh / 2);
        context.stroke();
      }
      context.lineWidth = 1;
      units.forEach((unit, i) => {
        const [x, y, w, h] = box(unit), job = on[i];
        if (job) {
          paint.rectangle(job, x, y, w, h);
          paint.label(job, x, y, w, h);
        } else {
          context.fillStyle = token("--well");
          context.fillRect(x, y, w, h);
          context.strokeStyle = token("--line-strong");
          context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
        }
      });
    },
  );
  attach_gestures(canvas, {
    point: (x, y) => {
      const scale = Math.min(surface.width / wide, surface.height / high);
      const at = { x: (x - (surface.width - wide * scale) / 2) / scale, y: (y - (surface.height - high * scale) / 2) / scale };
      const i = units.findIndex((unit) => at.x >= unit.x && at.y >= unit.y && at.x < unit.x + unit.w && at.y < unit.y + unit.h);
      const job = on[i];
      if (i >= 0) show_tooltip(canvas, x, y, units[i].label, job ? [{ name: "job", text: job.id }, ...job_lines(job)] : [{ name: "", text: "free" }]);
      else hide_tooltip();
    },
    leave: hide_tooltip,
    press: () => {},
    drag: () => {},
    zoom: () => false,
    zoomed: () => false,
  });
  return {
    root: element("div", { class: "canvas-box" }, canvas),
    set_time: (t) => {
      time = t;
      surface.invalidate();
    },
  };
}
