// `agent-server a2a` as a person uses it: against a real server, and against agents of others.
import { readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { A2A_PROJECT } from "../e2e/support/a2a.ts";
import { useGates } from "../e2e/support/gates.ts";
import { useServer } from "../e2e/support/server.ts";
import {
  closedPort,
  events as openStream,
  json,
  scripted,
  type Received,
  type Routes,
  type ScriptedServer,
} from "./helpers/http.ts";
import { call, finish, type TestProcess } from "./helpers/io.ts";
import { folderWith } from "./helpers/project.ts";

type Done = Awaited<ReturnType<typeof finish>>;

const server = useServer({ cwd: A2A_PROJECT });
const gates = useGates();

/** A person at a terminal, with a cache of their own. */
const person = (more: Partial<TestProcess> = {}): TestProcess => ({
  tty: true,
  cwd: folderWith(),
  ...more,
  env: { NO_COLOR: "1", XDG_CACHE_HOME: folderWith(), ...more.env },
});
const a2a = (args: readonly string[], who: TestProcess = person()): Promise<Done> => finish(["a2a", ...args], who);
const here = (args: readonly string[], who: TestProcess = person()): Promise<Done> =>
  a2a([...args, "--url", server.url], who);

const UUID = "[0-9a-f-]{36}";
const idsOf = (stderr: string): { context: string; task: string; state: string } => {
  const [, context, task, state] = new RegExp(`^context (${UUID})  task (${UUID})  \\((.+)\\)$`, "m").exec(stderr)!;
  return { context: context!, task: task!, state: state! };
};
/** The arguments of a command that was printed for the person to copy. */
const argumentsIn = (line: string): string[] =>
  line
    .split(" a2a ")[1]!
    .trim()
    .split(" ")
    .map((word) => word.replace(/^'(.*)'$/, "$1"));

describe("card", () => {
  it("shows what an agent says of itself, and the JSON in a pipe", async () => {
    const { code, stdout } = await here(["card", "-a", "words"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^name {10}words$/m);
    expect(stdout).toMatch(/^endpoint {6}http:\S+\/a2a\/\S+ \(JSONRPC 1\.0\)$/m);
    expect(stdout).toMatch(/^capabilities {2}streaming, pushNotifications$/m);
    const piped = await here(["card", "-a", "words"], person({ tty: false }));
    expect(JSON.parse(piped.stdout)).toMatchObject({
      name: "words",
      supportedInterfaces: [{ protocolVersion: "1.0" }, { protocolVersion: "0.3" }],
    });
    expect(JSON.parse(piped.stdout)).not.toHaveProperty("protocolVersion");
    const old = await here(["card", "-a", "words", "--v03", "--json"]);
    expect(JSON.parse(old.stdout)).toMatchObject({
      name: "words",
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
    });
  });

  it("takes the first graph and says which there are", async () => {
    const { stdout, stderr } = await here(["card"]);
    expect(stdout).toMatch(/^name {10}kit$/m);
    expect(stderr).toMatch(/^assistant kit \(others: ask, .*; choose with --assistant\)$/m);
  });

  it("says which assistants there are when the one that is named is not there", async () => {
    const { code, stderr } = await here(["card", "-a", "none"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: No assistant found for "none".*graphs here: kit, ask.*\(HTTP 404\)$/m);
  });
});

describe("send", () => {
  it("prints the text, and on stderr the ids and a command that continues", async () => {
    const first = await here(["send", "-a", "words", "hello"]);
    expect(first).toMatchObject({ code: 0, stdout: "you said hello to me\n" });
    const { context, task, state } = idsOf(first.stderr);
    expect(state).toBe("completed");
    const [, command] = /^continue with: (.*)$/m.exec(first.stderr)!;
    expect(command).toContain(
      `agent-server a2a send --context ${context} '<message>' --assistant words --url ${server.url}`,
    );
    const second = await a2a(argumentsIn(command!).map((word) => (word === "<message>" ? "more" : word)));
    expect(second).toMatchObject({ code: 0, stdout: "you said more to me\n" });
    expect(idsOf(second.stderr)).toMatchObject({ context });
    expect(idsOf(second.stderr).task).not.toBe(task);
  });

  it("answers in JSON in a pipe", async () => {
    const { stdout } = await here(["send", "-a", "words", "hello"], person({ tty: false }));
    expect(JSON.parse(stdout)).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("says what a task waits for, and how to answer", async () => {
    const asked = await here(["send", "-a", "ask", "hello"]);
    expect(asked).toMatchObject({ code: 0, stdout: "" });
    const { context, task, state } = idsOf(asked.stderr);
    expect(state).toBe("input-required");
    expect(asked.stderr).toContain("\nwaiting for an answer:\nQuestion 1?\n");
    const [, command] = /^answer with: (.*)$/m.exec(asked.stderr)!;
    expect(argumentsIn(command!)).toEqual([
      "send",
      "--context",
      context,
      "--task",
      task,
      "<answer>",
      "--assistant",
      "ask",
      "--url",
      server.url,
    ]);
    const answered = await here(["send", "-a", "ask", "--context", context, "--task", task, "--data", '{"yes":true}']);
    expect(answered.stdout).toBe('heard {"yes":true}\n');
    expect(idsOf(answered.stderr)).toEqual({ context, task, state: "input-required" });
  });

  it("takes the message and data from stdin and files", async () => {
    expect(await here(["send", "-a", "words", "-"], person({ stdin: "from a pipe\n" }))).toMatchObject({
      stdout: "you said from a pipe to me\n",
    });
    const who = person({
      stdin: '{"topic":"four"}',
      cwd: folderWith({ "topic.json": '{"topic":"three"}', "note.txt": "hello" }),
    });
    expect(JSON.parse((await here(["send", "-a", "plain", "--data", "-"], who)).stdout)).toEqual({
      topic: "four",
      length: 4,
    });
    expect(JSON.parse((await here(["send", "-a", "plain", "--data", "@topic.json"], who)).stdout)).toEqual({
      topic: "three",
      length: 5,
    });
    const mirrored = await here(
      ["send", "-a", "mirror", "look", "-f", "note.txt", "-f", "https://example.com/a/picture.png"],
      who,
    );
    const seen = JSON.parse(mirrored.stdout) as { contentBlocks: unknown[] };
    expect(seen.contentBlocks).toMatchObject([
      { type: "text", text: "look" },
      { mimeType: "text/plain", data: Buffer.from("hello").toString("base64") },
      { type: "image", mimeType: "image/png", url: "https://example.com/a/picture.png" },
    ]);
  });

  it("fails when the task fails, with its reason and how to go on", async () => {
    const task = await here(["send", "-a", "ask", "hello"]).then(({ stderr }) => idsOf(stderr));
    const { assistant_id: id } = await server.client.assistants.create({ graphId: "plain", name: "Breaks" });
    const broken = await here(["send", "-a", id, "--data", '{"topic":null}']);
    expect(broken).toMatchObject({ code: 1, stdout: "" });
    expect(broken.stderr).toMatch(/^error: The task has failed: Error executing assistant: .*$/m);
    expect(broken.stderr).toMatch(/^Go on with the conversation: agent-server a2a send --context /m);
    expect((await here(["cancel", task.task, "-a", "ask"])).code).toBe(0);
    const late = await here(["send", "-a", "ask", "--task", task.task, "too late"]);
    expect(late).toMatchObject({ code: 1 });
    expect(late.stderr).toMatch(/\(A2A error -32004\)$/m);
  });

  it("explains an error of the protocol", async () => {
    const { code, stderr } = await here(["send", "-a", "plain", "hello"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: Invalid params: text and file parts need a graph .* \(A2A error -32602\)$/m);
  });

  it.each([
    [["send"], "There is nothing to send."],
    [["send", "hello", "--data", "{"], "--data"],
    [["send", "hello", "-f", "none.txt"], "Cannot read none.txt: ENOENT."],
    [["send", "-", "--data", "-"], "Only one of the message and --data can come from stdin."],
    [["send", "hello", "--continue", "--context", "x"], "--continue"],
    [["send", "hello", "--continue"], "There is no conversation to continue."],
    [["ls", "--v03"], "A2A 0.3 has no method that lists tasks."],
    [["ls", "--limit", "101"], "from 1 to 100"],
  ])("%j is a mistake in the command", async (args, message) => {
    const { code, stderr } = await here([...args, "-a", "words"]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("stream", () => {
  it("prints the answer as it comes", async () => {
    const { code, stdout, stderr } = await here(["stream", "-a", "words", "hello"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "you said hello to me\n" });
    expect(idsOf(stderr).state).toBe("completed");
  });

  it("puts what replaces an answer on a line of its own", async () => {
    const { stdout } = await here(["stream", "-a", "steps", "hello", "--v03"]);
    expect(stdout).toBe("let me think\nyou said hello to me\n");
  });

  it("prints every event as a line of JSON in a pipe", async () => {
    const { stdout } = await here(["stream", "-a", "words", "hello"], person({ tty: false }));
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map((event) => Object.keys(event)[0])).toEqual([
      "task",
      "statusUpdate",
      ...Array.from({ length: 5 }, () => "artifactUpdate"),
      "statusUpdate",
    ]);
  });

  it("prints only what is new when it answers a task", async () => {
    const who = person();
    await here(["send", "-a", "ask", "hello"], who);
    expect(await here(["stream", "--continue", "one"], who)).toMatchObject({ stdout: 'heard "one"\n' });
    const last = await here(["stream", "--continue", "stop"], who);
    expect(last.stdout).toBe('heard "stop"\n');
    expect(idsOf(last.stderr).state).toBe("completed");
  });
});

describe("Ctrl-C", () => {
  it("leaves the task going, keeps the conversation, and says how to look at it", async () => {
    const who = person();
    const started = call(
      ["a2a", "stream", "-a", "kit", `gate ${gates.url("door")}`, "--raw", "--url", server.url],
      who,
    );
    await gates.entered("door");
    await started.seen("stderr", /"TASK_STATE_WORKING"/);
    started.signal("SIGINT");
    expect(await started.exitCode).toBe(130);
    const kept = readFileSync(join(who.env!["XDG_CACHE_HOME"]!, "agent-server", "a2a-last.json"), "utf8");
    const [, task] = new RegExp(
      `^the task goes on; look at it with: agent-server a2a get (${UUID}) --assistant kit `,
      "m",
    ).exec(started.stderr)!;
    expect(JSON.parse(kept)).toMatchObject({ task });
    expect((await here(["get", task!, "-a", "kit"])).stdout).toMatch(/^state {5}working$/m);
    gates.open("door");
  });
});

describe("a stream that ends before its task", () => {
  const CARD = "GET /.well-known/agent-card.json";
  const task = (state: string): object => ({ task: { id: "t1", contextId: "c1", status: { state } } });
  /** An agent whose stream ends with this event, in order or not. */
  const ending = async (result: object, how: "ends" | "breaks"): Promise<ScriptedServer> => {
    let agent: ScriptedServer | undefined;
    agent = await scripted({
      [CARD]: (response) =>
        json(response, {
          name: "Short",
          supportedInterfaces: [{ url: `${agent!.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
        }),
      "POST /rpc": (response) => {
        openStream(response);
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`, () => {
          if (how === "ends") response.end();
          else response.destroy();
        });
      },
    });
    return agent;
  };

  it.each([
    ["ends", "The stream ended before the task did."],
    ["breaks", "The connection to http://127.0.0.1:"],
  ] as const)("exits 3 when it %s, names the task, and keeps the conversation", async (how, problem) => {
    const agent = await ending(task("TASK_STATE_WORKING"), how);
    const who = person();
    const { code, stderr } = await a2a(["stream", "hello", "--url", agent.url], who);
    expect(code).toBe(3);
    expect(stderr).toContain(`error: ${problem}`);
    expect(stderr).toMatch(/^Look at the task with: agent-server a2a get t1 --url http:\S+$/m);
    await a2a(["stream", "--continue", "more"], who);
    expect(agent.received.at(-1)!.body).toMatchObject({ params: { message: { contextId: "c1", taskId: "t1" } } });
  });

  it("is complete when the task is, however the connection goes", async () => {
    const agent = await ending(task("TASK_STATE_COMPLETED"), "breaks");
    expect((await a2a(["stream", "hello", "--url", agent.url])).code).toBe(0);
  });
});

describe("--assistant", () => {
  it("is refused where the address is another agent's", async () => {
    for (const path of ["/a2a/words", "/a2a/words/", "/a2a/words/.well-known/agent-card.json"]) {
      const { code, stderr } = await a2a(["send", "hello", "-a", "ask", "--url", `${server.url}${path}`]);
      expect(code).toBe(2);
      expect(stderr).toBe("error: --assistant names ask, and --url is the agent words: leave one of them away.\n");
    }
    const env = { AGENT_SERVER_URL: `${server.url}/a2a/words` };
    expect((await a2a(["card", "-a", "ask"], person({ env }))).code).toBe(2);
    const same = await a2a(["send", "hello", "-a", "words", "--url", `${server.url}/a2a/words`]);
    expect(same).toMatchObject({ code: 0, stdout: "you said hello to me\n" });
  });
});

describe("--raw", () => {
  const lines = (stderr: string): Record<string, unknown>[] =>
    stderr.split("\n").flatMap((line) => {
      const [, arrow, text] = /^([→←]) (.*)$/.exec(line) ?? [];
      return text === undefined ? [] : [{ arrow, ...(JSON.parse(text) as object) }];
    });

  it.each([
    [[], "SendMessage", { task: { status: { state: "TASK_STATE_COMPLETED" } } }],
    [["--v03"], "message/send", { kind: "task", status: { state: "completed" } }],
  ])("shows the JSON-RPC of both sides, %j", async (flags, method, result) => {
    const { stdout, stderr } = await here(["send", "-a", "words", "hello", "--raw", ...flags]);
    expect(stdout).toBe("you said hello to me\n");
    expect(lines(stderr)).toMatchObject([
      { arrow: "→", jsonrpc: "2.0", id: 1, method, params: { message: { parts: [{ text: "hello" }] } } },
      { arrow: "←", jsonrpc: "2.0", id: 1, result },
    ]);
  });

  it("shows errors and every event of a stream", async () => {
    expect(lines((await here(["get", "none", "-a", "words", "--raw"])).stderr)).toMatchObject([
      { arrow: "→", method: "GetTask", params: { id: "none" } },
      { arrow: "←", error: { code: -32001 } },
    ]);
    const streamed = lines((await here(["stream", "-a", "words", "hello", "--raw", "--v03"])).stderr);
    expect(streamed).toHaveLength(9);
    expect(streamed.at(-1)).toMatchObject({ arrow: "←", result: { kind: "status-update", final: true } });
  });
});

describe("--continue", () => {
  it("goes on with the last conversation, in its words and with its agent", async () => {
    const who = person();
    const first = await here(["send", "-a", "steps", "--v03", "hello"], who);
    const { context } = idsOf(first.stderr);
    const second = await here(["send", "--continue", "again", "--raw"], who);
    expect(second.stdout).toContain("you said again to me");
    expect(second.stderr).toContain('"method":"message/send"');
    expect(idsOf(second.stderr)).toMatchObject({ context });
    // The server is known, too.
    expect(idsOf((await a2a(["stream", "--continue", "and again"], who)).stderr)).toMatchObject({ context });
  });

  it("answers the task if it waits, and not if it is done", async () => {
    const who = person();
    const { task } = idsOf((await here(["send", "-a", "ask", "hello"], who)).stderr);
    expect(idsOf((await here(["send", "--continue", "one"], who)).stderr)).toMatchObject({
      task,
      state: "input-required",
    });
    expect(idsOf((await here(["send", "--continue", "stop"], who)).stderr)).toMatchObject({ task, state: "completed" });
    expect(idsOf((await here(["send", "--continue", "hello"], who)).stderr).task).not.toBe(task);
  });

  it("keeps the conversation with the project's server in its state folder, which cannot say where to send", async () => {
    const cwd = folderWith({ "langgraph.json": "{}", ".agent-server/.gitignore": "*" });
    const who = person({ cwd, env: { AGENT_SERVER_URL: server.url } });
    const { context } = idsOf((await a2a(["send", "-a", "words", "hello"], who)).stderr);
    const file = join(cwd, ".agent-server", "a2a-last.json");
    const kept = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    expect(kept).toMatchObject({ context, assistant: "words" });
    const elsewhere = await scripted({});
    writeFileSync(file, JSON.stringify({ ...kept, url: elsewhere.url }));
    expect(idsOf((await a2a(["send", "--continue", "more"], who)).stderr)).toMatchObject({ context });
    expect(elsewhere.received).toEqual([]);
  });

  it("does not mind a broken record, or one of another server", async () => {
    const who = person();
    await here(["send", "-a", "words", "hello"], who);
    expect((await a2a(["send", "--continue", "hello", "--url", "http://127.0.0.1:9"], who)).stderr).toContain(
      "no conversation to continue",
    );
    writeFileSync(join(who.env!["XDG_CACHE_HOME"]!, "agent-server", "a2a-last.json"), "{");
    expect((await here(["send", "--continue", "hello"], who)).stderr).toContain("no conversation to continue");
  });
});

describe("get, cancel and ls", () => {
  it("shows a task with its history and answer", async () => {
    const { task, context } = idsOf((await here(["send", "-a", "words", "hello"])).stderr);
    for (const flags of [[], ["--v03"]]) {
      const { stdout } = await here(["get", task, "-a", "words", ...flags]);
      expect(stdout).toMatch(
        new RegExp(`^task {6}${task}\ncontext {3}${context}\nstate {5}completed\nchanged {3}\\S+Z \\(just now\\)\n`),
      );
      expect(stdout).toContain(
        "\nuser   hello\nagent  you said hello to me\n\nAssistant Response\nyou said hello to me\n",
      );
    }
  });

  it("cancels", async () => {
    const { task } = idsOf((await here(["send", "-a", "ask", "hello"])).stderr);
    expect((await here(["cancel", task, "-a", "ask"])).stdout).toMatch(/^state {5}canceled$/m);
    const again = await here(["cancel", task, "-a", "ask", "--v03"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/\(A2A error -32002\)$/m);
  });

  it("lists tasks of an agent or of a conversation", async () => {
    const made = await server.client.assistants.create({ graphId: "words" });
    const agent = ["-a", made.assistant_id];
    expect(await here(["ls", ...agent])).toMatchObject({ code: 0, stdout: "", stderr: "No tasks.\n" });
    const first = idsOf((await here(["send", "hello", ...agent])).stderr);
    const second = idsOf((await here(["send", "hello", ...agent])).stderr);
    const { stdout } = await here(["ls", ...agent]);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/)[0])).toEqual(["TASK", second.task, first.task, ""]);
    expect((await here(["ls", "--context", first.context, ...agent])).stdout).not.toContain(second.task);
    expect((await here(["ls", "--limit", "1", ...agent])).stderr).toContain("1 of 2; more with --limit");
    const piped = await here(["ls", ...agent], person({ tty: false }));
    expect(JSON.parse(piped.stdout)).toMatchObject({ totalSize: 2, tasks: [{ id: second.task }, { id: first.task }] });
  });
});

describe("agents of others", () => {
  const CARD = "GET /.well-known/agent-card.json";
  const answer =
    (result: unknown) =>
    (response: ServerResponse, { body }: Received) =>
      json(response, { jsonrpc: "2.0", id: (body as { id: unknown }).id, result });
  const old =
    (self: () => ScriptedServer, more: Record<string, unknown> = {}) =>
    (response: ServerResponse) =>
      json(response, {
        name: "Old",
        protocolVersion: "0.3.0",
        url: `${self().url}/rpc`,
        preferredTransport: "JSONRPC",
        ...more,
      });
  const withAgent = async (routes: (server: () => ScriptedServer) => Routes): Promise<ScriptedServer> => {
    let made: ScriptedServer | undefined;
    made = await scripted(routes(() => made!));
    return made;
  };
  const message = {
    kind: "message",
    role: "agent",
    messageId: "m",
    contextId: "ctx",
    parts: [{ kind: "text", text: "hi" }],
  };

  it("speaks 0.3 with an agent that knows no other, and prints a plain message", async () => {
    const agent = await withAgent((self) => ({ [CARD]: old(self), "POST /rpc": answer(message) }));
    const { code, stdout, stderr } = await a2a(["send", "hello", "--url", agent.url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "hi\n" });
    expect(stderr).toBe(
      `context ctx\ncontinue with: agent-server a2a send --context ctx '<message>' --url ${agent.url}\n`,
    );
    expect(agent.received.at(-1)!.headers["a2a-version"]).toBe("0.3");
    expect(agent.received.at(-1)!.body).toMatchObject({
      method: "message/send",
      params: { message: { kind: "message", role: "user" } },
    });
    const list = await a2a(["ls", "--url", agent.url]);
    expect(list).toMatchObject({ code: 1, stderr: "error: A2A 0.3 has no method that lists tasks.\n" });
  });

  it("finds a JSON-RPC endpoint among others, and says when there is none", async () => {
    const others = { preferredTransport: "GRPC", additionalInterfaces: [{ transport: "JSONRPC", url: "" }] };
    const agent = await withAgent((self) => ({
      [CARD]: (response) => {
        others.additionalInterfaces[0]!.url = `${self().url}/rpc`;
        old(self, others)(response);
      },
      "POST /rpc": answer(message),
    }));
    expect((await a2a(["send", "hello", "--url", agent.url])).stdout).toBe("hi\n");
    const grpc = await withAgent((self) => ({ [CARD]: old(self, { preferredTransport: "GRPC" }) }));
    expect(await a2a(["send", "hello", "--url", grpc.url])).toMatchObject({
      code: 1,
      stderr: "error: The agent Old does not speak A2A 0.3 or 1.0 over JSON-RPC.\n",
    });
  });

  it("takes the URL of a card, and of an endpoint without one", async () => {
    const agent = await withAgent((self) => ({
      "GET /cards/one.json": old(self),
      "GET /rpc/.well-known/agent-card.json": (response) => json(response, { detail: "Not Found" }, 404),
      "POST /rpc": (response, request) => {
        const { method } = request.body as { method: string };
        answer(
          method === "SendMessage"
            ? { message: { role: "ROLE_AGENT", messageId: "m", parts: [{ text: "new" }] } }
            : message,
        )(response, request);
      },
    }));
    expect((await a2a(["card", "--url", `${agent.url}/cards/one.json`])).stdout).toMatch(
      /^endpoint {6}http:\S+\/rpc \(JSONRPC 0\.3\.0\)$/m,
    );
    expect((await a2a(["send", "hello", "--url", `${agent.url}/cards/one.json`])).stdout).toBe("hi\n");
    expect((await a2a(["send", "hello", "--url", `${agent.url}/rpc`])).stdout).toBe("new\n");
    expect((await a2a(["send", "hello", "--url", `${agent.url}/rpc`, "--v03"])).stdout).toBe("hi\n");
  });

  it("gives the person's key to the server that was named, and not to where a card points", async () => {
    const target = await scripted({ "POST /": answer(message) });
    const agent = await withAgent(() => ({
      [CARD]: (response) => json(response, { name: "Old", protocolVersion: "0.3.0", url: `${target.url}/` }),
    }));
    const who = person({ env: { AGENT_SERVER_API_KEY: "secret" } });
    expect((await a2a(["send", "hello", "--url", agent.url], who)).code).toBe(0);
    expect(agent.received[0]!.headers["x-api-key"]).toBe("secret");
    expect(target.received[0]!.headers["x-api-key"]).toBeUndefined();
  });

  it("prints a stream that says everything in its last status, and text that could drive a terminal as what it is", async () => {
    const events = [
      { kind: "task", id: "t", contextId: "ctx", status: { state: "working" } },
      {
        kind: "status-update",
        taskId: "t",
        contextId: "ctx",
        status: { state: "working", message: { ...message, parts: [{ kind: "text", text: "…" }] } },
      },
      {
        kind: "status-update",
        taskId: "t",
        contextId: "ctx",
        final: true,
        status: { state: "completed", message: { ...message, parts: [{ kind: "text", text: "\u001b[2Jdone" }] } },
      },
    ];
    const agent = await withAgent((self) => ({
      [CARD]: old(self),
      "POST /rpc": (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(events.map((result) => `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`).join(""));
      },
    }));
    const { code, stdout, stderr } = await a2a(["stream", "hello", "--url", agent.url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "␛[2Jdone\n" });
    expect(stderr).toContain("context ctx  task t  (completed)\n");
  });

  it("quotes ids for the shell", async () => {
    const id = "a'; rm -rf ~ #\u001b";
    const agent = await withAgent((self) => ({
      [CARD]: old(self),
      "POST /rpc": answer({ ...message, contextId: id }),
    }));
    const { stderr } = await a2a(["send", "hello", "--url", agent.url]);
    expect(stderr).toContain(`--context 'a'\\''; rm -rf ~ #␛' '<message>'`);
  });

  it.each([
    ["a refusal", 401, { detail: "Unauthorized" }, "answers with HTTP 401: Unauthorized.\nSet AGENT_SERVER_API_KEY"],
    ["something else", 200, ["hello"], "answers with something else than JSON-RPC."],
    [
      "an error with another status",
      400,
      { jsonrpc: "2.0", id: 1, error: { code: -32600, message: "No." } },
      "error: No (A2A error -32600)",
    ],
    ["no task", 200, { jsonrpc: "2.0", id: 1, result: 7 }, "neither a task nor a message"],
  ])("says when the agent answers with %s", async (_, status, body, expected) => {
    const agent = await withAgent((self) => ({
      [CARD]: old(self),
      "POST /rpc": (response) => json(response, body, status),
    }));
    const { code, stderr } = await a2a(["send", "hello", "--url", agent.url]);
    expect(code).toBe(1);
    expect(stderr).toContain(expected);
  });

  it("says when there is no server, and no card", async () => {
    expect(await a2a(["card", "--url", await closedPort()])).toMatchObject({ code: 3 });
    const other = await scripted({ [CARD]: (response) => json(response, "hello") });
    expect(await a2a(["card", "--url", other.url])).toMatchObject({
      code: 1,
      stderr: `error: ${other.url} has no agent card.\n`,
    });
  });
});
