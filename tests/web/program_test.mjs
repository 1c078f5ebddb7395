// The program and the page together: what `rankloom report` writes opens, and shows what the program said.
// SPDX-License-Identifier: Apache-2.0
//   node program_test.mjs RANKLOOM
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, run, unpack } from "./harness.mjs";

const program = process.argv[2];
const rankloom = (folder, ...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const MACHINE = "switch:2=4 node:2=3 package:2=2 core:4=1";

check("A profile on a machine: sentence, maps, machine and mappers", async (browser) => {
  rankloom(browser.folder, "gen", "groups", "--groups", "8", "--per-group", "4", "-o", "app.prof");
  rankloom(browser.folder, "report", "app.prof", "-t", MACHINE, "-o", "report.html");
  rankloom(browser.folder, "report", "app.prof", "-t", MACHINE, "-o", "report.json");
  const document = JSON.parse(readFileSync(join(browser.folder, "report.json"), "utf8"));
  const page = await browser.open_file(join(browser.folder, "report.html"));
  assert.deepEqual(page.trouble, []);
  assert.equal(await page.locator("h1").textContent(), document.title);
  assert.ok((await page.locator("#verdict").innerText()).includes(document.verdict.sentence));
  assert.equal(await page.locator("#traffic canvas").count(), document.orders.length);
  // The partners of rank 5, counted here from the program's own arrays.
  const rows = unpack(document.traffic.rows), columns = unpack(document.traffic.columns), partners = new Set();
  for (let rank = 0; rank < document.traffic.ranks; ++rank)
    for (let e = rows[rank]; e < rows[rank + 1]; ++e) {
      if (rank === 5 && columns[e] !== 5) partners.add(columns[e]);
      if (columns[e] === 5 && rank !== 5) partners.add(rank);
    }
  assert.ok(partners.size > 0);
  await page.getByLabel("Rank", { exact: true }).fill("5");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#machine .panel tbody tr").count(), partners.size);
  const core = unpack(document.orders.at(-1).core_of)[5];
  assert.ok((await page.locator("#machine .panel").innerText()).includes(`core ${core % 8}`) || (await page.locator("#machine .panel").innerText()).includes(`core ${core % 4}`));
  assert.equal(await page.locator("figure", { hasText: "Message sizes and distances" }).locator("svg rect").count(), document.size_distance.after.flat().filter((value) => value > 0).length);
  const levels = await page.locator("#figures .bar-label").allInnerTexts();
  for (const level of document.levels) assert.ok(levels.includes(level.label), level.label);
});

check("Ranks of several cores with GPUs: the slots of the program are drawn and named", async (browser) => {
  const words = ["report", "gen:ring:ranks=8", "-t", "node:2=10 nic:1 numa:2=3 gpu:2 core:4=1 pu:2=0.5", "--cores-per-rank", "2", "--gpus-per-rank", "1"];
  rankloom(browser.folder, ...words, "-o", "gpus.html");
  rankloom(browser.folder, ...words, "-o", "gpus.json");
  const document = JSON.parse(readFileSync(join(browser.folder, "gpus.json"), "utf8"));
  assert.deepEqual(document.machine.templates.map((template) => template.devices.map((device) => device.label).join()), ["GPU 0,GPU 1,GPU 2,GPU 3,NIC 0"]);
  const page = await browser.open_file(join(browser.folder, "gpus.html"));
  assert.deepEqual(page.trouble, []);
  const order = document.orders.at(-1), rank = 3, slot = unpack(order.slots.slot_of)[rank], ends = unpack(order.slots.ends);
  const leaves = [...unpack(order.slots.leaves).slice(slot > 0 ? ends[slot - 1] : 0, ends[slot])].map((leaf) => leaf % 16);
  assert.equal(leaves.length, 4);
  await page.getByLabel("Rank", { exact: true }).fill(String(rank));
  await page.keyboard.press("Enter");
  const text = await page.locator("#machine .panel").innerText();
  assert.ok(text.includes(`Occupies processing units ${leaves[0]}–${leaves[3]} and GPU ${unpack(order.slots.gpus)[slot]}.`), text);
});

for (const [machine, kinds] of [["torus:4x4x4 core:1", 3], ["fattree:k=4 core:4", 3], ["dragonfly:5,4,2 core:2", 3]])
  check(`The network ${machine}: the busiest link is that of the program, and a rank is on its node`, async (browser) => {
    const words = ["report", "gen:stencil3d:size=4x4x4,shuffle=true,seed=2", "-t", machine];
    rankloom(browser.folder, ...words, "-o", "network.html");
    rankloom(browser.folder, ...words, "-o", "network.json");
    const document = JSON.parse(readFileSync(join(browser.folder, "network.json"), "utf8")), { network } = document;
    assert.equal(network.kinds.length, kinds);
    // The list of the most loaded links is computed apart from the picture.
    const busiest = document.links.reduce((best, link) => (link.before > best.before ? link : best));
    const page = await browser.open_file(join(browser.folder, "network.html"));
    assert.deepEqual(page.trouble, []);
    assert.ok((await page.locator("#verdict .glance dd").first().innerText()).startsWith(`before: ${busiest.label}, `));
    const a = unpack(network.cables.a), b = unpack(network.cables.b), there = unpack(network.before.there), back = unpack(network.before.back);
    const [from, to] = busiest.label.split(" → ").map((label) => network.labels.indexOf(label));
    const cable = [...a.keys()].find((i) => (a[i] === from && b[i] === to) || (a[i] === to && b[i] === from));
    assert.equal((a[cable] === from ? there : back)[cable], Math.fround(busiest.before));
    await page.getByLabel("Node of rank").fill("17");
    await page.keyboard.press("Enter");
    const core = unpack(document.orders.at(-1).core_of)[17], first = unpack(network.first_core);
    const node = first.filter((start) => start <= core).length - 1;
    assert.ok((await page.locator("#verdict .glance dd").last().innerText()).endsWith(`after: ${network.labels[node]}`));
  });

for (const [machine, named] of [["torus:8x8x8 core:1", /along [xyz]/], ["fattree:8,8,8/4,4,1 core:1", /between middle switches and top switches/], ["dragonfly:16,8,4 core:1", /within groups|between groups|between nodes and switches/]])
  check(`The first screen of a report for ${machine} names the busiest link, where the gain is, and the node of a rank`, async (browser) => {
    rankloom(browser.folder, "report", "gen:stencil3d:size=8x8x8,shuffle", "-t", machine, "-o", "first.html");
    for (const [width, height] of [[1400, 900], [390, 844]]) {
      const page = await browser.open_file(join(browser.folder, "first.html"), { width, height, hash: "#rank=17" });
      assert.deepEqual(page.trouble, []);
      const glance = page.locator("#verdict .glance"), facts = await glance.locator("dd").allInnerTexts();
      assert.match(facts[0], /^before: .+ → .+, \d/);
      assert.match(facts[1], /^after: .+ → .+, \d/);
      assert.match(facts[2], named);
      assert.match(facts[2], / % less: .+ before, .+ after;/);
      assert.match(facts[3], /^before: node\d+.*, after: node\d+/);
      assert.equal(await page.evaluate(() => scrollY), 0);
      const box = await glance.boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= height, `${width} px: ${JSON.stringify(box)}`);
    }
  });

