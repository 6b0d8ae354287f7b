// The table of errors (wire-api §2.2): status and `{"detail": text}` for every condition that exists here, over a real socket.
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, type Sent } from "./support/http.ts";
import { clientOf, startTestServer, useServer } from "./support/server.ts";
import { projectWith } from "../cli/helpers/project.ts";

const server = useServer();
const gates = useGates();

const MISSING = "00000000-0000-4000-8000-000000000000";

/** A request whose answer must be an error of this status, as JSON with a detail; returns the detail. */
async function refused(status: number, method: string, path: string, sent: Sent = {}): Promise<string> {
  const answer = await call(server.url, method, path, sent);
  const shown = `${method} ${path} ${JSON.stringify(sent.body)?.slice(0, 200)} → ${answer.text.slice(0, 300)}`;
  expect(answer.status, shown).toBe(status);
  expect(answer.headers["content-type"], shown).toMatch(/^application\/json/);
  expect(answer.json, shown).toEqual({ detail: expect.any(String) });
  const { detail } = answer.json as { detail: string };
  expect(detail, shown).not.toBe("");
  // What went wrong inside is nobody's business.
  expect(detail, shown).not.toMatch(/\bat .*\.(ts|js):\d+/);
  return detail;
}
const newThread = async (graphId?: string): Promise<string> =>
  (await server.client.threads.create(graphId === undefined ? {} : { graphId })).thread_id;

