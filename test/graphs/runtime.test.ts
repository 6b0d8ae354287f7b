import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { CliError } from "../../src/errors.ts";
import { TESTED_VERSIONS } from "../../src/graphs/install.ts";
import { graphSource, hostOf, project, reply } from "./project.ts";
import type { TestProject } from "./project.ts";

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8")) as {
  devDependencies: Record<string, string>;
};

/** A package with an ES and a CommonJS build, as those of LangChain have. */
function addPackage(files: TestProject, folder: string, version = "9.9.9"): void {
  const entry = { import: "./dist/index.js", require: "./dist/index.cjs" };
  const name = folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
  files.write(
    `${folder}/package.json`,
    JSON.stringify({ name, version, type: "module", exports: { ".": entry, "./messages": entry, "./sub": entry } }),
  );
  files.write(
    `${folder}/dist/index.js`,
    `export const format = "esm"; export const where = ${JSON.stringify(folder)};
     export const graph = { stream() {}, streamEvents() {}, getState() {}, nodes: {}, channels: {} };`,
  );
  files.write(`${folder}/dist/index.cjs`, `exports.format = "cjs";`);
}

test("without LangGraph the start ends with the command that installs it", async () => {
  const files = project({ "graph.ts": graphSource("1") }, { modules: false });
  const tested = hostOf(files.config({ agent: "graph.ts:graph" }));
  const error: unknown = await tested.host.start().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CliError);
  expect((error as CliError).message).toBe(`@langchain/langgraph is not installed in ${files.root}`);
  const packages = Object.entries(TESTED_VERSIONS).map(([name, version]) => `${name}@${version}`);
  expect((error as CliError).hint).toBe(`npm install ${packages.join(" ")}`);
  expect(tested.events).toEqual([]);
});

for (const [lockfile, command] of [
  ["pnpm-lock.yaml", "pnpm add"],
  ["yarn.lock", "yarn add"],
  ["bun.lock", "bun add"],
] as const) {
  test(`the command is that of the project's ${lockfile}`, async () => {
    const files = project({ [lockfile]: "" }, { modules: false });
    const { host } = hostOf(files.config({}));
    await expect(host.runtime()).rejects.toMatchObject({
      hint: expect.stringMatching(`^${command} @langchain/langgraph@`) as string,
    });
  });
}

test("an installation after the failure is found", async () => {
  const files = project({}, { modules: false });
  const { host } = hostOf(files.config({}));
  await expect(host.runtime()).rejects.toBeInstanceOf(CliError);
  for (const name of ["langgraph", "langgraph-checkpoint", "core"])
    addPackage(files, `node_modules/@langchain/${name}`);
  expect(await host.runtime()).toMatchObject({ version: "9.9.9" });
});

test("the versions of the command are those that the tests run with", () => {
  for (const [name, version] of Object.entries(TESTED_VERSIONS)) expect(manifest.devDependencies[name]).toBe(version);
});

test("finds what pnpm keeps beside LangGraph, in the ES build", async () => {
  const files = project({}, { modules: false });
  const store = "node_modules/.pnpm/langgraph@1/node_modules/@langchain";
  for (const name of ["langgraph", "langgraph-checkpoint", "core"]) addPackage(files, `${store}/${name}`);
  mkdirSync(files.path("node_modules/@langchain"), { recursive: true });
  symlinkSync(files.path(`${store}/langgraph`), files.path("node_modules/@langchain/langgraph"), "junction");
  const runtime = await hostOf(files.config({})).host.runtime();
  expect(runtime.langgraph).toMatchObject({ format: "esm", where: `${store}/langgraph` });
  expect(runtime.checkpoint).toMatchObject({ format: "esm", where: `${store}/langgraph-checkpoint` });
  expect(runtime.messages).toMatchObject({ format: "esm", where: `${store}/core` });
  expect(runtime.version).toBe("9.9.9");
  expect(await runtime.importModule?.("@langchain/langgraph/sub")).toBe(runtime.langgraph);
});

test("finds LangGraph in the package of a graph when the root has none", async () => {
  const files = project({ "apps/one/graph.ts": `export { graph } from "@langchain/langgraph";` }, { modules: false });
  for (const name of ["langgraph", "langgraph-checkpoint", "core"])
    addPackage(files, `apps/one/node_modules/@langchain/${name}`);
  const tested = hostOf(files.config({ agent: "apps/one/graph.ts:graph" }));
  await tested.host.start();
  expect(await tested.host.runtime()).toMatchObject({
    folder: files.path("apps/one/node_modules/@langchain/langgraph"),
  });
  expect(tested.events.map(({ type }) => type)).toEqual(["loaded"]);
});

test("a graph that brings another copy of LangGraph is warned about", async () => {
  const files = project({
    "other/graph.ts": `export { graph } from "@langchain/langgraph";`,
    "graph.ts": graphSource("1"),
  });
  addPackage(files, "other/node_modules/@langchain/langgraph");
  const tested = hostOf(files.config({ agent: "graph.ts:graph", other: "other/graph.ts:graph" }));
  await tested.host.start();
  const { folder } = await tested.host.runtime();
  expect(tested.events.filter(({ type }) => type === "warning")).toEqual([
    {
      type: "warning",
      message: `Graph "other" imports another copy of @langchain/langgraph (${files.path("other/node_modules/@langchain/langgraph")}) than the server (${folder}). Install it once, at the root of the project.`,
    },
  ]);
});

test("the demo project without an installation runs on ours", async () => {
  const files = project({}, { modules: false });
  const { host } = hostOf(files.config({}, { demo: true, file: null }));
  const runtime = await host.runtime();
  expect(runtime.version).toBe(TESTED_VERSIONS["@langchain/langgraph"]);
  const own = (await import("@langchain/langgraph")) as Record<string, unknown>;
  expect(runtime.langgraph["StateGraph"]).toBe(own["StateGraph"]);
});

test("a graph file beside an installation elsewhere than the project's root is served", async () => {
  const files = project({ "src/graph.ts": graphSource("'deep'") });
  const tested = hostOf(files.config({ agent: "src/graph.ts:graph" }, { root: dirname(files.path("src/x")) }));
  await tested.host.start();
  expect(await reply(tested)).toBe("deep");
});
