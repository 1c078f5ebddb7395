// Network: the lines of a picture. With many cables, one line stands for several with nearly the same ends.
// SPDX-License-Identifier: Apache-2.0
import type { Network } from "../data/network";

/** A line has the path and the load of one cable, the busiest of those that it stands for. */
export interface Lines {
  cables: number[];
  /** How many cables each line stands for. */
  amounts: number[];
  /** Of all lines together. */
  total: number;
  most: number;
}

/** Groups cables of the same kind and sign whose ends are in the same cells of a grid; doubles the cells until at most max_lines are left. */
export function lines_of(network: Network, cables: number[], share: (cable: number) => number, cell: number, max_lines: number): Lines {
  const total = cables.length;
  if (total <= max_lines) return { cables, amounts: cables.map(() => 1), total, most: 1 };
  const far = Math.max(...network.size, 1);
  for (let side = cell; ; side *= 2) {
    const numbers = new Map<number, number>(), line_of = new Map<number, number>(), lines: Lines = { cables: [], amounts: [], total, most: 1 };
    const cell_of = (vertex: number): number => {
      const key = Math.floor(network.x[vertex] / side) * 1e7 + Math.floor(network.y[vertex] / side);
      let number = numbers.get(key);
      if (number === undefined) numbers.set(key, (number = numbers.size));
      return number;
    };
    for (const cable of cables) {
      const a = cell_of(network.a[cable]), b = cell_of(network.b[cable]), value = share(cable);
      const key = ((Math.min(a, b) * network.labels.length + Math.max(a, b)) * network.kinds.length + network.kind[cable]) * 2 + Number(value < 0);
      const line = line_of.get(key);
      if (line === undefined) {
        line_of.set(key, lines.cables.length);
        lines.cables.push(cable);
        lines.amounts.push(1);
      } else {
        lines.most = Math.max(lines.most, ++lines.amounts[line]);
        if (Math.abs(value) > Math.abs(share(lines.cables[line]))) lines.cables[line] = cable;
      }
    }
    if (lines.cables.length <= max_lines || side > far) return lines;
  }
}
