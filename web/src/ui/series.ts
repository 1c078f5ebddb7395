// ui: lines over time or over ranks, drawn by uPlot in the colours of the page.
// SPDX-License-Identifier: Apache-2.0
import uPlot from "uplot";
import { element } from "./dom";
import { clock, seconds, time_steps } from "./format";
import { on_theme, token } from "./theme";

/** On a logarithmic axis of times: seconds, minutes, hours and days that people read, not powers of ten. */
const LOG_TIMES = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 60, 600, 3600, 86400, 864000, 8640000];
const UNITS = new Map([[60, "1 min"], [3600, "1 h"], [86400, "1 day"]]);

export interface Series {
  name: string;
  values: ArrayLike<number | null>;
  /** A colour of the style sheet; dashed lines are also distinguishable without colour. */
  colour: string;
  dashed?: boolean;
  filled?: boolean;
  stepped?: boolean;
}

export function series_chart(
  name: string,
  x: { name: string; values: ArrayLike<number>; words: (value: number) => string; time?: boolean },
  series: Series[],
  words: (value: number) => string,
  height = 200,
  log = false,
): HTMLElement {
  const host = element("div", { class: "series", role: "img", "aria-label": name });
  const data = [x.values, ...series.map((s) => s.values)] as unknown as uPlot.AlignedData;
  let plot: uPlot | undefined, width = 0;

  const span = x.values.length > 0 ? x.values[x.values.length - 1] - x.values[0] : 1;
  const time_values = words === seconds;
  const make = () => {
    plot?.destroy();
    const axis = { stroke: token("--ink-soft"), grid: { stroke: token("--line"), width: 1 }, ticks: { stroke: token("--line"), width: 1 }, font: `11px ${token("--font")}` };
    const log_times = { splits: (_u: uPlot, _axis: number, min: number, max: number) => LOG_TIMES.filter((time) => min <= time && time <= max), filter: (_u: uPlot, splits: number[]) => splits };
    plot = new uPlot(
      {
        width,
        height,
        scales: { x: { time: false }, y: log ? { distr: 3, range: (_u, min, max) => [10 ** Math.floor(Math.log10(min) + 1e-9), Math.max(max * 1.3, 10 * min)] } : { range: (_u, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
        cursor: { drag: { x: true, y: false }, points: { size: 6 } },
        legend: { live: true },
        axes: [
          { ...axis, values: (_u, ticks) => ticks.map((tick) => (x.time ? clock(tick, span) : x.words(tick))), size: 34, space: 70, ...(x.time ? { incrs: time_steps() } : {}) },
          { ...axis, values: (_u, ticks) => ticks.map((tick) => (log ? (tick === null ? "" : (time_values && UNITS.get(tick)) || words(tick)) : time_values ? clock(tick, ticks[ticks.length - 1]) : words(tick))), size: 68, ...(time_values && !log ? { incrs: time_steps() } : {}), ...(time_values && log ? log_times : {}) },
        ],
        series: [
          { label: x.name, value: (_u, v) => (v === null ? "–" : x.words(v)) },
          ...series.map((s) => {
            const stroke = token(s.colour);
            return {
              label: s.name,
              stroke,
              width: 1.75,
              dash: s.dashed ? [6, 4] : undefined,
              fill: s.filled ? `color-mix(in srgb, ${stroke} 22%, transparent)` : undefined,
              paths: s.stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined,
              points: { show: false },
              value: (_u: uPlot, v: number | null) => (v === null ? "–" : words(v)),
            };
          }),
        ],
      },
      data,
      host,
    );
  };
  new ResizeObserver(() => {
    const now = Math.floor(host.clientWidth);
    if (now <= 0 || now === width) return;
    width = now;
    if (plot) plot.setSize({ width, height });
    else make();
  }).observe(host);
  on_theme(() => width > 0 && make());
  return host;
}
