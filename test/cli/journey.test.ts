// The client commands against the real server, as a person uses them one after the other.
import { describe, expect, it, onTestFinished } from "vitest";
import { call, finish } from "./helpers/io.ts";
import { addTemplate, projectWith, serve } from "./helpers/project.ts";

const CONFIG = JSON.stringify({
  graphs: {
    agent: "./src/agent.ts:graph",
    faulty: "./src/faulty.ts:graph",
    gated: "./src/gated.ts:graph",
  },
});

const FAULTY = `
import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ topic: Annotation<string>() });
function fail(): never {
  throw new RangeError("no such topic");
}
export const graph = new StateGraph(State).addNode("fail", fail).addEdge("__start__", "fail").compile();
`;

// Says "one", waits until the test opens the gate, says "two". It shares this process with the test.
const GATED = `
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
const one = () => ({ messages: [new AIMessage("one")] });
async function two(_state, config) {
  const aborted = new Promise((_, reject) => config.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  await Promise.race([globalThis[Symbol.for("test:gate")], aborted]);
  return { messages: [new AIMessage("two")] };
}
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("one", one).addNode("two", two)
  .addEdge("__start__", "one").addEdge("one", "two").compile();
`;

/** Closes the gate of the gated graph and returns how to open it. */
function closeGate(): () => void {
  let open!: () => void;
  const gate = new Promise<void>((resolve) => (open = resolve));
  (globalThis as unknown as Record<symbol, unknown>)[Symbol.for("test:gate")] = gate;
  onTestFinished(open);
  return open;
}

async function project() {
  const cwd = projectWith({ "langgraph.json": CONFIG, "src/faulty.ts": FAULTY, "src/gated.ts": GATED });
  addTemplate(cwd, "agent");
  const { server } = await serve(cwd);
  const env = { NO_COLOR: "1" };
  /** On a terminal, in the project's folder, without --url: the commands find the server by its record. */
  const terminal = { tty: true, env, cwd };
  return { server, cwd, terminal, pipe: { env, cwd } };
}

const idIn = (stderr: string): string => /^thread (\S+)$/m.exec(stderr)?.[1] ?? "";

