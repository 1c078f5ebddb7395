// Machine, first step: the ranks of each core and GPU in a placement, and the share of each rank's traffic that leaves its node.
// SPDX-License-Identifier: Apache-2.0
import type { PlacedDevice, Places, Rectangle } from "../data/places";
import { ranges } from "../ui/format";
import type { Order, Traffic } from "../data/report";

export interface Partner {
  rank: number;
  sent: number;
  received: number;
  messages: number;
}

export class Occupants {
  readonly starts: Uint32Array;
  /** Ranks by core. */
  readonly ranks: Uint32Array;
  /** The index of a rank among the ranks on its core. */
  private readonly slot: Uint32Array;
  /** The ranks of each GPU, by unit and number. */
  private readonly users = new Map<string, number[]>();

  constructor(
    readonly order: Order,
    readonly core_of: Uint32Array,
    readonly places: Places,
  ) {
    this.starts = new Uint32Array(places.machine.cores + 1);
    for (const core of core_of) ++this.starts[core + 1];
    for (let i = 0; i < places.machine.cores; ++i) this.starts[i + 1] += this.starts[i];
    this.ranks = new Uint32Array(core_of.length);
    this.slot = new Uint32Array(core_of.length);
    const next = this.starts.slice();
    core_of.forEach((core, rank) => {
      this.slot[rank] = next[core] - this.starts[core];
      this.ranks[next[core]++] = rank;
    });
    core_of.forEach((core, rank) => {
      for (const gpu of this.gpus(rank)) {
        const key = `${places.unit_of_core[core]} ${gpu}`, known = this.users.get(key);
        if (known) known.push(rank);
        else this.users.set(key, [rank]);
      }
    });
  }

  /** The number of leaves of the machine that a rank occupies. */
  leaf_count(rank: number): number {
    const { slots } = this.order;
    if (!slots) return 1;
    const slot = slots.slot_of[rank];
    return slots.ends[slot] - (slot > 0 ? slots.ends[slot - 1] : 0);
  }

  private leaf(rank: number, at: number): number {
    const { slots } = this.order;
    if (!slots) return this.core_of[rank];
    const slot = slots.slot_of[rank];
    return slots.leaves[(slot > 0 ? slots.ends[slot - 1] : 0) + at];
  }

  /** The numbers of the GPUs of a rank on its node. */
  gpus(rank: number): number[] {
    const { slots } = this.order;
    if (!slots || slots.gpus.length === 0) return [];
    const slot = slots.slot_of[rank];
    return [...slots.gpus.subarray(slot > 0 ? slots.gpu_ends[slot - 1] : 0, slots.gpu_ends[slot])];
  }

  /** The ranks that use a device. */
  users_of(device: PlacedDevice): number[] {
    return (device.kind === "gpu" && this.users.get(`${device.unit} ${device.number}`)) || [];
  }

  /** "cores 0–7 and GPU 4"; empty: the rank occupies its core alone. */
  slot_words(rank: number): string {
    if (!this.order.slots) return "";
    const leaves = Array.from({ length: this.leaf_count(rank) }, (_, at) => this.leaf(rank, at)), gpus = this.gpus(rank);
    return this.places.leaves_words(leaves) + (gpus.length > 0 ? ` and GPU${gpus.length > 1 ? "s" : ""} ${ranges(gpus)}` : "");
  }

  /** The box of one leaf of a rank in layout units: ranks on the same core share the box of the core. */
  chip(rank: number, at = 0): Rectangle {
    const core = this.core_of[rank], box = this.places.rectangle(this.leaf(rank, at));
    const sharing = this.starts[core + 1] - this.starts[core];
    if (sharing <= 1) return box;
    const columns = Math.ceil(Math.sqrt(sharing)), rows = Math.ceil(sharing / columns), slot = this.slot[rank];
    return { x: box.x + ((slot % columns) * box.w) / columns, y: box.y + (Math.floor(slot / columns) * box.h) / rows, w: box.w / columns, h: box.h / rows };
  }

  /** Share of each rank's bytes, sent and received, whose other end is on another node. */
  leaving(traffic: Traffic): Float32Array {
    const all = new Float64Array(traffic.ranks), away = new Float64Array(traffic.ranks);
    const unit = this.places.unit_of_core;
    for (let rank = 0; rank < traffic.ranks; ++rank)
      for (let e = traffic.rows[rank]; e < traffic.rows[rank + 1]; ++e) {
        const other = traffic.columns[e], amount = traffic.bytes[e];
        if (other === rank) continue;
        all[rank] += amount;
        all[other] += amount;
        if (unit[this.core_of[rank]] !== unit[this.core_of[other]]) {
          away[rank] += amount;
          away[other] += amount;
        }
      }
    return Float32Array.from(all, (sum, rank) => (sum > 0 ? away[rank] / sum : 0));
  }
}

/** The partners of a rank, by decreasing traffic. */
export class PartnerBook {
  private readonly column_starts: Uint32Array;
  private readonly senders: Uint32Array;
  private readonly entries: Uint32Array;

  constructor(private readonly traffic: Traffic) {
    this.column_starts = new Uint32Array(traffic.ranks + 1);
    for (const column of traffic.columns) ++this.column_starts[column + 1];
    for (let i = 0; i < traffic.ranks; ++i) this.column_starts[i + 1] += this.column_starts[i];
    this.senders = new Uint32Array(traffic.columns.length);
    this.entries = new Uint32Array(traffic.columns.length);
    const next = this.column_starts.slice();
    for (let rank = 0; rank < traffic.ranks; ++rank)
      for (let e = traffic.rows[rank]; e < traffic.rows[rank + 1]; ++e) {
        const at = next[traffic.columns[e]]++;
        this.senders[at] = rank;
        this.entries[at] = e;
      }
  }

  of(rank: number): Partner[] {
    const { traffic } = this;
    const found = new Map<number, Partner>();
    const partner = (other: number) => {
      let entry = found.get(other);
      if (!entry) found.set(other, (entry = { rank: other, sent: 0, received: 0, messages: 0 }));
      return entry;
    };
    for (let e = traffic.rows[rank]; e < traffic.rows[rank + 1]; ++e) {
      if (traffic.columns[e] === rank) continue;
      const entry = partner(traffic.columns[e]);
      entry.sent += traffic.bytes[e];
      entry.messages += traffic.messages?.[e] ?? 0;
    }
    for (let i = this.column_starts[rank]; i < this.column_starts[rank + 1]; ++i) {
      if (this.senders[i] === rank) continue;
      const entry = partner(this.senders[i]);
      entry.received += traffic.bytes[this.entries[i]];
      entry.messages += traffic.messages?.[this.entries[i]] ?? 0;
    }
    return [...found.values()].sort((a, b) => b.sent + b.received - a.sent - a.received || a.rank - b.rank);
  }
}
