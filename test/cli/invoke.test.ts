// What `invoke` makes of every sequence of events: against a server that sends exactly these. The real server is in journey.test.ts.
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { event, events, json, type Received, type Routes, scripted } from "./helpers/http.ts";
import { call, finish, type TestProcess } from "./helpers/io.ts";

const THREAD = "11111111-1111-4111-8111-111111111111";
const RUN = "22222222-2222-4222-8222-222222222222";
const RUNS = `/threads/${THREAD}/runs`;
const HEADERS = { "content-location": `${RUNS}/${RUN}`, location: `${RUNS}/${RUN}/stream` };

const ai = (content: unknown, id = "a1") => ({ type: "ai", content, id });
const human = { type: "human", content: "hello", id: "h1" };
const token = (content: unknown, id = "a1", node = "model") =>
  event("messages", [{ type: "AIMessageChunk", content, id }, { langgraph_checkpoint_ns: `${node}:1` }]);
const values = (messages: unknown[]) => event("values", { messages });

/** A server on which the run gives `stream`. */
function routes(stream: string[], { run = "success", thread = "idle" } = {}): Routes {
  return {
    "POST /assistants/search": (response) =>
      json(response, [{ graph_id: "agent", metadata: { created_by: "system" } }]),
    [`POST ${RUNS}/stream`]: (response) => {
      events(response, HEADERS);
      response.end(event("metadata", { run_id: RUN, attempt: 1 }) + stream.join(""));
    },
    [`GET ${RUNS}/${RUN}`]: (response) => json(response, { run_id: RUN, status: run }),
    "POST /threads/search": (response) => json(response, [{ thread_id: THREAD, status: thread }]),
  };
}

const terminal: TestProcess = { tty: true, env: { NO_COLOR: "1" } };
const NEXT = `agent-server invoke --thread ${THREAD}`;

async function invoke(
  stream: string[],
  options: TestProcess & Parameters<typeof routes>[1] = terminal,
  args = ["hello"],
) {
  const server = await scripted(routes(stream, options));
  const env = { ...options.env, AGENT_SERVER_URL: server.url };
  const result = await finish(["invoke", ...args], { ...options, env });
  const sent = server.received.find((request) => request.path.endsWith("/runs/stream"))?.body as Record<
    string,
    unknown
  >;
  return { ...result, sent, received: server.received };
}

