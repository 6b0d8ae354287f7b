import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { GraphLoadError } from "../../src/graphs/errors.ts";
import { graphSource, hostOf, project, reply, replyOf, start } from "./project.ts";

const importing = (file: string): string => graphSource("word", `import { word } from "${file}";`);

test("a saved graph file is loaded again; a held version stays as it was", async () => {
  const started = await start({ "graph.ts": graphSource("'one'") }, "graph.ts:graph", { reload: true });
  const old = await started.host.get("agent");
  started.write("graph.ts", graphSource("'two'"));
  expect(await started.next("reloaded")).toMatchObject({ ids: ["agent"] });
  expect(await reply(started)).toBe("two");
  expect((await started.host.get("agent")).version).toBe(2);
  expect(await replyOf(await old.resolve({}))).toBe("one");
});

test("a run in flight ends on the version that it started with", async () => {
  const source = (word: string) =>
    graphSource(`(await Promise.resolve(globalThis.gate), word)`, `import { word } from "./word.ts"; /* ${word} */`);
  const started = await start({ "graph.ts": source("a"), "word.ts": `export const word = "one";` }, "graph.ts:graph", {
    reload: true,
  });
  const gate = globalThis as { gate?: Promise<void> };
  let open = (): void => {};
  gate.gate = new Promise((resolve) => {
    open = resolve;
  });
  const running = reply(started);
  started.write("word.ts", `export const word = "two";`);
  await started.next("reloaded");
  open();
  expect(await running).toBe("one");
  expect(await reply(started)).toBe("two");
  delete gate.gate;
});

const imports: Record<
  string,
  { files: Record<string, string>; file: string; one: string; two: string; target?: string }
> = {
  "an imported file": {
    files: { "graph.ts": importing("./word.ts") },
    file: "word.ts",
    one: `export const word = "one";`,
    two: `export const word = "two";`,
  },
  "a file imported by an import": {
    files: { "graph.ts": importing("./middle.ts"), "middle.ts": `export * from "./deep/word.ts";` },
    file: "deep/word.ts",
    one: `export const word = "one";`,
    two: `export const word = "two";`,
  },
  "a JSON file": {
    files: { "graph.ts": graphSource("data.word", `import data from "./data.json";`) },
    file: "data.json",
    one: `{ "word": "one" }`,
    two: `{ "word": "two" }`,
  },
  "a file behind a tsconfig path": {
    files: {
      "tsconfig.json": `{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] } } }`,
      "graph.ts": importing("@lib/word"),
    },
    file: "lib/word.ts",
    one: `export const word = "one";`,
    two: `export const word = "two";`,
  },
  "a CommonJS file": {
    files: { "graph.ts": graphSource("word", `import { word } from "./word.cjs";`) },
    file: "word.cjs",
    one: `exports.word = "one";`,
    two: `exports.word = "two";`,
  },
};
for (const [name, { files, file, one, two }] of Object.entries(imports)) {
  test(`a saved file is followed when it is ${name}`, async () => {
    const started = await start({ ...files, [file]: one }, "graph.ts:graph", { reload: true });
    expect(await reply(started)).toBe("one");
    started.save(file, two);
    await started.next("reloaded");
    expect(await reply(started)).toBe("two");
    // The rename put another file in its place: that one is followed too.
    started.save(file, one);
    await started.next("reloaded");
    expect(await reply(started)).toBe("one");
  });
}

test("a workspace package outside the root is followed", async () => {
  const files = project({
    "app/graph.ts": importing("@acme/word"),
    "packages/word/package.json": `{ "name": "@acme/word", "type": "module", "exports": "./index.ts" }`,
    "packages/word/index.ts": `export const word = "one";`,
  });
  mkdirSync(files.path("app/node_modules/@acme"), { recursive: true });
  symlinkSync(files.path("packages/word"), files.path("app/node_modules/@acme/word"), "junction");
  const tested = hostOf(files.config({ agent: "app/graph.ts:graph" }, { root: files.path("app") }), { reload: true });
  await tested.host.start();
  files.write("packages/word/index.ts", `export const word = "two";`);
  await tested.next("reloaded");
  expect(await reply(tested)).toBe("two");
});

