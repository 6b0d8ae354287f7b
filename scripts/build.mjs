// Builds dist/ from src/ with tsc, and puts the script of the page at /docs beside it. A script and not a shell line so that `prepare`
// works on every system, and so that stale files of a renamed module never ship.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { writeDocsPage } from "./docs-page.mjs";

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json")], { stdio: "inherit" });
writeDocsPage(join(root, "dist", "docs"));
process.exit(status ?? 1);
