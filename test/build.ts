// The tests run the JavaScript that users get: src/ is built once per run, and what a test imports from src/ comes from that build. So a child
// process and the test see the same code, and no test file has to translate it again.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Plugin } from "vitest/config";
import type { TestProject } from "vitest/node";
import { writeDocsPage } from "../scripts/docs-page.mjs";

const root = join(import.meta.dirname, "..");
const src = join(root, "src") + sep;
const test = join(root, "test") + sep;
const cache = join(root, "node_modules", ".cache");
/** Two runs at the same time have two builds. */
const PREFIX = "agent-server-test-";
/** Where the build of this run is: a copy of the package. In node_modules, so that Node loads it as it is. */
export const buildFolder = join(cache, `${PREFIX}${process.pid}`);

/** Leads the imports of tests from src/ into the build. */
export const srcFromBuild: Plugin = {
  name: "src-from-build",
  enforce: "pre",
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith(".") || !importer.startsWith(test)) return undefined;
    const file = resolve(dirname(importer), source);
    if (!file.startsWith(src)) return undefined;
    return join(buildFolder, "dist", relative(src, file).replace(/\.ts$/, ".js"));
  },
};

/** Builds; about a second, because types are checked by `npm run typecheck`. */
function build(): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const options = ["--noCheck", "--declaration", "false", "--outDir", join(buildFolder, "dist")];
  const built = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json"), ...options], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`tsc failed:\n${built.stdout}${built.stderr}`);
  writeDocsPage(join(buildFolder, "dist", "docs"));
  for (const name of ["bin", "templates", "package.json"])
    cpSync(join(root, name), join(buildFolder, name), { recursive: true });
}

/** Vitest's global set-up. */
export default function setUp(project: TestProject): () => void {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache).filter((each) => each.startsWith(PREFIX))) {
    if (!isAlive(Number(name.slice(PREFIX.length)))) rmSync(join(cache, name), { recursive: true, force: true });
  }
  // Every project of vitest.config.ts comes here.
  if (existsSync(buildFolder)) return () => undefined;
  mkdirSync(buildFolder, { recursive: true });
  // Some tests run the command as another user.
  chmodSync(buildFolder, 0o755);
  build();
  project.onTestsRerun(build);
  return () => rmSync(buildFolder, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