describe("404: not here", () => {
  test("routes", async () => {
    for (const [method, path] of [
      ["GET", "/nothing"],
      ["POST", "/threads/nothing/to/see"],
      ["GET", "/v1/threads"],
      ["PUT", "/threads"],
      ["GET", "/threads"],
      ["DELETE", "/ok"],
      ["GET", "/runs"],
      ["GET", `/runs/${MISSING}`],
      ["GET", "/../etc/passwd"],
      ["GET", "/%00"],
      ["GET", "//"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(404, method, path);
    }
  });

  test("assistants", async () => {
    for (const id of [MISSING, "nobody", "__proto__", "constructor", "a%2Fb"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(404, "GET", `/assistants/${id}`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(404, "GET", `/assistants/${id}/schemas`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(404, "GET", `/assistants/${id}/graph`);
    }
  });

  test("threads, and everything on them", async () => {
    const run = { assistant_id: "counter" };
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { metadata: {} }],
      ["DELETE", "", undefined],
      ["GET", "/state", undefined],
      ["POST", "/state", { values: {} }],
      ["GET", `/state/${MISSING}`, undefined],
      ["POST", "/state/checkpoint", { checkpoint: {} }],
      ["GET", "/history", undefined],
      ["POST", "/history", {}],
      ["GET", "/runs", undefined],
      ["POST", "/runs", run],
      ["POST", "/runs/wait", run],
      ["POST", "/runs/stream", run],
      ["GET", `/runs/${MISSING}`, undefined],
      ["DELETE", `/runs/${MISSING}`, undefined],
      ["GET", `/runs/${MISSING}/join`, undefined],
      ["GET", `/runs/${MISSING}/stream`, undefined],
      ["POST", `/runs/${MISSING}/cancel`, undefined],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(404, method, `/threads/${MISSING}${path}`, body === undefined ? {} : { body });
    }
    expect(await refused(404, "GET", `/threads/${MISSING}`)).toBe(`Thread with ID ${MISSING} not found`);
  });

  test("runs", async () => {
    const threadId = await newThread();
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/join"],
      ["GET", "/stream"],
      ["POST", "/cancel"],
      ["POST", "/cancel?wait=1"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(404, method, `/threads/${threadId}/runs/${MISSING}${path}`);
    }
    await refused(404, "GET", `/runs/${MISSING}/stream`);
  });

  test("the assistant of a run", async () => {
    const threadId = await newThread();
    for (const path of ["/runs", "/runs/wait", "/runs/stream"]) {
      for (const id of ["nobody", MISSING]) {
        const body = { assistant_id: id, input: {} };
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const detail = await refused(404, "POST", path, { body });
        expect(detail).toContain(`No assistant found for "${id}"`);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await refused(404, "POST", `/threads/${threadId}${path}`, { body });
      }
    }
  });

  test("checkpoints", async () => {
    const threadId = await newThread("counter");
    await refused(404, "GET", `/threads/${threadId}/state/${MISSING}`);
    await refused(404, "GET", `/threads/${threadId}/state/nothing`);
    const body = { checkpoint: { checkpoint_id: MISSING } };
    await refused(404, "POST", `/threads/${threadId}/state/checkpoint`, { body });
    await refused(404, "POST", `/threads/${threadId}/runs`, { body: { assistant_id: "counter", ...body } });
  });
});

describe("409: in the way of something", () => {
  test("a thread that exists", async () => {
    const threadId = await newThread();
    await refused(409, "POST", "/threads", { body: { thread_id: threadId } });
    await refused(409, "POST", "/threads", { body: { thread_id: threadId, if_exists: "raise" } });
  });

  test("a busy thread", async () => {
    const threadId = await newThread();
    const run = await server.client.runs.create(threadId, "gated", {
      input: { name: "busy", gate: gates.url("error-busy") },
    });
    await gates.entered("error-busy");
    const reject = { assistant_id: "counter", input: {}, multitask_strategy: "reject" };
    for (const path of ["/runs", "/runs/wait", "/runs/stream"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const detail = await refused(409, "POST", `/threads/${threadId}${path}`, { body: reject });
      expect(detail).toContain("already running a task");
    }
    await refused(409, "POST", `/threads/${threadId}/state`, { body: { values: {} } });
    gates.open("error-busy");
    await server.client.runs.join(threadId, run.run_id);
    await refused(409, "POST", `/threads/${threadId}/runs/${run.run_id}/cancel`);
    await refused(409, "POST", `/threads/${threadId}/runs/${run.run_id}/cancel?wait=1&action=rollback`);
  });
});

describe("400: not JSON", () => {
  test.each(["{", "nonsense", "{'a': 1}", '{"a": 1,}', '"unfinished', "\u0000", "[1, 2"])("%j", async (body) => {
    const threadId = await newThread();
    for (const [method, path] of [
      ["POST", "/threads"],
      ["PATCH", `/threads/${threadId}`],
      ["POST", "/threads/search"],
      ["POST", `/threads/${threadId}/runs`],
      ["POST", "/runs/stream"],
      ["POST", "/assistants/search"],
      ["PUT", "/store/items"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(400, method, path, { body });
    }
  });

  test("an address that is no UTF-8", async () => {
    await refused(400, "GET", "/threads/%ff");
    await refused(400, "GET", "/assistants/%e0%a4%a");
  });

  test("a state of a thread that has no graph", async () => {
    expect(await refused(400, "POST", `/threads/${await newThread()}/state`, { body: { values: {} } })).toMatch(
      /has no graph ID/,
    );
  });
});

describe("422: JSON, but not what was asked for", () => {
  test("ids in the path", async () => {
    for (const id of ["nothing", "123", `${MISSING}0`, "a%2Fb", "x".repeat(5000)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, "GET", `/threads/${id}`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, "GET", `/threads/${MISSING}/runs/${id}`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, "POST", `/threads/${id}/runs`, { body: { assistant_id: "counter" } });
    }
    await refused(422, "GET", "/runs/nothing/stream");
    await refused(422, "POST", `/threads/${MISSING}/runs/nothing/cancel`);
  });

  test.each([
    [[]],
    ["text"],
    [1],
    [null],
    [{}],
    [{ assistant_id: 7 }],
    [{ assistant_id: "" }],
    [{ assistant_id: "counter", stream_mode: "everything" }],
    [{ assistant_id: "counter", stream_mode: ["values", "nothing"] }],
    [{ assistant_id: "counter", multitask_strategy: "wait" }],
    [{ assistant_id: "counter", if_not_exists: "maybe" }],
    [{ assistant_id: "counter", durability: "forever" }],
    [{ assistant_id: "counter", on_completion: "burn" }],
    [{ assistant_id: "counter", on_disconnect: "cry" }],
    [{ assistant_id: "counter", after_seconds: -1 }],
    [{ assistant_id: "counter", after_seconds: "soon" }],
    [{ assistant_id: "counter", interrupt_before: "one" }],
    [{ assistant_id: "counter", metadata: "text" }],
    [{ assistant_id: "counter", config: [] }],
    [{ assistant_id: "counter", config: { recursion_limit: 0 } }],
    [{ assistant_id: "counter", config: { configurable: "text" } }],
    [{ assistant_id: "counter", config: { tags: "one" } }],
    [{ assistant_id: "counter", command: "go" }],
    [{ assistant_id: "counter", command: { goto: 7 } }],
    [{ assistant_id: "counter", command: { update: "text" } }],
    [{ assistant_id: "counter", checkpoint: "text" }],
    [{ assistant_id: "counter", stream_subgraphs: "yes" }],
    [{ assistant_id: "counter", feedback_keys: "one" }],
  ])("the body of a run: %j", async (body) => {
    const threadId = await newThread();
    for (const path of ["/runs", "/runs/wait", "/runs/stream"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, "POST", path, { body: JSON.stringify(body) });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, "POST", `/threads/${threadId}${path}`, { body: JSON.stringify(body) });
    }
    expect(await server.client.runs.list(threadId)).toEqual([]);
  });

  test("bodies about threads and states", async () => {
    const threadId = await newThread("counter");
    for (const [method, path, body] of [
      ["POST", "/threads", { thread_id: "mine" }],
      ["POST", "/threads", { metadata: [] }],
      ["POST", "/threads", { if_exists: "overwrite" }],
      ["POST", "/threads", { supersteps: [{ updates: [] }] }],
      ["POST", "/threads", { supersteps: [{ updates: [{ values: {} }] }] }],
      ["PATCH", `/threads/${threadId}`, { metadata: "text" }],
      ["POST", "/threads/search", { limit: 0 }],
      ["POST", "/threads/search", { limit: 1001 }],
      ["POST", "/threads/search", { limit: "ten" }],
      ["POST", "/threads/search", { offset: -1 }],
      ["POST", "/threads/search", { status: "sleepy" }],
      ["POST", "/threads/search", { sort_by: "name" }],
      ["POST", "/threads/search", { sort_order: "up" }],
      ["POST", "/threads/search", { ids: ["nothing"] }],
      ["POST", "/threads/search", { metadata: 1 }],
      ["POST", "/threads/count", { status: "sleepy" }],
      ["POST", "/assistants/search", { limit: 0 }],
      ["POST", "/assistants/search", { sort_by: "colour" }],
      ["POST", "/assistants/search", { select: ["secrets"] }],
      ["POST", `/threads/${threadId}/state`, { values: {}, as_node: 7 }],
      ["POST", `/threads/${threadId}/state`, { values: {}, as_node: "nobody" }],
      ["POST", `/threads/${threadId}/state/checkpoint`, {}],
      ["POST", `/threads/${threadId}/state/checkpoint`, { checkpoint: "text" }],
      ["POST", `/threads/${threadId}/history`, { limit: 0 }],
      ["POST", `/threads/${threadId}/history`, { limit: 1.5 }],
      ["POST", `/threads/${threadId}/history`, { metadata: [] }],
      ["POST", `/threads/${threadId}/history`, { before: 7 }],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, method, path, { body });
    }
  });

  test("queries", async () => {
    const threadId = await newThread();
    for (const [method, path] of [
      ["GET", `/threads/${threadId}/runs?limit=0`],
      ["GET", `/threads/${threadId}/runs?limit=many`],
      ["GET", `/threads/${threadId}/runs?offset=-1`],
      ["GET", `/threads/${threadId}/runs?status=sleepy`],
      ["GET", `/threads/${threadId}/runs?select=secrets`],
      ["GET", `/threads/${threadId}/history?limit=0`],
      ["GET", `/threads/${threadId}/state?subgraphs=perhaps`],
      ["GET", "/assistants/counter/graph?xray=deep"],
      ["POST", `/threads/${threadId}/runs/${MISSING}/cancel?action=explode`],
      ["POST", `/threads/${threadId}/runs/${MISSING}/cancel?wait=perhaps`],
      ["GET", "/store/items?namespace=a"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refused(422, method, path);
    }
    const run = await server.client.runs.create(threadId, "counter", { input: {} });
    await server.client.runs.join(threadId, run.run_id);
    const path = `/threads/${threadId}/runs/${run.run_id}/stream`;
    await refused(422, "GET", `${path}?stream_mode=everything`);
    await refused(422, "GET", path, { headers: { "last-event-id": "yesterday" } });
  });

  test("the detail names what is wrong", async () => {
    const body = { assistant_id: "counter", stream_mode: "everything", config: { recursion_limit: 0 } };
    const detail = await refused(422, "POST", "/runs", { body });
    expect(detail).toContain("stream_mode");
    expect(detail).toContain("config.recursion_limit");
  });
});

describe("413: too much", () => {
  test("a body beyond the limit is refused, and the server lives on", async () => {
    const before = process.env["HTTP_MAX_REQUEST_BODY_BYTES"];
    process.env["HTTP_MAX_REQUEST_BODY_BYTES"] = "10000";
    const small = await startTestServer({ persist: false }).finally(() => {
      if (before === undefined) delete process.env["HTTP_MAX_REQUEST_BODY_BYTES"];
      else process.env["HTTP_MAX_REQUEST_BODY_BYTES"] = before;
    });
    try {
      const send = (size: number): Promise<{ status: number; json: unknown }> =>
        call(small.url, "POST", "/threads", { body: { metadata: { text: "x".repeat(size) } } });
      expect(await send(20_000)).toMatchObject({ status: 413, json: { detail: expect.any(String) } });
      expect(await send(5000)).toMatchObject({ status: 200 });
      // Without a length, too: the server has to count.
      const chunks = new ReadableStream({
        start(controller) {
          for (let i = 0; i < 20; i++) controller.enqueue(new TextEncoder().encode(`${" ".repeat(1000)}`));
          controller.enqueue(new TextEncoder().encode("{}"));
          controller.close();
        },
      });
      const chunked = await fetch(`${small.url}/threads`, {
        method: "POST",
        body: chunks,
        duplex: "half",
      } as RequestInit);
      expect(chunked.status).toBe(413);
      expect(await chunked.json()).toEqual({ detail: expect.any(String) });
      expect(await clientOf(small.url).threads.count({})).toBe(1);
    } finally {
      await small.stop();
    }
  });

  test("by default a large state goes in", async () => {
    const { client } = server;
    const threadId = await newThread();
    const content = "x".repeat(5_000_000);
    const values = (await client.runs.wait(threadId, "echo", {
      input: { messages: [{ role: "user", content }] },
    })) as unknown as { messages: { content: string }[] };
    expect(values.messages.map((message) => message.content.length)).toEqual([5_000_000, 5_000_006]);
  });
});

describe("a graph that cannot be loaded", () => {
  test("is the project's mistake: its runs fail, its drawing is refused, the others work", async () => {
    const cwd = projectWith({
      "langgraph.json": JSON.stringify({ graphs: { broken: "./broken.ts:graph", whole: "./whole.ts:graph" } }),
      "broken.ts": `throw new Error("no luck today");\nexport const graph = 1;\n`,
      "whole.ts": `import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ done: Annotation });
export const graph = new StateGraph(State).addNode("n", () => ({ done: true })).addEdge(START, "n").compile();\n`,
    });
    const other = await startTestServer({ cwd, persist: false });
    try {
      expect(other.events.filter(({ type }) => type === "failed")).toHaveLength(1);
      const client = clientOf(other.url);
      expect((await client.assistants.search()).map(({ graph_id }) => graph_id).toSorted()).toEqual([
        "broken",
        "whole",
      ]);
      expect(await client.runs.wait(null, "whole", { input: {} })).toEqual({ done: true });
      const failed = await client.runs.wait(null, "broken", { input: {}, raiseError: false });
      expect(failed).toMatchObject({ __error__: { message: expect.stringContaining("no luck today") } });
      for (const path of ["/assistants/broken/graph", "/assistants/broken/schemas"]) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const answer = await call(other.url, "GET", path);
        expect([answer.status, answer.json]).toEqual([422, { detail: expect.stringContaining("no luck today") }]);
      }
      const { thread_id } = await client.threads.create({ graphId: "broken" });
      expect(await client.threads.getState(thread_id)).toMatchObject({ values: {} });
      const update = await call(other.url, "POST", `/threads/${thread_id}/state`, { body: { values: {} } });
      expect([update.status, update.json]).toEqual([422, { detail: expect.stringContaining("no luck today") }]);
      expect(other.events.filter(({ type }) => type === "log")).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});
