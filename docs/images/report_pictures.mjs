#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Draws docs/images/report-*.png: the page of `rankloom report` on a shuffled 3D halo exchange, by a real run.
//   node docs/images/report_pictures.mjs build/bin/rankloom      (needs `./dev web` once, and Debian's chromium)
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const program = resolve(process.argv[2] ?? "build/bin/rankloom");
const { chromium } = createRequire(join(here, "../../web/package.json"))("playwright-core");
const folder = mkdtempSync(join(tmpdir(), "rankloom-pictures-"));
const rankloom = (...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 28 });
const machine = "switch:2=4.1 node:8=3.7 package:2=1.4 core:8=1";

rankloom("gen", "stencil3d", "--size", "8x8x4", "--points", "27", "--block", "48x48x48", "--shuffle", "-o", "halo.prof");
writeFileSync(join(folder, "compare.json"), rankloom("compare", "halo.prof", "-t", machine, "-a", "auto", "-a", "greedy", "-a", "refine", "-a", "scotch", "--json"));
rankloom("map", "halo.prof", "-t", machine, "-o", "halo.map");
rankloom("report", "halo.map", "compare.json", "-p", "halo.prof", "-t", machine, "-o", "report.html");

// The same machine with latencies, and rounds with computation.
writeFileSync(
  join(folder, "times.json"),
  rankloom("simulate", "block", "halo.map", "-p", "halo.prof", "-t", "switch:2=4.1,3us node:8=3.7,2us package:2=1.4,300ns core:8=1,100ns", "--iterations", "3", "--compute", "1ms", "--timeline", "--json"),
);
rankloom("report", "times.json", "-o", "timeline.html");

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
async function picture(name, { dark = false, height = 1000, file = "report.html" }, prepare) {
  const page = await browser.newPage({ viewport: { width: 1440, height }, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce" });
  await page.goto(`file://${join(folder, file)}`);
  await page.waitForSelector("html[data-ready]");
  await prepare(page);
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(here, `report-${name}.png`) });
  await page.close();
}
const to = (page, id) => page.evaluate((name) => document.getElementById(name).scrollIntoView(), id);
async function choose(page, rank) {
  await page.getByLabel("Rank", { exact: true }).fill(String(rank));
  await page.keyboard.press("Enter");
  await page.evaluate(() => document.activeElement.blur());
}

await picture("top", {}, async () => {});
await picture("heat-map", { height: 860 }, async (page) => {
  await to(page, "traffic");
  const canvas = await page.locator("#traffic canvas").first().boundingBox();
  await page.mouse.move(canvas.x + 0.47 * canvas.width, canvas.y + 0.4 * canvas.height);
});
await picture("machine", { height: 860 }, async (page) => {
  await to(page, "machine");
  await choose(page, 100);
});
await picture("dark", { dark: true }, async (page) => {
  await choose(page, 100);
  await to(page, "machine");
});
await picture("timeline", { height: 1180, file: "timeline.html" }, (page) => to(page, "time"));
await browser.close();
rmSync(folder, { recursive: true });
