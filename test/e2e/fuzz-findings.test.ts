// What the fuzz tests found with luck, once more without it.
import { expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();
const hello = { messages: [{ role: "user", content: "hello" }] };
/** No such kind of message: the reducer throws, in the run and in every look at the thread that applies what waits there. */
const wrong = { messages: [{ role: null, content: "hello" }] };

test.each([
  ["an input", { input: wrong }],
  ["a command", { command: { update: wrong } }],
])("a thread is shown though its graph cannot take what %s has left there", async (_, payload) => {
  const { client, url } = server;
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, "echo", { input: hello });
  const failed = await client.runs.wait(thread_id, "echo", { ...payload, raiseError: false });
  expect(failed).toMatchObject({ __error__: { message: expect.stringContaining("coerce") } });

  const shown = { values: { messages: [{ content: "hello" }, { content: "echo: hello" }] } };
  for (const path of ["/state", "/state?subgraphs=true"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await call(url, "GET", `/threads/${thread_id}${path}`)).toMatchObject({ status: 200, json: shown });
  }
  const [newest, ...older] = await client.threads.getHistory(thread_id);
  expect(newest).toMatchObject(shown);
  expect(older.length).toBeGreaterThan(0);
  expect(await client.threads.getState(thread_id, newest!.checkpoint)).toMatchObject(shown);
});
