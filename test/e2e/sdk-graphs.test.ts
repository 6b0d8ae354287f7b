// What graphs get from a run and give to it, through the official client: messages in every spelling, config, context and metadata,
// factories, zod, and values that JSON has no word for.
import { describe, expect, test } from "vitest";
import { call, collect } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();

interface Message {
  readonly type: string;
  readonly content: unknown;
  readonly id: string;
}
type Payload = Parameters<typeof server.client.runs.wait>[2];

const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;

describe("messages", () => {
  const echo = async (messages: unknown): Promise<Message[]> =>
    ((await server.client.runs.wait(null, "echo", { input: { messages } })) as { messages: Message[] }).messages;
  const short = (messages: Message[]): unknown[] => messages.map(({ type, content }) => [type, content]);

  test.each([
    ["role user", { role: "user", content: "hi" }, "human"],
    ["role human", { role: "human", content: "hi" }, "human"],
    ["role assistant", { role: "assistant", content: "hi" }, "ai"],
    ["role ai", { role: "ai", content: "hi" }, "ai"],
    ["role system", { role: "system", content: "hi" }, "system"],
    ["type human", { type: "human", content: "hi" }, "human"],
    ["type ai", { type: "ai", content: "hi" }, "ai"],
    ["type system", { type: "system", content: "hi" }, "system"],
    ["type tool", { type: "tool", content: "hi", tool_call_id: "call" }, "tool"],
    ["a pair", ["user", "hi"], "human"],
    ["a text", "hi", "human"],
  ])("by %s", async (_name, message, type) => {
    expect(short(await echo([message]))).toEqual([
      [type, "hi"],
      ["ai", "echo: hi"],
    ]);
  });

  test("with content blocks", async () => {
    const content = [
      { type: "text", text: "look " },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "text", text: "there" },
    ];
    const messages = await echo([{ role: "user", content }]);
    expect(messages[0]!.content).toEqual(content);
    expect(messages[1]!.content).toContain("look ");
  });

  test("keep their ids and get one when they have none", async () => {
    const messages = await echo([
      { role: "user", content: "a", id: "my-id" },
      { role: "user", content: "b" },
    ]);
    expect(messages[0]!.id).toBe("my-id");
    expect(messages[1]!.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(messages[2]!.id).toEqual(expect.any(String));
    expect(new Set(messages.map(({ id }) => id)).size).toBe(3);
  });

  test("are what they were in the next turn, on the thread and in the state", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread();
    const input = {
      messages: [
        {
          type: "ai",
          content: "",
          id: "a1",
          name: "helper",
          tool_calls: [{ id: "c1", name: "look", args: { at: [1] }, type: "tool_call" }],
          usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
          additional_kwargs: { extra: { deep: true } },
          response_metadata: { model_name: "m" },
        },
        {
          type: "tool",
          content: "seen",
          id: "t1",
          tool_call_id: "c1",
          name: "look",
          status: "error",
          artifact: { a: 1 },
        },
      ],
    };
    await runs.wait(threadId, "echo", { input });
    const again = (await runs.wait(threadId, "echo", {
      input: { messages: [{ role: "user", content: "more" }] },
    })) as unknown as { messages: Record<string, unknown>[] };
    expect(again.messages).toHaveLength(5);
    expect(again.messages[0]).toMatchObject(input.messages[0]!);
    expect(again.messages[1]).toMatchObject(input.messages[1]!);
    expect((await threads.get(threadId)).values).toEqual(again);
    expect((await threads.getState(threadId)).values).toEqual(again);
  });

  test("are removed by name", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread();
    await runs.wait(threadId, "echo", { input: { messages: [{ role: "user", content: "a", id: "gone" }] } });
    await threads.updateState(threadId, { values: { messages: [{ type: "remove", id: "gone", content: "" }] } });
    const { values } = await threads.getState<{ messages: Message[] }>(threadId);
    expect(short(values.messages)).toEqual([["ai", "echo: a"]]);
  });

  test("text of every kind comes back as it went", async () => {
    for (const text of [
      "",
      " \n\t",
      "ü 😀 漢字 \u2028 \u0000",
      "</script>",
      "data: x\n\nevent: y",
      "x".repeat(200_000),
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const [first, second] = await echo([{ role: "user", content: text }]);
      expect(first!.content).toBe(text);
      expect(second!.content).toBe(`echo: ${text}`);
    }
  });
});

