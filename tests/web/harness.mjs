// What the tests of the page share: the modules of web/, a browser, pages that report every error and request, a list of checks.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import { fill } from "./fill.mjs";

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = resolve(HERE, "../..");
export const WEB = join(ROOT, "web");
const SKIP = 77;

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(SKIP);
}

/** A module of web/node_modules. */
export function module_of_web(name) {
  try {
    return createRequire(join(WEB, "package.json"))(name);
  } catch {
    return skip(`the module ${name} is missing: run \`npm ci\` in web/`);
  }
}

export function fixture(name) {
  return JSON.parse(readFileSync(join(HERE, "fixtures", `${name}.json`), "utf8"));
}

export function unpack(packed) {
  const bytes = inflateSync(Buffer.from(packed.data, "base64"));
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return packed.type === "u32" ? new Uint32Array(buffer) : new Float32Array(buffer);
}

const checks = [];
/** A check: a sentence and what shows it. */
export function check(sentence, body) {
  checks.push({ sentence, body });
}

export const FIREFOX = process.argv.includes("--firefox");

/** Debian's Chromium, or with --firefox its Firefox, which Playwright drives by WebDriver BiDi. */
async function launch({ dark, still }) {
  const { chromium, _bidiFirefox } = module_of_web("playwright-core");
  const program = FIREFOX ? (process.env.FIREFOX ?? "/usr/bin/firefox-esr") : (process.env.CHROMIUM ?? "/usr/bin/chromium");
  if (!existsSync(program)) skip(`${program} is missing: install the package ${FIREFOX ? "firefox-esr" : "chromium"}`);
  if (FIREFOX) return _bidiFirefox.launch({ executablePath: program, firefoxUserPrefs: { "ui.systemUsesDarkTheme": Number(dark), "ui.prefersReducedMotion": Number(still) } });
  return chromium.launch({ executablePath: program, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

export class Browser {
  constructor(folder) {
    this.folder = folder;
    this.running = new Map();
    this.page_text = readFileSync(join(WEB, "dist/report.html"), "utf8");
    this.made = 0;
  }

  write(document) {
    const file = join(this.folder, `report-${++this.made}.html`);
    writeFileSync(file, document === undefined ? this.page_text : fill(this.page_text, document));
    return file;
  }

  /** Opens a report; errors and requests gather in page.trouble. */
  async open(document, options = {}) {
    return this.open_file(this.write(document), options);
  }

  /** One Chromium; of Firefox, which cannot emulate the settings of a system, one for each of them. */
  async browser(settings) {
    const key = FIREFOX ? JSON.stringify(settings) : "";
    if (!this.running.has(key)) this.running.set(key, await launch(settings));
    return this.running.get(key);
  }

  async close_pages() {
    for (const browser of this.running.values()) for (const context of browser.contexts()) await context.close();
  }

  async close() {
    for (const browser of this.running.values()) await browser.close();
  }

  async open_file(file, { width = 1440, height = 1000, dark = false, still = true, hash = "" } = {}) {
    const context = await (await this.browser({ dark, still })).newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: still ? "reduce" : "no-preference" });
    const page = await context.newPage();
    const url = pathToFileURL(file).href;
    page.trouble = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.trouble.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => page.trouble.push(`error: ${error.message}`));
    page.on("request", (request) => request.url() !== url && page.trouble.push(`request: ${request.url()}`));
    await page.goto(url + hash);
    await page.waitForSelector("html[data-ready]");
    return page;
  }
}

/** Runs the checks in order, in one browser; a check that throws fails the test. */
export async function run({ needs_browser = true } = {}) {
  const folder = needs_browser ? mkdtempSync(join(tmpdir(), "rankloom-web-")) : undefined;
  const shared = folder && new Browser(folder);
  let failed = 0;
  try {
    await shared?.browser({ dark: false, still: true });  // says that it is missing before the first check
    for (const { sentence, body } of checks) {
      const begin = performance.now();
      try {
        await body(shared);
        console.log(`ok      ${sentence} (${Math.round(performance.now() - begin)} ms)`);
      } catch (error) {
        ++failed;
        console.log(`FAILED  ${sentence}\n${error.stack ?? error}`);
      }
      await shared?.close_pages();
    }
  } finally {
    await shared?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
  process.exit(failed > 0 ? 1 : 0);
}
