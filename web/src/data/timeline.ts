// data: the timeline of a simulated run: what each rank does over time, and the critical path.
// SPDX-License-Identifier: Apache-2.0
import { decode_f32, decode_u32 } from "./decode";
import type { TimelineDocument } from "./schema";

export const PATH_KINDS = ["computation", "message", "collective"];

export interface PathStep {
  /** Of PATH_KINDS. */
  kind: number;
  /** The rank that computed, or waited until the end. */
  to: number;
  /** Of a message the other rank, of a collective the last one to begin it. */
  from: number;
  begin: number;
  end: number;
}

export interface Timeline {
  name: string;
  ranks: number;
  ranks_per_row: number;
  intervals: number;
  seconds: number;
  /** By row and interval: the shares of computation, transfer and waiting, 0 to 1. */
  shares: Float32Array;
  /** By rank, in seconds. */
  compute: Float32Array;
  transfer: Float32Array;
  wait: Float32Array;
  /** Of all ranks, in seconds: computation, transfer, waiting. */
  sums: number[];
  path: PathStep[];
  /** Of the complete path. */
  path_steps: number;
  path_parts: { label: string; seconds: number }[];
}

export async function decode_timeline(packed: TimelineDocument): Promise<Timeline> {
  const { path } = packed;
  const [states, compute, transfer, wait, kind, to, from, begin, end] = await Promise.all([
    decode_u32(packed.states),
    decode_f32(packed.compute),
    decode_f32(packed.transfer),
    decode_f32(packed.wait),
    decode_u32(path.kind),
    decode_u32(path.to),
    decode_u32(path.from),
    decode_f32(path.begin),
    decode_f32(path.end),
  ]);
  const shares = new Float32Array(3 * states.length);
  states.forEach((state, cell) => {
    for (let i = 0; i < 3; ++i) shares[3 * cell + i] = ((state >>> (10 * i)) & 1023) / 1000;
  });
  return {
    name: packed.name,
    ranks: packed.ranks,
    ranks_per_row: packed.ranks_per_row,
    intervals: packed.intervals,
    seconds: packed.seconds,
    shares,
    compute,
    transfer,
    wait,
    sums: [compute, transfer, wait].map((values) => values.reduce((sum, value) => sum + value, 0)),
    path: Array.from(kind, (_, i) => ({ kind: kind[i], to: to[i], from: from[i], begin: begin[i], end: end[i] })),
    path_steps: path.steps,
    path_parts: path.parts,
  };
}