describe("config, context and metadata", () => {
  interface Seen {
    readonly configurable: Record<string, unknown>;
    readonly metadata: Record<string, unknown>;
    readonly tags: string[];
    readonly context: unknown;
    readonly recursionLimit: number;
  }
  const look = async (threadId: string | null, payload: Payload = {}): Promise<Seen> => {
    const values = await server.client.runs.wait(threadId as string, "mirror", { input: {}, ...payload });
    return (values as unknown as { seen: Seen }).seen;
  };

  test("a node sees the ids of its run", async () => {
    const threadId = await newThread();
    const seen = await look(threadId);
    const [run] = await server.client.runs.list(threadId);
    const ids = { run_id: run!.run_id, thread_id: threadId, graph_id: "mirror", assistant_id: run!.assistant_id };
    expect(seen.configurable).toMatchObject(ids);
    expect(seen.metadata).toMatchObject({
      ...ids,
      run_attempt: 1,
      created_by: "system",
      langgraph_plan: "developer",
      langgraph_host: "self-hosted",
      langgraph_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      langgraph_api_url: server.url,
      langgraph_node: "look",
    });
    expect(seen.recursionLimit).toBe(25);
  });

  test("a node sees config, context and tags of its run", async () => {
    const seen = await look(await newThread(), {
      config: { configurable: { user: "ada" }, tags: ["one", "two"], recursion_limit: 9 },
      context: { tenant: "t1", mood: "good" },
      metadata: { reason: "test" },
    });
    expect(seen.configurable).toMatchObject({ user: "ada" });
    expect(seen.tags).toEqual(expect.arrayContaining(["one", "two"]));
    expect(seen.recursionLimit).toBe(9);
    expect(seen.context).toMatchObject({ tenant: "t1", mood: "good" });
    expect(seen.metadata).toMatchObject({ reason: "test" });
  });

  test("a run cannot pretend to be another", async () => {
    const threadId = await newThread();
    const lies = { run_id: "lie", thread_id: "lie", graph_id: "lie", assistant_id: "lie" };
    const seen = await look(threadId, { config: { configurable: lies }, metadata: { ...lies, run_attempt: 9 } });
    const [run] = await server.client.runs.list(threadId);
    const truth = { run_id: run!.run_id, thread_id: threadId, graph_id: "mirror", assistant_id: run!.assistant_id };
    expect(seen.configurable).toMatchObject(truth);
    expect(seen.metadata).toMatchObject({ ...truth, run_attempt: 1 });
    expect((await server.client.threads.getState(threadId)).metadata).toMatchObject({ ...truth, run_attempt: 1 });
  });

  test("metadata of the thread count, and those of the run count more", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create({ metadata: { team: "red", level: 1 } });
    const seen = await look(thread_id, { metadata: { level: 2 } });
    expect(seen.metadata).toMatchObject({ team: "red", level: 2 });
    const [run] = await runs.list(thread_id);
    expect(run!.metadata).toMatchObject({ team: "red", level: 2 });
    // The thread's own stay.
    expect((await threads.get(thread_id)).metadata).toMatchObject({ team: "red", level: 1 });
    expect((await threads.getState(thread_id)).metadata).toMatchObject({ team: "red", level: 2 });
  });

  test("what one run was given is not there for the next", async () => {
    const threadId = await newThread();
    await look(threadId, {
      config: { configurable: { secret: 1 } },
      context: { tenant: "t1" },
      metadata: { once: true },
    });
    const seen = await look(threadId);
    expect(seen.configurable).not.toHaveProperty("secret");
    expect(seen.context ?? {}).not.toHaveProperty("tenant");
    expect(seen.metadata).not.toHaveProperty("once");
    expect((await server.client.threads.get(threadId)).config).toEqual({});
  });

  test("null stands for what is left out", async () => {
    const fields = [
      "config",
      "context",
      "metadata",
      "command",
      "checkpoint",
      "stream_mode",
      "interrupt_before",
      "webhook",
    ];
    const more = [
      "multitask_strategy",
      "if_not_exists",
      "after_seconds",
      "durability",
      "on_disconnect",
      "feedback_keys",
    ];
    const nulls = Object.fromEntries([...fields, ...more].map((field) => [field, null]));
    const answer = await call(server.url, "POST", "/runs/wait", {
      body: { assistant_id: "counter", input: {}, ...nulls },
    });
    expect(answer.json).toMatchObject({ total: 111 });
  });

  test("fields that nobody knows are no reason to refuse", async () => {
    const body = {
      assistant_id: "counter",
      input: {},
      assistantId: "counter",
      streamMode: "values",
      unheardOf: { a: 1 },
    };
    expect((await call(server.url, "POST", "/runs/wait", { body })).json).toMatchObject({ total: 111 });
    expect((await call(server.url, "POST", "/threads", { body: { unheardOf: 1 } })).status).toBe(200);
  });
});

