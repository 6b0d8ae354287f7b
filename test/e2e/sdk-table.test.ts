// The table of the SDK (wire-api §7), row by row: what each method of the official client sends, and that its answer means what the method
// promises. A method that the SDK gets tomorrow and no row has yet fails here. Other files go deeper into each of them.
import { Client } from "@langchain/langgraph-sdk";
import { expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { collect } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();
const gates = useGates();

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;
const rows: string[] = [];

/**
 * A row: the call as the table names it, and all requests that it sends, with `{id}` for every id.
 * @param check makes the call with the given client, or with what that fetches with.
 */
function row(
  call: string,
  requests: string | string[],
  check: (client: Client, fetcher: typeof fetch) => Promise<void>,
): void {
  rows.push(call);
  test(call, async () => {
    const sent: string[] = [];
    const recording: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      sent.push(`${request.method} ${request.url.slice(server.url.length).replaceAll(UUID, "{id}")}`);
      return fetch(request);
    };
    const callerOptions = { fetch: recording, maxRetries: 0 };
    await check(new Client({ apiUrl: server.url, apiKey: null, callerOptions }), recording);
    expect(sent.toSorted()).toEqual([requests].flat().toSorted());
  });
}

const MISSING = "00000000-0000-4000-8000-000000000000";
const COUNTED = { total: 111, trail: ["one", "ten", "hundred"] };

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

/** A thread on which `counter` has run, with that run and its newest checkpoint. */
async function counted(): Promise<{ thread: string; run: string; checkpoint: string }> {
  const thread = await newThread();
  const { run_id: run } = await server.client.runs.create(thread, "counter", { input: {} });
  await server.client.runs.join(thread, run);
  const { checkpoint } = await server.client.threads.getState(thread);
  return { thread, run, checkpoint: checkpoint.checkpoint_id! };
}

/** A run that stands at a gate. */
async function standing(name: string): Promise<{ thread: string; run: string }> {
  const thread = await newThread();
  const { run_id: run } = await server.client.runs.create(thread, "gated", { input: { name, gate: gates.url(name) } });
  await gates.entered(name);
  return { thread, run };
}

const newAssistant = async (name: string): Promise<string> =>
  (await server.client.assistants.create({ graphId: "counter", name })).assistant_id;

row("assistants.get(id)", "GET /assistants/{id}", async ({ assistants }) => {
  const id = await newAssistant("got");
  expect(await assistants.get(id)).toMatchObject({ assistant_id: id, graph_id: "counter", name: "got", version: 1 });
});

row("assistants.getGraph(id,{xray})", "GET /assistants/subgraph/graph?xray=1", async ({ assistants }) => {
  const { nodes, edges } = await assistants.getGraph("subgraph", { xray: 1 });
  expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(["__start__", "before", "inner:work", "__end__"]));
  expect(edges).toContainEqual(expect.objectContaining({ source: "__start__", target: "before" }));
});

row("assistants.getSchemas(id)", "GET /assistants/zod/schemas", async ({ assistants }) => {
  const schemas = await assistants.getSchemas("zod");
  expect(schemas).toMatchObject({ graph_id: "zod", input_schema: { properties: { name: { type: "string" } } } });
});

row(
  "assistants.getSubgraphs(id,{namespace,recurse})",
  ["GET /assistants/subgraph/subgraphs", "GET /assistants/subgraph/subgraphs/inner?recurse=true"],
  async ({ assistants }) => {
    const all = await assistants.getSubgraphs("subgraph");
    expect(all).toEqual({ inner: expect.objectContaining({ state_schema: expect.any(Object) }) });
    expect(await assistants.getSubgraphs("subgraph", { namespace: "inner", recurse: true })).toEqual(all);
  },
);

row("assistants.create", ["POST /assistants", "POST /assistants"], async ({ assistants }) => {
  const given = { graphId: "counter", config: { tags: ["a"] }, metadata: { a: 1 }, name: "made", description: "why" };
  const made = await assistants.create(given);
  expect(made).toMatchObject({ graph_id: "counter", config: { tags: ["a"] }, metadata: { a: 1 }, name: "made" });
  expect(await assistants.create({ graphId: "echo", assistantId: made.assistant_id, ifExists: "do_nothing" })).toEqual(
    made,
  );
});

