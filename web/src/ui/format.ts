// ui: numbers as text, in English on every machine.
// SPDX-License-Identifier: Apache-2.0

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function significant(value: number, digits: number): string {
  if (value === 0) return "0";
  const text = Number(value.toPrecision(digits));
  return Math.abs(text) >= 1000 ? GROUPED.format(text) : String(text);
}

export function count(value: number): string {
  return GROUPED.format(Math.round(value));
}

/** 1234567 → "1.23 M" */
export function short(value: number): string {
  const steps: [number, string][] = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e4, " k"]];
  for (const [size, unit] of steps) if (Math.abs(value) >= size) return significant(value / (size === 1e4 ? 1e3 : size), 3) + unit;
  return significant(value, 3);
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
  let i = 0;
  while (Math.abs(value) >= 999.5 && i < units.length - 1) {
    value /= 1000;
    ++i;
  }
  return `${significant(value, 3)} ${units[i]}`;
}

/** "64Ki": a power of two. */
export function binary(value: number): string {
  const units = ["", "Ki", "Mi", "Gi", "Ti"];
  let i = 0;
  while (value >= 1024 && i < units.length - 1) {
    value /= 1024;
    ++i;
  }
  return `${Math.round(value)}${units[i]}`;
}

export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  // As format_seconds of the program: the last number is the end of the unit.
  const units: [number, string, number][] = [[1e-9, "ns", 999.5], [1e-6, "µs", 999.5], [1e-3, "ms", 999.5], [1, "s", 120], [60, "min", 120], [3600, "h", 72]];
  const [unit, name] = units.find(([unit, , end]) => size / unit < end) ?? [86400, "days"];
  return `${size / unit < 999.5 ? significant(value / unit, 3) : GROUPED.format(Math.round(value / unit))} ${name}`;
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 5 * 86400, 10 * 86400, 20 * 86400, 50 * 86400, 100 * 86400];

/** Steps of time axes, from a nanosecond to a year. */
export function time_steps(): number[] {
  const small = [];
  for (let e = -9; e < 0; ++e) for (const digit of [1, 2, 5]) small.push(Number(`${digit}e${e}`));
  return [...small, ...TIME_STEPS];
}

/** At most this many round times between two times. */
export function time_ticks(from: number, to: number, most: number): number[] {
  const steps = time_steps(), step = steps.find((s) => (to - from) / s <= most) ?? steps[steps.length - 1];
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12); ++i) ticks.push(i * step);
  return ticks;
}

/** A time on an axis, in the unit of the whole axis. */
export function clock(value: number, span: number): string {
  const units: [number, number, string][] = [[4 * 86400, 86400, "d"], [3 * 3600, 3600, "h"], [600, 60, "min"], [2, 1, "s"], [2e-3, 1e-3, "ms"], [0, 1e-6, "µs"]];
  const [, size, name] = units.find(([least]) => span >= least)!;
  return `${Number((value / size).toPrecision(4))} ${name}`;
}

export function percent(share: number): string {
  const value = share * 100;
  // Do not round to 0 % or 100 %.
  if (value > 99.5 && value < 100) return value > 99.99 ? "> 99.99 %" : `${(Math.floor(value * 100) / 100).toString()} %`;
  if (value > 0 && value < 0.01) return "< 0.01 %";
  return `${value !== 0 && Math.abs(value) < 10 ? significant(value, 2) : GROUPED.format(Math.round(value))} %`;
}

export function number(value: number, digits = 3): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-3)) return value.toExponential(digits - 1);
  if (size >= 1e6) return short(value);
  return size >= 1000 ? GROUPED.format(value) : significant(value, digits);
}

/** As plural() of the program: "switch" → "switches", "leaf" → "leaves". */
function plural_of(noun: string): string {
  if (noun.endsWith("leaf")) return `${noun.slice(0, -1)}ves`;
  if (/(chassis|series)$/.test(noun)) return noun;
  return noun + (/(s|x|ch|sh)$/.test(noun) ? "es" : "s");
}

/** "0–15, 32" */
export function ranges(values: ArrayLike<number>): string {
  const sorted = Array.from(values).sort((a, b) => a - b), parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) ++j;
    parts.push(j > i + 1 ? `${sorted[i]}–${sorted[j]}` : sorted.slice(i, j + 1).join(", "));
    i = j + 1;
  }
  return parts.join(", ");
}

/** How many times: "2.43", "35.1", "50,001". */
export function factor(value: number): string {
  return value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : number(Math.round(value));
}

export function plural(amount: number, one: string, many = plural_of(one)): string {
  return `${count(amount)} ${Math.round(amount) === 1 ? one : many}`;
}
