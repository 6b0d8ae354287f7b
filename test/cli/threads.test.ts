import { describe, expect, it } from "vitest";
import { json, scripted } from "./helpers/http.ts";
import { finish, type TestProcess } from "./helpers/io.ts";

const terminal: TestProcess = { tty: true, env: { NO_COLOR: "1" } };

const thread = {
  thread_id: "11111111-1111-4111-8111-111111111111",
  status: "interrupted",
  created_at: "2026-01-01T10:00:00+00:00",
  updated_at: "2026-01-01T11:55:00+00:00",
  metadata: { graph_id: "agent" },
  values: {
    messages: [
      { type: "human", content: "hello\u001b[31m" },
      { type: "ai", content: "", tool_calls: [{ name: "recall", args: {} }] },
      { type: "tool", name: "recall", content: [{ type: "text", text: "- tea" }] },
    ],
    topic: "cats",
  },
  interrupts: { task: [{ id: "i", value: { question: "Send?" } }] },
};

const VALUES = `
human  hello␛[31m
ai → recall
tool recall  - tea

{
  "topic": "cats"
}
`;

describe("threads ls", () => {
  it("prints a table on a terminal and asks for no values", async () => {
    const server = await scripted({
      "POST /threads/search": (response) => json(response, [thread, { ...thread, status: "idle", metadata: null }]),
    });
    const { code, stdout, stderr } = await finish(
      ["threads", "ls", "--status", "idle", "--limit", "2", "--url", server.url],
      terminal,
    );
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "THREAD                                STATUS       CHANGED    GRAPH",
        `${thread.thread_id}  interrupted  5 min ago  agent`,
        `${thread.thread_id}  idle         5 min ago`,
        "",
      ].join("\n"),
    );
    expect(stderr).toBe("the first 2; more with --limit\n");
    expect(server.received[0]?.body).toMatchObject({
      status: "idle",
      limit: 2,
      sort_by: "updated_at",
      sort_order: "desc",
    });
    expect(server.received[0]?.body).not.toMatchObject({ select: expect.arrayContaining(["values"]) });
  });

  it("prints JSON in a pipe, also when there are none", async () => {
    const { url } = await scripted({ "POST /threads/search": (response) => json(response, []) });
    expect(await finish(["threads", "ls", "--url", url])).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
    expect(await finish(["threads", "ls", "--url", url], terminal)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "No threads.\n",
    });
  });
});

describe("threads get", () => {
  it("prints what a person looks for", async () => {
    const { url } = await scripted({ "GET /threads/a%2Fb": (response) => json(response, thread) });
    const { stdout } = await finish(["threads", "get", "a/b", "--url", url], terminal);
    expect(stdout).toBe(`thread      ${thread.thread_id}
status      interrupted
created     2026-01-01T10:00:00+00:00 (2 h ago)
changed     2026-01-01T11:55:00+00:00 (5 min ago)
metadata    {"graph_id":"agent"}
waits for   {"question":"Send?"}
${VALUES}`);
    expect(JSON.parse((await finish(["threads", "get", "a/b", "--url", url])).stdout)).toEqual(thread);
  });

  it("copes with a thread that never ran", async () => {
    const fresh = { ...thread, status: "idle", values: null, interrupts: {}, metadata: {} };
    const { url } = await scripted({ "GET /threads/t": (response) => json(response, fresh) });
    const { code, stdout } = await finish(["threads", "get", "t", "--url", url], terminal);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("metadata    {}");
  });
});

describe("threads state", () => {
  const state = {
    values: thread.values,
    next: ["approve"],
    tasks: [
      { name: "approve", interrupts: [{ id: "i", value: "Send?" }], error: null },
      { name: "other", interrupts: [], error: "Error: no" },
    ],
    checkpoint: { checkpoint_id: "c1" },
    created_at: "2026-01-01T11:55:00+00:00",
  };

  it("prints checkpoint, what comes next and the values", async () => {
    const { url } = await scripted({ "GET /threads/t/state": (response) => json(response, state) });
    const { stdout } = await finish(["threads", "state", "t", "--url", url], terminal);
    expect(stdout).toBe(`checkpoint  c1
created     2026-01-01T11:55:00+00:00 (5 min ago)
next        approve
waits for   approve: Send?
failed      other: Error: no
${VALUES}`);
    expect(JSON.parse((await finish(["threads", "state", "t", "--url", url])).stdout)).toEqual(state);
  });

  it("copes with values that are no object, and with none", async () => {
    const { url } = await scripted({
      "GET /threads/list/state": (response) => json(response, { ...state, values: [1, 2], next: [], tasks: [] }),
      "GET /threads/new/state": (response) =>
        json(response, { values: {}, next: [], tasks: [], checkpoint: null, created_at: null }),
      "GET /threads/odd/state": (response) => json(response, { ...state, values: { messages: "none" }, tasks: [] }),
    });
    const show = async (id: string) => (await finish(["threads", "state", id, "--url", url], terminal)).stdout;
    expect(await show("list")).toMatch(/next {8}nothing; the last run ended\n\n\[\n {2}1,\n {2}2\n\]\n$/);
    expect(await show("new")).toBe(
      "checkpoint  none: nothing ran on this thread\nnext        nothing; the last run ended\n",
    );
    expect(await show("odd")).toContain('"messages": "none"');
  });
});