describe("factories", () => {
  test("make the graph that the run asks for", async () => {
    const run = async (voice?: string) =>
      collect(
        server.client.runs.stream(null, "factory", {
          input: {},
          streamMode: "updates",
          ...(voice === undefined ? {} : { config: { configurable: { voice } } }),
        }),
      );
    expect((await run("loud")).at(-1)!.data).toEqual({ speak_loud: { said: "hello from the environment (loud)" } });
    expect((await run()).at(-1)!.data).toEqual({ speak_plain: { said: "hello from the environment (plain)" } });
  });

  test("that throw fail the run and nothing else", async () => {
    const threadId = await newThread();
    const payload = { input: {}, config: { configurable: { voice: "broken" } }, raiseError: false } as const;
    const values = await server.client.runs.wait(threadId, "factory", payload);
    expect(values).toMatchObject({ __error__: { message: expect.stringContaining("no such voice") } });
    expect((await server.client.threads.get(threadId)).status).toBe("error");
    expect(await server.client.runs.wait(threadId, "factory", { input: {} })).toMatchObject({
      said: "hello from the environment (plain)",
    });
  });
});

describe("zod", () => {
  test("input, context, and a state that lasts", async () => {
    const threadId = await newThread();
    const { runs, threads } = server.client;
    const first = await runs.wait(threadId, "zod", { input: { name: "Ada" } });
    expect(first).toMatchObject({ name: "Ada", visits: 1, greeting: "Hi Ada" });
    expect((await threads.getState(threadId)).values).toMatchObject({ name: "Ada", visits: 1, greeting: "Hi Ada" });
    const polite = await runs.wait(threadId, "zod", { input: { name: "Bob" }, context: { politeness: "high" } });
    expect(polite).toMatchObject({ name: "Bob", visits: 2, greeting: "Good day Bob" });
  });

  test("wait, join, the thread and its state show the same values", async () => {
    const threadId = await newThread();
    const { runs, threads } = server.client;
    const waited = await runs.wait(threadId, "zod", { input: { name: "Ada" } });
    const [run] = await runs.list(threadId);
    expect(await runs.join(threadId, run!.run_id)).toEqual(waited);
    expect((await threads.get(threadId)).values).toEqual(waited);
    expect((await threads.getState(threadId)).values).toEqual(waited);
  });

  test("input that does not fit fails the run with what zod says", async () => {
    const values = await server.client.runs.wait(null, "zod", { input: { name: 7 }, raiseError: false });
    expect(values).toMatchObject({ __error__: { error: expect.any(String), message: expect.stringMatching(/name/) } });
  });
});

