// Heat map: clusters of ranks that communicate more with each other than with others, by the method of Blondel et al. 2008 ("Louvain").
// SPDX-License-Identifier: Apache-2.0
import type { Traffic } from "../data/report";

/** An undirected graph: the bytes between two vertices, and those within a vertex. */
interface Graph {
  starts: Uint32Array;
  targets: Uint32Array;
  weights: Float64Array;
  within: Float64Array;
}

// A level ends after this many passes over its vertices, also if single vertices still move.
const MAX_PASSES = 16;

/** From arcs, in any order; arcs between the same vertices are added up. */
function graph_of(count: number, sources: Uint32Array, ends: Uint32Array, amounts: Float64Array, within: Float64Array): Graph {
  const first = new Uint32Array(count + 1);
  for (const source of sources) ++first[source + 1];
  for (let v = 0; v < count; ++v) first[v + 1] += first[v];
  const next = first.slice(), by_source = new Uint32Array(sources.length);
  sources.forEach((source, arc) => (by_source[next[source]++] = arc));
  const starts = new Uint32Array(count + 1), targets = new Uint32Array(sources.length), weights = new Float64Array(sources.length);
  const place = new Int32Array(count).fill(-1);
  let used = 0;
  for (let v = 0; v < count; ++v) {
    for (let i = first[v]; i < first[v + 1]; ++i) {
      const arc = by_source[i], end = ends[arc];
      if (place[end] < starts[v]) {
        place[end] = used;
        targets[used++] = end;
      }
      weights[place[end]] += amounts[arc];
    }
    starts[v + 1] = used;
  }
  return { starts, targets: targets.subarray(0, used), weights: weights.subarray(0, used), within };
}

function graph_of_traffic({ ranks, rows, columns, bytes }: Traffic): Graph {
  const sources: number[] = [], ends: number[] = [], amounts: number[] = [], within = new Float64Array(ranks);
  for (let row = 0; row < ranks; ++row)
    for (let e = rows[row]; e < rows[row + 1]; ++e) {
      if (columns[e] === row) within[row] += bytes[e];
      else if (bytes[e] > 0) {
        sources.push(row, columns[e]);
        ends.push(columns[e], row);
        amounts.push(bytes[e], bytes[e]);
      }
    }
  return graph_of(ranks, Uint32Array.from(sources), Uint32Array.from(ends), Float64Array.from(amounts), within);
}

/** The cluster of each vertex, numbered from 0 in the order of their first vertices: vertices move to the cluster of a neighbour while the modularity increases. */
function move_vertices({ starts, targets, weights, within }: Graph): { cluster: Uint32Array; count: number } {
  const count = within.length, cluster = Uint32Array.from({ length: count }, (_, v) => v);
  const degree = Float64Array.from(within, (own) => 2 * own);
  for (let v = 0; v < count; ++v) for (let e = starts[v]; e < starts[v + 1]; ++e) degree[v] += weights[e];
  const total = degree.slice(), all = degree.reduce((sum, own) => sum + own, 0), to = new Float64Array(count);
  for (let pass = 0, moved = true; moved && pass < MAX_PASSES; ++pass) {
    moved = false;
    for (let v = 0; v < count; ++v) {
      const old = cluster[v], near = [old];
      for (let e = starts[v]; e < starts[v + 1]; ++e) {
        const other = cluster[targets[e]];
        if (to[other] === 0 && other !== old) near.push(other);
        to[other] += weights[e];
      }
      total[old] -= degree[v];
      let best = old, most = to[old] - (degree[v] * total[old]) / all;
      for (const other of near) {
        const gain = to[other] - (degree[v] * total[other]) / all;
        if (gain > most + 1e-9 * degree[v]) [most, best] = [gain, other];
      }
      total[best] += degree[v];
      for (const other of near) to[other] = 0;
      if (best !== old) {
        cluster[v] = best;
        moved = true;
      }
    }
  }
  const number = new Int32Array(count).fill(-1);
  let clusters = 0;
  for (let v = 0; v < count; ++v) {
    if (number[cluster[v]] < 0) number[cluster[v]] = clusters++;
    cluster[v] = number[cluster[v]];
  }
  return { cluster, count: clusters };
}

function contract({ starts, targets, weights, within }: Graph, cluster: Uint32Array, count: number): Graph {
  const inside = new Float64Array(count), sources: number[] = [], ends: number[] = [], amounts: number[] = [];
  for (let v = 0; v < within.length; ++v) {
    inside[cluster[v]] += within[v];
    for (let e = starts[v]; e < starts[v + 1]; ++e) {
      const other = cluster[targets[e]];
      if (other === cluster[v]) inside[other] += weights[e] / 2;
      else {
        sources.push(cluster[v]);
        ends.push(other);
        amounts.push(weights[e]);
      }
    }
  }
  return graph_of(count, Uint32Array.from(sources), Uint32Array.from(ends), Float64Array.from(amounts), inside);
}

/** All ranks, those of a cluster next to each other, inside it those of smaller clusters; and the first row of each cluster. Ranks without partners are the last cluster. */
export function clusters_of(traffic: Traffic): { ranks: Uint32Array; borders: number[] } {
  let graph = graph_of_traffic(traffic);
  const alone = Uint8Array.from({ length: traffic.ranks }, (_, rank) => Number(graph.starts[rank] === graph.starts[rank + 1]));
  // levels[l][rank]: the cluster of the rank after level l.
  const levels: Uint32Array[] = [];
  for (;;) {
    const { cluster, count } = move_vertices(graph), last = levels.at(-1);
    if (last && count === graph.within.length) break;
    levels.push(last ? last.map((vertex) => cluster[vertex]) : cluster);
    if (count === graph.within.length) break;
    graph = contract(graph, cluster, count);
  }
  const top = levels.at(-1)!;
  const ranks = Uint32Array.from({ length: traffic.ranks }, (_, rank) => rank).sort((a, b) => {
    if (alone[a] !== alone[b]) return alone[a] - alone[b];
    if (!alone[a]) for (let level = levels.length - 1; level >= 0; --level) if (levels[level][a] !== levels[level][b]) return levels[level][a] - levels[level][b];
    return a - b;
  });
  const borders: number[] = [];
  ranks.forEach((rank, row) => {
    const before = ranks[row - 1];
    if (row === 0 || alone[rank] !== alone[before] || (!alone[rank] && top[rank] !== top[before])) borders.push(row);
  });
  return { ranks, borders };
}
