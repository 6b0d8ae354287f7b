import { expect, test } from "vitest";
import { load, project } from "./project.ts";

const read = async (headers: unknown) => {
  const text = JSON.stringify({
    graphs: { agent: "./src/agent.ts:graph" },
    http: { configurable_headers: headers },
  });
  const { config, warnings } = await load(await project({ "src/agent.ts": "", "langgraph.json": text }));
  expect(warnings).toEqual([]);
  return config.http.configurable_headers;
};

test("configurable_headers may be spelled in either way", async () => {
  expect(await read({ includes: ["x-a"], excludes: ["x-b"] })).toEqual({ includes: ["x-a"], excludes: ["x-b"] });
  expect(await read({ include: ["x-a"], exclude: ["x-b"] })).toEqual({ includes: ["x-a"], excludes: ["x-b"] });
  expect(await read({ includes: ["x-a"], include: ["x-b"] })).toEqual({ includes: ["x-a", "x-b"], excludes: [] });
  expect(await read({})).toEqual({ includes: [], excludes: [] });
  expect(await read(null)).toBeUndefined();
});
