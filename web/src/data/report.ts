// data, second step: the decoded report, plain values that every section reads.
// SPDX-License-Identifier: Apache-2.0
import { decode_f32, decode_u32 } from "./decode";
import { decode_network, type Network } from "./network";
import { Places } from "./places";
import type { ReportDocument, SlotsDocument, TrafficDocument } from "./schema";
import { decode_timeline, type Timeline } from "./timeline";

/** The communication graph as rows of (sorted or unsorted) columns. */
export interface Traffic {
  ranks: number;
  rows: Uint32Array;
  columns: Uint32Array;
  bytes: Float32Array;
  messages?: Float32Array;
  /** The number of consecutive ranks per row. */
  block: number;
  blocks_note?: string;
}

/** The slot of every rank: the leaves of the machine and the GPUs that it occupies. */
export interface RankSlots {
  slot_of: Uint32Array;
  /** By slot: the end of its leaves. */
  ends: Uint32Array;
  leaves: Uint32Array;
  /** By slot: the end of its GPUs. */
  gpu_ends: Uint32Array;
  gpus: Uint32Array;
}

export interface Order {
  id: string;
  label: string;
  core_of?: Uint32Array;
  cost?: number;
  /** Undefined: every rank occupies its core alone. */
  slots?: RankSlots;
}

/** The layout of one heat map. */
export interface HeatOrder {
  id: string;
  label: string;
  traffic: Traffic;
  /** Row i shows this rank. */
  ranks: Uint32Array;
  borders: number[];
  nodes: string[];
  core_of?: Uint32Array;
}

export interface Report {
  document: ReportDocument;
  traffic?: Traffic;
  orders: Order[];
  heat: HeatOrder[];
  places?: Places;
  network?: Network;
  timelines: Timeline[];
  in_mpi?: Float32Array;
  outside?: Float32Array;
}

async function decode_traffic(packed: TrafficDocument): Promise<Traffic> {
  const [rows, columns, bytes, messages] = await Promise.all([
    decode_u32(packed.rows),
    decode_u32(packed.columns),
    decode_f32(packed.bytes),
    packed.messages ? decode_f32(packed.messages) : undefined,
  ]);
  return { ranks: packed.ranks, rows, columns, bytes, messages, block: packed.block ?? 1, blocks_note: packed.blocks_note };
}

async function decode_slots(packed: SlotsDocument): Promise<RankSlots> {
  const [slot_of, ends, leaves, gpu_ends, gpus] = await Promise.all([
    decode_u32(packed.slot_of),
    decode_u32(packed.ends),
    decode_u32(packed.leaves),
    packed.gpu_ends ? decode_u32(packed.gpu_ends) : new Uint32Array(0),
    packed.gpus ? decode_u32(packed.gpus) : new Uint32Array(0),
  ]);
  return { slot_of, ends, leaves, gpu_ends, gpus };
}

function identity(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => i);
}

export async function decode_report(document: ReportDocument): Promise<Report> {
  const [traffic, mapped] = await Promise.all([
    document.traffic && decode_traffic(document.traffic),
    document.traffic_mapped && decode_traffic(document.traffic_mapped),
  ]);
  const orders: Order[] = await Promise.all(
    (document.orders ?? []).map(async (order) => ({
      ...order,
      core_of: order.core_of && (await decode_u32(order.core_of)),
      slots: order.slots && (await decode_slots(order.slots)),
    })),
  );
  const label_of = (id: string) => orders.find((order) => order.id === id)?.label ?? id;
  const heat: HeatOrder[] = [];
  if (traffic && document.heatmap)
    for (const order of document.heatmap.orders) {
      const own = order.id !== "before" && mapped ? mapped : traffic;
      heat.push({
        id: order.id,
        label: label_of(order.id),
        traffic: own,
        ranks: order.ranks ? await decode_u32(order.ranks) : identity(own.ranks),
        borders: order.borders ?? [],
        nodes: order.nodes ?? [],
        core_of: traffic.block === 1 ? orders.find((o) => o.id === order.id)?.core_of : undefined,
      });
    }
  const timelines = await Promise.all((document.timelines ?? []).map(decode_timeline));
  const report: Report = { document, traffic, orders, heat, timelines };
  if (document.machine) report.places = new Places(document.machine);
  if (document.network) report.network = await decode_network(document.network);
  const ranks = document.ranks;
  if (Array.isArray(ranks)) {
    report.in_mpi = Float32Array.from(ranks, (r) => r.in_mpi);
    report.outside = Float32Array.from(ranks, (r) => r.outside);
  } else if (ranks) {
    report.in_mpi = await decode_f32(ranks.in_mpi);
    if (ranks.outside) report.outside = await decode_f32(ranks.outside);
  }
  return report;
}
