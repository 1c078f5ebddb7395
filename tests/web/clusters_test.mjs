// The clusters of the heat map: they are those that the traffic was made of, and every rank is in one of them. Needs no browser.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { join } from "node:path";
import { random } from "./fixtures/make.mjs";
import { check, module_of_web, run, WEB } from "./harness.mjs";

const { buildSync } = module_of_web("esbuild");
const [built] = buildSync({ entryPoints: [join(WEB, "src/heat/clusters.ts")], bundle: true, write: false, format: "esm", logLevel: "warning" }).outputFiles;
const { clusters_of } = await import(`data:text/javascript;base64,${Buffer.from(built.contents).toString("base64")}`);

/** Traffic from a list of [sender, receiver, bytes]. */
function traffic_of(ranks, pairs) {
  const rows = new Uint32Array(ranks + 1), sorted = [...pairs].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [sender] of sorted) ++rows[sender + 1];
  for (let rank = 0; rank < ranks; ++rank) rows[rank + 1] += rows[rank];
  return { ranks, rows, columns: Uint32Array.from(sorted, (pair) => pair[1]), bytes: Float32Array.from(sorted, (pair) => pair[2]), block: 1 };
}

const shown = ({ ranks, borders }) => borders.map((first, index) => [...ranks.subarray(first, borders[index + 1])]);

check("Planted clusters are found, whatever the numbers of their ranks", () => {
  const next = random(3), count = 96, groups = 8, pairs = [];
  const group = Array.from({ length: count }, (_, rank) => (rank * 5) % groups);
  for (let a = 0; a < count; ++a)
    for (let b = 0; b < count; ++b)
      if (a !== b && (group[a] === group[b] ? next() < 0.7 : next() < 0.05)) pairs.push([a, b, 1000 + Math.floor(1000 * next())]);
  const found = shown(clusters_of(traffic_of(count, pairs)));
  assert.equal(found.length, groups);
  for (const members of found) {
    assert.equal(members.length, count / groups);
    assert.equal(new Set(members.map((rank) => group[rank])).size, 1);
  }
  assert.deepEqual(found.flat().sort((a, b) => a - b), group.map((_, rank) => rank));
});

check("Ranks without partners are the last cluster; a program without traffic is one cluster", () => {
  assert.deepEqual(shown(clusters_of(traffic_of(6, [[5, 1, 9], [3, 3, 7], [2, 4, 1]]))), [[1, 5], [2, 4], [0, 3]]);
  assert.deepEqual(shown(clusters_of(traffic_of(3, []))), [[0, 1, 2]]);
  assert.deepEqual(shown(clusters_of(traffic_of(1, [[0, 0, 5]]))), [[0]]);
});

check("Clusters inside clusters are next to each other", () => {
  const pairs = [];
  // 16 rings of 6 ranks with stronger pairs inside; a rank and the one 48 further are in the same ring.
  for (let ring = 0; ring < 16; ++ring)
    for (let i = 0; i < 6; ++i) pairs.push([ring + 16 * i, ring + 16 * ((i + 1) % 6), i % 2 === 0 ? 100 : 10], [ring + 16 * i, (ring + 1) % 16 + 16 * i, 0.01]);
  const found = shown(clusters_of(traffic_of(96, pairs)));
  for (const members of found)
    for (let i = 0; i < members.length; i += 2) assert.equal(members[i] % 16, members[i + 1] % 16, "pairs with much traffic are neighbours");
  assert.deepEqual(found.flat().sort((a, b) => a - b), Array.from({ length: 96 }, (_, rank) => rank));
});

check("16,384 ranks with 300,000 pairs take at most 5 s of CPU time", () => {
  const count = 16384, next = random(1), pairs = [];
  for (let rank = 0; rank < count; ++rank)
    for (let i = 0; i < 20; ++i) pairs.push([rank, (rank + 1 + Math.floor(next() ** 4 * (count - 1))) % count, 1 + next()]);
  const traffic = traffic_of(count, pairs), begin = process.cpuUsage();
  const { borders } = clusters_of(traffic);
  const { user, system } = process.cpuUsage(begin), seconds = (user + system) / 1e6;
  console.log(`        ${borders.length} clusters after ${seconds.toFixed(1)} s of CPU time`);
  assert.ok(seconds < 5);
});

await run({ needs_browser: false });
