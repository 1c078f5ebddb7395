// Timeline, first step: ranks × time, each cell in the mixed colours of what its ranks do, with the critical path on top.
// SPDX-License-Identifier: Apache-2.0
import { element } from "../ui/dom";
import { clock, count, percent, plural, seconds, time_ticks } from "../ui/format";
import { attach_gestures } from "../ui/gestures";
import { PATH_KINDS, type Timeline } from "../data/timeline";
import { Surface } from "../ui/surface";
import { token } from "../ui/theme";
import { hide_tooltip, say, show_tooltip } from "../ui/tooltip";

const LEFT = 52, RIGHT = 2, TOP = 4, BOTTOM = 24;

/** The states of a rank, in the order of their shares. */
export const STATES = [
  { name: "computation", colour: "--line-strong" },
  { name: "transfer", colour: "--after" },
  { name: "waiting", colour: "--category-2" },
];

function rgb_of(colour: string): number[] {
  const hex = token(colour);
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** One pixel per row and interval. */
function picture(timeline: Timeline, rows: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = timeline.intervals;
  canvas.height = rows;
  const context = canvas.getContext("2d")!, image = context.createImageData(timeline.intervals, rows);
  const colours = STATES.map((state) => rgb_of(state.colour)), ground = rgb_of("--map");
  for (let cell = 0; cell < timeline.shares.length / 3; ++cell) {
    const shares = timeline.shares.subarray(3 * cell, 3 * cell + 3);
    const rest = Math.max(0, 1 - shares[0] - shares[1] - shares[2]);
    for (let channel = 0; channel < 3; ++channel)
      image.data[4 * cell + channel] = rest * ground[channel] + shares.reduce((sum, share, state) => sum + share * colours[state][channel], 0);
    image.data[4 * cell + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** `span`: the time of the longest run, so that lengths can be compared. */
export function timeline_chart(timeline: Timeline, span: number): HTMLElement {
  const rows = Math.ceil(timeline.ranks / timeline.ranks_per_row), whole = span > 0 ? span : 1;
  const words = STATES.map((state, i) => `${state.name} ${percent(timeline.sums[i] / (timeline.seconds * timeline.ranks || 1))}`).join(", ");
  const canvas = element("canvas", {
    role: "img",
    tabindex: 0,
    "aria-label": `${plural(timeline.ranks, "rank")} over ${seconds(timeline.seconds)}: ${words}. Arrow keys go through ranks and time; the table has every rank.`,
  });
  let pixels: HTMLCanvasElement | undefined, theme = "", cursor: { row: number; at: number } | undefined;
  const scale = () => (surface.width - LEFT - RIGHT) / whole;
  const high = () => (surface.height - TOP - BOTTOM) / rows;
  const y_of = (rank: number) => TOP + (Math.floor(rank / timeline.ranks_per_row) + 0.5) * high();
  const x_of = (time: number) => LEFT + time * scale();

  const draw_path = (context: CanvasRenderingContext2D) => {
    for (const [width, colour] of [[4, "--panel"], [1.6, "--ink"]] as const) {
      context.lineWidth = width;
      context.strokeStyle = token(colour);
      context.lineJoin = "round";
      context.beginPath();
      timeline.path.forEach((step, i) => {
        const last = timeline.path[i - 1];
        // A step continues where the path was before it; of a shortened path, steps are missing.
        const joined = last && Math.abs(last.end - step.begin) <= 1e-5 * whole;
        context.moveTo(x_of(step.begin), y_of(joined ? last.to : step.from));
        context.lineTo(x_of(step.end), y_of(step.to));
      });
      context.stroke();
    }
  };
  const surface: Surface = new Surface(
    canvas,
    (width) => TOP + BOTTOM + Math.min(width < 600 ? 260 : 360, Math.max(64, rows * 14)),
    (s) => {
      const { context } = s, now = token("--map") + token("--after");
      if (!pixels || theme !== now) pixels = picture(timeline, rows);
      theme = now;
      context.fillStyle = token("--map");
      context.fillRect(LEFT, TOP, s.width - LEFT - RIGHT, s.height - TOP - BOTTOM);
      context.imageSmoothingEnabled = false;
      context.drawImage(pixels, LEFT, TOP, timeline.seconds * scale(), s.height - TOP - BOTTOM);
      draw_path(context);
      if (cursor) {
        context.lineWidth = 2;
        context.strokeStyle = token("--ink");
        const wide = (timeline.seconds / timeline.intervals) * scale();
        context.strokeRect(x_of((cursor.at * timeline.seconds) / timeline.intervals) - 1, TOP + cursor.row * high() - 1, wide + 2, high() + 2);
      }
      context.fillStyle = token("--ink-soft");
      context.font = `11px ${token("--font")}`;
      context.textBaseline = "middle";
      context.textAlign = "right";
      const step = Math.max(1, 2 ** Math.ceil(Math.log2(16 / high())));
      for (let row = 0; row < rows; row += step) context.fillText(count(row * timeline.ranks_per_row), LEFT - 6, TOP + (row + 0.5) * high());
      for (const t of time_ticks(0, whole, Math.max(2, Math.floor(s.width / 90)))) {
        const x = x_of(t);
        context.textAlign = x > s.width - 24 ? "right" : x < LEFT + 16 ? "left" : "center";
        context.fillText(clock(t, whole), x, s.height - BOTTOM / 2 + 2);
        context.fillRect(x, s.height - BOTTOM, 1, 4);
      }
    },
  );

  const name_of = (row: number) => {
    const first = row * timeline.ranks_per_row, last = Math.min(timeline.ranks, first + timeline.ranks_per_row) - 1;
    return first === last ? `rank ${first}` : `ranks ${first} to ${last}`;
  };
  const lines_of = (row: number, at: number) => {
    const shares = timeline.shares.subarray(3 * (row * timeline.intervals + at), 3 * (row * timeline.intervals + at) + 3);
    const time = ((at + 0.5) * timeline.seconds) / timeline.intervals;
    const path = timeline.path.find((step) => step.begin <= time && time < step.end);
    return [
      { name: "at", text: seconds(time) },
      ...STATES.map((state, i) => ({ name: state.name, text: percent(shares[i]) })).filter((_, i) => shares[i] > 0),
      ...(path ? [{ name: "critical", text: path.kind === 0 ? `rank ${path.to} computes` : path.from === path.to ? `rank ${path.to} in MPI` : `${PATH_KINDS[path.kind]} of ranks ${path.from} and ${path.to}` }] : []),
    ];
  };
  const show = (row: number, at: number, aloud: boolean) => {
    const lines = lines_of(row, at);
    show_tooltip(canvas, x_of(((at + 0.5) * timeline.seconds) / timeline.intervals), TOP + (row + 0.5) * high(), name_of(row), lines);
    if (aloud) say(`${name_of(row)}, ${lines.map((line) => `${line.name} ${line.text}`).join(", ")}`);
  };
  canvas.addEventListener("keydown", (event) => {
    const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-16, 0], PageDown: [16, 0], Home: [0, -timeline.intervals], End: [0, timeline.intervals] };
    if (event.key === "Escape") {
      cursor = undefined;
      hide_tooltip();
    } else if (moves[event.key]) {
      const [down, right] = moves[event.key], from = cursor ?? { row: 0, at: 0 };
      cursor = cursor ? { row: Math.min(rows - 1, Math.max(0, from.row + down)), at: Math.min(timeline.intervals - 1, Math.max(0, from.at + right)) } : from;
      show(cursor.row, cursor.at, true);
    } else return;
    event.preventDefault();
    surface.invalidate();
  });
  canvas.addEventListener("blur", () => {
    cursor = undefined;
    hide_tooltip();
    surface.invalidate();
  });
  attach_gestures(canvas, {
    point: (x, y) => {
      const row = Math.floor((y - TOP) / high()), at = Math.floor(((x - LEFT) / scale() / timeline.seconds) * timeline.intervals);
      if (row >= 0 && row < rows && at >= 0 && at < timeline.intervals) show(row, at, false);
      else hide_tooltip();
    },
    leave: hide_tooltip,
    press: () => {},
    drag: () => {},
    zoom: () => false,
    zoomed: () => false,
  });
  return element("div", { class: "canvas-box" }, canvas);
}
