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

test("repeats what it hears, and keeps the conversation", async () => {
  const thread = await client.threads.create();
  const say = (content) =>
    client.runs.wait(thread.thread_id, "echo", { input: { messages: [{ role: "user", content }] } });

  await say("hello");
  const state = await say("again");

  assert.deepEqual(
    state.messages.map((message) => message.content),
    ["hello", "Echo: hello", "again", "Echo: again"],
  );
});
