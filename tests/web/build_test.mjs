// The committed page is what the sources give, it is one file that asks for nothing, and the lock names no host.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, fixture, module_of_web, run, WEB } from "./harness.mjs";
import { allocation_document, online_document, tune_document } from "./fixtures/make.mjs";

const dist = readFileSync(join(WEB, "dist/report.html"), "utf8");
module_of_web("esbuild");

check("A fresh build gives the committed bytes", () => {
  const folder = mkdtempSync(join(tmpdir(), "rankloom-web-"));
  try {
    execFileSync(process.execPath, [join(WEB, "build.mjs"), join(folder, "report.html")], { stdio: "ignore" });
    assert.ok(readFileSync(join(folder, "report.html"), "utf8") === dist, "web/dist/report.html is older than web/src: run ./dev web");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

check("The sources hold their types", () => {
  execFileSync(process.execPath, [join(WEB, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", WEB], { stdio: "inherit" });
});

check("The page names no address to load from", () => {
  const outside = [...dist.matchAll(/(?:src|href)\s*=\s*["']?(https?:|\/\/)[^"'\s>]*/g), ...dist.matchAll(/@import|url\(\s*["']?(?!data:)[^)]*\)/g)].map((match) => match[0]);
  assert.deepEqual(outside, []);
  assert.match(dist, /default-src 'none'/);
});

check("The place for the data is there once, and empty", () => {
  assert.equal(dist.split('<script type="application/json" id="rankloom-data"></script>').length, 2);
});

check("The lock file names no host", () => {
  assert.doesNotMatch(readFileSync(join(WEB, "package-lock.json"), "utf8"), /https?:\/\/|"resolved"/);
});

check("The licence of what is bundled is told", () => {
  assert.match(dist, /Leon Sorokin/);
  assert.match(readFileSync(join(WEB, "THIRD-PARTY.md"), "utf8"), /uPlot/);
});

check("The committed documents are what their maker makes", () => {
  // Packed arrays depend on the zlib at hand; everything else must be the same.
  const plain = (document) => JSON.parse(JSON.stringify(document, (key, value) => (key === "data" ? undefined : value)));
  for (const [name, document] of [["tune", tune_document()], ["allocation", allocation_document()], ["online", online_document()]]) assert.deepEqual(plain(fixture(name)), plain(document));
});

await run({ needs_browser: false });
