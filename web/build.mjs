// Makes dist/report.html out of src/: one file, style and script inside. The same sources give the same bytes.
// SPDX-License-Identifier: Apache-2.0
//   node build.mjs [FILE]      (FILE: where to put it instead of dist/report.html)
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? `${here}/dist/report.html`);

async function bundle(entry) {
  const result = await build({
    entryPoints: [`${here}/src/${entry}`],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022", "chrome105", "firefox113", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  // An end tag or a comment's start within the text would end or change the element around it.
  return result.outputFiles[0].text.trim().replaceAll("</", "<\\/").replaceAll("<!--", "<\\!--");
}

const script = await bundle("main.ts");
const style = await bundle("style/all.css");
const hash = createHash("sha256").update(script).digest("base64");
const licence = readFileSync(`${here}/node_modules/uplot/LICENSE`, "utf8").trim();

const put = { STYLE: style, SCRIPT: script, HASH: hash, LICENCE: licence };
const page = readFileSync(`${here}/src/page.html`, "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => put[name]);

const place = '<script type="application/json" id="rankloom-data"></script>';
if (page.split(place).length !== 2) throw new Error(`the page must hold ${place} exactly once`);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(`${target}.tmp`, page);
renameSync(`${target}.tmp`, target);
console.log(`${target}: ${(page.length / 1024).toFixed(0)} KiB`);
