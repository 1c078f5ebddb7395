// The page does what it says: pointing, clicking, keys, zoom, switches, colours, paper.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { dense_document, devices_document, experiment_document, GPU_OF_SLOT, machine_document, network_document, pack, random, status_document, timeline_document, torus_network } from "./fixtures/make.mjs";
import { check, FIREFOX, fixture, run, unpack } from "./harness.mjs";

const tune = fixture("tune");
const rows = unpack(tune.traffic.rows), columns = unpack(tune.traffic.columns), bytes = unpack(tune.traffic.bytes), messages = unpack(tune.traffic.messages);
const cores = tune.orders.map((order) => unpack(order.core_of));
const heat_rows = tune.heatmap.orders.map((order) => unpack(order.ranks));

// Where heat/map.ts puts the map on its canvas.
const MARGIN = { left: 66, top: 40, right: 2 };

/** The middle of the cell of a pair, in the window. */
async function cell_point(page, which, sender, receiver) {
  const canvas = page.locator("#traffic canvas").nth(which);
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const side = (box.width - MARGIN.left - MARGIN.right) / tune.traffic.ranks;
  return { x: box.x + MARGIN.left + (heat_rows[which].indexOf(receiver) + 0.5) * side, y: box.y + MARGIN.top + (heat_rows[which].indexOf(sender) + 0.5) * side };
}