test("only graphs that contain the saved file are loaded again", async () => {
  const files = project({
    "a.ts": importing("./word.ts"),
    "b.ts": graphSource("'b'"),
    "word.ts": `export const word = "one";`,
  });
  const tested = hostOf(files.config({ a: "a.ts:graph", b: "b.ts:graph", c: "a.ts:builder" }), { reload: true });
  await tested.host.start();
  const untouched = await tested.host.get("b");
  files.write("word.ts", `export const word = "two";`);
  expect(await tested.next("reloaded")).toMatchObject({ ids: ["a", "c"] });
  expect(await tested.host.get("b")).toBe(untouched);
  expect(await reply(tested, "c")).toBe("two");
});

test("a broken edit keeps the last good version and is told once; the next good save recovers", async () => {
  const started = await start(
    { "graph.ts": importing("./word.ts"), "word.ts": `export const word = "one";` },
    "graph.ts:graph",
    {
      reload: true,
    },
  );
  started.write("word.ts", "export const word = ;");
  const { error, ids, firstLoad } = await started.next("failed");
  expect({ ids, firstLoad }).toEqual({ ids: ["agent"], firstLoad: false });
  expect((error as GraphLoadError).diagnostic.location).toMatchObject({ file: started.path("word.ts"), line: 1 });
  expect(await reply(started)).toBe("one");
  expect((await started.host.get("agent")).version).toBe(1);
  started.write("word.ts", `export const word = "three";`);
  await started.next("reloaded");
  expect(await reply(started)).toBe("three");
  expect((await started.host.get("agent")).version).toBe(2);
  expect(started.events.map(({ type }) => type)).toEqual(["loaded", "failed", "reloaded"]);
});

test("an edit that throws while it is evaluated keeps the last good version", async () => {
  const started = await start({ "graph.ts": graphSource("'one'") }, "graph.ts:graph", { reload: true });
  started.write("graph.ts", `${graphSource("'two'")}\nthrow new Error("no key");`);
  const { error } = await started.next("failed");
  expect((error as GraphLoadError).diagnostic.message).toBe("no key");
  expect(await reply(started)).toBe("one");
});

test("a graph that was broken from the start comes with the save that mends it", async () => {
  const started = await start({ "graph.ts": "export const graph = ;" }, "graph.ts:graph", { reload: true });
  expect(await started.next("failed")).toMatchObject({ firstLoad: true });
  await expect(started.host.get("agent")).rejects.toBeInstanceOf(GraphLoadError);
  started.write("graph.ts", graphSource("'mended'"));
  await started.next("reloaded");
  expect(await reply(started)).toBe("mended");
});

test("an edit takes over from an evaluation that never ends", async () => {
  const files = project({ "graph.ts": "await globalThis.hang(); export const graph = 1;" });
  const tested = hostOf(files.config({ agent: "graph.ts:graph" }), { reload: true });
  const hanging = new Promise<void>((resolve) => {
    Object.assign(globalThis, {
      hang() {
        resolve();
        return new Promise(() => {});
      },
    });
  });
  const starting = tested.host.start();
  await hanging;
  files.write("graph.ts", graphSource("'alive'"));
  await tested.next("reloaded");
  await starting;
  expect(await reply(tested)).toBe("alive");
});

const missing: Record<string, { files: Record<string, string>; file: string }> = {
  "a file": { files: { "graph.ts": importing("./word.ts") }, file: "word.ts" },
  "a file named without its extension": { files: { "graph.ts": importing("./word") }, file: "word.ts" },
  "a file in a folder to come": {
    files: { "graph.ts": importing("./new/folder/word.js") },
    file: "new/folder/word.ts",
  },
  "a file behind a tsconfig path": {
    files: {
      "tsconfig.json": `{ "compilerOptions": { /* paths */ "paths": { "@/*": ["./src/*"], }, }, }`,
      "graph.ts": importing("@/word"),
    },
    file: "src/word/index.ts",
  },
};
for (const [name, { files, file }] of Object.entries(missing)) {
  test(`creating ${name} that an import missed brings the graph`, async () => {
    const started = await start(files, "graph.ts:graph", { reload: true });
    await started.next("failed");
    started.write(file, `export const word = "created";`);
    await started.next("reloaded");
    expect(await reply(started)).toBe("created");
  });
}

test("creating the graph file itself brings the graph", async () => {
  const started = await start({}, "src/graph.ts:graph", { reload: true });
  await started.next("failed");
  started.write("src/graph.ts", graphSource("'created'"));
  await started.next("reloaded");
  expect(await reply(started)).toBe("created");
});

