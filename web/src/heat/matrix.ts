// Heat map, first step: the traffic in the order of the cores, rows of sorted columns, each pair with its shade.
// SPDX-License-Identifier: Apache-2.0
import { log_share } from "../ui/colour";
import type { HeatOrder } from "../data/report";

export class HeatMatrix {
  readonly count: number;
  readonly rows: Uint32Array;
  readonly columns: Uint32Array;
  /** The index of the pair in the arrays of the traffic. */
  readonly entries: Uint32Array;
  /** 1 to 255 by the logarithm of its bytes. */
  readonly shades: Uint8Array;
  /** Row of each rank; -1 where a rank has none. */
  readonly row_of: Int32Array;

  constructor(
    readonly order: HeatOrder,
    scale: { min: number; max: number },
  ) {
    const { traffic, ranks } = order;
    const n = (this.count = ranks.length);
    this.row_of = new Int32Array(traffic.ranks).fill(-1);
    ranks.forEach((rank, row) => (this.row_of[rank] = row));

    // Sorted twice by counting: by column, then by row, so columns end up sorted within rows. O(pairs).
    const column_starts = new Uint32Array(n + 1);
    let pairs = 0;
    for (let row = 0; row < n; ++row)
      for (let e = traffic.rows[ranks[row]]; e < traffic.rows[ranks[row] + 1]; ++e) {
        const column = this.row_of[traffic.columns[e]];
        if (column < 0 || !(traffic.bytes[e] > 0)) continue;
        ++column_starts[column + 1];
        ++pairs;
      }
    for (let i = 0; i < n; ++i) column_starts[i + 1] += column_starts[i];
    const by_column_row = new Uint32Array(pairs), by_column_entry = new Uint32Array(pairs), by_column_column = new Uint32Array(pairs);
    const next = column_starts.slice();
    this.rows = new Uint32Array(n + 1);
    for (let row = 0; row < n; ++row)
      for (let e = traffic.rows[ranks[row]]; e < traffic.rows[ranks[row] + 1]; ++e) {
        const column = this.row_of[traffic.columns[e]];
        if (column < 0 || !(traffic.bytes[e] > 0)) continue;
        const at = next[column]++;
        by_column_row[at] = row;
        by_column_column[at] = column;
        by_column_entry[at] = e;
        ++this.rows[row + 1];
      }
    for (let i = 0; i < n; ++i) this.rows[i + 1] += this.rows[i];
    this.columns = new Uint32Array(pairs);
    this.entries = new Uint32Array(pairs);
    this.shades = new Uint8Array(pairs);
    const free = this.rows.slice();
    for (let i = 0; i < pairs; ++i) {
      const at = free[by_column_row[i]]++;
      this.columns[at] = by_column_column[i];
      this.entries[at] = by_column_entry[i];
      this.shades[at] = 1 + Math.round(254 * log_share(traffic.bytes[by_column_entry[i]], scale.min, scale.max));
    }
  }

  /** First index in a row whose column is not below the given one. */
  lower_bound(row: number, column: number): number {
    let low = this.rows[row], high = this.rows[row + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.columns[middle] < column) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The index of a pair, or -1. */
  find(row: number, column: number): number {
    const at = this.lower_bound(row, column);
    return at < this.rows[row + 1] && this.columns[at] === column ? at : -1;
  }

  /** The heaviest pair with row in [row0, row1) and column in [column0, column1). */
  heaviest(row0: number, row1: number, column0: number, column1: number): { row: number; column: number } | undefined {
    let best: { row: number; column: number } | undefined, most = 0;
    for (let row = Math.max(0, row0); row < Math.min(this.count, row1); ++row)
      for (let at = this.lower_bound(row, Math.max(0, column0)); at < this.rows[row + 1] && this.columns[at] < column1; ++at) {
        const bytes = this.order.traffic.bytes[this.entries[at]];
        if (bytes > most) {
          most = bytes;
          best = { row, column: this.columns[at] };
        }
      }
    return best;
  }
}
