import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "**/node_modules/**"],
    // The checkpointer validation suite of LangGraph expects the test functions as globals.
    globals: true,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    // The server starts a file of src/ in a process of its own.
    env: { NODE_OPTIONS: `--import=${new URL("test/typescript-child.mjs", import.meta.url).href}` },
    maxWorkers: 2,
  },
});