row("assistants.update", "PATCH /assistants/{id}", async ({ assistants }) => {
  const id = await newAssistant("old");
  expect(await assistants.update(id, { name: "new", metadata: { a: 1 } })).toMatchObject({ name: "new", version: 2 });
});

row(
  "assistants.delete(id,{deleteThreads})",
  ["DELETE /assistants/{id}?delete_threads=true", "GET /assistants/{id}"],
  async ({ assistants }) => {
    const id = await newAssistant("unwanted");
    const thread = await newThread();
    await server.client.runs.wait(thread, id, { input: {} });
    await assistants.delete(id, { deleteThreads: true });
    await expect(assistants.get(id)).rejects.toMatchObject({ status: 404 });
    await expect(server.client.threads.get(thread)).rejects.toMatchObject({ status: 404 });
  },
);

row("assistants.search", ["POST /assistants/search", "POST /assistants/search"], async ({ assistants }) => {
  await Promise.all([newAssistant("found a"), newAssistant("found b")]);
  const page = { name: "FOUND", limit: 1, sortBy: "name", sortOrder: "asc", includePagination: true } as const;
  expect(await assistants.search(page)).toMatchObject({ assistants: [{ name: "found a" }], next: "1" });
  expect(await assistants.search({ ...page, offset: 1 })).toMatchObject({
    assistants: [{ name: "found b" }],
    next: null,
  });
});

row("assistants.count", "POST /assistants/count", async ({ assistants }) => {
  await newAssistant("counted once");
  expect(await assistants.count({ name: "counted once" })).toBe(1);
});

row("assistants.getVersions", "POST /assistants/{id}/versions", async ({ assistants }) => {
  const id = await newAssistant("first");
  await server.client.assistants.update(id, { name: "second" });
  const versions = await assistants.getVersions(id);
  expect(versions.map(({ version, name }) => [version, name])).toEqual([
    [2, "second"],
    [1, "first"],
  ]);
});

row("assistants.setLatest(id,v)", "POST /assistants/{id}/latest", async ({ assistants }) => {
  const id = await newAssistant("first");
  await server.client.assistants.update(id, { name: "second" });
  expect(await assistants.setLatest(id, 1)).toMatchObject({ version: 1, name: "first" });
});

row("threads.get(id,{include})", ["GET /threads/{id}", "GET /threads/{id}?include=ttl"], async ({ threads }) => {
  const { thread_id } = await server.client.threads.create({ ttl: 5 });
  expect(await threads.get(thread_id)).not.toHaveProperty("ttl");
  expect(await threads.get(thread_id, { include: ["ttl"] })).toMatchObject({ ttl: { ttl_minutes: 5 } });
});

row("threads.create", ["POST /threads", "POST /threads"], async ({ threads }) => {
  const threadId = crypto.randomUUID();
  const updates = [{ values: { total: 5 }, asNode: "hundred" }];
  const made = { thread_id: threadId, status: "idle", metadata: { a: 1, graph_id: "counter" } };
  const given = { threadId, metadata: { a: 1 }, graphId: "counter", ttl: 5, supersteps: [{ updates }] };
  expect(await threads.create(given)).toMatchObject(made);
  expect(await threads.create({ threadId, ifExists: "do_nothing" })).toMatchObject(made);
  expect((await server.client.threads.getState(threadId)).values).toMatchObject({ total: 5 });
});

row("threads.copy", "POST /threads/{id}/copy", async ({ threads }) => {
  const { thread } = await counted();
  const copy = await threads.copy(thread);
  expect(copy.thread_id).not.toBe(thread);
  expect((await server.client.threads.getState(copy.thread_id)).values).toEqual(COUNTED);
});

