// Beside everything: numbers for people. Thin space-free, English, the same on every machine.
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
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let i = 0;
  while (Math.abs(value) >= 999.5 && i < units.length - 1) {
    value /= 1000;
    ++i;
  }
  return `${significant(value, 3)} ${units[i]}`;
}

export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${significant(value * 1e6, 3)} µs`;
  if (size < 1) return `${significant(value * 1e3, 3)} ms`;
  if (size < 600) return `${significant(value, 3)} s`;
  if (size < 3 * 3600) return `${significant(value / 60, 3)} min`;
  if (size < 5 * 86400) return `${significant(value / 3600, 3)} h`;
  return `${significant(value / 86400, 3)} d`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 10 ? significant(value, 2) : Math.round(value)} %`;
}

export function number(value: number, digits = 3): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-3)) return value.toExponential(digits - 1);
  return size >= 1e6 ? short(value) : significant(value, digits);
}

export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${Math.round(amount) === 1 ? one : many}`;
}
