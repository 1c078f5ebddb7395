// The page without eyes, without mouse, without colours: axe's rules, the browser's accessibility tree, a table for every picture.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { devices_document, experiment_document, machine_document, network_document, status_document, timeline_document } from "./fixtures/make.mjs";
import { check, FIREFOX, fixture, module_of_web, run } from "./harness.mjs";

const MADE = { devices: devices_document, experiment: experiment_document, network: network_document, machine: machine_document, status: status_document, timeline: timeline_document };
const document_of = (name) => MADE[name]?.() ?? fixture(name);
const axe = module_of_web("axe-core").source;

check("axe finds nothing, light and dark, wide and narrow", async (browser) => {
  for (const [name, options] of [["tune", {}], ["tune", { dark: true, width: 390 }], ["devices", { dark: true }], ["network", { dark: true }], ["network", { width: 390 }], ["machine", {}], ["machine", { dark: true, width: 390 }], ["status", { dark: true }], ["experiment", {}], ["experiment", { dark: true, width: 390 }], ["allocation", { dark: true }], ["online", {}]]) {
    const page = await browser.open(document_of(name), options);
    // Tables and panels are part of the page, too.
    await page.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
    const rank = page.getByLabel("Rank", { exact: true });
    if (await rank.count()) {
      await rank.fill("7");
      await page.keyboard.press("Enter");
    }
    await page.waitForTimeout(50);
    // Rows are made alike: the first few speak for all, and axe takes its time over each.
    await page.locator("tbody tr:nth-child(n + 7)").evaluateAll((all) => all.forEach((row) => row.remove()));
    // Evaluated from outside: the page's own policy lets no other script in.
    await page.evaluate(`${axe}; 0`);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    assert.deepEqual(violations.map((v) => `${name}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`), []);
    await page.close();
  }
});

check("Headings go down one step at a time, from one first heading", async (browser) => {
  for (const name of ["tune", "allocation", "online"]) {
    const page = await browser.open(fixture(name));
    const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((h) => Number(h.tagName[1])));
    assert.equal(levels.filter((level) => level === 1).length, 1);
    assert.equal(levels[0], 1);
    levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, `h${level} after h${levels[i - 1]}`));
  }
});

check("Every picture has a name and a table with a caption", async (browser) => {
  for (const [name, pictures] of [["tune", 10], ["network", 12], ["machine", 2], ["status", 2], ["allocation", 4], ["online", 3]]) {
    const page = await browser.open(document_of(name));
    await page.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
    await page.waitForTimeout(50);
    const figures = await page.locator("figure").evaluateAll((all) =>
      all.map((figure) => ({
        title: document.getElementById(figure.getAttribute("aria-labelledby"))?.textContent ?? "",
        named: [...figure.querySelectorAll("canvas, svg, [role=img]")].some((p) => (p.closest("[aria-label]")?.getAttribute("aria-label") ?? "") !== ""),
        rows: figure.querySelectorAll("details table tbody tr").length,
        caption: figure.querySelector("details table caption")?.textContent ?? "",
      })),
    );
    assert.equal(figures.length, pictures, name);
    for (const figure of figures) {
      assert.notEqual(figure.title, "");
      assert.ok(figure.named, `${figure.title}: no name`);
      assert.ok(figure.rows > 0, `${figure.title}: no table`);
      assert.notEqual(figure.caption, "", `${figure.title}: no caption`);
    }
  }
});

check("The browser's accessibility tree holds landmarks, controls and pictures by name", async (browser) => {
  if (FIREFOX) return;  // WebDriver BiDi does not show the tree
  const page = await browser.open(fixture("tune"));
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const named = nodes.filter((node) => !node.ignored).map((node) => `${node.role?.value}: ${node.name?.value ?? ""}`);
  for (const expected of [/^main: /, /^navigation: Sections$/, /^banner: /, /^contentinfo: /, /^link: Skip to the report$/, /^heading: Traffic between ranks$/, /^[Aa]pplication: Before: default placement \(block\)\. 192 rows, 3,072 pairs with traffic/, /^[Aa]pplication: The machine: 12 nodes, 192 cores, 192 ranks/, /^radio: Before$/, /^button: Copy: mpirun/, /^(image|img): Bytes at each level/, /^region: Partners of the chosen rank$/])
    assert.ok(named.some((entry) => expected.test(entry)), `nothing matches ${expected}`);
});

check("The name of the machine counts its devices", async (browser) => {
  const page = await browser.open(devices_document());
  assert.match(await page.locator("#machine canvas").getAttribute("aria-label"), /^The machine: 2 nodes, 16 cores, 8 GPUs, 2 network cards, 8 ranks\./);
});

check("By Tab alone: the skip link comes first and works, every stop is seen", async (browser) => {
  const page = await browser.open(fixture("tune"));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the report");
  assert.ok((await page.locator(".skip").boundingBox()).y >= 0, "the skip link is on the screen");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  const stops = [];
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const active = document.activeElement;
      if (!active || active === document.body) return undefined;
      const shown = active.matches(".choice input") ? active.nextElementSibling : active;
      const style = getComputedStyle(shown);
      return { what: `${active.tagName} ${(active.getAttribute("aria-label") ?? active.textContent).slice(0, 40)}`, outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
    });
    if (!stop) break;
    stops.push(stop);
  }
  assert.deepEqual(stops.filter((stop) => !stop.outlined).map((stop) => stop.what), []);
  const all = stops.map((stop) => stop.what).join("\n");
  for (const part of ["BUTTON Copy", "CANVAS Before", "CANVAS After", "CANVAS The machine", "SUMMARY Table", "BUTTON Mapper"]) assert.ok(all.includes(part), `${part} is not reached:\n${all}`);
});

check("Before and after differ by more than colour", async (browser) => {
  const page = await browser.open(fixture("tune"));
  const looks = await page.locator("#figures .bar-row").first().locator(".bar").evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).backgroundImage.includes("repeating")));
  assert.deepEqual(looks, [true, false]);
  const dashes = await page.locator("#verdict .times rect").evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).strokeDasharray !== "none"));
  assert.deepEqual(dashes, [true, false]);
});

await run();