row(
  "threads.update(id,{metadata,ttl,returnMinimal})",
  ["PATCH /threads/{id}", "PATCH /threads/{id}"],
  async ({ threads }) => {
    const id = await newThread();
    expect(await threads.update(id, { metadata: { a: 1 }, ttl: 5 })).toMatchObject({ metadata: { a: 1 } });
    expect(await threads.update(id, { metadata: { b: 2 }, returnMinimal: true })).toBeUndefined();
    expect(await server.client.threads.get(id)).toMatchObject({ metadata: { a: 1, b: 2 } });
  },
);

row("threads.delete", ["DELETE /threads/{id}", "GET /threads/{id}"], async ({ threads }) => {
  const id = await newThread();
  await threads.delete(id);
  await expect(threads.get(id)).rejects.toMatchObject({ status: 404 });
});

row("threads.prune(ids,{strategy})", ["POST /threads/prune", "POST /threads/prune"], async ({ threads }) => {
  const { thread } = await counted();
  expect(await threads.prune([thread, MISSING], { strategy: "keep_latest" })).toEqual({ pruned_count: 1 });
  expect(await server.client.threads.getHistory(thread)).toHaveLength(1);
  expect(await threads.prune([thread])).toEqual({ pruned_count: 1 });
  await expect(server.client.threads.get(thread)).rejects.toMatchObject({ status: 404 });
});

row("threads.search", "POST /threads/search", async ({ threads }) => {
  const { thread } = await counted();
  const found = await threads.search({
    ids: [thread, await newThread()],
    values: { total: 111 },
    select: ["thread_id", "status"],
    extract: { last: "values.trail[-1]" },
  });
  expect(found).toEqual([{ thread_id: thread, status: "idle", extracted: { last: "hundred" } }]);
});

row("threads.count", "POST /threads/count", async ({ threads }) => {
  const mark = crypto.randomUUID();
  await server.client.threads.create({ metadata: { mark } });
  expect(await threads.count({ metadata: { mark } })).toBe(1);
});

row("threads.getState(id)", "GET /threads/{id}/state", async ({ threads }) => {
  const { thread, checkpoint } = await counted();
  const state = { values: COUNTED, next: [], checkpoint: { checkpoint_id: checkpoint } };
  // Two calls at once are one request.
  expect(await Promise.all([threads.getState(thread), threads.getState(thread)])).toMatchObject([state, state]);
});

row('threads.getState(id,"cp")', "GET /threads/{id}/state/{id}?subgraphs=true", async ({ threads }) => {
  const { thread, checkpoint } = await counted();
  expect(await threads.getState(thread, checkpoint, { subgraphs: true })).toMatchObject({ values: COUNTED });
});

row("threads.getState(id,{…})", "POST /threads/{id}/state/checkpoint", async ({ threads }) => {
  const { thread, checkpoint } = await counted();
  const reference = { checkpoint_id: checkpoint, checkpoint_ns: "", checkpoint_map: {} };
  expect(await threads.getState(thread, { ...reference, thread_id: thread })).toMatchObject({ values: COUNTED });
});

row("threads.updateState", "POST /threads/{id}/state", async ({ threads }) => {
  const { thread, checkpoint } = await counted();
  const made = (await threads.updateState(thread, {
    values: { total: 1 },
    asNode: "one",
    checkpointId: checkpoint,
  })) as { checkpoint: { checkpoint_id: string } };
  expect(await server.client.threads.getState(thread)).toMatchObject({
    values: { total: 112 },
    next: ["ten"],
    checkpoint: { checkpoint_id: made.checkpoint.checkpoint_id },
  });
});

row("threads.patchState", "PATCH /threads/{id}/state", async ({ threads }) => {
  const { thread } = await counted();
  await threads.patchState(thread, { reviewed: true });
  expect(await server.client.threads.getState(thread)).toMatchObject({ metadata: { reviewed: true }, values: COUNTED });
});

row("threads.getHistory", "POST /threads/{id}/history", async ({ threads }) => {
  const { thread, checkpoint } = await counted();
  const before = { configurable: { checkpoint_id: checkpoint } };
  const [newest, ...others] = await threads.getHistory(thread, { limit: 2, before });
  expect(newest).toMatchObject({ values: { total: 11 }, next: ["hundred"] });
  expect(others).toHaveLength(1);
});

