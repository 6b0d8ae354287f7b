// One row per operation of the API, for the test that walks the OpenAPI document: a request for each status that the document
// promises. What every operation refuses in the same way (malformed bodies, wrong types, ids that are no UUIDs or that nothing has)
// needs no entry.
import type { Client } from "@langchain/langgraph-sdk";
import type { Gates } from "./gates.ts";
import { call } from "./http.ts";

/** What to send. */
export interface Request {
  /** Parameters of the path. */
  readonly at?: Readonly<Record<string, string>>;
  /** With its question mark. */
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** A server with graphs of the fixture project and UI components for `echo`; what is called `broken` does not load. */
export interface World {
  readonly url: string;
  readonly client: Client;
  readonly gates: Gates;
}

/** Status → how to make a request that gets it. */
export type Row = Readonly<Record<number, (world: World) => Request | Promise<Request>>>;

const RUN = { assistant_id: "counter", input: {} };
const START = { id: 1, method: "run.start", params: RUN };

const newThread = async ({ client }: World): Promise<string> => (await client.threads.create()).thread_id;

/** A thread. */
const thread = async (world: World) => ({ at: { thread_id: await newThread(world) } });

/** A thread on which a run has ended. */
async function ran(world: World, graph = "counter") {
  const thread_id = await newThread(world);
  const { client } = world;
  await client.runs.wait(thread_id, graph, { input: {} });
  const [run] = await client.runs.list(thread_id);
  const { checkpoint } = await client.threads.getState(thread_id);
  return { thread_id, run_id: run!.run_id, checkpoint_id: checkpoint.checkpoint_id! };
}
const ranThread = async (world: World) => ({ at: { thread_id: (await ran(world)).thread_id } });
const endedRun = async (world: World) => {
  const { thread_id, run_id } = await ran(world);
  return { at: { thread_id, run_id } };
};

/** A run that stands at a gate until the tests are over. */
async function running(world: World) {
  const { client, gates } = world;
  const gate = `walk ${crypto.randomUUID()}`;
  const thread_id = await newThread(world);
  const { run_id } = await client.runs.create(thread_id, "gated", { input: { gate: gates.url(gate) } });
  await gates.entered(gate);
  return { thread_id, run_id };
}
const activeRun = async (world: World) => ({ at: await running(world) });
const busyThread = async (world: World) => ({ at: { thread_id: (await running(world)).thread_id } });

const assistant = async ({ client }: World) => ({
  at: { assistant_id: (await client.assistants.create({ graphId: "counter" })).assistant_id },
});
const graph = () => ({ at: { assistant_id: "counter" } });
/** A graph that does not load. */
const broken = () => ({ at: { assistant_id: "broken" } });

/** Adds to what a maker makes. */
const plus =
  (make: (world: World) => Request | Promise<Request>, more: Request) =>
  async (world: World): Promise<Request> => ({ ...(await make(world)), ...more });
const send = (request: Request) => () => request;
const body = (value: unknown) => send({ body: value });

/** An Idempotency-Key that another request has used. */
const usedKey = async ({ url }: World): Promise<Request> => {
  const headers = { "idempotency-key": crypto.randomUUID() };
  await call(url, "POST", "/runs/wait", { headers, body: { ...RUN, metadata: { other: true } } });
  return { headers, body: RUN };
};

const item = async ({ client }: World) => {
  const namespace = [`walk ${crypto.randomUUID()}`];
  await client.store.putItem(namespace, "key", { a: 1 });
  return { namespace, key: "key" };
};

const CRON = { assistant_id: "counter", schedule: "0 9 * * *", input: {} };
const cron = async ({ url }: World) => {
  const { json } = await call(url, "POST", "/runs/crons", { body: CRON });
  return { at: { cron_id: (json as { cron_id: string }).cron_id } };
};

/** A webhook that was sent. */
const delivery = async ({ url, gates }: World) => {
  const hook = `walk ${crypto.randomUUID()}`;
  gates.open(hook);
  await call(url, "POST", "/runs", { body: { ...RUN, webhook: gates.url(hook) } });
  await gates.entered(hook);
  const [newest] = (await call(url, "GET", "/internal/webhooks")).json as { delivery_id: string }[];
  return { at: { delivery_id: newest!.delivery_id } };
};

const CARD_OF = "?assistant_id=counter";
const cardTag = async (url: string, path: string) => ({
  "if-none-match": (await call(url, "GET", path)).headers.etag!,
});

/** So many threads and assistants that a page has a next one. */
const page = async (world: World): Promise<Request> => {
  await Promise.all([thread(world), thread(world)]);
  return { body: { limit: 1 } };
};

export const ROWS: Readonly<Record<string, Row>> = {
  "POST /assistants": {
    200: body({ graph_id: "counter" }),
    409: async (world) => ({ body: { graph_id: "counter", assistant_id: (await assistant(world)).at.assistant_id } }),
  },
  "POST /assistants/search": { 200: page },
  "POST /assistants/count": { 200: body({}) },
  "GET /assistants/{assistant_id}": { 200: graph },
  "PATCH /assistants/{assistant_id}": { 200: plus(assistant, { body: { name: "New" } }) },
  "DELETE /assistants/{assistant_id}": { 204: assistant },
  "POST /assistants/{assistant_id}/versions": {
    200: async (world) => {
      const { at } = await assistant(world);
      await world.client.assistants.update(at.assistant_id, { name: "Second" });
      return { at, body: { limit: 1 } };
    },
  },
  "POST /assistants/{assistant_id}/latest": { 200: plus(assistant, { body: { version: 1 } }) },
  "GET /assistants/{assistant_id}/graph": { 200: graph, 422: broken },
  "GET /assistants/{assistant_id}/schemas": { 200: graph, 422: broken },
  "GET /assistants/{assistant_id}/subgraphs": {
    200: send({ at: { assistant_id: "subgraph" }, query: "?recurse=true" }),
    422: broken,
  },
  "GET /assistants/{assistant_id}/subgraphs/{namespace}": {
    200: send({ at: { assistant_id: "subgraph", namespace: "child" } }),
    422: send({ at: { assistant_id: "broken", namespace: "child" } }),
  },

  "POST /threads": {
    200: body({}),
    400: body({ supersteps: [{ updates: [{ values: {}, as_node: "one" }] }] }),
    404: body({ metadata: { graph_id: "none" }, supersteps: [{ updates: [{ values: {}, as_node: "one" }] }] }),
    409: async (world) => ({ body: { thread_id: await newThread(world) } }),
  },
  "POST /threads/search": { 200: page },
  "POST /threads/count": { 200: body({}) },
  "POST /threads/prune": { 200: async (world) => ({ body: { thread_ids: [await newThread(world)] } }) },
  "GET /threads/{thread_id}": { 200: ranThread },
  "PATCH /threads/{thread_id}": {
    200: plus(thread, { body: { metadata: { a: 1 } } }),
    204: plus(thread, { body: { metadata: { a: 1 } }, headers: { prefer: "return=minimal" } }),
  },
  "DELETE /threads/{thread_id}": { 204: thread },
  "POST /threads/{thread_id}/copy": { 200: ranThread, 409: send({ at: { thread_id: crypto.randomUUID() } }) },
  "GET /threads/{thread_id}/storage": { 200: ranThread },
  "GET /threads/{thread_id}/state": { 200: ranThread },
  "POST /threads/{thread_id}/state": {
    200: plus(ranThread, { body: { values: { total: 1 } } }),
    400: plus(thread, { body: { values: {} } }),
    409: plus(busyThread, { body: { values: {} } }),
  },
  "PATCH /threads/{thread_id}/state": {
    204: plus(ranThread, { body: { metadata: { a: 1 } } }),
    409: plus(busyThread, { body: { metadata: { a: 1 } } }),
  },
  "POST /threads/{thread_id}/state/checkpoint": {
    200: async (world) => {
      const { thread_id, checkpoint_id } = await ran(world);
      return { at: { thread_id }, body: { checkpoint: { checkpoint_id } } };
    },
  },
  "GET /threads/{thread_id}/state/{checkpoint_id}": {
    200: async (world) => {
      const { thread_id, checkpoint_id } = await ran(world);
      return { at: { thread_id, checkpoint_id } };
    },
  },
  "GET /threads/{thread_id}/history": { 200: ranThread },
  "POST /threads/{thread_id}/history": { 200: plus(ranThread, { body: {} }) },
  "GET /threads/{thread_id}/stream": { 200: thread },

  "POST /threads/{thread_id}/runs": {
    200: plus(thread, { body: RUN }),
    409: plus(busyThread, { body: { ...RUN, multitask_strategy: "reject" } }),
  },
  "POST /threads/{thread_id}/runs/stream": {
    200: plus(thread, { body: RUN }),
    409: plus(busyThread, { body: { ...RUN, multitask_strategy: "reject" } }),
  },
  "POST /threads/{thread_id}/runs/wait": {
    200: plus(thread, { body: RUN }),
    409: plus(busyThread, { body: { ...RUN, multitask_strategy: "reject" } }),
  },
  "GET /threads/{thread_id}/runs": { 200: ranThread },
  "GET /threads/{thread_id}/runs/{run_id}": { 200: endedRun },
  "DELETE /threads/{thread_id}/runs/{run_id}": { 204: endedRun },
  "GET /threads/{thread_id}/runs/{run_id}/join": { 200: endedRun },
  "GET /threads/{thread_id}/runs/{run_id}/stream": { 200: endedRun },
  "POST /threads/{thread_id}/runs/{run_id}/cancel": {
    202: activeRun,
    204: plus(activeRun, { query: "?wait=true" }),
    409: endedRun,
  },

  "POST /runs": { 200: body(RUN), 409: usedKey },
  "POST /runs/stream": { 200: body(RUN), 409: usedKey },
  "POST /runs/wait": { 200: body({ ...RUN, on_completion: "keep" }), 409: usedKey },
  "POST /runs/batch": { 200: body([RUN, RUN]) },
  "POST /runs/cancel": {
    204: async (world) => {
      const { thread_id, run_id } = await running(world);
      return { body: { thread_id, run_ids: [run_id] } };
    },
    404: body({ thread_id: crypto.randomUUID(), run_ids: [crypto.randomUUID()] }),
    409: async (world) => {
      const { thread_id, run_id } = await ran(world);
      return { body: { thread_id, run_ids: [run_id] } };
    },
  },
  "GET /runs/{run_id}/stream": {
    200: async ({ client }) => ({ at: { run_id: (await client.runs.create(null, "counter", { input: {} })).run_id } }),
  },

  "POST /threads/{thread_id}/commands": {
    200: plus(thread, { body: START }),
    404: send({ at: { thread_id: crypto.randomUUID() }, body: { id: 1, method: "state.get" } }),
  },
  "POST /threads/{thread_id}/stream/events": { 200: plus(thread, { body: { channels: ["values"] } }) },
  "GET /threads/{thread_id}/stream/events": { 101: thread, 426: thread },

  "POST /runs/crons": { 200: body(CRON) },
  "POST /threads/{thread_id}/runs/crons": { 200: plus(thread, { body: CRON }) },
  "POST /runs/crons/search": {
    200: async (world) => {
      await Promise.all([cron(world), cron(world)]);
      return { body: { limit: 1 } };
    },
  },
  "POST /runs/crons/count": { 200: body({}) },
  "GET /runs/crons/{cron_id}": { 200: cron },
  "PATCH /runs/crons/{cron_id}": { 200: plus(cron, { body: { enabled: false } }) },
  "DELETE /runs/crons/{cron_id}": { 204: cron },
  "POST /internal/crons/{cron_id}/run": {
    200: cron,
    409: async (world) => {
      const { thread_id } = await running(world);
      const made = await world.client.crons.createForThread(thread_id, "counter", {
        ...CRON,
        multitaskStrategy: "reject",
      });
      return { at: { cron_id: (made as unknown as { cron_id: string }).cron_id } };
    },
  },
  "GET /internal/webhooks": { 200: send({}) },
  "GET /internal/webhooks/{delivery_id}": { 200: delivery },
  "POST /internal/webhooks/{delivery_id}/replay": { 200: delivery },

  "POST /a2a/{assistant_id}": {
    200: send({
      at: { assistant_id: "echo" },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { role: "ROLE_USER", messageId: "walk", parts: [{ text: "hello" }] } },
      },
    }),
  },
  "GET /a2a/{assistant_id}": { 405: graph },
  "GET /a2a/{assistant_id}/.well-known/agent-card.json": {
    200: graph,
    304: async ({ url }) => ({ ...graph(), headers: await cardTag(url, "/a2a/counter/.well-known/agent-card.json") }),
  },
  "GET /.well-known/agent-card.json": {
    200: send({ query: CARD_OF }),
    304: async ({ url }) => ({ query: CARD_OF, headers: await cardTag(url, `/.well-known/agent-card.json${CARD_OF}`) }),
    400: send({}),
    404: send({ query: "?assistant_id=none" }),
  },

  "POST /mcp": {
    200: body({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    202: body({ jsonrpc: "2.0", method: "notifications/initialized" }),
  },
  "GET /mcp": { 405: send({}) },
  "DELETE /mcp": { 404: send({}) },

  "PUT /store/items": { 204: body({ namespace: ["walk"], key: "put", value: { a: 1 } }) },
  "GET /store/items": {
    200: async (world) => ({ query: `?namespace=${encodeURIComponent((await item(world)).namespace[0]!)}&key=key` }),
  },
  "DELETE /store/items": { 204: async (world) => ({ body: await item(world) }) },
  "POST /store/items/search": {
    200: async (world) => ({ body: { namespace_prefix: (await item(world)).namespace } }),
  },
  "POST /store/namespaces": { 200: body({}) },

  "GET /ok": { 200: send({}) },
  "GET /": { 200: send({}), 302: send({ headers: { accept: "text/html" } }) },
  "GET /info": { 200: send({}) },
  "GET /metrics": { 200: send({}) },
  "GET /openapi.json": {
    200: send({}),
    304: async ({ url }) => ({
      headers: { "if-none-match": (await call(url, "GET", "/openapi.json")).headers.etag! },
    }),
  },
  "GET /docs": { 200: send({}) },
  "GET /docs/{file}": {
    200: send({ at: { file: "scalar.js" } }),
    304: async ({ url }) => ({
      at: { file: "scalar.js" },
      headers: { "if-none-match": (await call(url, "GET", "/docs/scalar.js")).headers.etag! },
    }),
    404: send({ at: { file: "other.js" } }),
  },
  "POST /ui/{assistant_id}": {
    200: send({ at: { assistant_id: "echo" }, body: { name: "weather" } }),
    422: send({ at: { assistant_id: "broken" }, body: { name: "weather" } }),
  },
  "GET /ui/{assistant_id}/{file}": {
    200: send({ at: { assistant_id: "echo", file: "entrypoint.js" } }),
    422: send({ at: { assistant_id: "broken", file: "entrypoint.js" } }),
    304: async ({ url }) => ({
      at: { assistant_id: "echo", file: "entrypoint.js" },
      headers: { "if-none-match": (await call(url, "GET", "/ui/echo/entrypoint.js")).headers.etag! },
    }),
  },
};