describe("invoke on a terminal", () => {
  it("prints tokens as they come, tool results beside, and how to go on", async () => {
    const { code, stdout, stderr, sent } = await invoke([
      values([human]),
      token("Let me "),
      token([{ type: "text", text: "see." }]),
      event("messages", [{ type: "tool", name: "recall", content: "- tea", tool_call_id: "1", id: "t1" }, {}]),
      token("You like ", "a2"),
      token("tea.", "a2"),
      values([human, ai("Let me see."), ai("You like tea.", "a2")]),
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe("Let me see.\nYou like tea.\n");
    expect(stderr).toBe(`thread ${THREAD}\nrecall: - tea\ncontinue with: ${NEXT} '<message>'\n`);
    expect(sent).toMatchObject({
      assistant_id: "agent",
      input: { messages: [{ role: "user", content: "hello" }] },
      stream_mode: ["values", "messages-tuple"],
      stream_resumable: true,
      // A run that is refused must leave no thread behind.
      if_not_exists: "create",
    });
  });

  it("shows each token at once", async () => {
    let send!: (text: string) => void;
    const server = await scripted({
      ...routes([]),
      [`POST ${RUNS}/stream`]: (response) => {
        events(response, HEADERS);
        send = (text) => void response.write(text);
        response.write(event("metadata", { run_id: RUN }) + token("one "));
      },
    });
    const started = call(["invoke", "hello", "--url", server.url], terminal);
    expect(await started.seen("stdout", /one /)).toBe("one ");
    send(token("two"));
    expect(await started.seen("stdout", /two/)).toBe("one two");
  });

  it("prints the last AI message when nothing was streamed, and no older one", async () => {
    expect((await invoke([values([human]), values([human, ai("Whole.")])])).stdout).toBe("Whole.\n");
    const old = [human, ai("Old.")];
    expect((await invoke([values(old), values(old)])).stdout).toBe("");
    expect((await invoke([values([human, ai("Only.")])])).stdout).toBe("Only.\n");
    expect((await invoke([values(old), values([...old, ai([{ type: "text", text: "New." }], "a2")])])).stdout).toBe(
      "New.\n",
    );
  });

  it("prints what a node streams and then returns only once", async () => {
    const again = event("messages", [ai("Hi there", "other"), { langgraph_checkpoint_ns: "model:1" }]);
    const { stdout } = await invoke([token("Hi "), token("there"), again, values([human, ai("Hi there", "other")])]);
    expect(stdout).toBe("Hi there\n");
  });

  it("prints the state of a graph without messages", async () => {
    const { stdout } = await invoke([
      event("values", { topic: "cats" }),
      event("values", { topic: "cats", joke: "…" }),
    ]);
    expect(JSON.parse(stdout)).toEqual({ topic: "cats", joke: "…" });
  });

  it("ignores events of subgraphs", async () => {
    const inner = event("values|sub:1", { messages: [ai("inner")] }) + event("messages|sub:1", [ai("inner"), {}]);
    expect((await invoke([values([human]), inner, values([human, ai("outer")])])).stdout).toBe("outer\n");
  });

  it("lets no escape sequence of a model through", async () => {
    const { stdout } = await invoke([token("a\u001b[2"), token("Jb\u0007")]);
    expect(stdout).toBe("a␛[2Jb␇\n");
  });
});

describe("invoke in a pipe, or with --json", () => {
  it.each([
    [{ tty: false }, ["hello"]],
    [{ tty: true }, ["hello", "--json"]],
  ])("%j %j prints the final values only", async (options, args) => {
    const { code, stdout, stderr, sent } = await invoke([values([human]), values([human, ai("Hi")])], options, args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ messages: [human, ai("Hi")] });
    expect(stderr).toContain(`${NEXT} '<message>'`);
    expect(sent["stream_mode"]).toEqual(["values"]);
  });
});

describe("what invoke sends", () => {
  it("continues a thread with the assistant that it had", async () => {
    const server = await scripted({
      ...routes([values([])]),
      [`GET /threads/${THREAD}`]: (response) =>
        json(response, { metadata: { graph_id: "x", assistant_id: "used before" } }),
    });
    const { stderr } = await finish(["invoke", "--thread", THREAD, "hello", "--url", server.url], terminal);
    expect(server.received.find(({ path }) => path.endsWith("/stream"))?.body).toMatchObject({
      assistant_id: "used before",
    });
    expect(stderr).toBe(`continue with: ${NEXT} '<message>' --url ${server.url}\n`);
  });

  it("chooses the first graph of the config and says so", async () => {
    const system = { created_by: "system" };
    const server = await scripted({
      ...routes([values([])]),
      "POST /assistants/search": (response) =>
        json(response, [
          { graph_id: "first", metadata: system },
          { graph_id: "first", metadata: { created_by: "ada" } },
          { graph_id: "second", metadata: system },
        ]),
    });
    const { stderr } = await finish(["invoke", "hello", "--url", server.url], terminal);
    expect(stderr).toContain("assistant first (others: second; choose with --assistant)");
    expect(server.received[0]?.body).toMatchObject({ sort_by: "created_at", sort_order: "asc" });
  });

  it("passes --resume, --configurable and --assistant on", async () => {
    const args = [
      "--thread",
      THREAD,
      "--assistant",
      "b",
      "--resume",
      "yes",
      "--configurable",
      "u=1",
      "--configurable",
      "n:=2",
    ];
    const { sent, received } = await invoke([values([])], terminal, args);
    expect(sent).toMatchObject({
      assistant_id: "b",
      command: { resume: "yes" },
      config: { configurable: { u: "1", n: 2 } },
    });
    expect(sent).not.toHaveProperty("input");
    expect(received.some(({ path }) => path === "/threads" || path === "/assistants/search")).toBe(false);
  });

  it("--stateless makes no thread, and the run ends with the connection", async () => {
    const server = await scripted({
      "POST /runs/stream": (response) => {
        events(response, { "content-location": `/runs/${RUN}` });
        response.end(values([human, ai("Hi")]));
      },
    });
    const { code, stdout, stderr } = await finish(
      ["invoke", "--stateless", "-a", "agent", "hello", "--url", server.url],
      terminal,
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Hi\n", stderr: "" });
    expect(server.received).toHaveLength(1);
    expect(server.received[0]?.body).toMatchObject({ on_disconnect: "cancel", stream_resumable: false });
  });

  it("names the graphs that exist when the chosen one does not", async () => {
    const server = await scripted({
      ...routes([]),
      [`POST ${RUNS}/stream`]: (response) => json(response, { detail: 'No assistant found for "agnt"' }, 404),
    });
    const { code, stderr } = await finish(["invoke", "-a", "agnt", "hello", "--url", server.url], terminal);
    expect(code).toBe(1);
    expect(stderr).toContain('error: No assistant found for "agnt" (HTTP 404)\nThis server has: agent.\n');
  });
});

describe("how a run can end", () => {
  it("with a question: exit 0, the payload and the command that answers it", async () => {
    const interrupt = [{ id: "i1", value: { question: "Send?" } }];
    for (const stream of [
      [values([human]), event("values", { messages: [human, ai("")], __interrupt__: interrupt })],
      [values([human]), values([human, ai("")]), event("values", { __interrupt__: interrupt })],
    ]) {
      const options = { ...terminal, thread: "interrupted" };
      const pretty = await invoke(stream, options);
      expect(pretty).toMatchObject({ code: 0, stdout: "" });
      expect(pretty.stderr).toBe(
        `thread ${THREAD}\nwaiting for an answer:\n{\n  "question": "Send?"\n}\nanswer with: ${NEXT} --resume '<answer>'\n`,
      );
      const piped = await invoke(stream, { ...options, tty: false });
      expect(JSON.parse(piped.stdout)).toEqual({ messages: [human, ai("")], __interrupt__: interrupt });
    }
  });

  it("with several questions: the command has every id", async () => {
    const interrupts = [
      { id: "i1", value: "one?" },
      { id: "i2", value: "two?" },
    ];
    const { stderr } = await invoke([event("values", { __interrupt__: interrupts })], {
      ...terminal,
      thread: "interrupted",
    });
    expect(stderr).toContain(`one?\ntwo?\nanswer with: ${NEXT} --resume '{"i1":"<answer>","i2":"<answer>"}'\n`);
  });

  it("at a breakpoint: the command that goes on", async () => {
    const { code, stdout, stderr } = await invoke([values([human, ai("half")])], {
      ...terminal,
      thread: "interrupted",
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`stopped at a breakpoint; go on with: ${NEXT} --input null\n`);
  });

  it("with an error: exit 1, its name and message, and no values", async () => {
    const error = event("error", { error: "TypeError", message: "x is not\u001b[0m a function" });
    for (const options of [terminal, {}]) {
      const { code, stdout, stderr } = await invoke([token("Hal"), values([human]), error], options);
      expect(code).toBe(1);
      expect(stdout).toBe(options === terminal ? "Hal\n" : "");
      expect(stderr).toContain("error: The run failed: TypeError: x is not␛[0m a function\n");
    }
  });

  it.each([
    ["running", /closed the stream before the run ended\.\nFollow the rest with: agent-server stream/],
    ["interrupted", /The run was cancelled\./],
    ["error", /The run ended with status error\./],
    ["timeout", /The run ended with status timeout\./],
  ])("without a word and with status %s: exit 1", async (run, message) => {
    const { code, stderr } = await invoke([values([human])], { ...terminal, run });
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });

  it("by a broken connection: goes on where it stopped, over the path that the server gave", async () => {
    let asked: Received | undefined;
    const server = await scripted({
      ...routes([]),
      [`POST ${RUNS}/stream`]: (response) => {
        events(response, HEADERS);
        response.write(event("metadata", { run_id: RUN }, "1") + token("Hel").replace(/\n$/, "id: 2\n\n"), () =>
          response.destroy(),
        );
      },
      [`GET ${RUNS}/${RUN}/stream`]: (response, request) => {
        asked = request;
        events(response);
        response.end(token("lo") + values([human, ai("Hello")]));
      },
    });
    const { code, stdout } = await finish(["invoke", "hello", "--url", server.url], terminal);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello\n" });
    expect(asked?.headers["last-event-id"]).toBe("2");
  });

  it.each([[undefined], ["https://elsewhere.example/x"], ["//elsewhere.example/x"]])(
    "by a broken connection with Location %s: exit 3 and nothing else is asked",
    async (location) => {
      const server = await scripted({
        ...routes([]),
        [`POST ${RUNS}/stream`]: (response) => {
          events(response, {
            "content-location": HEADERS["content-location"],
            ...(location === undefined ? {} : { location }),
          });
          response.write(event("metadata", { run_id: RUN }), () => response.destroy());
        },
      });
      const { code, stderr } = await finish(["invoke", "hello", "--url", server.url], terminal);
      expect({ code, stderr }).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`error: The connection to ${server.url} broke.\n`),
      });
      expect(server.received.at(-1)?.path).toBe(`${RUNS}/stream`);
    },
  );
});

