// Starts the real server on a free port and talks to it as any client does.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@langchain/langgraph-sdk";

let server;
let client;

before(async () => {
  const program = fileURLToPath(new URL("bin/agent-server.js", import.meta.resolve("agent-server/package.json")));
  server = spawn(process.execPath, [program, "dev", "--no-color", "--no-persist", "--no-reload", "--port", "0"], {
    cwd: new URL("..", import.meta.url),
    // Empty, so that the test never calls a paid model.
    env: { ...process.env, MODEL: "" },
    stdio: ["ignore", "inherit", "pipe"],
  });
  let log = "";
  for await (const chunk of server.stderr) {
    log += chunk;
    const url = /^ *url +(http\S+)\n/m.exec(log)?.[1];
    if (url) client = new Client({ apiUrl: url });
    if (url) break;
  }
  assert.ok(client, `the server did not start:\n${log}`);
});

after(async () => {
  if (server.exitCode === null && server.kill("SIGTERM")) await once(server, "exit");
});

const say = (thread, content) =>
  client.runs.wait(thread.thread_id, "agent", {
    input: { messages: [{ role: "user", content }] },
    config: { configurable: { user_id: "test-user" } },
  });

test("remembers a fact and recalls it on another thread", async () => {
  await say(await client.threads.create(), "remember that I like green tea");

  const state = await say(await client.threads.create(), "what do you remember?");

  assert.match(state.messages.at(-1).content, /I like green tea/);
});

test("asks before it sends, and sends after a yes", async () => {
  const thread = await client.threads.create();
  const waiting = await say(thread, "email ada@example.com: see you at ten");
  assert.equal(waiting.__interrupt__[0].value.tool, "send_email");

  const state = await client.runs.wait(thread.thread_id, "agent", { command: { resume: "yes" } });

  assert.match(state.messages.at(-1).content, /^Sent to ada@example.com: see you at ten/);
});

test("does not send after a no", async () => {
  const thread = await client.threads.create();
  await say(thread, "email ada@example.com: see you at ten");

  const state = await client.runs.wait(thread.thread_id, "agent", { command: { resume: "no" } });

  assert.match(state.messages.at(-1).content, /^Not done/);
});

test("streams its answer word by word", async () => {
  const tokens = [];
  const input = { messages: [{ role: "user", content: "hello" }] };
  for await (const { event, data } of client.runs.stream(null, "agent", { input, streamMode: "messages-tuple" })) {
    if (event === "messages") tokens.push(data[0].content);
  }

  assert.ok(tokens.length > 5, `one word per event, got ${tokens.length} events`);
  assert.match(tokens.join(""), /^You said: hello/);
});
