import { defineConfig } from "vitest/config";
import { buildFolder, srcFromBuild } from "./test/build.ts";

export default defineConfig({
  plugins: [srcFromBuild],
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "**/node_modules/**"],
    globalSetup: "test/build.ts",
    // The checkpointer validation suite of LangGraph expects the test functions as globals.
    globals: true,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    env: { AGENT_SERVER_TEST_BUILD: buildFolder },
    maxWorkers: 2,
  },
});
