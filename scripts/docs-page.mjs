// Puts the script of the page at /docs into a folder, compressed: Scalar's API reference as one file for browsers.
// It comes out of @scalar/fastify-api-reference, which holds that file as a string. The package that makes it brings 270 others
// along, 290 MB of them; this one a dozen. So it is only needed to build, and users install nothing for the page.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";

const PACKAGE = "@scalar/fastify-api-reference";

/**
 * Writes `scalar.js.gz` and its licence.
 * @param {string} folder made if it is not there
 */
export function writeDocsPage(folder) {
  const entry = createRequire(import.meta.url).resolve(PACKAGE);
  const { version, license } = JSON.parse(readFileSync(join(dirname(dirname(entry)), "package.json"), "utf8"));
  const [, literal] = /^var standalone_default = (".*");$/m.exec(readFileSync(entry, "utf8")) ?? [];
  if (literal === undefined || license !== "MIT")
    throw new Error(`${PACKAGE} ${version} is not made as before: see scripts/docs-page.mjs`);
  const script = runInNewContext(literal);
  const notice = `/*! @scalar/api-reference ${version}; MIT License; Copyright (c) 2023-present Scalar; see LICENSE beside */\n`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "scalar.js.gz"), gzipSync(notice + script, { level: 9 }));
  writeFileSync(join(folder, "LICENSE"), LICENSE);
}

const LICENSE = `scalar.js.gz is the API reference of Scalar (https://github.com/scalar/scalar), compressed.

MIT License

Copyright (c) 2023-present Scalar

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;