row("threads.joinStream", "GET /threads/{id}/stream?stream_mode=lifecycle", async ({ threads }) => {
  const thread = await newThread();
  const { run_id } = await server.client.runs.create(thread, "counter", { input: {}, streamResumable: true });
  await server.client.runs.join(thread, run_id);
  const leave = new AbortController();
  const events: unknown[] = [];
  for await (const { event, data } of threads.joinStream(thread, {
    streamMode: "lifecycle",
    lastEventId: "-",
    signal: leave.signal,
  })) {
    events.push([event, data]);
    if (event === "run_done") break;
  }
  leave.abort();
  expect(events).toEqual([
    ["run_start", expect.objectContaining({ run_id, status: "running" })],
    ["run_done", expect.objectContaining({ run_id, status: "success" })],
  ]);
});

// The table's third request, GET …/state, is its controller's: protocol-controller.test.ts.
row(
  "threads.stream(…)",
  ["POST /threads/{id}/stream/events", "POST /threads/{id}/commands"],
  async ({ threads }, fetcher) => {
    const thread = threads.stream(await newThread(), { assistantId: "counter", fetch: fetcher });
    const { run_id } = await thread.run.start({ input: {} });
    expect(await thread.output).toEqual(COUNTED);
    await thread.close();
    expect(await server.client.runs.get(thread.threadId, run_id!)).toMatchObject({ status: "success" });
  },
);

row("runs.stream(t|null,a,…)", ["POST /threads/{id}/runs/stream", "POST /runs/stream"], async ({ runs }) => {
  const thread = await newThread();
  let created: unknown;
  const onRunCreated = (run: unknown): void => void (created = run);
  const parts = await collect(runs.stream(thread, "counter", { input: {}, streamMode: "updates", onRunCreated }));
  expect(parts.map(({ event, data }) => [event, data])).toEqual([
    ["metadata", { run_id: expect.any(String), attempt: 1 }],
    ["updates", { one: { total: 1, trail: ["one"] } }],
    ["updates", { ten: { total: 10, trail: ["ten"] } }],
    ["updates", { hundred: { total: 100, trail: ["hundred"] } }],
  ]);
  expect(created).toEqual({ run_id: (parts[0]!.data as { run_id: string }).run_id, thread_id: thread });
  const values = await collect(runs.stream(null, "counter", { input: {} }));
  expect(values.at(-1)).toMatchObject({ event: "values", data: COUNTED });
});

row("runs.create", ["POST /threads/{id}/runs", "POST /runs"], async ({ runs }) => {
  const thread = await newThread();
  const run = await runs.create(thread, "counter", { input: {}, metadata: { a: 1 } });
  expect(run).toMatchObject({ thread_id: thread, metadata: { a: 1 }, multitask_strategy: "enqueue" });
  expect(await server.client.runs.join(thread, run.run_id)).toEqual(COUNTED);
  expect(await runs.create(null, "counter", { input: {} })).toMatchObject({ run_id: expect.any(String) });
});

row("runs.createBatch", "POST /runs/batch", async ({ runs }) => {
  const made = await runs.createBatch([
    { assistantId: "counter", input: {}, metadata: { n: 1 } },
    { assistantId: "echo", input: {}, metadata: { n: 2 } },
  ]);
  expect(made.map(({ metadata }) => metadata?.["n"])).toEqual([1, 2]);
});

row(
  "runs.wait",
  ["POST /threads/{id}/runs/wait", "POST /runs/wait", "POST /runs/wait", "POST /runs/wait"],
  async ({ runs }) => {
    expect(await runs.wait(await newThread(), "counter", { input: {} })).toEqual(COUNTED);
    expect(await runs.wait(null, "counter", { input: {} })).toEqual(COUNTED);
    const fails = { input: { how: "class" } };
    await expect(runs.wait(null, "failing", fails)).rejects.toThrow("PaymentRefused: the card has expired");
    expect(await runs.wait(null, "failing", { ...fails, raiseError: false })).toMatchObject({
      __error__: { error: "PaymentRefused", message: "the card has expired" },
    });
  },
);

