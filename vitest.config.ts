import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { buildFolder, srcFromBuild } from "./test/build.ts";

/**
 * What a test file has that changes the process for others: a clock that runs ahead (ids are made in the order of time), variables, mocks,
 * measured memory. Such a file gets a process of its own; the others share one, so that what they import is loaded once.
 */
const OWN_PROCESS =
  /TestClock|process\.env\[[^\]]+\] = |process\.env\.\w+ = |syncBuiltinESMExports|process\.chdir|vi\.(mock|stub|spyOn|useFakeTimers)|memoryUsage|heapUsed/;
const root = join(import.meta.dirname, "test");
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && !/fixtures|node_modules/.test(file))
  .map((file) => join(root, file));
const alone = files.filter((file) => OWN_PROCESS.test(readFileSync(file, "utf8")));
const together = files.filter((file) => !alone.includes(file));

export default defineConfig({
  plugins: [srcFromBuild],
  test: {
    // The checkpointer validation suite of LangGraph expects the test functions as globals.
    globals: true,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    env: { AGENT_SERVER_TEST_BUILD: buildFolder },
    globalSetup: "test/build.ts",
    // One more than the cores of CI: tests wait now and then.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: "together", include: together, isolate: false } },
      { extends: true, test: { name: "alone", include: alone } },
    ],
  },
});