/** The middle of a rank's core in the whole machine, in the window. */
async function chip_point(page, order, rank) {
  const canvas = page.locator("#machine canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox(), [wide, high] = tune.machine.size;
  const scale = Math.min((box.width - 20) / wide, (box.height - 20) / high);
  const core = cores[order][rank];
  const node = tune.machine.boxes.find((b) => b.kind === "node" && core >= b.first_core && core < b.first_core + b.cores);
  const inner = tune.machine.templates[0].boxes.find((b) => b.kind === "core" && b.first_core === core - node.first_core);
  return {
    x: box.x + (box.width - wide * scale) / 2 + (node.x + inner.x + inner.w / 2) * scale,
    y: box.y + (box.height - high * scale) / 2 + (node.y + inner.y + inner.h / 2) * scale,
  };
}

/** A point of the layout of the whole machine, on its canvas and in the window. */
async function layout_point(page, machine, x, y) {
  const canvas = page.locator("#machine canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox(), [wide, high] = machine.size;
  const scale = Math.min((box.width - 20) / wide, (box.height - 20) / high);
  const inside = { x: (box.width - wide * scale) / 2 + x * scale, y: (box.height - high * scale) / 2 + y * scale };
  return { x: box.x + inside.x, y: box.y + inside.y, inside };
}

const where = (order, rank) => {
  const core = cores[order][rank];
  return `node ${Math.floor(core / 16)} · package ${Math.floor((core % 16) / 8)} · core ${core % 16}`;
};
const megabytes = (value) => `${Number((value / 1e6).toPrecision(3))} MB`;
const pixels = (page, selector) => page.locator(selector).first().evaluate((canvas) => canvas.toDataURL());
const voice = (page) => page.locator("[role=status]").textContent();
/** Two frames: what was asked for has been drawn. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// The heaviest partner of rank 7.
const sender = 7;
let heaviest = rows[sender];
for (let e = rows[sender]; e < rows[sender + 1]; ++e) if (bytes[e] > bytes[heaviest]) heaviest = e;
const receiver = columns[heaviest];

check("Every kind of report opens without an error and without a request", async (browser) => {
  for (const name of ["tune", "allocation", "online"]) {
    const page = await browser.open(fixture(name));
    assert.deepEqual(page.trouble, []);
    assert.match(await page.title(), /rankloom report/);
    assert.equal(await page.locator("h1").textContent(), fixture(name).title);
  }
});

check("Only the sections that the data has are shown, in reading order", async (browser) => {
  const ids = async (document) => (await browser.open(document)).locator("main > section").evaluateAll((all) => all.map((s) => s.id));
  assert.deepEqual(await ids(tune), ["verdict", "traffic", "machine", "figures", "mappers", "reproduce"]);
  assert.deepEqual(await ids(fixture("allocation")), ["verdict", "allocation", "reproduce"]);
  assert.deepEqual(await ids(fixture("online")), ["verdict", "online", "reproduce"]);
  assert.deepEqual(await ids({ schema: tune.schema, title: "nothing else", reproduce: tune.reproduce }), ["reproduce"]);
});

check("The verdict says the measured gain with its spread, the prediction, and what to type", async (browser) => {
  const page = await browser.open(tune);
  const text = await page.locator("#verdict").innerText();
  assert.match(text, /2\.43×/);
  assert.ok(text.includes(tune.verdict.sentence));
  for (const command of tune.verdict.commands) assert.ok(text.includes(command));
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  await page.locator("#verdict .copy").first().click();
  await page.waitForFunction(() => document.querySelector("#verdict .copy").textContent === "Copied");
});

check("The table of times says what limits each of them, and costs of the model predicted are times", async (browser) => {
  const bottlenecks = (name, seconds) => [{ name, bytes: 1.2e9, seconds }, { name: "latency between ranks 1 and 5", bytes: 0, seconds: seconds / 2 }];
  const predicted = { ...tune.verdict.predicted, bottlenecks_before: bottlenecks("node 3's card, out", 3), bottlenecks_after: bottlenecks("uplink of switch 0, in", 1) };
  const page = await browser.open({ ...tune, model: "predicted", verdict: { ...tune.verdict, predicted } });
  await page.locator("#verdict summary").first().click();
  const text = await page.locator("#verdict table").innerText();
  assert.match(text, /node 3's card, out: 1\.2 GB in 3 s/);
  assert.match(text, /latency between ranks 1 and 5: 1\.5 s/);
  assert.match(text, /uplink of switch 0, in: 1\.2 GB in 1 s/);
  const [auto] = tune.mappers;
  const cost = await page.locator("#mappers tbody tr", { hasText: auto.name }).first().locator("td").first().innerText();
  assert.doesNotMatch(cost, /^[\d,.e+]+$/, "a time has a unit");
});

check("Pointing at a cell shows both ranks, bytes, messages, places and level, in both maps", async (browser) => {
  const page = await browser.open(tune);
  for (const which of [0, 1]) {
    const point = await cell_point(page, which, sender, receiver);
    await page.mouse.move(point.x, point.y);
    const text = await page.locator(".tooltip").innerText();
    assert.ok(text.includes(`rank ${sender} → rank ${receiver}`), text);
    assert.ok(text.includes(megabytes(bytes[heaviest])), text);
    assert.ok(text.includes(`${messages[heaviest]}, `), text);
    assert.ok(text.includes(where(which, sender)) && text.includes(where(which, receiver)), text);
    const same_switch = Math.floor(cores[0][sender] / 96) === Math.floor(cores[0][receiver] / 96);
    assert.ok(text.includes(same_switch ? "between nodes (cost 3.7)" : "between switches (cost 4.1)"), text);
    const same_package = Math.floor(cores[1][sender] / 8) === Math.floor(cores[1][receiver] / 8);
    assert.ok(text.includes(same_package ? "within a package (cost 1)" : "between packages (cost 1.4)"), text);
  }
  await page.mouse.move(2, 2);
  assert.equal(await page.locator(".tooltip").isVisible(), false);
});

check("Pointing in one map marks the same pair in the other", async (browser) => {
  const page = await browser.open(tune);
  const before = await page.locator("#traffic canvas").nth(1).evaluate((canvas) => canvas.toDataURL());
  const point = await cell_point(page, 0, sender, receiver);
  await page.mouse.move(point.x, point.y);
  await drawn(page);
  const box = await page.locator("#traffic canvas").nth(1).boundingBox();
  const there = await cell_point(page, 1, sender, receiver);
  // The cross of the cursor goes through the row of the sender: its pixels changed, far rows' did not.
  const changed = await page.locator("#traffic canvas").nth(1).evaluate(
    async (canvas, [old, y, far]) => {
      const image = new Image();
      image.src = old;
      await image.decode();
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      copy.getContext("2d").drawImage(image, 0, 0);
      const line = (c, at) => c.getContext("2d").getImageData(70, at, 12, 1).data.join();
      return [line(copy, y) !== line(canvas, y), line(copy, far) !== line(canvas, far)];
    },
    [before, Math.round(there.y - box.y), Math.round(there.y - box.y < 200 ? 400 : 100)],
  );
  assert.deepEqual(changed, [true, false]);
});

check("A click on a cell chooses its sender in the machine", async (browser) => {
  const page = await browser.open(tune);
  const point = await cell_point(page, 1, sender, receiver);
  await page.mouse.click(point.x, point.y);
  assert.equal(await page.locator("#machine .panel h3").textContent(), `Rank ${sender}`);
});

check("Wheel, buttons and keys zoom both maps together, dragging moves them, All shows everything", async (browser) => {
  const page = await browser.open(tune);
  const shown = () => page.locator("#traffic output").textContent();
  const both = async () => [await pixels(page, "#traffic canvas >> nth=0"), await pixels(page, "#traffic canvas >> nth=1")];
  assert.equal(await shown(), "");
  const whole = await both();
  const point = await cell_point(page, 0, heat_rows[0][96], heat_rows[0][96]);
  await page.waitForTimeout(300); // the page has come to rest: the wheel is for the map
  await page.mouse.move(point.x, point.y);
  await page.mouse.wheel(0, -240);
  await page.waitForFunction(() => /^\d+ of 192 rows$/.test(document.querySelector("#traffic output").textContent));
  await drawn(page);
  const near = await both();
  assert.notEqual(near[0], whole[0]);
  assert.notEqual(near[1], whole[1]);
  await page.mouse.down();
  await page.mouse.move(point.x - 80, point.y - 60, { steps: 4 });
  await page.mouse.up();
  await drawn(page);
  const moved = await both();
  assert.notEqual(moved[0], near[0]);
  assert.notEqual(moved[1], near[1]);
  await page.getByRole("button", { name: "Show all" }).first().click();
  await page.mouse.move(2, 2);
  assert.equal(await shown(), "");
  await drawn(page);
  assert.equal((await both())[1], whole[1]);
  await page.getByRole("button", { name: "Zoom in" }).first().click();
  assert.equal(await shown(), "128 of 192 rows");
  await page.getByRole("button", { name: "Zoom out" }).first().click();
  assert.equal(await shown(), "");
});

check("Two fingers zoom, and bring the page along no more than they should", async (browser) => {
  const page = await browser.open(tune, { width: 390, height: 844 });
  const action = () => page.locator("#traffic canvas").first().evaluate((canvas) => canvas.style.touchAction);
  assert.equal(await action(), "pan-y", "a finger on the whole map scrolls the page");
  await page.locator("#traffic canvas").first().evaluate((canvas) => {
    canvas.setPointerCapture = () => {};
    const box = canvas.getBoundingClientRect();
    const send = (type, pointerId, x) => canvas.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: "touch", button: 0, clientX: box.left + x, clientY: box.top + 150, bubbles: true }));
    send("pointerdown", 1, 140);
    send("pointerdown", 2, 200);
    for (let i = 1; i <= 10; ++i) send("pointermove", 2, 200 + 6 * i);
    send("pointerup", 1, 140);
    send("pointerup", 2, 260);
  });
  // 60 pixels apart, then 120: twice as near.
  assert.equal(await page.locator("#traffic output").textContent(), "96 of 192 rows");
  assert.equal(await action(), "none", "a finger on a part of the map moves the map");
});

check("The table under a map has its heaviest pairs, heaviest first", async (browser) => {
  const page = await browser.open(tune);
  await page.locator("#traffic summary").first().click();
  const top = [...bytes].sort((a, b) => b - a).slice(0, 100);
  const shown = await page.locator("#traffic figure").first().locator("tbody tr td:nth-child(3)").evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));
  assert.deepEqual(shown, top);
});

check("The heat map is read by keys alone", async (browser) => {
  const page = await browser.open(tune);
  await page.locator("#traffic canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await voice(page), new RegExp(`^rank ${heat_rows[0][0]} → rank ${heat_rows[0][0]}: traffic none`));
  await page.keyboard.press("ArrowDown");
  assert.match(await voice(page), new RegExp(`^rank ${heat_rows[0][1]} → rank ${heat_rows[0][0]}:`));
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("n");
  const first = Math.min(...columns.slice(rows[0], rows[1]));
  assert.match(await voice(page), new RegExp(`^rank 0 → rank ${first}: traffic \\S+ [kM]?B`));
  await page.keyboard.press("+");
  assert.equal(await page.locator("#traffic output").textContent(), "128 of 192 rows");
  await page.keyboard.press("0");
  assert.equal(await page.locator("#traffic output").textContent(), "");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#machine .panel h3").textContent(), "Rank 0");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY", "Tab leaves the map");
});

check("A click on a rank lists its partners with bytes, messages and where they are", async (browser) => {
  const page = await browser.open(tune);
  const point = await chip_point(page, 1, sender);
  await page.mouse.click(point.x, point.y);
  const panel = page.locator("#machine .panel");
  assert.equal(await panel.locator("h3").textContent(), `Rank ${sender}`);
  assert.ok((await panel.innerText()).includes(where(1, sender)));
  const sums = new Map();
  for (let rank = 0; rank < tune.traffic.ranks; ++rank)
    for (let e = rows[rank]; e < rows[rank + 1]; ++e) {
      const other = rank === sender ? columns[e] : columns[e] === sender ? rank : -1;
      if (other >= 0 && other !== sender) sums.set(other, (sums.get(other) ?? 0) + bytes[e]);
    }
  assert.equal(await panel.locator("tbody tr").count(), sums.size);
  const [best, most] = [...sums].sort((a, b) => b[1] - a[1])[0];
  const row = await panel.locator("tbody tr").first().innerText();
  assert.ok(row.includes(String(best)) && row.includes(megabytes(most)), row);
  await page.mouse.click(point.x, point.y);
  assert.equal(await panel.locator("h3").textContent(), "No rank chosen");
});

check("The machine is read by keys alone, and any rank is found by its number", async (browser) => {
  const page = await browser.open(tune);
  await page.locator("#machine canvas").focus();
  await page.keyboard.press("ArrowRight");
  const first = heat_rows[1][0], second = heat_rows[1][1];
  assert.match(await voice(page), new RegExp(`^rank ${first}: is on node 0`));
  await page.keyboard.press("ArrowRight");
  assert.match(await voice(page), new RegExp(`^rank ${second}: is on node 0`));
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#machine .panel h3").textContent(), `Rank ${second}`);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#machine .panel h3").textContent(), "No rank chosen");
  await page.getByLabel("Rank", { exact: true }).fill("100");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#machine .panel h3").textContent(), "Rank 100");
});

check("Before and after: the ranks move, smoothly, and the panel follows", async (browser) => {
  const page = await browser.open(tune, { still: false });
  // Every picture is 16 ms after the last one, however busy the machine is.
  await page.evaluate(() => {
    let now = performance.now();
    const next = window.requestAnimationFrame.bind(window);
    performance.now = () => now;
    window.requestAnimationFrame = (draw) => next(() => draw((now += 16)));
  });
  await page.getByLabel("Rank", { exact: true }).fill(String(sender));
  await page.keyboard.press("Enter");
  assert.ok((await page.locator("#machine .panel").innerText()).includes(where(1, sender)));
  // All pictures that are drawn on the way.
  const seen = page.locator("#machine canvas").evaluate(async (canvas) => {
    const found = new Set();
    for (let left = 100; left > 0; left -= window.pressed ? 1 : 0) {
      found.add(canvas.toDataURL().length);
      await new Promise((draw) => window.requestAnimationFrame(draw));
    }
    return found.size;
  });
  await page.getByRole("radio", { name: "Before" }).focus();
  await page.keyboard.press("Space");
  await page.evaluate(() => (window.pressed = true));
  assert.ok((await seen) > 3, `only ${await seen} different pictures`);
  assert.ok((await page.locator("#machine .panel").innerText()).includes(where(0, sender)));
});

check("The heat map in the order of clusters has the ranks of a cluster next to each other, once for all placements", async (browser) => {
  const document = structuredClone(tune), { ranks } = tune.traffic, starts = [0], to = [], amounts = [];
  for (let rank = 0; rank < ranks; ++rank) {
    for (let other = 0; other < ranks; ++other)
      if (other !== rank && (other % 8 === rank % 8 || other === (rank + 1) % ranks)) [to[to.length], amounts[amounts.length]] = [other, other % 8 === rank % 8 ? 1e6 : 1e4];
    starts.push(to.length);
  }
  document.traffic = { ...tune.traffic, rows: pack("u32", starts), columns: pack("u32", to), bytes: pack("f32", amounts), messages: undefined };
  const page = await browser.open(document), canvas = page.locator("#traffic canvas").first();
  assert.deepEqual(page.trouble, []);
  const lead = await page.locator("#traffic .lead").textContent();
  await page.locator("#traffic label", { hasText: "Clusters" }).click();
  assert.equal(await page.locator("#traffic canvas:visible").count(), 1);
  assert.equal(await page.locator("#traffic h3").first().textContent(), "8 clusters of ranks");
  assert.match(await page.locator("#traffic .lead").textContent(), /within a cluster: 99\.\d+ % of the bytes/);
  await canvas.focus();
  await page.keyboard.press("ArrowDown");
  const senders = [];
  for (let row = 0; row < 26; ++row) {
    senders.push(Number(/^rank (\d+) →/.exec(await voice(page))[1]));
    await page.keyboard.press("ArrowDown");
  }
  assert.deepEqual(senders, [...Array.from({ length: 24 }, (_, i) => 8 * i), 1, 9]);
  await page.locator("#traffic label", { hasText: "Mapping" }).click();
  assert.equal(await page.locator("#traffic canvas:visible").count(), 2);
  assert.equal(await page.locator("#traffic .lead").textContent(), lead);
});

check("Nodes that are small are folded, and a click unfolds them", async (browser) => {
  // A machine of so many nodes that cores would be dots: made of the same data, laid out on a small part of the room.
  const small = structuredClone(tune);
  small.machine.size = small.machine.size.map((side) => side * 8);
  const folded = await browser.open(small, { width: 390, height: 844 });
  const point = await folded.locator("#machine canvas").evaluate((canvas, [size, box]) => {
    canvas.scrollIntoView({ block: "center" });
    const r = canvas.getBoundingClientRect(), scale = Math.min((r.width - 20) / size[0], (r.height - 20) / size[1]);
    return { x: r.left + (r.width - size[0] * scale) / 2 + (box.x + box.w / 2) * scale, y: r.top + (r.height - size[1] * scale) / 2 + (box.y + box.h / 2) * scale };
  }, [small.machine.size, tune.machine.boxes[1]]);
  await folded.waitForTimeout(300);
  await folded.mouse.move(point.x, point.y);
  assert.match(await folded.locator(".tooltip").innerText(), /node 0[\s\S]*16 ranks[\s\S]*click to unfold/);
  await folded.mouse.click(point.x, point.y);
  assert.match(await voice(folded), /node 0 unfolded/);
  // The node fills the picture now, and its ranks can be pointed at.
  const box = await folded.locator("#machine canvas").boundingBox(), seen = new Set();
  for (let i = 1; i < 12; ++i) {
    await folded.mouse.move(box.x + (box.width * i) / 12, box.y + box.height / 2);
    if (await folded.locator(".tooltip").isVisible()) seen.add((await folded.locator(".tooltip strong").textContent()).replace(/\d+/, "N"));
  }
  assert.deepEqual([...seen], ["rank N"]);
  assert.deepEqual(folded.trouble, []);
});

check("Devices are drawn where they are near, named by a tooltip, and listed in a table", async (browser) => {
  const document = devices_document(), { machine } = document, [template] = machine.templates, nodes = machine.boxes.filter((box) => box.kind === "node");
  const page = await browser.open(document);
  assert.deepEqual(page.trouble, []);
  const point = (node, box) => layout_point(page, machine, node.x + box.x + box.w / 2, node.y + box.y + box.h / 2);
  const tooltip = async (node, box) => {
    const { x, y } = await point(node, box);
    await page.mouse.move(x, y);
    return (await page.locator(".tooltip").innerText()).trim();
  };
  const gpu = template.devices.find((device) => device.label === "GPU 2"), card = template.devices.find((device) => device.kind === "nic");
  // GPU 2 belongs to slot 4 on the second node, where rank 5 is after the mapping.
  assert.match(await tooltip(nodes[1], gpu), /^GPU 2\s+name\s+NVIDIA H200\s+address\s+0000:27:00\.0\s+is near\s+node 1 · package 0\s+is used by\s+rank 5$/);
  assert.match(await tooltip(nodes[0], card), /^mlx5_0\s+address\s+0000:f1:00\.0\s+is near\s+node 0$/);
  const { x, y } = await point(nodes[1], gpu);
  await page.mouse.click(x, y);
  assert.equal(await page.locator("#machine .panel h3").textContent(), "Rank 5");
  await page.getByText("Table: devices of each node").click();
  const rows = await page.locator("#machine details table tbody tr").allInnerTexts();
  assert.equal(rows.length, 10);
  assert.match(rows[0], /node 0\s+GPU 2\s+NVIDIA H200\s+0000:27:00\.0\s+node 0 · package 0\s+rank 0\s+rank 1/);
  assert.deepEqual(page.trouble, []);
});

check("A rank of several cores is on all of them and on its GPU, in one colour, and the panel names them", async (browser) => {
  const document = devices_document(), { machine } = document, [template] = machine.templates, [node] = machine.boxes.filter((box) => box.kind === "node");
  const page = await browser.open(document);
  const cores = template.boxes.filter((box) => box.kind === "core");
  for (const core of cores.slice(0, 2)) {
    const { x, y } = await layout_point(page, machine, node.x + core.x + core.w / 2, node.y + core.y + core.h / 2);
    await page.mouse.move(x, y);
    assert.match(await page.locator(".tooltip").innerText(), /^rank 1\s[\s\S]*occupies\s+cores 0, 1 and GPU 2/);
  }
  await page.mouse.move(2, 2);
  await drawn(page);
  // The colour above the text.
  const colour = async (box) => {
    const { inside } = await layout_point(page, machine, node.x + box.x + box.w / 2, node.y + box.y + 0.2 * box.h);
    return page.locator("#machine canvas").evaluate((canvas, { x, y }) => {
      const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      pixel.drawImage(canvas, -Math.round(x), -Math.round(y));
      return pixel.getImageData(0, 0, 1, 1).data.join();
    }, inside);
  };
  const gpu = template.devices.find((device) => device.number === GPU_OF_SLOT[0] && device.kind === "gpu");
  assert.equal(await colour(cores[1]), await colour(cores[0]));
  assert.equal(await colour(gpu), await colour(cores[0]));
  assert.notEqual(await colour(gpu), await colour(template.devices.find((device) => device.kind === "nic")), "a device without ranks has no colour");
  const panel = page.locator("#machine .panel");
  await page.getByLabel("Rank", { exact: true }).fill("6");
  await page.keyboard.press("Enter");
  assert.match(await panel.innerText(), /node 1 · package 1 · core 6[\s\S]*Occupies cores 6, 7 and GPU 1\./);
  await page.locator("#machine canvas").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await voice(page), /^rank \d: is on node \d.*; occupies cores \d, \d and GPU \d;/);
  assert.deepEqual(page.trouble, []);
});

check("Without devices and with ranks of one core, nothing speaks of them", async (browser) => {
  const page = await browser.open(tune);
  await page.getByLabel("Rank", { exact: true }).fill("7");
  await page.keyboard.press("Enter");
  assert.doesNotMatch(await page.locator("#machine").innerText(), /GPU|device|Occupies|slot/i);
  assert.equal(await page.locator("#machine details").count(), 1);
});

check("Tables sort by their heads, both ways, and say so", async (browser) => {
  const page = await browser.open(tune);
  const names = () => page.locator("#mappers tbody th").allInnerTexts();
  await page.locator("#mappers").getByRole("button", { name: "Cost" }).click();
  assert.match((await names())[0], /^auto/);
  assert.equal(await page.locator("#mappers th[aria-sort]").getAttribute("aria-sort"), "ascending");
  await page.locator("#mappers").getByRole("button", { name: "Cost" }).click();
  assert.match((await names())[0], /^block/);
  await page.locator("#mappers").getByRole("button", { name: "Mapper" }).click();
  assert.deepEqual((await names()).map((name) => name.replace(/\s*chosen$/, "")), ["auto", "block", "greedy", "refine", "scotch"]);
});

check("Dark by the system and by the switch; pictures follow", async (browser) => {
  const dark = await browser.open(tune, { dark: true });
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), "dark");
  const page = await browser.open(tune);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = [await ground(), await pixels(page, "#traffic canvas"), await pixels(page, "#machine canvas")];
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  await drawn(page);
  const now = [await ground(), await pixels(page, "#traffic canvas"), await pixels(page, "#machine canvas")];
  now.forEach((value, i) => assert.notEqual(value, light[i]));
  assert.deepEqual(page.trouble, []);
});

check("On paper: light, without controls, everything within the page", async (browser) => {
  const page = await browser.open(tune, { dark: true, width: 794 });
  if (!FIREFOX) await on_paper(page);
  const pdf = await page.pdf({ format: "A4" });
  const sheets = (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
  assert.ok(FIREFOX ? pdf.length > 50_000 : sheets >= 2 && sheets <= 8, `${sheets} sheets`);
});

/** Not in Firefox: WebDriver BiDi does not emulate paper, and the sheets of its PDF are compressed. */
async function on_paper(page) {
  await page.emulateMedia({ media: "print" });
  await drawn(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  for (const hidden of [".contents", ".copy", ".choice", ".tools button"]) assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the paper");
}

check("Allocation: time moves through the jobs, sharing is named, policies switch", async (browser) => {
  const document = fixture("allocation"), page = await browser.open(document);
  const state = () => page.locator("#allocation output").textContent();
  const at = (policy, time) => document.allocation.policies[policy].jobs.filter((job) => job.start <= time && time < job.end);
  const slider = page.locator("#allocation input[type=range]");
  const old = await state();
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await state(), old);
  const time = Number(await slider.inputValue());
  assert.ok((await state()).includes(`${at(0, time).length} jobs on ${at(0, time).reduce((sum, job) => sum + job.size, 0)} of 64 nodes; none shares links`), await state());
  await page.getByRole("radio", { name: "first-fit" }).check({ force: true });
  const later = Number(await page.locator("#allocation input[type=range]").inputValue());
  const sharing = at(1, later).filter((job) => job.shares_links).map((job) => job.id);
  assert.ok(sharing.length > 0 && (await state()).endsWith(`sharing links: ${sharing.join(", ")}`), await state());
  assert.match(await page.locator("#allocation table").first().innerText(), /closed-best[\s\S]*91 %[\s\S]*first-fit[\s\S]*42 %/);
});

check("Allocation: pointing at a job tells its nodes, wait and links", async (browser) => {
  const document = fixture("allocation"), page = await browser.open(document);
  const { jobs } = document.allocation.policies[0];
  const job = jobs.reduce((best, j) => (j.size * (j.end - j.start) > best.size * (best.end - best.start) ? j : best));
  const begin = Math.min(...jobs.map((j) => j.start)), end = Math.max(...jobs.map((j) => j.end));
  const canvas = page.locator("#allocation .canvas-box canvas").first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const node = Number(job.nodes.split(",")[0]);
  await page.mouse.move(box.x + 44 + (((job.start + job.end) / 2 - begin) / (end - begin)) * (box.width - 46), box.y + 4 + ((node + 0.5) * (box.height - 28)) / 64);
  const text = await page.locator(".tooltip").innerText();
  assert.ok(await page.locator(".tooltip").isVisible());
  assert.ok(text.includes(`job ${job.id}`) && text.includes(`${job.size}: `) && text.includes("its own"), text);
});

check("Online: phases, moves, the cost of staying, and whether to restart", async (browser) => {
  const page = await browser.open(fixture("online"));
  assert.match(await page.locator("#online .advice").innerText(), /42 %/);
  assert.equal(await page.locator("#online .timeline rect").count(), 6);
  assert.equal(await page.locator("#online .timeline .burst").count(), 6);
  assert.match(await page.locator("#online").innerText(), /Cost on host-a[\s\S]*46 % of the cost without/);
});

check("Blocks of ranks: the maps show blocks and say so, the machine is left out", async (browser) => {
  const document = structuredClone(tune);
  document.traffic.block = 16;
  document.traffic.blocks_note = "too many to show each";
  document.traffic_mapped = document.traffic;
  document.orders.forEach((order) => delete order.core_of);
  document.heatmap.orders.forEach((order) => delete order.ranks);
  const page = await browser.open(document);
  assert.deepEqual(page.trouble, []);
  assert.equal(await page.locator("#machine").count(), 0);
  await page.locator("#traffic canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await voice(page), /^ranks 0–15 → ranks 0–15:/);
  assert.match(await page.locator("#traffic").innerText(), /Each row and column represents 16 consecutive ranks: too many to show each\./);
});

check("A program that says nothing, on one core, has a report, too", async (browser) => {
  const document = structuredClone(tune), none = { type: "u32", length: 0, data: "" };
  const one = { type: "u32", length: 1, data: deflateSync(Buffer.alloc(4)).toString("base64") };
  Object.assign(document.traffic, { ranks: 1, total_bytes: 0, total_messages: 0, rows: { type: "u32", length: 2, data: deflateSync(Buffer.alloc(8)).toString("base64") }, columns: none, bytes: { ...none, type: "f32" }, messages: { ...none, type: "f32" } });
  document.orders.forEach((order) => (order.core_of = one));
  document.heatmap = { orders: document.heatmap.orders.map(({ id }) => ({ id, ranks: one, borders: [0], nodes: ["node 0"] })), scale: { min: 0, max: 0 } };
  document.levels = document.levels.map(({ label }) => ({ label, bytes_before: 0, bytes_after: 0 }));
  document.mappers = [{ name: "auto", cost: 0, cost_spread: 0, seeds: 1, chosen: true, relative: 1 }];
  document.lower_bound = 0;
  const page = await browser.open(document);
  assert.deepEqual(page.trouble, []);
  await page.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
  await page.getByLabel("Rank", { exact: true }).fill("0");
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#machine .panel").innerText(), /0 partners/);
  assert.doesNotMatch(await page.locator("main").innerText(), /NaN|Infinity|undefined/);
  assert.deepEqual(page.trouble, []);
});

check("Only a measured gain is green, and a bound that is left out is not mentioned", async (browser) => {
  const colour = async (kind, measured) => {
    const document = structuredClone(tune);
    document.verdict = { kind, sentence: "s", saved: 0.5, measured };
    document.mappers = [{ name: "block", cost: 1, relative: 1, chosen: true }, { name: "random", cost: 50000, relative: 50000 }];
    delete document.lower_bound;
    const page = await browser.open(document);
    assert.deepEqual(page.trouble, []);
    const text = await page.locator("#mappers").innerText();
    assert.doesNotMatch(text, /bound/i);
    assert.match(text, /50,000 times/);
    const background = (selector) => page.locator(selector).first().evaluate((badge) => getComputedStyle(badge).backgroundColor);
    assert.equal(await page.locator("#verdict .headline").count(), kind === "gain" ? 1 : 0);
    assert.notEqual(await background("#mappers .badge"), green, "the mapper that is chosen is not a gain");
    return background("#verdict .badge");
  };
  let green;
  green = await colour("gain", tune.verdict.measured);
  for (const kind of ["gain", "none", "comparison"]) assert.notEqual(await colour(kind), green);
});

check("The headline is the measured time, else the predicted one, else the traffic inside nodes", async (browser) => {
  const headline = async (verdict) => (await (await browser.open({ ...tune, verdict: { kind: "gain", sentence: "s", ...verdict } })).locator("#verdict .headline").innerText()).replace(/\s+/g, " ");
  const inside = { before: 0.1, after: 0.75 }, predicted = { before: 3, after: 2, unit: "s" };
  assert.equal(await headline({ measured: tune.verdict.measured, predicted, inside, saved: 0.5 }), "2.43× faster, measured ± 0.05");
  assert.equal(await headline({ predicted, inside, saved: 0.5 }), "1.50× faster communication, predicted");
  assert.equal(await headline({ inside, saved: 0.5 }), "10 % → 75 % of the traffic stays inside a node");
  assert.equal(await headline({ saved: 0.5 }), "50.0 % less cost, by the model");
});

const network = network_document();
/** A point of the layout of the network on one of its canvases, in the window. */
async function network_point(page, which, x, y) {
  const canvas = page.locator("#network canvas").nth(which);
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox(), [wide, high] = network.network.size, scale = Math.min((box.width - 20) / wide, (box.height - 20) / high);
  return { x: box.x + (box.width - wide * scale) / 2 + x * scale, y: box.y + (box.height - high * scale) / 2 + y * scale };
}
const loads = ["before", "after"].map((order) => ({ there: unpack(network.network[order].there), back: unpack(network.network[order].back) }));
const size_words = (value) => (value >= 1e9 ? `${Number((value / 1e9).toPrecision(3))} GB` : value >= 1e6 ? `${Number((value / 1e6).toPrecision(3))} MB` : `${Number((value / 1e3).toPrecision(3))} kB`);

check("The network names its busiest links and where the gain is, and the list of links leaves the figures", async (browser) => {
  const page = await browser.open(network);
  assert.deepEqual(page.trouble, []);
  const facts = await page.locator("#verdict .glance dd").allInnerTexts();
  const most = Math.max(...loads[0].there, ...loads[0].back), cable = loads[0].there.indexOf(most);
  assert.ok(cable >= 12, "an uplink of a switch is the busiest");
  assert.equal(facts[0], `before: switch ${cable - 12} → top switch, ${size_words(most)}`);
  assert.match(facts[1], /^after: .* → .*, /);
  const total = (order, from, to) => [loads[order].there, loads[order].back].flatMap((list) => [...list.slice(from, to)]).reduce((sum, value) => sum + value, 0);
  assert.ok(total(0, 0, 12) - total(1, 0, 12) > total(0, 12, 14) - total(1, 12, 14));
  assert.match(facts[2], /^Links between nodes and switches carry .* less: /);
  assert.ok(facts[2].includes(`${size_words(total(0, 0, 12))} before`), facts[2]);
  assert.equal(await page.locator("#figures h3", { hasText: "Most loaded links" }).count(), 0);
  assert.equal(await page.locator("#network tbody tr", { hasText: "→" }).count() >= 10, true);
});

check("A rank is found in both pictures, by its number and by a click on its node", async (browser) => {
  const page = await browser.open(network);
  const plain = [await pixels(page, "#network canvas >> nth=0"), await pixels(page, "#network canvas >> nth=1")];
  await page.getByLabel("Node of rank").fill("17");
  await page.keyboard.press("Enter");
  const node = (order, rank) => `node ${Math.floor(cores[order][rank] / 16)}`;
  const answer = page.locator("#verdict .glance dd").last();
  assert.equal(await answer.innerText(), `before: ${node(0, 17)}, after: ${node(1, 17)}`);
  assert.equal(await page.locator("#network .tools input[type=number]").inputValue(), "17");
  assert.equal(await page.locator("#machine .panel h3").textContent(), "Rank 17");
  await drawn(page);
  assert.notEqual(await pixels(page, "#network canvas >> nth=0"), plain[0]);
  assert.notEqual(await pixels(page, "#network canvas >> nth=1"), plain[1]);
  const xs = unpack(network.network.x), ys = unpack(network.network.y), point = await network_point(page, 1, xs[4], ys[4]);
  await page.mouse.move(point.x, point.y);
  const ranks = [...cores[1].keys()].filter((rank) => Math.floor(cores[1][rank] / 16) === 4);
  assert.ok((await page.locator(".tooltip").innerText()).includes("node 4"));
  await page.mouse.click(point.x, point.y);
  assert.equal(await page.locator("#machine .panel h3").textContent(), `Rank ${Math.min(...ranks)}`);
  await page.getByLabel("Node of rank").fill("123456");
  await page.keyboard.press("Enter");
  assert.match(await answer.innerText(), /^There are ranks 0 to \d+\.$/);
});

check("The address of a page chooses a rank, unless there is no such rank", async (browser) => {
  const file = browser.write(network);
  for (const [hash, shown] of [["#rank=17", "17"], ["#rank=99999999", ""], ["#rank=x", ""], ["#network", ""]]) {
    const page = await browser.open_file(file, { hash });
    assert.equal(await page.getByLabel("Node of rank").inputValue(), shown, hash);
    assert.equal((await page.locator("#verdict .glance dd").last().innerText()) === "Type its number.", shown === "");
  }
});

check("Without a network, the gain is at the level that saves the most bytes", async (browser) => {
  const page = await browser.open({ ...tune, network: undefined, levels: [
    { label: "between nodes", bytes_before: 4e9, bytes_after: 1e9, messages_before: 1, messages_after: 1 },
    { label: "between packages", bytes_before: 1e9, bytes_after: 2e9, messages_before: 1, messages_after: 1 },
    { label: "same core", bytes_before: 9e9, bytes_after: 0, messages_before: 1, messages_after: 1 },
  ] });
  const text = await page.locator("#verdict .glance").innerText();
  assert.ok(text.includes("Between nodes: 75 % less, 4 GB before, 1 GB after."), text);
  assert.ok(!text.includes("Busiest link"), text);
});

check("A link is found by a click on its name, in the verdict, and in the picture, and by keys", async (browser) => {
  const document = structuredClone(network);
  document.verdict.notes = ["Limited before by link from switch 1 to top switch: 1 GB in 2 s.", "link from nowhere to top switch: unknown"];
  const page = await browser.open(document), about = () => page.locator("#network .about").innerText();
  await page.locator("#verdict .notes button").click();
  assert.equal(await page.locator("#verdict .notes button").count(), 1);
  const words = (cable, order, forward) => size_words((forward ? loads[order].there : loads[order].back)[cable]);
  assert.ok((await about()).startsWith(`switch 1 → top switch, between switches: before ${words(13, 0, true)}, after ${words(13, 1, true)}.`), await about());
  await page.locator("#network tbody button", { hasText: "top switch → switch 0" }).first().click();
  assert.ok((await about()).startsWith(`top switch → switch 0, between switches: before ${words(12, 0, false)}`), await about());
  // The middle of the cable from switch 1 to the top switch.
  const point = await network_point(page, 0, (13.3 + 8.3) / 2, 4.5);
  await page.mouse.move(point.x, point.y);
  const tip = await page.locator(".tooltip").innerText();
  assert.ok(tip.includes("switch 1") && tip.includes("top switch") && tip.includes("between switches"), tip);
  await page.mouse.click(point.x, point.y);
  assert.match(await about(), /switch 1/);
  await page.locator("#network canvas").first().focus();
  await page.keyboard.press("Escape");
  assert.match(await about(), /^Point at a link/);
  await page.keyboard.press("ArrowDown");
  const most = Math.max(...loads[0].there, ...loads[0].back);
  assert.ok((await about()).includes(size_words(most)));
  assert.match(await voice(page), /^1 of 28/);
  const before = await pixels(page, "#network canvas >> nth=1");
  await page.locator("#network label", { hasText: "Change" }).click();
  await drawn(page);
  assert.notEqual(await pixels(page, "#network canvas >> nth=1"), before);
});

check("With many cables in view, a line stands for several of them, with the load of the busiest, and none is left out", async (browser) => {
  const open = async (quiet) => {
    const document = structuredClone(network), big = torus_network([16, 32, 32], random(1)), cables = big.cables.a.length, busy = 7 * 3072 + 1500;
    // In the second half of the planes, little traffic or none; one busy cable in the first half.
    const bytes = (busy_bytes) => ({ there: pack("f32", Float32Array.from({ length: cables }, (_, cable) => (cable === busy ? busy_bytes : cable < cables / 2 ? 1e5 : quiet))), back: pack("f32", new Float32Array(cables)) });
    document.network = { ...big, before: bytes(2e6), after: bytes(2e6) };
    const page = await browser.open(document);
    assert.deepEqual(page.trouble, []);
    return page;
  };
  const page = await open(0), note = () => page.locator("#network .aggregated").textContent();
  const [, lines, total, most] = /^([\d,]+) lines stand for ([\d,]+) cables in view\. A line is up to ([\d,]+) of them, in the colour of the busiest one\./.exec(await note()).map((word) => Number(word.replaceAll(",", "")));
  assert.equal(total, 49152);
  assert.ok(lines <= 24000 && most > 1 && lines * most >= total, await note());
  const few = await pixels(page, "#network canvas >> nth=0"), other = await open(5e4);
  assert.notEqual(await pixels(other, "#network canvas >> nth=0"), few, "the cables with the lowest loads are drawn");
  await page.locator("#network canvas").first().focus();
  for (let i = 0; i < 8; ++i) await page.keyboard.press("+");
  await drawn(page);
  assert.equal(await note(), "");
});

check("An experiment: sentences, tables by class, and plots with a mark for every point that their axes can show", async (browser) => {
  const document = experiment_document(), page = await browser.open(document);
  assert.deepEqual(page.trouble, []);
  assert.deepEqual(await page.locator("main > section").evaluateAll((all) => all.map((s) => s.id)), ["results", "plots", "reproduce"]);
  assert.ok((await page.locator("#results li").first().innerText()).includes("costs less than block on 12 of 12 instances"));
  assert.equal(await page.locator("#results li").last().innerText(), "1 run failed.");
  assert.deepEqual(await page.locator("#results caption").allTextContents(), ["rgg: 12 instances", "all: 12 instances"]);
  const plots = page.locator("#plots figure");
  assert.equal(await plots.count(), 2);
  assert.equal(await plots.nth(0).locator("polyline").count(), 4);
  assert.equal(await plots.nth(1).locator("polyline").count(), 1);
  assert.deepEqual(await plots.nth(1).locator("svg.plot title").allTextContents(), ["auto in 10 ms: cost 1.40", "auto in 1 s: cost 1.00", "eager: cost 1.90", "block"]);
  // 0.01 s is left of 1 s, and its cost is above.
  const [first, second] = (await plots.nth(1).locator("polyline").getAttribute("points")).split(" ").map((point) => point.split(",").map(Number));
  assert.ok(first[0] < second[0] && first[1] < second[1]);
  await plots.nth(1).locator("summary").click();
  assert.equal(await plots.nth(1).locator("tbody tr").count(), 5);
});

check("A report of several problems shows one at a time, and each as alone", async (browser) => {
  const other = { ...structuredClone(tune), title: "another program", lower_bound: 1.2e9, verdict: { kind: "none", sentence: "No gain for the other program." } };
  const page = await browser.open({ ...tune, others: [other] });
  assert.deepEqual(page.trouble, []);
  const content = (of) => of.locator("main > section").evaluateAll((all) => all.map((section) => section.innerText.replace(/\s+/g, " ")).join("\n"));
  assert.equal(await page.locator("h1").textContent(), tune.title);
  assert.equal(await content(page), await content(await browser.open(tune)));
  const table = await page.locator(".problems").innerText();
  assert.ok(table.includes(tune.verdict.sentence) && table.includes(other.verdict.sentence));
  await page.locator(".problems button", { hasText: "another program" }).click();
  await page.locator("h1", { hasText: "another program" }).waitFor();
  assert.equal(await content(page), await content(await browser.open(other)));
  assert.equal(await page.locator(".problems [aria-current]").innerText(), "another program");
});

check("Text of the data stays text, and damaged data is told in a sentence", async (browser) => {
  const document = structuredClone(tune);
  document.title = '</script><img src=x onerror="document.title=1"><!--<script>';
  const page = await browser.open(document);
  assert.deepEqual(page.trouble, []);
  assert.equal(await page.locator("h1").textContent(), document.title);
  assert.equal(await page.locator("main img").count(), 0);
  const short = structuredClone(tune);
  short.traffic.bytes.length += 1;
  assert.match(await (await browser.open(short)).locator("main").innerText(), /the file is damaged/);
  assert.match(await (await browser.open({ ...tune, schema: "rankloom-report/9" })).locator("main").innerText(), /rankloom-report\/1/);
  assert.match(await (await browser.open(undefined)).locator("main").innerText(), /rankloom report RESULT/);
});

check("Bytes by distance and message size: one cell for each, before and after", async (browser) => {
  const map = { distances: ["between nodes", "between cores of a node"], sizes: [64, 128, 256], before: [[3e6, 0, 2e9], [0, 5e3, 0]], after: [[0, 0, 1e9], [3e6, 5e3, 1e9]] };
  const page = await browser.open({ ...tune, size_distance: map }), figure = page.locator("figure", { hasText: "Message sizes and distances" });
  assert.deepEqual(page.trouble, []);
  const titles = () => figure.locator("svg rect title").allTextContents();
  assert.deepEqual(await titles(), ["between nodes, from 256 bytes: 1 GB", "between cores of a node, from 64 bytes: 3 MB", "between cores of a node, from 128 bytes: 5 kB", "between cores of a node, from 256 bytes: 1 GB"]);
  await figure.getByRole("radio", { name: "Before" }).check();
  assert.deepEqual(await titles(), ["between nodes, from 64 bytes: 3 MB", "between nodes, from 256 bytes: 2 GB", "between cores of a node, from 128 bytes: 5 kB"]);
  // Larger is darker (or brighter, in the dark).
  const fills = await figure.locator("svg rect").evaluateAll((all) => all.map((rect) => rect.style.fill));
  assert.equal(new Set(fills).size, 3);
  await figure.locator("summary").click();
  assert.equal(await figure.locator("tbody tr").count(), 7);
  const alone = await browser.open({ ...tune, size_distance: { ...map, after: undefined } });
  assert.equal(await alone.locator("figure", { hasText: "Message sizes and distances" }).locator("svg rect").count(), 3);
});

check("A machine alone: its parts, its network with the neighbours of a switch, and where its numbers come from", async (browser) => {
  const document = machine_document(), page = await browser.open(document);
  assert.deepEqual(page.trouble, []);
  assert.deepEqual(await page.locator("main > section").evaluateAll((all) => all.map((s) => s.id)), ["verdict", "network", "machine", "reproduce"]);
  assert.equal(await page.locator("#verdict .badge").textContent(), "Machine");
  assert.match(await page.locator("#machine table").last().innerText(), /between nodes of a switch\s+3\.7\s+stated[\s\S]*unlimited\s+assumed/);
  assert.doesNotMatch(await page.locator("main").innerText(), /[Bb]usiest| MB|bytes on/);
  // A switch by its name, and by a click.
  const about = page.locator("#network .about"), before = await pixels(page, "#network canvas");
  await page.getByLabel("Node or switch").fill("switch 1");
  await page.keyboard.press("Enter");
  assert.equal(await about.textContent(), "switch 1 has 7 cables, to node 6, node 7, node 8, node 9, node 10, node 11, top switch.");
  await drawn(page);
  assert.notEqual(await pixels(page, "#network canvas"), before);
  const x = unpack(document.network.x), y = unpack(document.network.y), top = await network_point(page, 0, x[14], y[14]);
  await page.mouse.click(top.x, top.y);
  assert.equal(await about.textContent(), "top switch has 2 cables, to switch 0, switch 1.");
  await page.locator("#network canvas").press("Escape");
  assert.match(await about.textContent(), /^Point at/);
  await page.locator("#network canvas").press("ArrowRight");
  assert.equal(await about.textContent(), "node 0 has 1 cable, to switch 0.");
  // A node of the machine, and its cores.
  const whole = await pixels(page, "#machine canvas");
  await page.getByLabel("Node", { exact: true }).fill("node 7");
  await page.keyboard.press("Enter");
  assert.equal(await voice(page), "node 7: 16 cores");
  await page.locator("#machine canvas").press("Enter");
  await drawn(page);
  assert.notEqual(await pixels(page, "#machine canvas"), whole);
  await page.locator("#machine canvas").press("0");
  const node = document.machine.boxes.find((box) => box.label === "node 7"), core = document.machine.templates[0].boxes.find((box) => box.kind === "core" && box.first_core === 3);
  const point = await layout_point(page, document.machine, node.x + core.x + core.w / 2, node.y + core.y + core.h / 2);
  await page.mouse.move(point.x, point.y);
  assert.match(await page.locator(".tooltip").innerText(), /node 7 · package 0 · core 3/);
});

check("Jobs of a running batch system: the time is now, nodes have their names, and policies are not compared", async (browser) => {
  const document = status_document(), page = await browser.open(document), { jobs } = document.allocation.policies[0];
  assert.deepEqual(page.trouble, []);
  assert.ok(jobs.length > 2);
  const state = () => page.locator("#allocation output").textContent();
  assert.ok((await state()).startsWith(`now: ${jobs.length} jobs on ${jobs.reduce((sum, job) => sum + job.size, 0)} of 64 nodes`), await state());
  await page.locator("#allocation input[type=range]").press("ArrowLeft");
  assert.match(await state(), / ago: /);
  await page.locator("#allocation input[type=range]").press("PageUp");
  assert.match(await state(), /^in /);
  await page.locator("#allocation details").first().evaluate((details) => (details.open = true));
  const first = jobs[0], row = await page.locator("#allocation tbody tr").first().innerText();
  assert.ok(row.includes(`n${Number(first.nodes.split(",")[0]) + 1}`), row);
  assert.doesNotMatch(await page.locator("#allocation").innerText(), /Bounded slowdown|Policy/);
  const empty = await browser.open({ ...document, allocation: { ...document.allocation, policies: [{ policy: "Slurm", jobs: [] }] } });
  assert.deepEqual(empty.trouble, []);
  assert.match(await empty.locator("#allocation").innerText(), /No job runs\./);
});

check("Many ranks: a pixel shows the mean of its pairs, so that few pairs are paler than many; or the heaviest one", async (browser) => {
  const page = await browser.open(dense_document());
  assert.deepEqual(page.trouble, []);
  const canvas = page.locator("#traffic canvas");
  await canvas.scrollIntoViewIfNeeded();
  /** The different colours around a cell, but for that of the ground, the most frequent one. */
  const colours = async (row, column) => {
    await drawn(page);
    await drawn(page);
    return canvas.evaluate((one, [row, column, { left, top, right }]) => {
      const scale = one.width / one.clientWidth, side = one.clientWidth - left - right, reach = 6;
      const x = (left + (column / 2048) * side) * scale, y = (top + (row / 2048) * side) * scale;
      const { data } = one.getContext("2d").getImageData(Math.round(x - reach), Math.round(y - reach), 2 * reach, 2 * reach), counts = new Map();
      for (let i = 0; i < data.length; i += 4) counts.set(data.slice(i, i + 3).join(), (counts.get(data.slice(i, i + 3).join()) ?? 0) + 1);
      return [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
    }, [row, column, MARGIN]);
  };
  const dense = (await colours(32, 32))[0], single = (await colours(1600, 600))[1];
  assert.notEqual(dense, single);
  assert.match(await page.locator("#traffic .tools").innerText(), /mean bytes per pair/);
  await page.getByLabel("Heaviest pair").check();
  assert.equal((await colours(32, 32))[0], dense, "where all pairs have traffic, both are the same");
  assert.equal((await colours(1600, 600))[1], dense);
  assert.match(await page.locator("#traffic").innerText(), /the pair with the most bytes in its area/);
  const small = await browser.open(tune);
  assert.equal(await small.getByLabel("Heaviest pair").count(), 0);
});

check("A simulated run: one picture per mapping with the same scale, keys that say what a rank does, and the critical path", async (browser) => {
  const page = await browser.open(timeline_document());
  assert.deepEqual(page.trouble, []);
  assert.deepEqual(await page.locator("#time h3").allTextContents(), ["block", "chain.map"]);
  const canvas = page.locator("#time canvas").first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox(), left = 52, right = 2, top = 4, bottom = 24;
  // Rank 5 waits after a second of computation; block takes 11 s, chain.map 7.5 s.
  const point = (time, rank) => ({ x: box.x + left + (time / 11) * (box.width - left - right), y: box.y + top + ((rank + 0.5) / 8) * (box.height - top - bottom) });
  const words = async (time, rank) => {
    const { x, y } = point(time, rank);
    await page.mouse.move(x, y);
    return page.locator(".tooltip").innerText();
  };
  assert.match(await words(3, 5), /rank 5[^]*waiting[^]*100 %[^]*rank 0 computes/);
  assert.match(await words(0.5, 5), /computation[^]*100 %/);
  assert.match(await words(8.6, 5), /transfer[^]*100 %[^]*message of ranks 4 and 5/);
  await canvas.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await voice(page), /^rank 1, at .*computation 100 %/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".tooltip").isHidden(), true);
  const bars = await page.locator("#time .bar-row").allInnerTexts();
  assert.match(bars[0], /messages between nodes, 64 %[^]*7 s/);
  assert.match(bars[1], /computation, 36 %[^]*4 s/);
  assert.equal(bars.length, 4, "parts without time are left out");
  // The same time has the same length in both pictures: at 9.9 s, only block still has ranks in MPI.
  const colours = await page.locator("#time canvas").evaluateAll((all) =>
    all.map((one) => {
      const scale = one.width / one.clientWidth, x = Math.round((52 + (9.9 / 11) * (one.clientWidth - 54)) * scale), y = Math.round((4 + (6.85 / 8) * (one.clientHeight - 28)) * scale);
      return one.getContext("2d").getImageData(x, y, 1, 1).data.join();
    }),
  );
  assert.notEqual(colours[0], colours[1]);
  await page.locator("#time summary").last().click();
  assert.equal(await page.locator("#time table").last().locator("tbody tr").count(), 8);
});

await run();