describe("a person at the terminal", () => {
  it("talks, goes on with the same thread, and finds it again", async () => {
    const { terminal, pipe } = await project();
    const first = await finish(["invoke", "remember that I like green tea"], terminal);
    expect(first).toMatchObject({ code: 0, stdout: "Remembered: I like green tea\n" });
    expect(first.stderr).toContain("assistant agent (others: faulty, gated; choose with --assistant)\n");
    const thread = idIn(first.stderr);

    const second = await finish(["invoke", "--thread", thread, "what do you remember?"], terminal);
    expect(second.stdout).toBe("This is what I know about you:\n- I like green tea\n");
    expect(second.stderr).toBe(
      `recall: - I like green tea\ncontinue with: agent-server invoke --thread ${thread} '<message>'\n`,
    );

    expect((await finish(["threads", "ls"], terminal)).stdout).toMatch(
      new RegExp(`^${thread} +idle +\\S.* agent$`, "m"),
    );
    const listed = JSON.parse((await finish(["threads", "ls"], pipe)).stdout);
    expect(listed).toEqual([expect.objectContaining({ thread_id: thread, status: "idle" })]);
    expect(listed[0]).not.toHaveProperty("values");
    expect((await finish(["threads", "get", thread], terminal)).stdout).toContain("ai  Remembered: I like green tea\n");
    expect((await finish(["threads", "state", thread], terminal)).stdout).toMatch(
      /^next +nothing; the last run ended$/m,
    );
    expect(JSON.parse((await finish(["threads", "state", thread], pipe)).stdout).values.messages).toHaveLength(8);
  });

  it("answers a question with the command that it is given", async () => {
    const { terminal } = await project();
    const asked = await finish(["invoke", "email ada@example.com: see you at ten"], terminal);
    expect(asked).toMatchObject({ code: 0, stdout: "I will ask before I send it.\n" });
    expect(asked.stderr).toContain('"to": "ada@example.com"');
    const [, command = ""] = /^answer with: agent-server (.*) '<answer>'$/m.exec(asked.stderr) ?? [];

    const shown = await finish(["threads", "get", idIn(asked.stderr)], terminal);
    expect(shown.stdout).toMatch(/^waits for +\{"question":"Call send_email\?"/m);
    expect((await finish(["threads", "ls", "--status", "idle"], terminal)).stderr).toBe("No threads.\n");

    const answered = await finish([...command.split(" "), "no"], terminal);
    expect(answered).toMatchObject({ code: 0, stdout: 'Not done: the person answered "no".\n' });
  });

  it("sees the error of a run, and the thread stays usable", async () => {
    const { terminal } = await project();
    const failed = await finish(["invoke", "-a", "faulty", "--input", '{"topic":"x"}'], terminal);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("error: The run failed: RangeError: no such topic\n");
    const retried = await finish(["invoke", "-t", idIn(failed.stderr), "-a", "agent", "hello"], terminal);
    expect(retried.code).toBe(0);
    expect(retried.stdout).toMatch(/^You said: hello\n/);
  });

  it("learns which graphs there are", async () => {
    const { terminal } = await project();
    const { code, stderr } = await finish(["invoke", "-a", "agnt", "hello"], terminal);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\nThis server has: agent, faulty, gated\.\n$/);
  });

  it("cancels the run with Ctrl-C", async () => {
    const { terminal, pipe, server } = await project();
    closeGate();
    const started = call(["invoke", "-a", "gated", "go"], terminal);
    await started.seen("stdout", /one/);
    started.signal("SIGINT");
    expect(await started.exitCode).toBe(130);
    const [, run] = /^cancelled run (\S+)$/m.exec(started.stderr) ?? [];
    const thread = idIn(started.stderr);
    // `join` waits until the run has ended.
    await (await fetch(`${server.url}/threads/${thread}/runs/${run}/join`)).text();
    const ended = await finish(["stream", thread, run ?? "", "--json"], pipe);
    expect(ended.stderr).toBe(`run ${run} ended with status interrupted\n`);
  });

  it("follows a run that somebody else started", async () => {
    const { pipe, terminal } = await project();
    const open = closeGate();
    const started = call(["invoke", "-a", "gated", "go"], terminal);
    await started.seen("stdout", /one/);
    const thread = idIn(started.stderr);
    const tail = call(["stream", thread, "--mode", "values"], pipe);
    await tail.seen("stdout", /metadata/);
    open();
    expect(await tail.exitCode).toBe(0);
    expect(await started.exitCode).toBe(0);
    const last = JSON.parse(tail.stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({ event: "values", data: { messages: [{}, { content: "one" }, { content: "two" }] } });
    expect((await finish(["stream", thread], pipe)).stderr).toContain(
      `error: No run waits or runs on thread ${thread}.\n`,
    );
  });

  it("keeps nothing of a stateless run", async () => {
    const { terminal } = await project();
    const { code, stdout, stderr } = await finish(["invoke", "--stateless", "-a", "agent", "hello"], terminal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^You said: hello\n/);
    expect((await finish(["threads", "ls"], terminal)).stderr).toBe("No threads.\n");
  });

  it("gets JSON in a pipe: values, also of a run that waits", async () => {
    const { pipe } = await project();
    const { code, stdout } = await finish(["invoke", "-a", "agent", "email ada@example.com: hi"], pipe);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      messages: [{ type: "human" }, { type: "ai" }],
      __interrupt__: [{ value: { tool: "send_email" } }],
    });
  });

  it("hears that a thread does not exist", async () => {
    const { terminal } = await project();
    const id = "00000000-0000-4000-8000-000000000000";
    for (const args of [
      ["threads", "get", id],
      ["threads", "state", id],
      ["stream", id],
      ["invoke", "-t", id, "hi"],
    ]) {
      const { code, stderr } = await finish(args, terminal);
      expect({ code, stderr }, args.join(" ")).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^error: .*not found.* \(HTTP 404\)/),
      });
    }
  });

  it("hears that the server is gone", async () => {
    const { server, terminal } = await project();
    await server.stop();
    const { code, stderr } = await finish(["threads", "ls", "--url", server.url], terminal);
    expect(code).toBe(3);
    expect(stderr).toContain(`No server at ${server.url}`);
  });
});
