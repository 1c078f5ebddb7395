// data: the network with the bytes on its cables, decoded; links by their names and by their loads.
// SPDX-License-Identifier: Apache-2.0
import { decode_f32, decode_u32 } from "./decode";
import type { CableKind, NetworkDocument, NetworkFrame } from "./schema";

/** One direction of a cable: forward is from a to b. */
export interface DirectedLink {
  cable: number;
  forward: boolean;
}

export interface Loads {
  there: Float32Array;
  back: Float32Array;
}

/** Sum and maximum of the links of one kind. */
export interface KindLoad {
  label: string;
  links: number;
  total: number[];
  most: number[];
}

export class Network {
  /** The cable of a node whose square has its colour; -1: none. */
  readonly cable_of_node: Int32Array;
  private readonly vertex_of = new Map<string, number>();
  private readonly cable_of = new Map<number, number>();

  constructor(
    readonly text: string,
    readonly size: [number, number],
    readonly nodes: number,
    readonly labels: string[],
    readonly first_core: Uint32Array,
    readonly x: Float32Array,
    readonly y: Float32Array,
    readonly frames: NetworkFrame[],
    readonly kinds: CableKind[],
    readonly a: Uint32Array,
    readonly b: Uint32Array,
    readonly kind: Uint32Array,
    /** Before, and after if there is a comparison; all zero without a program. */
    readonly loads: Loads[],
    /** Whether there is a program. */
    readonly loaded: boolean,
  ) {
    labels.forEach((label, vertex) => this.vertex_of.set(label, vertex));
    this.cable_of_node = new Int32Array(nodes).fill(-1);
    for (let cable = 0; cable < a.length; ++cable) {
      this.cable_of.set(a[cable] * labels.length + b[cable], cable);
      if (kinds[kind[cable]].stroke === "node") this.cable_of_node[Math.min(a[cable], b[cable])] = cable;
    }
  }

  /** Puts the planes of a torus or mesh into this many columns; other networks stay as they are. */
  arrange_planes(columns: number): void {
    if (this.frames.length < 2 || this.kinds.some((kind) => kind.stroke !== "axis")) return;
    const per_plane = this.nodes / this.frames.length, [left, top] = this.frames[0].points[0], [right, bottom] = this.frames[0].points[2];
    const gap = 1, wide = right - left + gap, high = bottom - top + gap;
    this.frames.forEach((frame, plane) => {
      const dx = (plane % columns) * wide - frame.points[0][0], dy = Math.floor(plane / columns) * high - frame.points[0][1];
      for (let node = plane * per_plane; node < (plane + 1) * per_plane; ++node) {
        this.x[node] += dx;
        this.y[node] += dy;
      }
      frame.points = frame.points.map(([x, y]) => [x + dx, y + dy]);
      frame.x += dx;
      frame.y += dy;
    });
    this.size[0] = Math.min(columns, this.frames.length) * wide - gap;
    this.size[1] = Math.ceil(this.frames.length / columns) * high - gap;
  }

  load(link: DirectedLink, order: number): number {
    const loads = this.loads[order];
    return (link.forward ? loads.there : loads.back)[link.cable];
  }

  /** Of the busier direction. */
  cable_load(cable: number, order: number): number {
    const { there, back } = this.loads[order];
    return Math.max(there[cable], back[cable]);
  }

  /** "node3 → switch 1" */
  link_words(link: DirectedLink): string {
    const a = this.labels[this.a[link.cable]], b = this.labels[this.b[link.cable]];
    return link.forward ? `${a} → ${b}` : `${b} → ${a}`;
  }

  kind_words(cable: number): string {
    return this.kinds[this.kind[cable]].label;
  }

  /** The links with the highest loads, before or after, or in these orders alone. */
  busiest(amount: number, orders = this.loads.map((_, order) => order)): DirectedLink[] {
    const worth = (link: DirectedLink) => Math.max(...orders.map((order) => this.load(link, order)));
    let least = 0, kept: { link: DirectedLink; load: number }[] = [];
    const cut = () => {
      kept.sort((p, q) => q.load - p.load || p.link.cable - q.link.cable);
      kept = kept.slice(0, amount);
      if (kept.length === amount) least = kept[amount - 1].load;
    };
    for (let cable = 0; cable < this.a.length; ++cable)
      for (const forward of [true, false]) {
        const link = { cable, forward }, load = worth(link);
        if (load > least) kept.push({ link, load });
        if (kept.length > 8 * amount + 64) cut();
      }
    cut();
    return kept.map((entry) => entry.link);
  }

  /** Undefined: no link carries anything. */
  busiest_in(order: number): DirectedLink | undefined {
    const { there, back } = this.loads[order];
    let best: DirectedLink | undefined, most = 0;
    for (let cable = 0; cable < there.length; ++cable) {
      if (there[cable] > most) [most, best] = [there[cable], { cable, forward: true }];
      if (back[cable] > most) [most, best] = [back[cable], { cable, forward: false }];
    }
    return best;
  }

  by_kind(): KindLoad[] {
    const rows = this.kinds.map((kind) => ({ label: kind.label, links: 0, total: this.loads.map(() => 0), most: this.loads.map(() => 0) }));
    for (let cable = 0; cable < this.a.length; ++cable) {
      const row = rows[this.kind[cable]];
      row.links += 2;
      this.loads.forEach(({ there, back }, order) => {
        row.total[order] += there[cable] + back[cable];
        row.most[order] = Math.max(row.most[order], there[cable], back[cable]);
      });
    }
    return rows.filter((row) => row.links > 0);
  }

  /** The vertex of this name, also as predictions write it: "node 6", "node (6,0,6)". */
  vertex(name: string): number | undefined {
    const known = this.vertex_of.get(name);
    if (known !== undefined) return known;
    const number = /^node (\d+)$/.exec(name), at = /^node (\(.+\))$/.exec(name);
    if (number && Number(number[1]) < this.nodes) return Number(number[1]);
    const found = at ? this.labels.findIndex((label) => label.endsWith(` ${at[1]}`)) : -1;
    return found < 0 ? undefined : found;
  }

  link(from: string, to: string): DirectedLink | undefined {
    const one = this.vertex(from), other = this.vertex(to);
    if (one === undefined || other === undefined) return undefined;
    const there = this.cable_of.get(one * this.labels.length + other), back = this.cable_of.get(other * this.labels.length + one);
    if (there !== undefined) return { cable: there, forward: true };
    return back === undefined ? undefined : { cable: back, forward: false };
  }

  node_of_core(core: number): number {
    let low = 0, high = this.first_core.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.first_core[middle] <= core) low = middle;
      else high = middle;
    }
    return low;
  }
}

export async function decode_network(packed: NetworkDocument): Promise<Network> {
  const [first_core, a, b, kind] = await Promise.all([packed.first_core, packed.cables.a, packed.cables.b, packed.cables.kind].map(decode_u32));
  const [x, y] = await Promise.all([packed.x, packed.y].map(decode_f32));
  const loads = await Promise.all(
    [packed.before, packed.after].filter((one) => one !== undefined).map(async (one) => ({ there: await decode_f32(one.there), back: await decode_f32(one.back) })),
  );
  const loaded = loads.length > 0;
  if (!loaded) loads.push({ there: new Float32Array(a.length), back: new Float32Array(a.length) });
  return new Network(packed.text, packed.size, packed.nodes, packed.labels, first_core, x, y, packed.frames, packed.kinds, a, b, kind, loads, loaded);
}
