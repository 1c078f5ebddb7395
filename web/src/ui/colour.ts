// ui: colours that can be distinguished with any kind of colour vision.
// SPDX-License-Identifier: Apache-2.0

export type Rgb = [number, number, number];

// viridis (van der Walt, Smith 2015): even steps of lightness for every kind of colour vision.
const VIRIDIS: Rgb[] = [
  [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140],
  [34, 168, 132], [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37],
];

/** The eight colours of Okabe and Ito, without black, which is the colour of the text. */
export const CATEGORIES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a400"];

/** Colours for jobs: vermillion is reserved for conflicts. */
export const JOB_COLOURS = CATEGORIES.filter((colour) => colour !== "#d55e00");

/** Low to high, 0 to 1: high values have the highest contrast with the page, dark on light and bright on dark. */
export function heat(share: number, dark: boolean): Rgb {
  const s = Math.min(1, Math.max(0, share));
  // Without the end of the scale that is too close to the colour of the page.
  const t = (dark ? 0.12 + 0.88 * s : 0.97 - 0.97 * s) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(t));
  const a = VIRIDIS[i], b = VIRIDIS[i + 1], f = t - i;
  return [a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])];
}

/** The same for areas instead of dots: low values are pale. */
export function soft_heat(share: number, dark: boolean): Rgb {
  const colour = heat(share, dark), weight = Math.min(1, 0.3 + 1.4 * Math.max(0, share));
  const ground = dark ? 34 : 255;
  return [ground + weight * (colour[0] - ground), ground + weight * (colour[1] - ground), ground + weight * (colour[2] - ground)];
}

export function css(colour: Rgb, alpha = 1): string {
  return `rgb(${Math.round(colour[0])} ${Math.round(colour[1])} ${Math.round(colour[2])} / ${alpha})`;
}

/** Black or white, whichever has the higher contrast. */
export function ink_on(colour: Rgb): string {
  const linear = colour.map((c) => ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.2 ? "#111" : "#fff";
}

/** 256 steps as 32-bit pixels; step 0 is transparent. */
export function heat_pixels(dark: boolean): Uint32Array {
  const pixels = new Uint32Array(256);
  for (let i = 1; i < 256; ++i) {
    const [r, g, b] = heat((i - 1) / 254, dark);
    pixels[i] = (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
  }
  return pixels;
}

/** The position of a value between two others on a logarithmic scale, 0 to 1. */
export function log_share(value: number, least: number, most: number): number {
  if (most <= least) return 1;
  return Math.min(1, Math.max(0, Math.log(value / least) / Math.log(most / least)));
}
