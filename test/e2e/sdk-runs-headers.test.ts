// Settings of runs through the official client: which request headers reach the graph and nobody else, how `context` and
// `configurable` stand in for each other, and what of the metadata belongs to the server.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { StreamMode } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, collect } from "./support/http.ts";
import { clientOf, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const RUNS_PROJECT = join(import.meta.dirname, "..", "fixtures", "runs-project");
const server = useServer({ cwd: RUNS_PROJECT });
const gates = useGates();

interface Seen {
  readonly lengths: number[];
  readonly context: unknown;
}

const SECRET = "s3cret-of-ada";
const HEADERS = { "X-User-Token": SECRET, "X-User-Secret": `${SECRET}-excluded`, "x-plain": "yes" };
const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

describe("§8.19: request headers", () => {
  test("reach the graph if the config names them, and never if they are excluded or credentials", async () => {
    const headers = {
      ...HEADERS,
      "x-api-key": "key",
      authorization: "Bearer token",
      "x-other": "other",
      cookie: "a=b",
      __pregel_resuming: "1",
    };
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    const client = clientOf(server.url, headers);
    const values = (await client.runs.wait(null, "settings", { input: { names } })) as unknown as Seen;
    const found = names.filter((_name, i) => values.lengths[i]! > 0);
    expect(found).toEqual(["x-user-token", "x-plain"]);
    expect(values.lengths[0]).toBe(SECRET.length);
  });

  test("are stored and shown nowhere", async () => {
    const thread_id = await newThread();
    const client = clientOf(server.url, HEADERS);
    const input = { names: ["x-user-token"], gate: gates.url("headers") };
    const modes: StreamMode[] = ["values", "updates", "messages", "messages-tuple", "debug", "tasks", "checkpoints"];
    const created = await client.runs.create(thread_id, "settings", {
      input,
      streamMode: [...modes, "events", "custom"],
      streamResumable: true,
      metadata: { a: 1 },
    });
    await gates.entered("headers");
    // While it runs, too.
    const path = `/threads/${thread_id}`;
    const look = async (): Promise<string> => {
      const answers = await Promise.all(
        [path, `${path}/state`, `${path}/history?limit=100`, `${path}/runs`, `${path}/runs/${created.run_id}`].map(
          (where) => call(server.url, "GET", where),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      return answers.map(({ text }) => text).join("\n");
    };
    const shows = (value: unknown): boolean => JSON.stringify(value).includes(SECRET);
    expect(shows(created)).toBe(false);
    expect(shows(await look())).toBe(false);
    gates.open("headers");
    expect(await client.runs.join(thread_id, created.run_id)).toMatchObject({ lengths: [SECRET.length] });
    expect(shows(await look())).toBe(false);
    const events = await collect(client.runs.joinStream(thread_id, created.run_id, { lastEventId: "-1" }));
    expect(new Set(events.map(({ event }) => event))).toContain("messages");
    expect(new Set(events.map(({ event }) => event))).toContain("debug");
    expect(events.filter(shows)).toEqual([]);
    expect((await client.threads.get(thread_id)).config).toEqual({});
    const { metadata } = await client.threads.getState(thread_id);
    expect(Object.keys(metadata!).filter((key) => key.startsWith("x-"))).toEqual([]);
  });

  test("of one run are not those of the next", async () => {
    const thread_id = await newThread();
    const input = { names: ["x-user-token"] };
    await clientOf(server.url, HEADERS).runs.wait(thread_id, "settings", { input });
    expect(await server.client.runs.wait(thread_id, "settings", { input })).toMatchObject({ lengths: [0] });
  });

  test("still reach a run that waits behind another when the server stops and starts again", async () => {
    const dataDir = temporaryFolder();
    try {
      const first = await startTestServer({ cwd: RUNS_PROJECT, dataDir });
      const client = clientOf(first.url, HEADERS);
      const { thread_id } = await client.threads.create();
      await client.runs.create(thread_id, "gated", { input: { name: "first", gate: gates.url("parked-headers") } });
      await gates.entered("parked-headers");
      const run = await client.runs.create(thread_id, "settings", { input: { names: ["x-user-token"] } });
      const stopped = first.stop();
      gates.open("parked-headers");
      await stopped;
      const second = await startTestServer({ cwd: RUNS_PROJECT, dataDir });
      try {
        const again = clientOf(second.url);
        expect(await again.runs.join(thread_id, run.run_id)).toMatchObject({ lengths: [SECRET.length] });
        expect(JSON.stringify(await again.runs.get(thread_id, run.run_id))).not.toContain(SECRET);
      } finally {
        await second.stop();
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test("are not copied at all unless the config says so", async () => {
    const other = await startTestServer({ persist: false });
    try {
      const values = await clientOf(other.url, HEADERS).runs.wait(null, "mirror", { input: {} });
      expect(JSON.stringify(values)).not.toContain(SECRET);
    } finally {
      await other.stop();
    }
  });
});

describe("who the caller is", () => {
  test("only the server says: a caller's own langgraph_auth settings are left out", async () => {
    const names = ["langgraph_auth_user", "langgraph_auth_user_id", "langgraph_auth_permissions", "mine"];
    const configurable = { ...Object.fromEntries(names.map((name) => [name, "spoofed"])), mine: "kept" };
    const values = await server.client.runs.wait(null, "settings", { input: { names }, config: { configurable } });
    expect(values).toMatchObject({ lengths: [0, 0, 0, 4] });
    const context = await server.client.runs.wait(null, "settings", { input: { names }, context: configurable });
    expect(context).toMatchObject({ lengths: [0, 0, 0, 4] });
  });

  test("is what the caller says as user_id, where nobody is told from another", async () => {
    const input = { names: ["user_id"] };
    const wait = (more: object): Promise<unknown> => server.client.runs.wait(null, "settings", { input, ...more });
    expect(await wait({ config: { configurable: { user_id: "four" } } })).toMatchObject({ lengths: [4] });
    expect(await wait({ context: { user_id: "four" } })).toMatchObject({ lengths: [4] });
  });
});

describe("context and configurable", () => {
  const wait = async (graph: string, payload: Record<string, unknown>): Promise<Seen> =>
    (await server.client.runs.wait(null, graph, payload)) as unknown as Seen;
  const input = { names: ["tenant", "user"] };

  test("who gives only one of them gives both", async () => {
    expect(await wait("settings", { input, context: { tenant: "acme" } })).toMatchObject({
      lengths: [4, 0],
      context: { tenant: "acme" },
    });
    expect(await wait("settings", { input, config: { configurable: { tenant: "acme" } } })).toMatchObject({
      lengths: [4, 0],
      context: { tenant: "acme" },
    });
    expect(await wait("settings", { input })).toMatchObject({ lengths: [0, 0], context: null });
  });

  test("who gives both gets each as it is", async () => {
    const config = { configurable: { user: "ada" } };
    expect(await wait("settings", { input, config, context: { tenant: "acme" } })).toMatchObject({
      lengths: [0, 3],
      context: { tenant: "acme" },
    });
  });

  test("a graph that is strict about its context takes it from either", async () => {
    for (const payload of [{ context: { tenant: "acme" } }, { config: { configurable: { tenant: "acme" } } }]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await wait("strict", { input, ...payload })).toMatchObject({ context: { tenant: "acme" } });
    }
    expect(await wait("strict", { input, context: { tenants: 1 }, raiseError: false })).toHaveProperty("__error__");
  });

  test("the run shows what was given, and not what was made of it", async () => {
    const thread_id = await newThread();
    const run = await server.client.runs.create(thread_id, "settings", { input, context: { tenant: "acme" } });
    const { kwargs } = run as unknown as { kwargs: { context: unknown; config: { configurable: object } } };
    expect(kwargs.context).toEqual({ tenant: "acme" });
    expect(kwargs.config.configurable).not.toHaveProperty("tenant");
    await server.client.runs.join(thread_id, run.run_id);
  });
});

describe("metadata", () => {
  test("of a run is its assistant's, its thread's and its own, and never what belongs to the server", async () => {
    const { assistants, threads, runs } = server.client;
    const { assistant_id } = await assistants.create({ graphId: "counter", metadata: { a: 1, b: 1, c: 1 } });
    const { thread_id } = await threads.create({ metadata: { b: 2, c: 2 } });
    const metadata = { c: 3, run_id: "x", thread_id: "x", run_attempt: 9, langgraph_version: "x", graph_id: "x" };
    const run = await runs.create(thread_id, assistant_id, { input: {}, metadata });
    expect(run.metadata).toEqual({ a: 1, b: 2, c: 3, graph_id: "counter", assistant_id });
    await runs.join(thread_id, run.run_id);
    const { metadata: stored } = await threads.getState(thread_id);
    expect(stored).toMatchObject({ a: 1, b: 2, c: 3, run_id: run.run_id, thread_id, run_attempt: 1 });
    expect((stored as Record<string, unknown>)["langgraph_version"]).toMatch(/^1\./);
  });
});
