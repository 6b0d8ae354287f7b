// Runs that were started through REST, on threads that somebody reads with protocol v2: the readers get events, and the run and its own
// clients notice nothing.
import { randomUUID } from "node:crypto";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { frames, type Frame } from "./support/http.ts";
import { command, events, isBeginning, isEnd, PROTOCOL_PROJECT, type ProtocolEvent } from "./support/protocol.ts";
import { startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();
const go = { messages: [{ role: "user", content: "go" }] };
const newThread = async (): Promise<string> => (await server.client.threads.create()).thread_id;
const dataOf = (seen: readonly ProtocolEvent[], method: string): unknown[] =>
  seen.filter((event) => event.method === method).map(({ params }) => params.data);

/** What differs from run to run. */
const unlike =
  /"(id|run_id|thread_id|checkpoint_id|checkpoint_ns|langgraph_checkpoint_ns|created_at|timestamp|ts|parent_ids)":("[^"]*"|\d+|\[[^\]]*\])/g;
const alike = ({ event, data }: Frame): unknown => [
  event.replaceAll(/[0-9a-f-]{36}/g, "…"),
  JSON.stringify(data)
    .replaceAll(unlike, '"$1":"…"')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…"),
];

describe.each([
  ["values", ["values"]],
  ["updates, custom and tasks", ["updates", "custom", "tasks"]],
  ["messages-tuple", ["messages-tuple"]],
  ["messages", ["messages"]],
  ["debug and checkpoints", ["debug", "checkpoints"]],
  ["events", ["events", "values"]],
])("a REST stream of %s", (_name, stream_mode) => {
  test.each([
    ["nested", false],
    ["nested", true],
    ["extended", false],
    ["tools", true],
  ])("of %s with subgraphs %s is the same with and without a watcher", async (assistant_id, stream_subgraphs) => {
    const input = assistant_id === "extended" ? {} : go;
    const stream = async (threadId: string, modes: readonly string[]): Promise<unknown[]> => {
      const body = { assistant_id, input, stream_mode: modes, stream_subgraphs };
      const all = await (await frames(server.url, "POST", `/threads/${threadId}/runs/stream`, { body })).all();
      const tokens = stream_mode.includes("messages-tuple");
      const found = all.filter(({ event }) => tokens || !/^messages(\||$)/.test(event)).map(alike);
      // LangChain's own events come from elsewhere and are not in step with the others.
      return stream_mode.includes("events") ? found.toSorted() : found;
    };
    // A model whose tokens somebody wants is asked to stream; that is all that a watcher changes.
    const alone = await stream(await newThread(), [...stream_mode, "messages-tuple"]);
    const threadId = await newThread();
    const watcher = await events(server.url, threadId);
    const watched = await stream(threadId, stream_mode);
    expect(watched).toEqual(alone);
    const seen = await watcher.until(isEnd);
    expect(isBeginning(seen[0]!)).toBe(true);
    expect(seen.at(-1)!.params.data["event"]).toBe("completed");
    const state = await server.client.threads.getState(threadId);
    expect(dataOf(seen, "values").at(-1)).toEqual(JSON.parse(JSON.stringify(state.values)));
    watcher.leave();
  });
});

test("who watches does not change what is stored", async () => {
  const threadId = await newThread();
  const watcher = await events(server.url, threadId);
  await server.client.runs.wait(threadId, "slow", { input: go });
  const seen = await watcher.until(isEnd);
  const { messages } = (await server.client.threads.getState<{ messages: { content: unknown }[] }>(threadId)).values;
  // Through protocol v2 this would be a list of content blocks.
  expect(messages.at(-1)!.content).toBe("one two three four five six");
  watcher.leave();

  // Its tokens are told as they would be.
  const told = seen.filter(({ method }) => method === "messages");
  const kinds = told.map(({ params }) => params.data["event"]);
  expect(kinds).toEqual([
    "message-start",
    "content-block-start",
    ...Array.from({ length: 6 }, () => "content-block-delta"),
    "content-block-finish",
    "message-finish",
  ]);
  expect(told.at(-2)!.params.data["content"]).toEqual({ type: "text", text: "one two three four five six" });
  expect(told.at(-1)!.params.data["usage"]).toMatchObject({ total_tokens: 7 });
  expect(new Set(told.map(({ params }) => params.data["run_id"])).size).toBe(1);
  expect(told.every(({ params }) => params.node === "speak")).toBe(true);
});

test("tool calls of a watched run come as blocks", async () => {
  const threadId = await newThread();
  const watcher = await events(server.url, threadId, { channels: ["messages", "lifecycle"] });
  await server.client.runs.wait(threadId, "tools", { input: go });
  const seen = await watcher.until(isEnd);
  const finished = dataOf(seen, "messages").filter(
    (data) => (data as { event: string }).event === "content-block-finish",
  );
  expect(finished.map((data) => (data as { content: unknown }).content)).toEqual([
    { type: "text", text: "let me " },
    { type: "tool_call", id: "call-add", name: "add", args: { a: 1, b: 2 } },
    { type: "tool_call", id: "call-fail", name: "fail", args: {} },
    { type: "text", text: "3" },
    { type: "text", text: expect.stringContaining("this tool is broken") },
    { type: "text", text: "it is done" },
  ]);
  watcher.leave();
});

test("interrupts of a watched run are told of, and answered through protocol v2", async () => {
  const threadId = await newThread();
  const watcher = await events(server.url, threadId, { channels: ["input", "lifecycle"] });
  await server.client.runs.wait(threadId, "ask", { input: { topic: "go" } });
  const [, asked, end] = await watcher.until(isEnd);
  expect(asked!.params.data).toEqual({ interrupt_id: expect.any(String), payload: { question: "go?" } });
  expect(end!.params.data).toMatchObject({ event: "interrupted" });
  const { interrupt_id } = asked!.params.data;
  await command(server.url, threadId, "input.respond", { interrupt_id, response: 1 });
  expect((await watcher.until(isEnd)).at(-1)!.params.data).toMatchObject({ event: "completed" });
  watcher.leave();
});

test("a breakpoint ends a watched run as interrupted", async () => {
  const threadId = await newThread();
  const watcher = await events(server.url, threadId, { channels: ["lifecycle"] });
  await server.client.runs.wait(threadId, "steps", { input: { name: "a" }, interruptBefore: ["two"] });
  expect((await watcher.until(isEnd)).at(-1)!.params.data).toMatchObject({ event: "interrupted" });
  watcher.leave();
});

test("who comes in the middle of a run is told that it runs, and how it ends", async () => {
  const threadId = await newThread();
  const input = { topic: "late", gate: "" };
  await server.client.runs.wait(threadId, "ask", { input });
  const slow = await newThread();
  const { run_id } = await server.client.runs.create(slow, "steps", { input: { name: "a", gate: gates.url("late") } });
  await gates.entered("late");
  const watchers = await Promise.all([events(server.url, slow), events(server.url, slow)]);
  const [first] = await Promise.all(watchers.map((watcher) => watcher.next()));
  expect(isBeginning(first!)).toBe(true);
  gates.open("late");
  for (const watcher of watchers) {
    // oxlint-disable-next-line no-await-in-loop -- two
    const seen = await watcher.until(isEnd);
    expect(seen.map(({ method }) => method)).toEqual(["checkpoints", "values", "lifecycle"]);
    const { checkpoint } = await server.client.threads.getState(slow);
    expect(dataOf(seen, "checkpoints")).toMatchObject([{ id: checkpoint.checkpoint_id, step: 2, source: "loop" }]);
    expect(dataOf(seen, "values")).toEqual([{ name: "a", gate: gates.url("late"), log: ["a:one", "a:two"] }]);
    watcher.leave();
  }
  expect(await server.client.runs.get(slow, run_id)).toMatchObject({ status: "success" });
});

test("nobody there: a REST run leaves nothing behind for who comes later", async () => {
  const threadId = await newThread();
  await server.client.runs.wait(threadId, "steps", { input: { name: "a" } });
  const late = await events(server.url, threadId);
  await server.client.threads.delete(threadId);
  expect(await late.rest()).toEqual([]);
});

test("a run that fails at once ends as failed", async () => {
  const threadId = await newThread();
  const watcher = await events(server.url, threadId, { channels: ["lifecycle"] });
  const config = { recursion_limit: 1 };
  await command(server.url, threadId, "run.start", { assistant_id: "steps", input: { name: "a" }, config });
  const seen = await watcher.until(isEnd);
  expect(seen.at(-1)!.params.data).toMatchObject({
    event: "failed",
    error: expect.stringContaining("Recursion limit"),
  });
  watcher.leave();
});

test("a graph that cannot be loaded ends its run as failed, with the reason", async () => {
  const cwd = temporaryFolder();
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  symlinkSync(join(import.meta.dirname, "..", "..", "node_modules"), join(cwd, "node_modules"));
  writeFileSync(join(cwd, "broken.ts"), "throw new Error('this module is broken');\nexport const graph = 1;\n");
  writeFileSync(join(cwd, "langgraph.json"), JSON.stringify({ graphs: { broken: "./broken.ts:graph" } }));
  const own = await startTestServer({ cwd });
  onTestFinished(async () => void (await own.stop()));
  const threadId = randomUUID();
  const watcher = await events(own.url, threadId, { channels: ["lifecycle"] });
  await command(own.url, threadId, "run.start", { assistant_id: "broken", input: {} });
  const seen = await watcher.until(isEnd);
  expect(seen.map(({ params }) => params.data)).toEqual([
    { event: "running", graph_name: "broken" },
    { event: "failed", graph_name: "broken", error: expect.stringContaining("this module is broken") },
  ]);
  watcher.leave();
});