row("runs.list", "GET /threads/{id}/runs?limit=5&offset=0&status=success&select=run_id", async ({ runs }) => {
  const { thread, run } = await counted();
  const found = await runs.list(thread, { limit: 5, offset: 0, status: "success", select: ["run_id"] });
  expect(found).toEqual([{ run_id: run }]);
});

row("runs.get", "GET /threads/{id}/runs/{id}", async ({ runs }) => {
  const { thread, run } = await counted();
  expect(await runs.get(thread, run)).toMatchObject({ run_id: run, thread_id: thread, status: "success" });
});

row(
  "runs.cancel(t,r,wait,action)",
  [
    "POST /threads/{id}/runs/{id}/cancel?wait=1&action=interrupt",
    "POST /threads/{id}/runs/{id}/cancel?wait=1&action=rollback",
  ],
  async ({ runs }) => {
    const first = await standing("table: interrupt");
    await runs.cancel(first.thread, first.run, true);
    expect(await server.client.runs.get(first.thread, first.run)).toMatchObject({ status: "interrupted" });
    const second = await standing("table: rollback");
    await runs.cancel(second.thread, second.run, true, "rollback");
    await expect(server.client.runs.get(second.thread, second.run)).rejects.toMatchObject({ status: 404 });
  },
);

row("runs.cancelMany", "POST /runs/cancel?action=interrupt", async ({ runs }) => {
  const { thread, run } = await standing("table: many");
  await runs.cancelMany({ threadId: thread, runIds: [run], action: "interrupt" });
  expect(await server.client.runs.get(thread, run)).toMatchObject({ status: "interrupted" });
});

row("runs.join", "GET /threads/{id}/runs/{id}/join?cancel_on_disconnect=0", async ({ runs }) => {
  const { thread, run } = await standing("table: join");
  gates.open("table: join");
  expect(await runs.join(thread, run)).toMatchObject({ log: expect.arrayContaining([expect.any(String)]) });
});

row(
  "runs.joinStream",
  [
    "GET /threads/{id}/runs/{id}/stream?cancel_on_disconnect=0&stream_mode=values",
    "GET /runs/{id}/stream?cancel_on_disconnect=0",
  ],
  async ({ runs }) => {
    const { thread, run } = await standing("table: join stream");
    const joined = runs.joinStream(thread, run, { streamMode: "values" });
    const first = await joined.next();
    expect(first.value).toMatchObject({ event: "metadata", data: { run_id: run } });
    gates.open("table: join stream");
    expect((await collect(joined)).at(-1)).toMatchObject({ event: "values", data: { log: expect.any(Array) } });
    const stateless = await server.client.runs.create(null, "counter", { input: {}, streamResumable: true });
    const all = await collect(runs.joinStream(null, stateless.run_id, { lastEventId: "-1" }));
    expect(all.at(-1)).toMatchObject({ event: "values", data: COUNTED });
  },
);

row("runs.delete", ["DELETE /threads/{id}/runs/{id}", "GET /threads/{id}/runs/{id}"], async ({ runs }) => {
  const { thread, run } = await counted();
  await runs.delete(thread, run);
  await expect(runs.get(thread, run)).rejects.toMatchObject({ status: 404 });
});

/** The API answers with a cron; the SDK's type says a run. */
const idOf = (cron: unknown): string => (cron as { cron_id: string }).cron_id;
const newCron = async (metadata = {}): Promise<string> =>
  idOf(await server.client.crons.create("counter", { schedule: "0 9 1 1 *", input: {}, metadata }));

row("crons.createForThread", "POST /threads/{id}/runs/crons", async ({ crons }) => {
  const thread = await newThread();
  const cron = await crons.createForThread(thread, "counter", { schedule: "0 9 1 1 *", timezone: "Europe/Zurich" });
  expect(cron).toMatchObject({
    cron_id: expect.any(String),
    thread_id: thread,
    timezone: "Europe/Zurich",
    enabled: true,
  });
});

row("crons.create", "POST /runs/crons", async ({ crons }) => {
  const cron = await crons.create("counter", { schedule: "0 9 1 1 *", input: { total: 1 }, onRunCompleted: "keep" });
  expect(cron).toMatchObject({ thread_id: null, on_run_completed: "keep", payload: { input: { total: 1 } } });
});

