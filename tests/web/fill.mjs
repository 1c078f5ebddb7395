// Puts a document into the page, as the program does: every < is written as \u003c, so no text can end or open an element.
// SPDX-License-Identifier: Apache-2.0
//   node fill.mjs DOCUMENT.json PAGE.html OUT.html
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PLACE = '<script type="application/json" id="rankloom-data"></script>';

export function fill(page, document) {
  const [before, after, more] = page.split(PLACE);
  if (after === undefined || more !== undefined) throw new Error(`the page must hold ${PLACE} exactly once`);
  return `${before}${PLACE.replace("></", () => `>${JSON.stringify(document).replaceAll("<", "\\u003c")}</`)}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , document, page, out] = process.argv;
  writeFileSync(out, fill(readFileSync(page, "utf8"), JSON.parse(readFileSync(document, "utf8"))));
}
