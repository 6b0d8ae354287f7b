import { describe, expect, test } from "vitest";
import { load, loadError, project } from "./project.ts";

const withCheckpointer = (checkpointer: unknown) =>
  project({
    "src/agent.ts": "export const graph = 1;",
    "langgraph.json": `{\n  "graphs": { "agent": "./src/agent.ts:graph" },\n  "checkpointer": ${JSON.stringify(checkpointer)}\n}`,
  });

describe("checkpointer", () => {
  test.for([{ checkpointer: null }, { checkpointer: {} }, { checkpointer: { ttl: null, path: null } }])(
    "%j asks for nothing",
    async ({ checkpointer }) => {
      const { config, warnings } = await load(await withCheckpointer(checkpointer));
      expect(config.checkpointer).toBeUndefined();
      expect(warnings).toEqual([]);
    },
  );

  test("ttl has its defaults", async () => {
    const { config, warnings } = await load(await withCheckpointer({ ttl: { default_ttl: 0.5 } }));
    expect(config.checkpointer).toEqual({
      ttl: { strategy: "delete", defaultMinutes: 0.5, sweepMinutes: 5, sweepLimit: 1000 },
    });
    expect(warnings).toEqual([]);
    const all = { strategy: "keep_latest", default_ttl: null, sweep_interval_minutes: 1, sweep_limit: 7 };
    expect((await load(await withCheckpointer({ ttl: all }))).config.checkpointer).toEqual({
      ttl: { strategy: "keep_latest", defaultMinutes: undefined, sweepMinutes: 1, sweepLimit: 7 },
    });
  });

  test.for([
    [{ strategy: "archive" }, '"checkpointer.ttl.strategy" must be "delete" or "keep_latest"'],
    [{ default_ttl: 0 }, '"checkpointer.ttl.default_ttl" must be a number of minutes greater than 0'],
    [{ default_ttl: "60" }, '"checkpointer.ttl.default_ttl" must be a number of minutes greater than 0'],
    [{ sweep_interval_minutes: -1 }, '"checkpointer.ttl.sweep_interval_minutes" must be a number of minutes'],
    [{ sweep_limit: 0.5 }, '"checkpointer.ttl.sweep_limit" must be a whole number, 1 or more'],
  ] as const)("%j is an error", async ([ttl, message]) => {
    const { diagnostics } = await loadError(await withCheckpointer({ ttl }));
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]!.message).toContain(message);
  });

  test("other keys do not act yet, and each says what is missed", async () => {
    const { warnings } = await load(
      await withCheckpointer({ path: "./c.ts:saver", backend: "mongo", serde: { a: 1 }, ttl: { default_ttl: 5 } }),
    );
    expect(warnings.map(({ message }) => message.replace(/ has no effect.*: /, ": "))).toEqual([
      `"checkpointer.path": checkpoints stay in the server's own storage.`,
      `"checkpointer.backend": checkpoints stay in the server's own storage.`,
      `"checkpointer.serde": the server serialises them in its own way.`,
    ]);
  });
});
