// Saving a file while the real command line serves: new behaviour on old threads, in the same process, and no run or stream suffers.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Child, installInto, start } from "../cli/helpers/built.ts";
import { useGates } from "./support/gates.ts";
import { frames } from "./support/http.ts";
import { clientOf, temporaryFolder } from "./support/server.ts";

const GRAPH = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { word } from "./word.ts";

const State = Annotation.Root({
  gate: Annotation<string>,
  said: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

export const graph = new StateGraph(State)
  .addNode("before", () => ({ said: [\`\${word} before\`] }))
  .addNode("after", async ({ gate }) => {
    if (gate) await (await fetch(gate)).text();
    return { said: [\`\${word} after \${process.env["GREETING"]}\`] };
  })
  .addEdge(START, "before")
  .addEdge("before", "after")
  .compile();
`;
const word = (text: string): string => `export const word = "${text}";\n`;

const gates = useGates();
let project: string;
const children: Child[] = [];

/** Starts a server for the project and waits until its graphs are loaded. */
async function dev(...args: string[]): Promise<{ child: Child; url: string; client: Client }> {
  const child = start(["dev", "--port", "0", ...args], { cwd: project, env: { NO_COLOR: "1" } });
  children.push(child);
  const [, url] = await child.seen(/url\s+(http:\/\/\S+)[\s\S]*ready in/);
  return { child, url: url!, client: clientOf(url!) };
}

const save = (path: string, text: string): void => writeFileSync(join(project, path), text);

beforeAll(() => {
  project = temporaryFolder();
  installInto(project);
  mkdirSync(join(project, "src"));
  save("src/talk.ts", GRAPH);
  save("src/word.ts", word("one"));
  save(".env", "GREETING=hello\n");
  save("langgraph.json", JSON.stringify({ graphs: { talk: "./src/talk.ts:graph" }, env: ".env" }));
});
afterAll(async () => {
  for (const child of children) {
    child.process.kill("SIGKILL");
    await child.ended;
  }
  rmSync(project, { recursive: true, force: true });
});

describe("one process", () => {
  let child: Child;
  let url: string;
  let client: Client;
  let thread: string;
  let reloads = 0;

  /** Saves a file and waits until the server says that it has loaded it. */
  const saveAndReload = async (path: string, text: string): Promise<void> => {
    save(path, text);
    reloads++;
    await child.seen(new RegExp(`(?:^reloaded talk in \\d+ ms$[\\s\\S]*?){${reloads}}`, "m"));
  };
  const say = async (id: string): Promise<string[]> => {
    const values = await client.runs.wait(id, "talk", { input: { gate: "" } });
    return (values as { said: string[] }).said.slice(-2);
  };

  beforeAll(async () => {
    ({ child, url, client } = await dev());
    thread = (await client.threads.create()).thread_id;
    expect(await say(thread)).toEqual(["one before", "one after hello"]);
  });

  test("an edit of an imported file gives old threads the new behaviour", async () => {
    await saveAndReload("src/word.ts", word("two"));
    expect(await say(thread)).toEqual(["two before", "two after hello"]);
    expect(await client.threads.getState(thread)).toMatchObject({
      values: { said: ["one before", "one after hello", "two before", "two after hello"] },
    });
  });

  test("a run in flight ends on the code that it began with, and its stream lives on", async () => {
    const { thread_id } = await client.threads.create();
    const input = { gate: gates.url("reload") };
    const body = { assistant_id: "talk", input, stream_mode: "updates" };
    const stream = await frames(url, "POST", `/threads/${thread_id}/runs/stream`, { body });
    expect((await stream.next()).value).toMatchObject({ event: "metadata" });
    expect((await stream.next()).value).toMatchObject({ data: { before: { said: ["two before"] } } });
    await gates.entered("reload");
    await saveAndReload("src/word.ts", word("three"));
    gates.open("reload");
    expect(await stream.all()).toMatchObject([{ event: "updates", data: { after: { said: ["two after hello"] } } }]);
    expect(await say(thread_id)).toEqual(["three before", "three after hello"]);
  });

  test("a broken edit is framed once and changes nothing, and the next save repairs it", async () => {
    save("src/talk.ts", GRAPH.replace('.addEdge("before", "after")', '.addEdge("before" "after")'));
    await child.seen(/^talk keeps running as it was last loaded\.$/m);
    expect(await say(thread)).toEqual(["three before", "three after hello"]);
    await saveAndReload("src/talk.ts", GRAPH.replaceAll("before`", "ahead`"));
    expect(await say(thread)).toEqual(["three ahead", "three after hello"]);
    const { stderr } = child.output;
    expect(stderr.match(/keeps running/g)).toHaveLength(1);
    // The place, and the line with its neighbours.
    expect(stderr).toMatch(/^src\/talk\.ts:17:\d+ - error: /m);
    expect(stderr.match(/\.addEdge\("before" "after"\)/g)).toHaveLength(1);
    expect(stderr).toMatch(/\.addEdge\(START, "before"\)/);
  });

  test("a changed config adds a graph and points another one to a new file", async () => {
    save("src/more.ts", GRAPH.replaceAll("${word}", "more"));
    save("src/other.ts", GRAPH.replaceAll("${word}", "other"));
    const graphs = { talk: "./src/other.ts:graph", more: "./src/more.ts:graph" };
    await Promise.all([
      child.seen(/^loaded more in /m),
      saveAndReload("langgraph.json", JSON.stringify({ graphs, env: ".env" })),
    ]);
    const assistants = await client.assistants.search();
    expect(assistants.map(({ graph_id }) => graph_id).toSorted()).toEqual(["more", "talk"]);
    expect(await client.runs.wait(null, "more", { input: { gate: "" } })).toMatchObject({
      said: ["more before", "more after hello"],
    });
    expect(await say(thread)).toEqual(["other before", "other after hello"]);
  });

  test("a changed env file reaches the graphs", async () => {
    save(".env", "GREETING=goodbye\n");
    reloads++;
    await child.seen(new RegExp(`(?:^reloaded .*talk.*$[\\s\\S]*?){${reloads}}`, "m"));
    expect(await say(thread)).toEqual(["other before", "other after goodbye"]);
  });

  test("all of this is the same process at the same address", async () => {
    const record = JSON.parse(readFileSync(join(project, ".agent-server", "server.json"), "utf8")) as object;
    expect(record).toMatchObject({ pid: child.process.pid, url });
    expect(child.output.stderr.match(/^ {2}url /gm)).toHaveLength(1);
    expect(child.output.stderr).not.toContain("error outside of a run");
  });
});

test("--no-reload serves what it started with", async () => {
  save("langgraph.json", JSON.stringify({ graphs: { talk: "./src/talk.ts:graph" } }));
  save("src/talk.ts", GRAPH);
  save("src/word.ts", word("first"));
  const [still, watching] = await Promise.all([dev("--no-persist", "--no-reload"), dev("--no-persist")]);
  save("src/word.ts", word("second"));
  // What the other one has seen, this one would have seen, too.
  await watching.child.seen(/^reloaded /m);
  const said = async ({ client }: { client: Client }): Promise<unknown> =>
    ((await client.runs.wait(null, "talk", { input: { gate: "" } })) as { said: string[] }).said[0];
  expect(await said(watching)).toBe("second before");
  expect(await said(still)).toBe("first before");
  expect(still.child.output.stderr).not.toContain("reloaded");
});
