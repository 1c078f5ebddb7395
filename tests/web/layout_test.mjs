// The layout of the page at three widths: rules that hold with any font, and a coarse comparison with reference pictures.
// SPDX-License-Identifier: Apache-2.0
//   node layout_test.mjs --update     writes references/*.png again
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { devices_document, machine_document, network_document, status_document, timeline_document } from "./fixtures/make.mjs";
import { check, fixture, HERE, run } from "./harness.mjs";

const UPDATE = process.argv.includes("--update");
const REFERENCES = join(HERE, "references");
const WIDTHS = [1440, 1024, 390];
// Pictures whose size follows from the width alone, not from any font.
const PICTURES = { times: "#verdict .times", before: "#traffic canvas >> nth=0", after: "#traffic canvas >> nth=1", machine: "#machine canvas", sizes: "#figures .columns" };
// Of 255, over cells of a 16 × 16 raster: fonts and smoothing stay below, a missing or misplaced part does not.
const SIDE = 16, MEAN = 5, WORST = 40;

/** In the browser, which reads the file: the picture as w × h means of its pixels, alpha left out. */
async function means(file, w, h) {
  const image = new Image();
  image.src = `data:image/png;base64,${file}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const height = h ?? Math.round((w * image.height) / image.width);
  const sums = new Float64Array(3 * w * height), parts = new Float64Array(w * height);
  // A pixel counts for each cell by the part of it that lies there, so rasters of large and small pictures agree.
  for (let y = 0; y < image.height; ++y)
    for (let x = 0; x < image.width; ++x) {
      const x0 = (x * w) / image.width, x1 = ((x + 1) * w) / image.width, y0 = (y * height) / image.height, y1 = ((y + 1) * height) / image.height;
      for (let cy = Math.floor(y0); cy < y1 && cy < height; ++cy)
        for (let cx = Math.floor(x0); cx < x1 && cx < w; ++cx) {
          const part = (Math.min(x1, cx + 1) - Math.max(x0, cx)) * (Math.min(y1, cy + 1) - Math.max(y0, cy)), cell = cy * w + cx, at = 4 * (y * image.width + x);
          parts[cell] += part;
          for (let c = 0; c < 3; ++c) sums[3 * cell + c] += part * data[at + c];
        }
    }
  return { w, h: height, values: Array.from(sums, (sum, i) => sum / parts[Math.floor(i / 3)]) };
}

/** Difference of two PNGs as mean and largest, over a coarse raster. */
async function difference(page, a, b) {
  const [one, other] = [await page.evaluate(`(${means})("${a.toString("base64")}", ${SIDE}, ${SIDE})`), await page.evaluate(`(${means})("${b.toString("base64")}", ${SIDE}, ${SIDE})`)];
  const apart = one.values.map((value, i) => Math.abs(value - other.values[i]));
  return { mean: apart.reduce((sum, d) => sum + d, 0) / apart.length, worst: Math.max(...apart) };
}

/** A reference is small: a picture 128 wide. */
async function shrunk(page, png) {
  const data = await page.evaluate(`(async () => {
    const { w, h, values } = await (${means})("${png.toString("base64")}", 128);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext("2d"), image = context.createImageData(w, h);
    for (let i = 0; i < w * h; ++i) {
      for (let c = 0; c < 3; ++c) image.data[4 * i + c] = Math.round(values[3 * i + c]);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL("image/png").split(",")[1];
  })()`);
  return Buffer.from(data, "base64");
}

for (const width of WIDTHS)
  check(`At ${width} wide the pictures look like their references`, async (browser) => {
    const page = await browser.open(fixture("tune"), { width });
    const helper = await (await (await browser.browser({ dark: false, still: true })).newContext()).newPage();
    for (const [name, selector] of Object.entries(PICTURES)) {
      const picture = await page.locator(selector).first().screenshot();
      const file = join(REFERENCES, `${name}-${width}.png`);
      if (UPDATE) {
        mkdirSync(REFERENCES, { recursive: true });
        writeFileSync(file, await shrunk(helper, picture));
      }
      assert.ok(existsSync(file), `${file} is missing`);
      const found = await difference(helper, picture, readFileSync(file));
      assert.ok(found.mean < MEAN && found.worst < WORST, `${name}: mean ${found.mean.toFixed(1)}, worst ${found.worst}`);
    }
  });

check("The comparison tells pictures apart", async (browser) => {
  const helper = await (await (await browser.browser({ dark: false, still: true })).newContext()).newPage();
  const before = readFileSync(join(REFERENCES, "before-1440.png")), after = readFileSync(join(REFERENCES, "after-1440.png"));
  const other = await difference(helper, before, after);
  assert.ok(other.mean > MEAN && other.worst > WORST, `mean ${other.mean}, worst ${other.worst}`);
  assert.deepEqual(await difference(helper, before, before), { mean: 0, worst: 0 });
  // The same page in the dark, or with the ranks elsewhere, is another picture.
  const page = await browser.open(fixture("tune"), { dark: true });
  const dark = await difference(helper, await page.locator(PICTURES.after).screenshot(), after);
  assert.ok(dark.mean > MEAN || dark.worst > WORST);
});

check("Nothing is wider than the window, at any width, in any report", async (browser) => {
  const made = { devices: devices_document, network: network_document, machine: machine_document, status: status_document, timeline: timeline_document };
  for (const name of ["tune", "devices", "network", "machine", "allocation", "status", "online", "timeline"]) {
    const page = await browser.open(made[name]?.() ?? fixture(name), { height: 800 });
    if (name === "devices") await page.getByText("Table: devices of each node").click();
    for (const width of [...WIDTHS, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${name} at ${width}: ${over} too wide`);
    }
  }
});