test("a package that is installed later is found and stays native", async () => {
  const files = project({ "app/graph.ts": graphSource("[word, cjs]", `import { word, cjs } from "late";`) });
  const tested = hostOf(files.config({ agent: "app/graph.ts:graph" }), { reload: true });
  await tested.host.start();
  await tested.next("failed");
  files.write("app/node_modules/late/package.json", `{ "name": "late", "main": "index.js" }`);
  files.write("app/node_modules/late/index.js", `exports.word = "installed"; exports.cjs = typeof require;`);
  files.save("app/graph.ts", `${graphSource("[word, cjs]", `import { word, cjs } from "late";`)}// saved`);
  await tested.next("reloaded");
  expect(await reply(tested)).toEqual(["installed", "function"]);
});

test("a file that is deleted breaks the graph, and is missed until it is back", async () => {
  const started = await start(
    { "graph.ts": importing("./word.ts"), "word.ts": `export const word = "one";` },
    "graph.ts:graph",
    {
      reload: true,
    },
  );
  rmSync(started.path("word.ts"));
  const { error } = await started.next("failed");
  expect((error as GraphLoadError).diagnostic).toMatchObject({
    message: `Cannot find file "./word.ts"`,
    location: { file: started.path("graph.ts"), line: 2, column: 22 },
  });
  expect(await reply(started)).toBe("one");
  started.write("word.ts", `export const word = "back";`);
  await started.next("reloaded");
  expect(await reply(started)).toBe("back");
});

test("another file takes the place of one that was deleted", async () => {
  const started = await start(
    { "graph.ts": importing("./word"), "word.ts": `export const word = "one";` },
    "graph.ts:graph",
    {
      reload: true,
    },
  );
  started.write("word/index.ts", `export const word = "two";`);
  rmSync(started.path("word.ts"));
  await started.next("reloaded");
  expect(await reply(started)).toBe("two");
});

test("a folder that is replaced as a whole is followed", async () => {
  const started = await start(
    { "graph.ts": importing("./lib/word.ts"), "lib/word.ts": `export const word = "one";` },
    "graph.ts:graph",
    {
      reload: true,
    },
  );
  started.write("lib2/word.ts", `export const word = "two";`);
  renameSync(started.path("lib"), started.path("old"));
  renameSync(started.path("lib2"), started.path("lib"));
  await started.next("reloaded");
  expect(await reply(started)).toBe("two");
  started.write("lib/word.ts", `export const word = "three";`);
  await started.next("reloaded");
  expect(await reply(started)).toBe("three");
});

test("a changed tsconfig.json is taken over", async () => {
  const paths = (folder: string): string => `{ "compilerOptions": { "paths": { "@lib/*": ["./${folder}/*"] } } }`;
  const started = await start(
    {
      "tsconfig.json": paths("one"),
      "graph.ts": importing("@lib/word"),
      "one/word.ts": `export const word = "one";`,
      "two/word.ts": `export const word = "two";`,
    },
    "graph.ts:graph",
    { reload: true },
  );
  expect(await reply(started)).toBe("one");
  started.write("tsconfig.json", paths("two"));
  await started.next("reloaded");
  expect(await reply(started)).toBe("two");
});

test("a file that changed while it was being loaded is loaded again", async () => {
  const files = project({ "graph.ts": importing("./word.ts"), "word.ts": `export const word = "one";` });
  // What was read before the watch began: the time of the file says that it is newer than the load.
  const later = new Date(Date.now() + 60_000);
  utimesSync(files.path("word.ts"), later, later);
  const tested = hostOf(files.config({ agent: "graph.ts:graph" }), { reload: true });
  await tested.host.start();
  expect(await tested.next("reloaded")).toMatchObject({ ids: ["agent"] });
});

test("new graphs of a changed config are followed too", async () => {
  const files = project({ "a.ts": graphSource("'a'"), "b.ts": graphSource("'b'") });
  const tested = hostOf(files.config({ a: "a.ts:graph" }), { reload: true });
  await tested.host.start();
  await tested.host.reconfigure(files.config({ b: "b.ts:graph" }));
  files.write("b.ts", graphSource("'b2'"));
  await tested.next("reloaded");
  expect(await reply(tested, "b")).toBe("b2");
});