check("A profile alone: one map, no machine", async (browser) => {
  rankloom(browser.folder, "gen", "groups", "--groups", "3", "--per-group", "4", "-o", "alone.prof");
  rankloom(browser.folder, "report", "alone.prof", "-o", "alone.html");
  const page = await browser.open_file(join(browser.folder, "alone.html"));
  assert.deepEqual(page.trouble, []);
  assert.equal(await page.locator("#traffic canvas").count(), 1);
  assert.equal(await page.locator("#machine").count(), 0);
});

check("More ranks than can be drawn one by one: blocks, and it says so", async (browser) => {
  rankloom(browser.folder, "report", "gen:ring:ranks=20000", "-o", "many.html");
  const page = await browser.open_file(join(browser.folder, "many.html"));
  assert.deepEqual(page.trouble, []);
  assert.equal(await page.locator("#traffic canvas").count(), 1);
});

for (const [machine, sections] of [["torus:4x4x4 core:2", ["verdict", "network", "machine", "reproduce"]], ["node:2=10 nic:1 numa:2=3 gpu:2 core:4=1", ["verdict", "machine", "reproduce"]], ["fattree:k=8 core:4", ["verdict", "network", "machine", "reproduce"]]])
  check(`The machine ${machine} alone`, async (browser) => {
    assert.match(rankloom(browser.folder, "topo", "show", machine, "-o", "machine.html"), /^machine\.html: .*nodes/);
    const page = await browser.open_file(join(browser.folder, "machine.html")), text = rankloom(browser.folder, "topo", "show", machine);
    assert.deepEqual(page.trouble, []);
    assert.equal(await page.locator("h1").textContent(), machine);
    assert.deepEqual(await page.locator("main > section").evaluateAll((all) => all.map((s) => s.id)), sections);
    assert.equal(await page.locator("#verdict .sentence").textContent(), `${text.split("\n")[0]}.`);
    assert.match(await page.locator("#machine").innerText(), /assumed/);
  });

await run();