check("The parts of the verdict are next to or below each other, without gaps, in any report and at any width", async (browser) => {
  for (const report of ["tune", "allocation", "online"].map(fixture).concat([{ ...fixture("tune"), verdict: { ...fixture("tune").verdict, kind: "none", measured: undefined } }, network_document(), machine_document()]))
    for (const width of WIDTHS) {
      const page = await browser.open(report, { width });
      const boxes = await page.locator(".verdict-grid > *").evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect()).filter((box) => box.height > 0).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })));
      const grid = await page.locator(".verdict-grid").evaluate((part) => part.getBoundingClientRect().left);
      for (const [i, box] of boxes.entries()) {
        const what = `${report.title} at ${width}: part ${i} of ${JSON.stringify(boxes)}`;
        const column = boxes.filter((other) => other !== box && other.left < box.right - 1 && box.left < other.right - 1);
        assert.ok(column.every((other) => other.bottom <= box.top + 1 || box.bottom <= other.top + 1), `overlaps: ${what}`);
        const above = Math.max(...column.filter((other) => other.bottom <= box.top + 1).map((other) => other.bottom));
        if (above > 0) assert.ok(box.top - above < 60, `gap above: ${what}`);
        else assert.ok(boxes.some((other) => Math.abs(other.left - grid) < 1), `not at the left: ${what}`);
      }
      await page.close();
    }
});

check("Wide: maps, and machine and panel, side by side. Narrow: one under the other", async (browser) => {
  const places = async (width) => {
    const page = await browser.open(fixture("tune"), { width });
    const box = (selector) => page.locator(selector).first().boundingBox();
    return { before: await box("#traffic canvas >> nth=0"), after: await box("#traffic canvas >> nth=1"), machine: await box("#machine canvas"), panel: await box("#machine .panel"), contents: await box(".contents"), main: await box("main") };
  };
  const wide = await places(1440);
  assert.ok(wide.after.x > wide.before.x + wide.before.width && Math.abs(wide.after.width - wide.before.width) < 2);
  assert.ok(wide.panel.x > wide.machine.x + wide.machine.width);
  assert.ok(wide.contents.x + wide.contents.width <= wide.main.x);
  const middle = await places(1024);
  assert.ok(middle.after.x > middle.before.x + middle.before.width);
  assert.ok(middle.panel.y > middle.machine.y + middle.machine.height);
  const narrow = await places(390);
  assert.ok(narrow.after.y > narrow.before.y + narrow.before.height);
  assert.ok(narrow.contents.y + narrow.contents.height <= narrow.main.y + 1);
  for (const one of [wide, middle, narrow]) assert.ok(Math.abs(one.before.height - one.before.width + 68 - 42) < 3, "the maps are square");
});

await run();
