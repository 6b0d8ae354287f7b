// Webhooks and the life of the process: killed between the end of a run and its delivery, and a start without a secret that is needed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { start } from "../cli/helpers/built.ts";
import { projectWith } from "./support/config.ts";
import { startReceiver } from "./support/receiver.ts";
import { clientOf, startCli } from "./support/server.ts";

let dataDir: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "agent-server-webhooks-"));
}, 120_000);
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const input = { messages: [{ role: "user", content: "hello" }] };

test("SIGKILL between the end of a run and its delivery: it arrives after the restart, under the same id", async () => {
  const cwd = projectWith({});
  const receiver = await startReceiver();
  // The receiver has taken the request and does not answer: for the sender nothing has been delivered yet.
  receiver.react = () => new Promise(() => undefined);
  const first = await startCli({ cwd, dataDir });
  const client = clientOf(first.url);
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "echo", { input, webhook: receiver.url });
  const [before] = await receiver.received(1);
  await first.kill("SIGKILL");
  receiver.react = () => ({ status: 200 });
  const second = await startCli({ cwd, dataDir });
  try {
    const [, after] = await receiver.received(2);
    expect(after!.headers["webhook-id"]).toBe(before!.headers["webhook-id"]);
    expect(after!.run).toMatchObject({
      run_id: before!.run["run_id"],
      status: "success",
      values: before!.run["values"],
    });
  } finally {
    await second.kill("SIGKILL");
    await receiver.close();
  }
}, 60_000);

test("SIGKILL in the middle of a run: it goes on after the restart, and its webhook is sent once it has ended", async () => {
  const cwd = projectWith({});
  const receiver = await startReceiver();
  const gate = await startReceiver();
  gate.react = () => new Promise(() => undefined);
  const first = await startCli({ cwd, dataDir });
  // Stateless and deleted at its end: nothing but the delivery is left of it then.
  const run = await clientOf(first.url).runs.create(null, "gated", {
    input: { name: "a", gate: gate.url },
    webhook: receiver.url,
  });
  await gate.received(1);
  await first.kill("SIGKILL");
  gate.react = () => ({ status: 200 });
  const second = await startCli({ cwd, dataDir });
  try {
    const [hook] = await receiver.received(1);
    expect(hook!.run).toMatchObject({
      run_id: run.run_id,
      status: "success",
      values: { log: ["first a", "second a"] },
    });
  } finally {
    await second.kill("SIGKILL");
    await receiver.close();
    await gate.close();
  }
}, 60_000);

test("the server does not start without a variable that a header needs, and says which, where and why", async () => {
  const cwd = projectWith({ webhooks: { headers: { "X-Token": "${{ env.LG_WEBHOOK_TOKEN }}" } } });
  const child = start(["dev", "--port", "0", "--data-dir", dataDir], { cwd });
  expect(await child.ended).toBe(2);
  expect(child.output.stderr).toMatch(/langgraph\.json:\d+:\d+/);
  expect(child.output.stderr).toContain(
    'The webhook header "X-Token" needs the environment variable LG_WEBHOOK_TOKEN, which is not set.',
  );
  expect(child.output.stderr).not.toContain("    at ");
}, 60_000);
