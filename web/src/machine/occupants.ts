// Machine, first step: the ranks of each core in a placement, and the share of each rank's traffic that leaves its node.
// SPDX-License-Identifier: Apache-2.0
import type { Places, Rectangle } from "../data/places";
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
  }

  /** The box of a rank in layout units: ranks on the same core share the box of the core. */
  chip(rank: number): Rectangle {
    const core = this.core_of[rank], box = this.places.rectangle(core);
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
