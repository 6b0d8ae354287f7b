// Starts the real server on a free port, and lets its two agents talk to each other.
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

const say = (threadId, content) =>
  client.runs.wait(threadId, "concierge", { input: { messages: [{ role: "user", content }] } });

test("the concierge answers with what the expert says", async () => {
  const { thread_id: thread } = await client.threads.create();
  const state = await say(thread, "how far is 5 km?");
  assert.equal(state.messages.at(-1).content, "The expert says: 5 km are 3.11 miles.");
});

test("a question of the expert reaches the person, and the answer reaches the expert", async () => {
  const { thread_id: thread } = await client.threads.create();
  const asked = await say(thread, "how far is 10?");
  assert.equal(asked.__interrupt__[0].value, "The expert asks: Kilometres or miles?");
  const state = await client.runs.wait(thread, "concierge", { command: { resume: "miles, please" } });
  assert.equal(state.messages.at(-1).content, "The expert says: 10 miles are 16.09 km.");
});
