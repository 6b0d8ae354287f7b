// Semantic search and the ttl of the config, through the official client and from inside graphs.
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import type { ServerEvent } from "../../src/server/types.ts";
import { call } from "./support/http.ts";
import {
  clientOf,
  complaints,
  type ServerChoices,
  startTestServer,
  temporaryFolder,
  type TestServer,
  useServer,
} from "./support/server.ts";

const FIXTURE = join(import.meta.dirname, "..", "fixtures", "store-project");
const REPOSITORY = join(import.meta.dirname, "..", "..");
const INDEX = { dims: 4, embed: "./src/embed.ts:embed", fields: ["text", "tags[*]"] };

/** What src/embed.ts of the fixture has embedded since the test began. */
const seen = ((globalThis as Record<string, unknown>)["storeFixtureTexts"] ??= []) as string[];
/** A part of the store that only one test uses. */
let own: string;
beforeEach(() => {
  own = `t-${crypto.randomUUID()}`;
  seen.length = 0;
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) {
    // oxlint-disable-next-line no-await-in-loop -- in the reverse order of their making
    await cleanup();
  }
});

/** A folder that is gone after the test. */
function folder(): string {
  const path = temporaryFolder();
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A copy of the fixture with another `store`. */
function projectWith(store: object): string {
  const root = folder();
  cpSync(FIXTURE, root, { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules"), join(root, "node_modules"), "junction");
  configure(root, store);
  return root;
}

function configure(root: string, store: object): void {
  writeFileSync(join(root, "langgraph.json"), JSON.stringify({ graphs: { memory: "./src/memory.ts:graph" }, store }));
}

async function started(choices: ServerChoices): Promise<TestServer & { client: Client }> {
  const running = await startTestServer(choices);
  cleanups.push(() => running.stop());
  return { ...running, client: clientOf(running.url) };
}

const warnings = (events: readonly ServerEvent[]) =>
  complaints(events).map((event) => (event.type === "diagnostic" ? event.diagnostic.message : JSON.stringify(event)));

/** Keys and rounded scores of what a search finds. */
async function find(client: Client, prefix: string[], options: Parameters<Client["store"]["searchItems"]>[1]) {
  const { items } = await client.store.searchItems(prefix, options);
  return items.map(({ key, score }) => [
    key,
    score === null || score === undefined ? null : Math.round(score * 10) / 10,
  ]);
}

describe("semantic search", () => {
  const server = useServer({ cwd: FIXTURE });
  const put = (namespace: string[], key: string, value: object, options?: { index?: false | string[] }) =>
    server.client.store.putItem(namespace, key, value as Record<string, unknown>, options);

  beforeEach(async () => {
    await put([own, "ada"], "morning", { text: "tea or coffee", mood: 1 });
    await put([own, "ada"], "pets", { text: "a cat and a dog", mood: 2 });
    await put([own, "bob"], "commute", { text: "the train", mood: 3 });
  });

  test("has the nearest first, each with its score", async () => {
    expect(await find(server.client, [own], { query: "dog" })).toEqual([
      ["pets", 1],
      ["commute", 0],
      ["morning", 0],
    ]);
    expect((await find(server.client, [own], { query: "juice" }))[0]).toEqual(["morning", 1]);
    const { items } = await server.client.store.searchItems([own], { query: "dog", limit: 1 });
    expect(items[0]).toMatchObject({
      namespace: [own, "ada"],
      key: "pets",
      value: { text: "a cat and a dog", mood: 2 },
    });
  });

  test("stays under the prefix, filters and pages", async () => {
    const keys = async (prefix: string[], options: object) =>
      (await find(server.client, prefix, { query: "dog", ...options })).map(([key]) => key);
    expect(await keys([own, "ada"], {})).toEqual(["pets", "morning"]);
    expect(await keys([own, "nobody"], {})).toEqual([]);
    expect(await keys([own], { filter: { mood: { $ne: 2 } } })).toEqual(["commute", "morning"]);
    expect(await keys([own], { filter: { mood: { $gte: 2, $lt: 3 } } })).toEqual(["pets"]);
    expect(await keys([own], { limit: 1, offset: 1 })).toEqual(["commute"]);
    expect(await keys([own], { limit: 5, offset: 3 })).toEqual([]);
    await expect(keys([own], { filter: { mood: { $like: 2 } } })).rejects.toThrow("$like");
  });

  test("without a query, or with an empty one, is by last update", async () => {
    const expected = ["commute", "pets", "morning"].map((key) => [key, null]);
    expect(await find(server.client, [own], {})).toEqual(expected);
    expect(await find(server.client, [own], { query: "" })).toEqual(expected);
  });

  test("leaves items last that are not to be indexed or have no such field", async () => {
    await put([own, "ada"], "secret", { text: "dog dog dog" }, { index: false });
    await put([own, "ada"], "other", { note: "dog dog dog" });
    expect(seen).not.toContain("dog dog dog");
    expect((await find(server.client, [own, "ada"], { query: "dog" })).map(([key]) => key)).toEqual([
      "pets",
      "morning",
      "other",
      "secret",
    ]);
    expect(await find(server.client, [own, "ada"], { query: "dog", limit: 2, offset: 2 })).toEqual([
      ["other", null],
      ["secret", null],
    ]);
  });

  test("takes the fields of the put in place of those of the config", async () => {
    await put(
      [own, "eve"],
      "k",
      { text: "train", about: { title: "horse", tags: ["car", "juice"] } },
      { index: ["about.title"] },
    );
    expect(await find(server.client, [own, "eve"], { query: "horse" })).toEqual([["k", 1]]);
    expect((await find(server.client, [own, "eve"], { query: "train" }))[0]![1]).toBeLessThan(0.1);
    await put([own, "eve"], "k", { about: { title: "horse", tags: ["car", "juice"] } }, { index: ["about.tags[-1]"] });
    expect(await find(server.client, [own, "eve"], { query: "juice" })).toEqual([["k", 1]]);
  });

  test("counts the best of several texts of an item", async () => {
    await put([own, "eve"], "k", { tags: ["train", "cat", "something else"] });
    for (const query of ["train", "cat"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await find(server.client, [own, "eve"], { query })).toEqual([["k", 1]]);
    }
  });

  test("follows changes and deletes", async () => {
    await put([own, "ada"], "pets", { text: "a bike" });
    expect((await find(server.client, [own], { query: "bike" })).map(([key]) => key)).toEqual([
      "pets",
      "commute",
      "morning",
    ]);
    await put([own, "ada"], "pets", { text: "a bike" }, { index: false });
    expect(await find(server.client, [own, "ada"], { query: "bike" })).toEqual([
      ["morning", expect.any(Number)],
      ["pets", null],
    ]);
    await server.client.store.deleteItem([own, "ada"], "pets");
    await put([own, "ada"], "later", { text: "horse" });
    expect((await find(server.client, [own, "ada"], { query: "horse" })).map(([key]) => key)).toEqual([
      "later",
      "morning",
    ]);
  });

  test("sends each text once, and nothing that is refused", async () => {
    seen.length = 0;
    await put([own], "k", { text: "tea", tags: ["tea", "tea"] });
    expect(seen).toEqual(["tea"]);
    await expect(put(["a.b"], "k", { text: "coffee" })).rejects.toThrow("a.b");
    const answer = await call(server.url, "PUT", "/store/items", {
      body: { namespace: [own], key: "k", value: { text: "coffee" }, ttl: -1 },
    });
    expect(answer.status).toBe(422);
    expect(seen).toEqual(["tea"]);
  });

  test("is there inside graphs, which see what clients put, and the other way round", async () => {
    const ask = async (verb: string, text: string) =>
      ((await server.client.runs.wait(null, "memory", { input: { verb, text, user: own } })) as { found: unknown })
        .found;
    await put(["users", own], "likes", { text: "coffee" });
    await ask("put", "two horse riders");
    await ask("hide", "juice");
    await ask("title", "a car");
    await ask("both", "bike");
    expect(await ask("find", "horse")).toMatchObject([
      { key: "two horse riders", score: expect.closeTo(0.96, 1) },
      {},
      {},
      {},
      {},
      { key: "juice", score: null },
    ]);
    expect(await ask("find", "coffee")).toMatchObject([
      { key: "likes", score: expect.closeTo(1, 5) },
      {},
      {},
      {},
      {},
      {},
    ]);
    expect(
      (await find(server.client, ["users", own], { query: "car" }))
        .slice(0, 3)
        .map(([key]) => key)
        .toSorted(),
    ).toEqual(["a car", "bike one", "bike two"]);
    expect(seen).not.toContain("juice");
  });
});

describe("a restart", () => {
  test("keeps vectors", async () => {
    const dataDir = folder();
    const first = await started({ cwd: FIXTURE, dataDir });
    await first.client.store.putItem([own], "pets", { text: "a cat" });
    await first.client.store.putItem([own], "drinks", { text: "tea" });
    await first.stop();
    seen.length = 0;
    const second = await started({ cwd: FIXTURE, dataDir });
    expect(await find(second.client, [own], { query: "cat" })).toEqual([
      ["pets", 1],
      ["drinks", 0],
    ]);
    expect(seen).toEqual(["cat"]);
    expect(complaints(second.events)).toEqual([]);
  });

  test("with an index for the first time, or with other fields, embeds what is there at the first search", async () => {
    const dataDir = folder();
    const bare = await started({ cwd: projectWith({}), dataDir });
    await bare.client.store.putItem([own], "pets", { text: "a cat", title: "tea" });
    await bare.client.store.putItem([own], "secret", { text: "a cat", title: "tea" }, { index: false });
    await bare.client.store.putItem([own], "chosen", { text: "a dog", title: "train" }, { index: ["title"] });
    expect(await find(bare.client, [own], { query: "cat" })).toEqual([
      ["chosen", null],
      ["secret", null],
      ["pets", null],
    ]);
    expect(seen).toEqual([]);
    await bare.stop();

    const indexed = await started({ cwd: projectWith({ index: INDEX }), dataDir });
    expect(await find(indexed.client, [own], { query: "cat" })).toEqual([
      ["pets", 1],
      ["chosen", 0],
      ["secret", null],
    ]);
    expect(seen.toSorted()).toEqual(["a cat", "cat", "train"]);
    seen.length = 0;
    await find(indexed.client, [own], { query: "cat" });
    expect(seen).toEqual(["cat"]);
    await indexed.stop();

    seen.length = 0;
    const other = await started({ cwd: projectWith({ index: { ...INDEX, fields: ["title"] } }), dataDir });
    expect((await find(other.client, [own], { query: "tea" }))[0]).toEqual(["pets", 1]);
    // What chose its own fields needs no new vectors.
    expect(seen.toSorted()).toEqual(["tea", "tea"]);
    expect(complaints(other.events)).toEqual([]);
  });
});

describe("an embedding", () => {
  test("may be an object of LangChain's shape", async () => {
    const { client } = await started({ cwd: projectWith({ index: { ...INDEX, embed: "./src/embed.ts:embeddings" } }) });
    await client.store.putItem([own], "pets", { text: "a cat" });
    expect(await find(client, [own], { query: "dog" })).toEqual([["pets", 1]]);
    expect(seen).toEqual(["a cat"]);
  });

  test("may be a model of a provider, from the project's own package, without a restart after its installation", async () => {
    const root = projectWith({ index: { ...INDEX, dims: 2, embed: "mistralai:mistral-embed:v1" } });
    rmSync(join(root, "node_modules"));
    const packages = join(root, "node_modules", "@langchain");
    mkdirSync(packages, { recursive: true });
    for (const name of ["core", "langgraph", "langgraph-checkpoint"]) {
      symlinkSync(join(REPOSITORY, "node_modules", "@langchain", name), join(packages, name), "junction");
    }
    const { client, events } = await started({ cwd: root });
    // Told at start, before anybody needs it.
    await expect.poll(() => warnings(events)).toEqual(["@langchain/mistralai is not installed"]);
    await expect(client.store.putItem([own], "long", { text: "x" })).rejects.toThrow(
      "npm install @langchain/mistralai",
    );
    mkdirSync(join(packages, "mistralai"));
    writeFileSync(
      join(packages, "mistralai", "package.json"),
      '{ "name": "@langchain/mistralai", "type": "module", "exports": "./index.js" }',
    );
    writeFileSync(
      join(packages, "mistralai", "index.js"),
      `export class MistralAIEmbeddings {
        constructor({ model }) { this.model = model; }
        async embedDocuments(texts) { return texts.map((text) => [text.length, 1]); }
        async embedQuery(text) { return text === this.model ? [1, 0] : [0, 1]; }
      }`,
    );
    await client.store.putItem([own], "long", { text: "x".repeat(50) });
    await client.store.putItem([own], "short", { text: "x" });
    expect(await find(client, [own], { query: "mistral-embed:v1" })).toEqual([
      ["long", 1],
      ["short", 0.7],
    ]);
    expect((await find(client, [own], { query: "other" }))[0]![0]).toBe("short");
    expect(complaints(events)).toHaveLength(1);
  });

  test.each([
    ["openai:text-embedding-3-small", /@langchain\/openai is not installed\. npm install @langchain\/openai$/],
    ["acme:best", /No package is known that embeds for the provider "acme"\. Known are openai, .*ollama/],
    ["./src/embed.ts:embbed", /src\/embed\.ts has no export "embbed"; it exports .*\. Did you mean "embed"\?$/],
    ["./src/embed.ts:notAFunction", /"notAFunction" embeds nothing: it is a number/],
    ["./src/embed.ts:Embeddings", /"Embeddings" embeds nothing: it is a class/],
  ])("%s is told at start and refused on use, and all else works", async (embed, message) => {
    const { client, url, events } = await started({ cwd: projectWith({ index: { ...INDEX, embed } }) });
    const body = { namespace: [own], key: "k", value: { text: "a cat" } };
    const refused = await call(url, "PUT", "/store/items", { body });
    expect([refused.status, refused.json]).toEqual([422, { detail: expect.stringMatching(message) }]);
    expect((refused.json as { detail: string }).detail).toMatch(/^store\.index\.embed: /);
    const search = await call(url, "POST", "/store/items/search", { body: { query: "cat" } });
    expect(search.json).toEqual(refused.json);
    // Once, however often it is used, at the place in the config.
    expect(complaints(events)).toMatchObject([
      {
        type: "diagnostic",
        diagnostic: { severity: "warning", location: { line: 1 }, frame: expect.stringContaining("embed") },
      },
    ]);

    await client.store.putItem([own], "plain", { text: "a cat" }, { index: false });
    await client.store.putItem([own], "none", { other: 1 });
    expect(await find(client, [own], {})).toEqual([
      ["none", null],
      ["plain", null],
    ]);
    await client.store.deleteItem([own], "none");
    expect(await client.runs.wait(null, "memory", { input: { verb: "hide", text: "x", user: own } })).toMatchObject({
      found: [{ key: "x", score: null }],
    });
  });

  test("that is broken is told with its place", async () => {
    const root = projectWith({ index: { ...INDEX, embed: "./src/broken.ts:embed" } });
    writeFileSync(
      join(root, "src", "broken.ts"),
      'export const embed = 1;\n\nthrow new Error("no key in the environment");\n',
    );
    const { url, events } = await started({ cwd: root });
    const body = { namespace: [own], key: "k", value: { text: "a cat" } };
    const refused = await call(url, "PUT", "/store/items", { body });
    expect([refused.status, refused.json]).toEqual([422, { detail: "store.index.embed: no key in the environment" }]);
    expect(complaints(events)).toMatchObject([
      {
        diagnostic: {
          location: { file: join(root, "src", "broken.ts"), line: 3 },
          message: "no key in the environment",
        },
      },
    ]);
  });

  test.each([
    ["short", /^store\.index\.embed gave a vector of 3 numbers, but store\.index\.dims is 4$/],
    ["few", /^store\.index\.embed gave 0 vectors for 1 texts$/],
    ["words", /^store\.index\.embed gave a vector that is no list of numbers$/],
  ])("that gives something else (%s) is refused, and nothing is stored", async (name, message) => {
    const { client, url } = await started({
      cwd: projectWith({ index: { ...INDEX, embed: `./src/embed.ts:${name}` } }),
    });
    const body = { namespace: [own], key: "k", value: { text: "a cat" } };
    const refused = await call(url, "PUT", "/store/items", { body });
    expect([refused.status, refused.json]).toEqual([422, { detail: expect.stringMatching(message) }]);
    expect(await client.store.getItem([own], "k")).toBeNull();
    const searched = await call(url, "POST", "/store/items/search", { body: { query: "cat" } });
    expect(searched.status).toBe(422);
  });

  test("that throws is a 502, and the item stays as it was", async () => {
    const { client, url, events } = await started({ cwd: projectWith({ index: INDEX }) });
    await client.store.putItem([own], "k", { text: "a cat" });
    const body = { namespace: [own], key: "k", value: { text: "unspeakable" } };
    const refused = await call(url, "PUT", "/store/items", { body });
    expect([refused.status, refused.json]).toEqual([
      502,
      { detail: "store.index.embed failed: that text cannot be embedded" },
    ]);
    expect(await find(client, [own], { query: "dog" })).toEqual([["k", 1]]);
    expect(complaints(events)).toMatchObject([
      { type: "diagnostic", diagnostic: { location: { file: expect.stringMatching(/embed\.ts$/), line: 12 } } },
    ]);
    // Of a graph it fails the run, like anything else that a node throws.
    const input = { verb: "put", text: "unspeakable", user: own };
    await expect(client.runs.wait(null, "memory", { input })).rejects.toThrow("that text cannot be embedded");
    const failed = events.find(({ type }) => type === "run-failed");
    expect(failed).toMatchObject({ diagnostic: { location: { file: expect.stringMatching(/memory\.ts$/) } } });
  });
});

describe("a save", () => {
  test("of the embedding's file takes effect, and mends a broken one", async () => {
    const root = projectWith({ index: { ...INDEX, embed: "./src/mine.ts:embed" } });
    const write = (text: string) => writeFileSync(join(root, "src", "mine.ts"), text);
    write("export const embed = (texts: string[]) => texts.map((text) => [text.length, 1, 0, 0]);\n");
    const { client } = await started({ cwd: root, reload: true });
    await client.store.putItem([own], "k", { text: "x" });
    expect(await find(client, [own], { query: "x" })).toEqual([["k", 1]]);
    write("export const embed = (texts: string[]) => texts.map(() => [0, 0, 1, 1] as number[];\n");
    await expect.poll(() => find(client, [own], { query: "x" }).catch(String)).toContain("store.index.embed");
    write("export const embed = (texts: string[]) => texts.map(() => [0, 0, 1, 1]);\n");
    await expect.poll(() => find(client, [own], { query: "x" }).catch(String)).toEqual([["k", 0]]);
  });

  test("that brings what the embedding imports is enough", async () => {
    const root = projectWith({ index: { ...INDEX, embed: "./src/mine.ts:embed" } });
    writeFileSync(join(root, "src", "mine.ts"), 'export { embed } from "./later.ts";\n');
    const { client, events } = await started({ cwd: root, reload: true });
    await expect.poll(() => warnings(events)).toEqual(['Cannot find file "./later.ts"']);
    writeFileSync(join(root, "src", "later.ts"), 'export { embed } from "./embed.ts";\n');
    await expect.poll(() => client.store.putItem([own], "k", { text: "a cat" }).catch(String)).toBeUndefined();
    expect(await find(client, [own], { query: "dog" })).toEqual([["k", 1]]);
  });

  test("of the config takes over index and ttl", async () => {
    const root = projectWith({});
    const clock = new TestClock(Date.now());
    const { client, events } = await started({ cwd: root, reload: true, clock });
    await client.store.putItem([own], "k", { text: "a cat" });
    configure(root, { index: INDEX });
    await expect.poll(() => find(client, [own], { query: "cat" })).toEqual([["k", 1]]);
    configure(root, { ttl: { default_ttl: 10 } });
    await expect.poll(() => find(client, [own], { query: "cat" })).toEqual([["k", null]]);
    await client.store.putItem([own], "brief", { text: "a cat" });
    await clock.advance(10 * 60_000);
    expect(await find(client, [own], {})).toEqual([["k", null]]);
    expect(warnings(events)).toEqual([]);
  });
});

describe("ttl of the config", () => {
  const minutes = (clock: TestClock, count: number) => clock.advance(count * 60_000);

  test("is that of items without one of their own; reads start it again, but not when told so", async () => {
    const clock = new TestClock(Date.now());
    const { client } = await started({ cwd: projectWith({ ttl: { default_ttl: 10 } }), clock });
    await client.store.putItem([own], "default", {});
    await client.store.putItem([own], "read", {});
    await client.store.putItem([own], "own", {}, { ttl: 60 });
    await client.store.putItem([own], "forever", {}, { ttl: null });
    await client.runs.wait(null, "memory", { input: { verb: "put", text: "of a graph", user: own } });
    await minutes(clock, 9);
    await client.store.getItem([own], "read");
    await client.store.getItem([own], "default", { refreshTtl: false });
    await client.store.searchItems([own], { refreshTtl: false });
    await minutes(clock, 2);
    const keys = ["forever", "own", "read"];
    expect((await find(client, [own], {})).map(([key]) => key)).toEqual(keys);
    expect(await client.store.getItem(["users", own], "of a graph")).toBeNull();
    // The search before has started them again.
    await minutes(clock, 9);
    expect((await find(client, [own], { filter: {} })).map(([key]) => key)).toEqual(keys);
  });

  test("refresh_on_read false: reads change nothing; a sweep deletes what nobody reads, also after a restart", async () => {
    const clock = new TestClock(Date.now());
    const cwd = projectWith({ ttl: { default_ttl: 10, refresh_on_read: false, sweep_interval_minutes: 30 } });
    const dataDir = folder();
    const first = await started({ cwd, dataDir, clock });
    await first.client.store.putItem([own], "brief", {});
    await first.client.store.putItem([own], "longer", {}, { ttl: 50 });
    await minutes(clock, 9);
    expect(await find(first.client, [own], {})).toHaveLength(2);
    await minutes(clock, 1);
    expect(await first.client.store.getItem([own], "brief")).toBeNull();
    await first.stop();
    const second = await started({ cwd, dataDir, clock });
    expect(second.running.stored.items).toBe(1);
    await minutes(clock, 60);
    await second.stop();
    const third = await started({ cwd, dataDir, clock });
    expect(third.running.stored.items).toBe(0);
  });
});
