// One row per operation of the API, for the test that sends every one of them as nobody, as somebody else, and as the owner of what it is
// about. `other` says what somebody else gets: the status of what does not exist, or an answer with nothing of the owner's in it.
import { expect } from "vitest";
import { rpc, type AuthWorld } from "./auth-world.ts";
import type { Answer } from "./http.ts";

/** What to send, and whose states it must not change. */
export interface Asked {
  /** Parameters of the path. */
  readonly at?: Readonly<Record<string, string>>;
  /** With its question mark. */
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Threads to look at before and after. */
  readonly threads?: readonly string[];
  /** Gates that are opened before the owner asks, so that what stands there can end. */
  readonly gate?: string;
  /** What must be nowhere in the answer to somebody else. */
  readonly hides?: readonly string[];
}

/** Checks the answer to somebody else, beyond that nothing of the owner's is in it. */
type Check = (answer: Answer, asked: Asked) => void;

export interface Row {
  /** Makes what the request is about, as the owner. */
  readonly ask: (world: AuthWorld) => Asked | Promise<Asked>;
  /** What the owner gets. */
  readonly owner: number;
  /** What somebody else gets. */
  readonly other: number | Check;
  /** What those get that show no credentials, or wrong ones; 401 if not said. */
  readonly nobody?: number;
}

const RUN = { assistant_id: "whoami", input: {} };
const CRON = { ...RUN, schedule: "0 9 1 1 *" };

const ok: Check = ({ status }) => expect(status).toBe(200);
const empty: Check = ({ status, json }) => expect([status, json]).toEqual([200, []]);
const zero: Check = ({ status, json }) => expect([status, json]).toEqual([200, 0]);
/** A JSON-RPC error. */
const failure =
  (code: number, status = 200): Check =>
  (answer) => {
    expect(answer.status).toBe(status);
    expect((answer.json as { error?: { code: number } }).error?.code).toBe(code);
  };

const about = (name: string, id: string, more: Partial<Asked> = {}): Asked => ({
  at: { [name]: id },
  hides: [],
  ...more,
});

const thread = async (world: AuthWorld, more: Partial<Asked> = {}): Promise<Asked> => {
  const { thread_id } = await world.ran();
  return about("thread_id", thread_id, { threads: [thread_id], ...more });
};
const onThread =
  (more: Partial<Asked> = {}) =>
  (world: AuthWorld) =>
    thread(world, more);
const ended = async (world: AuthWorld, more: Partial<Asked> = {}): Promise<Asked> => {
  const { thread_id, run_id } = await world.ran();
  return { at: { thread_id, run_id }, threads: [thread_id], ...more };
};
const onRun =
  (more: Partial<Asked> = {}) =>
  (world: AuthWorld) =>
    ended(world, more);
const assistant =
  (more: Partial<Asked> = {}) =>
  async (world: AuthWorld): Promise<Asked> =>
    about("assistant_id", await world.assistant(), more);
const cron =
  (more: Partial<Asked> = {}) =>
  async (world: AuthWorld): Promise<Asked> =>
    about("cron_id", await world.cron(), more);
const send = (asked: Asked) => () => asked;
const body = (value: unknown) => send({ body: value });

/** Reads that find something of the owner's. */
const search = (what: "thread" | "assistant" | "cron") => async (world: AuthWorld) => {
  const id = what === "thread" ? (await world.ran()).thread_id : await world[what]();
  return { body: { limit: 1000 }, hides: [id] };
};

/** A run of its own is the only thing that somebody else may make. */
const OWN_RUN: Check = (answer, asked) => {
  ok(answer, asked);
  expect(answer.text).not.toMatch(/\bada\b/);
};