describe("Ctrl-C", () => {
  const hanging = (response: ServerResponse) => {
    events(response, HEADERS);
    response.write(event("metadata", { run_id: RUN }) + token("Hel"));
  };

  it("cancels the run and exits 130", async () => {
    const server = await scripted({
      ...routes([]),
      [`POST ${RUNS}/stream`]: hanging,
      [`POST ${RUNS}/${RUN}/cancel`]: (response) => response.writeHead(202).end(),
    });
    const started = call(["invoke", "hello", "--url", server.url], terminal);
    await started.seen("stdout", /Hel/);
    started.signal("SIGINT");
    // npm passes the same key on once more.
    started.signal("SIGINT");
    expect(await started.exitCode).toBe(130);
    expect(started.exits).toEqual([]);
    expect(started.stdout).toBe("Hel\n");
    expect(started.stderr).toContain(`cancelled run ${RUN}\n`);
    expect(server.received.at(-1)?.path).toMatch(/\/cancel\?(?=.*action=interrupt)(?=.*wait=0)/);
  });

  it("a second one ends at once, also when the server does not answer the cancel", async () => {
    const server = await scripted({
      ...routes([]),
      [`POST ${RUNS}/stream`]: hanging,
      [`POST ${RUNS}/${RUN}/cancel`]: () => {},
    });
    const started = call(["invoke", "hello", "--url", server.url], terminal);
    await started.seen("stdout", /Hel/);
    started.signal("SIGINT");
    expect(started.exits).toEqual([]);
    started.advance(600);
    started.signal("SIGINT");
    expect(started.exits).toEqual([130]);
  });

  it("says so when the run had ended already", async () => {
    const server = await scripted({
      ...routes([]),
      [`POST ${RUNS}/stream`]: hanging,
      [`POST ${RUNS}/${RUN}/cancel`]: (response) => json(response, { detail: "Run has ended" }, 409),
    });
    const started = call(["invoke", "hello", "--url", server.url], terminal);
    await started.seen("stdout", /Hel/);
    started.signal("SIGTERM");
    expect(await started.exitCode).toBe(130);
    expect(started.stderr).toContain(`run ${RUN} had ended already\n`);
  });
});