describe("values that JSON has no word for", () => {
  interface Odd {
    readonly things: Record<string, unknown>;
    readonly seen: Record<string, string>;
  }
  // What clients see; what the next node sees, on the thread of its run.
  const cases: Record<string, [wire: unknown, next: string]> = {
    date: ["2026-01-02T03:04:05.678Z", "Date"],
    map: [{ a: 1, b: 2 }, "Map"],
    set: [["a", "b"], "Set"],
    undefinedInside: [{ kept: 1, list: [null, 2] }, "Object"],
    nan: [{ not: null, more: null }, "Object"],
    point: [{ x: 3, y: 4 }, "Object"],
    bytes: ["AQL/", "Uint8Array"],
    symbol: [{ kept: 1 }, "Object"],
    call: [{ kept: 1 }, "Object"],
    error: [{ error: "TypeError", message: "kept as a value" }, "Error"],
  };

  test.each(Object.entries(cases))("%s", async (kind, [wire, next]) => {
    const { runs, threads } = server.client;
    const threadId = await newThread();
    const events = await collect(
      runs.stream(threadId, "odd", { input: { kinds: [kind] }, streamMode: ["values", "updates", "tasks", "debug"] }),
    );
    expect(events.filter(({ event }) => event === "error")).toEqual([]);
    const updates = events.filter(({ event }) => event === "updates").map(({ data }) => data as { make?: Odd });
    expect(updates[0]!.make!.things[kind]).toEqual(wire);
    const thread = await threads.get<Odd>(threadId);
    expect(thread.values.things[kind]).toEqual(wire);
    expect(thread.values.seen[kind]).toBe(next);
    expect((await threads.getState<Odd>(threadId)).values).toEqual(thread.values);
    expect((await threads.getHistory<Odd>(threadId))[0]!.values).toEqual(thread.values);
    // From storage, it is what LangGraph's own serializer makes of it.
    expect(await runs.wait(threadId, "odd", { input: { kinds: [] } })).toMatchObject({ seen: {} });
  });

  test("nothing at all", async () => {
    const values = (await server.client.runs.wait(await newThread(), "odd", {
      input: { kinds: ["nothing", "date"] },
    })) as unknown as Odd;
    expect(values.things).toEqual({ date: "2026-01-02T03:04:05.678Z" });
    expect(values.seen).toEqual({ nothing: "Undefined", date: "Date" });
  });

  test("a key that would change every object", async () => {
    const threadId = await newThread();
    await server.client.runs.wait(threadId, "odd", { input: { kinds: ["proto"] } });
    const raw = await call(server.url, "GET", `/threads/${threadId}`);
    expect(raw.text).toContain('"__proto__":{"polluted":true}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("text that is no Unicode, and every separator", async () => {
    const threadId = await newThread();
    const events = await collect(
      server.client.runs.stream(threadId, "odd", { input: { kinds: ["text"] }, streamMode: "updates" }),
    );
    const text = 'line\nline\u2028line "quoted" \u0000 \u{1f600} ';
    const { make } = events[1]!.data as unknown as { make: Odd };
    expect((make.things["text"] as string).startsWith(text)).toBe(true);
    const thread = await server.client.threads.get<Odd>(threadId);
    expect((thread.values.things["text"] as string).startsWith(text)).toBe(true);
  });

  test("a ring is no reason to hang, nor to take the server down", async () => {
    const { runs, threads } = server.client;
    const threadId = await newThread();
    const events = await collect(
      runs.stream(threadId, "odd", { input: { kinds: ["circular"] }, streamMode: ["updates", "values"] }),
    );
    // LangGraph's own savers refuse it or cut the ring; here one of the two must show.
    const [run] = await runs.list(threadId);
    if (run!.status === "error") expect(events.at(-1)!.event).toBe("error");
    else expect(JSON.stringify(events)).toContain("[Circular]");
    expect(["idle", "error"]).toContain((await threads.get(threadId)).status);
    // The thread can be used again.
    expect(await runs.wait(await newThread(), "odd", { input: { kinds: ["date"] } })).toMatchObject({
      seen: { date: "Date" },
    });
    // Without a thread nothing needs to be stored.
    const free = await runs.wait(null, "odd", { input: { kinds: ["circular"] }, raiseError: false });
    expect(JSON.stringify(free)).toMatch(/\[Circular\]|__error__/);
  });
});