row("crons.update", "PATCH /runs/crons/{id}", async ({ crons }) => {
  const id = await newCron();
  const changed = await crons.update(id, { schedule: "30 8 1 1 *", enabled: false });
  expect(changed).toMatchObject({ cron_id: id, schedule: "30 8 1 1 *", enabled: false, next_run_date: null });
});

row("crons.delete", "DELETE /runs/crons/{id}", async ({ crons }) => {
  const mark = crypto.randomUUID();
  await crons.delete(await newCron({ mark }));
  expect(await server.client.crons.count({ metadata: { mark } })).toBe(0);
});

row("crons.search", "POST /runs/crons/search", async ({ crons }) => {
  const mark = crypto.randomUUID();
  const id = await newCron({ mark });
  expect(await crons.search({ metadata: { mark }, select: ["cron_id", "schedule"] })).toEqual([
    { cron_id: id, schedule: "0 9 1 1 *" },
  ]);
});

row("crons.count", "POST /runs/crons/count", async ({ crons }) => {
  const mark = crypto.randomUUID();
  await newCron({ mark });
  expect(await crons.count({ metadata: { mark } })).toBe(1);
});

row("store.putItem", "PUT /store/items", async ({ store }) => {
  expect(await store.putItem(["table", "put"], "key", { a: 1 }, { index: false, ttl: 5 })).toBeUndefined();
  expect(await server.client.store.getItem(["table", "put"], "key")).toMatchObject({ value: { a: 1 } });
});

row(
  "store.getItem",
  ["GET /store/items?namespace=table.get&key=key&refresh_ttl=false", "GET /store/items?namespace=table.get&key=other"],
  async ({ store }) => {
    await server.client.store.putItem(["table", "get"], "key", { a: 1 });
    const item = { namespace: ["table", "get"], key: "key", value: { a: 1 }, createdAt: expect.any(String) };
    expect(await store.getItem(["table", "get"], "key", { refreshTtl: false })).toMatchObject(item);
    expect(await store.getItem(["table", "get"], "other")).toBeNull();
  },
);

row("store.deleteItem", "DELETE /store/items", async ({ store }) => {
  await server.client.store.putItem(["table", "delete"], "key", { a: 1 });
  await store.deleteItem(["table", "delete"], "key");
  expect(await server.client.store.getItem(["table", "delete"], "key")).toBeNull();
});

row("store.searchItems", "POST /store/items/search", async ({ store }) => {
  await server.client.store.putItem(["table", "search"], "one", { n: 1 });
  await server.client.store.putItem(["table", "search"], "two", { n: 2 });
  const { items } = await store.searchItems(["table", "search"], { filter: { n: { $gt: 1 } }, limit: 5 });
  expect(items.map(({ key, value }) => [key, value])).toEqual([["two", { n: 2 }]]);
});

row("store.listNamespaces", "POST /store/namespaces", async ({ store }) => {
  await server.client.store.putItem(["table", "list", "deep"], "key", { a: 1 });
  expect(await store.listNamespaces({ prefix: ["table", "list"], maxDepth: 2 })).toEqual({
    namespaces: [["table", "list"]],
  });
});

row("~ui.getComponent", "POST /ui/echo", async (client) => {
  // ui.test.ts has a project with components; this one has none.
  await expect(client["~ui"].getComponent("echo", "weather")).rejects.toMatchObject({ status: 404 });
});

test("every method of the SDK has a row, and every row is a method", () => {
  const parts = Object.entries(server.client as unknown as Record<string, object>);
  const methods = parts.flatMap(([name, part]) =>
    typeof part === "object"
      ? Object.getOwnPropertyNames(part.constructor.prototype).map((method) => `${name}.${method}`)
      : [],
  );
  const named = rows.map((call) => /^[~\w]+\.\w+/.exec(call)![0]);
  const called = methods.filter((method) => !method.endsWith(".constructor"));
  expect([...new Set(named)].toSorted()).toEqual(called.toSorted());
});