export const ROWS: Readonly<Record<string, Row>> = {
  "POST /assistants": {
    ask: async (world) => ({
      body: { graph_id: "whoami", assistant_id: await world.assistant(), if_exists: "do_nothing" },
    }),
    owner: 200,
    other: 409,
  },
  "POST /assistants/search": { ask: search("assistant"), owner: 200, other: empty },
  "POST /assistants/count": { ask: body({}), owner: 200, other: zero },
  "GET /assistants/{assistant_id}": { ask: assistant(), owner: 200, other: 404 },
  "PATCH /assistants/{assistant_id}": { ask: assistant({ body: { name: "taken" } }), owner: 200, other: 404 },
  "DELETE /assistants/{assistant_id}": {
    // The thread is the owner's, too.
    ask: async (world) => {
      const assistant_id = await world.assistant();
      const thread_id = await world.thread();
      await world.ada("POST", `/threads/${thread_id}/runs/wait`, { assistant_id, input: {} });
      return { at: { assistant_id }, query: "?delete_threads=true", threads: [thread_id] };
    },
    owner: 204,
    other: 404,
  },
  "POST /assistants/{assistant_id}/versions": { ask: assistant({ body: {} }), owner: 200, other: 404 },
  "POST /assistants/{assistant_id}/latest": { ask: assistant({ body: { version: 1 } }), owner: 200, other: 404 },
  "GET /assistants/{assistant_id}/graph": { ask: assistant(), owner: 200, other: 404 },
  "GET /assistants/{assistant_id}/schemas": { ask: assistant(), owner: 200, other: 404 },
  "GET /assistants/{assistant_id}/subgraphs": { ask: assistant(), owner: 200, other: 404 },
  "GET /assistants/{assistant_id}/subgraphs/{namespace}": {
    ask: async (world) => ({ at: { assistant_id: await world.assistant(), namespace: "look" } }),
    owner: 200,
    other: 404,
  },

  "POST /threads": {
    ask: async (world) => ({ body: { thread_id: await world.thread(), if_exists: "do_nothing" } }),
    owner: 200,
    other: 409,
  },
  "POST /threads/search": { ask: search("thread"), owner: 200, other: empty },
  "POST /threads/count": { ask: body({ metadata: { kept: true } }), owner: 200, other: zero },
  "POST /threads/prune": {
    ask: async (world) => {
      const { thread_id } = await world.ran();
      return { body: { thread_ids: [thread_id] }, threads: [thread_id] };
    },
    owner: 200,
    other: ({ status, json }) => expect([status, json]).toEqual([200, { pruned_count: 0 }]),
  },
  "GET /threads/{thread_id}": { ask: onThread(), owner: 200, other: 404 },
  "PATCH /threads/{thread_id}": { ask: onThread({ body: { metadata: { owner: "bob" } } }), owner: 200, other: 404 },
  "DELETE /threads/{thread_id}": { ask: onThread(), owner: 204, other: 404 },
  "POST /threads/{thread_id}/copy": { ask: onThread(), owner: 200, other: 409 },
  "GET /threads/{thread_id}/storage": { ask: onThread(), owner: 200, other: 404 },
  "GET /threads/{thread_id}/state": { ask: onThread(), owner: 200, other: 404 },
  "POST /threads/{thread_id}/state": { ask: onThread({ body: { values: { runs: 7 } } }), owner: 200, other: 404 },
  "PATCH /threads/{thread_id}/state": { ask: onThread({ body: { metadata: { a: 1 } } }), owner: 204, other: 404 },
  "POST /threads/{thread_id}/state/checkpoint": {
    ask: async (world) => {
      const { thread_id, checkpoint_id } = await world.ran();
      return { at: { thread_id }, body: { checkpoint: { checkpoint_id } } };
    },
    owner: 200,
    other: 404,
  },
  "GET /threads/{thread_id}/state/{checkpoint_id}": {
    ask: async (world) => {
      const { thread_id, checkpoint_id } = await world.ran();
      return { at: { thread_id, checkpoint_id } };
    },
    owner: 200,
    other: 404,
  },
  "GET /threads/{thread_id}/history": { ask: onThread(), owner: 200, other: 404 },
  "POST /threads/{thread_id}/history": { ask: onThread({ body: {} }), owner: 200, other: 404 },
  "GET /threads/{thread_id}/stream": { ask: onThread(), owner: 200, other: 404 },

  "POST /threads/{thread_id}/runs": { ask: onThread({ body: RUN }), owner: 200, other: 404 },
  "POST /threads/{thread_id}/runs/stream": {
    // Nobody takes a thread over by saying that it may be made.
    ask: onThread({ body: { ...RUN, if_not_exists: "create" } }),
    owner: 200,
    other: 404,
  },
  "POST /threads/{thread_id}/runs/wait": {
    ask: onThread({ body: { ...RUN, if_not_exists: "create", multitask_strategy: "rollback" } }),
    owner: 200,
    other: 404,
  },
  "GET /threads/{thread_id}/runs": { ask: onThread(), owner: 200, other: 404 },
  "GET /threads/{thread_id}/runs/{run_id}": { ask: onRun(), owner: 200, other: 404 },
  "DELETE /threads/{thread_id}/runs/{run_id}": { ask: onRun(), owner: 204, other: 404 },
  "GET /threads/{thread_id}/runs/{run_id}/join": { ask: onRun(), owner: 200, other: 404 },
  "GET /threads/{thread_id}/runs/{run_id}/stream": { ask: onRun(), owner: 200, other: 404 },
  "POST /threads/{thread_id}/runs/{run_id}/cancel": {
    ask: async (world) => {
      const { thread_id, run_id } = await world.running();
      return { at: { thread_id, run_id }, query: "?wait=true", threads: [thread_id] };
    },
    owner: 204,
    other: 404,
  },

  // Everybody may start runs of the graphs: what comes of them is theirs.
  "POST /runs": {
    ask: async () => ({ body: RUN, headers: { "idempotency-key": crypto.randomUUID() } }),
    owner: 200,
    other: OWN_RUN,
  },
  "POST /runs/stream": {
    ask: async (world) => ({ body: { ...RUN, assistant_id: await world.assistant() } }),
    owner: 200,
    other: 404,
  },
  "POST /runs/wait": { ask: body(RUN), owner: 200, other: OWN_RUN },
  "POST /runs/batch": {
    ask: async (world) => ({ body: [RUN, { ...RUN, assistant_id: await world.assistant() }] }),
    owner: 200,
    other: 404,
  },
  "POST /runs/cancel": {
    ask: async (world) => {
      const { thread_id } = await world.running();
      return { body: { status: "all" }, threads: [thread_id] };
    },
    owner: 204,
    other: 404,
  },
  "GET /runs/{run_id}/stream": {
    ask: async (world) => {
      const { run_id, gate } = await world.stateless();
      return { at: { run_id }, gate };
    },
    owner: 200,
    other: 404,
  },

  "POST /threads/{thread_id}/commands": {
    ask: onThread({ body: { id: 1, method: "run.start", params: RUN } }),
    owner: 200,
    other: 404,
  },
  "POST /threads/{thread_id}/stream/events": {
    ask: onThread({ body: { channels: ["values"] } }),
    owner: 200,
    other: 404,
  },
  "GET /threads/{thread_id}/stream/events": { ask: onThread(), owner: 426, other: 404 },

  "POST /runs/crons": {
    ask: async (world) => ({ body: { ...CRON, assistant_id: await world.assistant() } }),
    owner: 200,
    other: 404,
  },
  "POST /threads/{thread_id}/runs/crons": { ask: onThread({ body: CRON }), owner: 200, other: 404 },
  "POST /runs/crons/search": { ask: search("cron"), owner: 200, other: empty },
  "POST /runs/crons/count": { ask: body({}), owner: 200, other: zero },
  "GET /runs/crons/{cron_id}": { ask: cron(), owner: 200, other: 404 },
  "PATCH /runs/crons/{cron_id}": { ask: cron({ body: { enabled: false } }), owner: 200, other: 404 },
  "DELETE /runs/crons/{cron_id}": { ask: cron(), owner: 204, other: 404 },
  "POST /internal/crons/{cron_id}/run": { ask: cron(), owner: 200, other: 404 },
  "GET /internal/webhooks": {
    ask: async (world) => ({ query: "?limit=1000", hides: [await world.delivery()] }),
    owner: 200,
    other: empty,
  },
  "GET /internal/webhooks/{delivery_id}": {
    ask: async (world) => about("delivery_id", await world.delivery()),
    owner: 200,
    other: 404,
  },
  "POST /internal/webhooks/{delivery_id}/replay": {
    ask: async (world) => about("delivery_id", await world.delivery()),
    owner: 200,
    other: 404,
  },

  "PUT /store/items": {
    ask: async (world) => ({ body: { ...(await world.item()), value: { taken: true } } }),
    owner: 204,
    other: 403,
  },
  "GET /store/items": {
    ask: async (world) => {
      const { namespace, key } = await world.item();
      return { query: `?namespace=${namespace.join(".")}&key=${key}` };
    },
    owner: 200,
    other: 403,
  },
  "DELETE /store/items": { ask: async (world) => ({ body: await world.item() }), owner: 204, other: 403 },
  "POST /store/items/search": {
    ask: async (world) => ({ body: { namespace_prefix: [(await world.item()).namespace[0]] } }),
    owner: 200,
    other: 403,
  },
  "POST /store/namespaces": { ask: body({ prefix: ["ada"] }), owner: 200, other: 403 },

  "POST /a2a/{assistant_id}": {
    ask: async (world) => ({
      at: { assistant_id: "whoami" },
      body: rpc("tasks/get", { id: (await world.task()).id }),
    }),
    owner: 200,
    other: failure(-32_001),
  },
  "GET /a2a/{assistant_id}": { ask: send({ at: { assistant_id: "whoami" } }), owner: 405, other: 405 },
  "GET /.well-known/agent-card.json": {
    ask: async (world) => ({ query: `?assistant_id=${await world.assistant()}` }),
    owner: 200,
    other: 404,
  },
  "GET /a2a/{assistant_id}/.well-known/agent-card.json": { ask: assistant(), owner: 200, other: 404 },

  "POST /mcp": {
    ask: async (world) => {
      const id = await world.assistant();
      const { name } = (await world.ada("GET", `/assistants/${id}`)).json as { name: string };
      return { body: rpc("tools/list", {}), hides: [name] };
    },
    owner: 200,
    other: (answer, asked) => {
      ok(answer, asked);
      const { result } = answer.json as { result: { tools: { name: string }[] } };
      // Those of the graphs are for everybody.
      expect(result.tools.map(({ name }) => name).toSorted()).toEqual(["asks", "deadly", "whoami"]);
    },
  },
  "GET /mcp": { ask: send({}), owner: 405, other: 405 },
  "DELETE /mcp": { ask: send({}), owner: 404, other: 404 },

  "GET /ok": { ask: send({}), owner: 200, other: 200, nobody: 200 },
  "GET /": { ask: send({}), owner: 200, other: 200 },
  "GET /info": { ask: send({}), owner: 200, other: 200, nobody: 200 },
  "GET /metrics": { ask: send({}), owner: 200, other: 200 },
  "GET /openapi.json": { ask: send({}), owner: 200, other: 200, nobody: 200 },
  "GET /docs": { ask: send({}), owner: 200, other: 200, nobody: 200 },
  "GET /docs/{file}": { ask: send({ at: { file: "scalar.js" } }), owner: 200, other: 200, nobody: 200 },
  "POST /ui/{assistant_id}": { ask: assistant({ body: { name: "weather" } }), owner: 200, other: 404 },
  "GET /ui/{assistant_id}/{file}": {
    ask: send({ at: { assistant_id: "whoami", file: "entrypoint.js" } }),
    owner: 200,
    other: 200,
    nobody: 200,
  },
};
