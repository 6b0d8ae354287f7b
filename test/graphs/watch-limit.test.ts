// A system that has no file watches left.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeAll, expect, test } from "vitest";
import { graphSource, hostOf, project, reply } from "./project.ts";

const watched: string[] = [];
const { watch } = fs;
beforeAll(() => {
  fs.watch = ((path: string) => {
    watched.push(path);
    throw Object.assign(new Error("System limit for number of file watchers reached"), { code: "ENOSPC" });
  }) as unknown as typeof watch;
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.watch = watch;
  syncBuiltinESMExports();
});

test("a system without free watches serves the graphs and says once that saves go unseen", async () => {
  const files = project({ "a/graph.ts": graphSource("'served'"), "b/graph.ts": graphSource("2") });
  const tested = hostOf(files.config({ agent: "a/graph.ts:graph", other: "b/graph.ts:graph" }), { reload: true });
  await tested.host.start();
  expect(await reply(tested)).toBe("served");
  expect(watched).toEqual(expect.arrayContaining([files.path("a"), files.path("b")]));
  const folder = files.path("a");
  expect(tested.events.filter(({ type }) => type === "warning")).toEqual([
    {
      type: "warning",
      message: `Cannot watch ${folder}: System limit for number of file watchers reached; saves there do not reload.`,
    },
  ]);
});

test("without reload nothing is watched", async () => {
  watched.length = 0;
  const files = project({ "graph.ts": graphSource("'served'") });
  const tested = hostOf(files.config({ agent: "graph.ts:graph" }));
  await tested.host.start();
  expect(await reply(tested)).toBe("served");
  expect(watched).toEqual([]);
});
