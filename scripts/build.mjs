// Builds dist/ from src/ with tsc, puts the script of the page at /docs beside it, and writes langgraph.schema.json. A script and not a shell
// line so that `prepare` works on every system, and so that stale files of a renamed module never ship.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeDocsPage } from "./docs-page.mjs";

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json")], { stdio: "inherit" });
writeDocsPage(join(root, "dist", "docs"));
if (status === 0) {
  const { SCHEMA_FILE, schemaText } = await import(pathToFileURL(join(root, "dist", "config", "json-schema.js")).href);
  writeFileSync(join(root, SCHEMA_FILE), schemaText());
}
process.exit(status ?? 1);
