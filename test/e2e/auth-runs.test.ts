// Whose run it is: graphs know it, also behind an interrupt, a crash and in the runs of crons; nobody else does, and nobody can say they are
// somebody else. Operations over many runs stay with those of the caller.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { ADA, AuthWorld, BOB } from "./support/auth-world.ts";
import { startGates, useGates } from "./support/gates.ts";
import { type Answer, call, frames } from "./support/http.ts";
import { EVERYTHING } from "./support/protocol.ts";
import { startReceiver } from "./support/receiver.ts";
import { startCli, startTestServer, temporaryFolder, useServer } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "auth-project");
const server = useServer({ cwd: PROJECT });
const gates = useGates();
let world: AuthWorld;
beforeAll(() => {
  world = new AuthWorld(server.url, gates);
});
const as =
  (headers: Record<string, string>) =>
  (method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Answer> =>
    call(server.url, method, path, { headers: { ...headers, ...more }, ...(body === undefined ? {} : { body }) });
const ada = as(ADA);
const bob = as(BOB);
const RUN = { assistant_id: "whoami", input: {} };
const BY_ADA = { caller: { id: "ada", permissions: ["read", "write"], secret: "canary-of-ada".length } };
const BY_BOB = { caller: { id: "bob", permissions: ["read"], secret: "canary-of-bob".length } };

describe("the caller of a run", () => {
  test("reaches the graph by every way to start one", async () => {
    expect((await ada("POST", "/runs/wait", RUN)).json).toMatchObject(BY_ADA);
    expect((await bob("POST", "/runs/wait", RUN)).json).toMatchObject(BY_BOB);
    const stream = await frames(server.url, "POST", "/runs/stream", { headers: ADA, body: RUN });
    expect((await stream.all()).at(-1)).toMatchObject({ event: "values", data: BY_ADA });

    const threadId = await world.thread();
    const path = `/threads/${threadId}`;
    const state = async (): Promise<unknown> =>
      ((await ada("GET", `${path}/state`)).json as { values: unknown }).values;
    const { run_id } = (await ada("POST", `${path}/runs`, RUN)).json as { run_id: string };
    expect((await ada("GET", `${path}/runs/${run_id}/join`)).json).toMatchObject(BY_ADA);
    const command = { id: 1, method: "run.start", params: RUN };
    const { result } = (await ada("POST", `${path}/commands`, command)).json as { result: { run_id: string } };
    expect((await ada("GET", `${path}/runs/${result.run_id}/join`)).json).toMatchObject(BY_ADA);
    expect(await state()).toMatchObject({ ...BY_ADA, runs: 2 });
  });

  test("is the one who answers, behind an interrupt", async () => {
    const path = `/threads/${await world.thread()}`;
    const ask = { assistant_id: "asks", input: {} };
    const stopped = (await ada("POST", `${path}/runs/wait`, ask)).json;
    expect(stopped).toHaveProperty("__interrupt__");
    const resumed = { assistant_id: "asks", command: { resume: 1 } };
    expect((await bob("POST", `${path}/runs/wait`, resumed)).status).toBe(404);
    expect((await ada("POST", `${path}/runs/wait`, resumed)).json).toMatchObject(BY_ADA);
  });

  test("is said by the server alone", async () => {
    const mine = {
      langgraph_auth_user_id: "ada",
      langgraph_auth_user: { identity: "ada", secret: "x".repeat(99) },
      langgraph_auth_permissions: ["all"],
    };
    const config = { configurable: mine };
    expect((await bob("POST", "/runs/wait", { ...RUN, config })).json).toMatchObject(BY_BOB);
    expect((await bob("POST", "/runs/wait", { ...RUN, context: mine })).json).toMatchObject(BY_BOB);
    const assistant = await bob("POST", "/assistants", { graph_id: "whoami", config });
    const { assistant_id } = assistant.json as { assistant_id: string };
    expect((await bob("POST", "/runs/wait", { ...RUN, assistant_id })).json).toMatchObject(BY_BOB);
    // Headers that the config lets through to graphs stand beside it.
    const headers = { langgraph_auth_user_id: "ada", langgraph_auth_user: "ada", "x-plain": "yes" };
    const named = (await bob("POST", "/runs/wait", RUN, headers)).json;
    expect(named).toMatchObject({ caller: { ...BY_BOB.caller, plain: "yes" } });
  });

  test("is what graphs find as user_id, whatever the caller says, and nothing else is made of it", async () => {
    const by = async (more: object): Promise<unknown> =>
      ((await bob("POST", "/runs/wait", { ...RUN, ...more })).json as { caller: object }).caller;
    const bobs = { id: "bob", user: "bob" };
    expect(await by({})).toMatchObject({ ...bobs, context: null });
    const user_id = "ada";
    for (const said of [{ config: { configurable: { user_id } } }, { context: { user_id } }])
      expect(await by(said)).toMatchObject({ ...bobs, context: { user_id: "bob" } });
    expect(await by({ config: { configurable: { user_id } }, context: { user_id, more: 1 } })).toMatchObject({
      ...bobs,
      context: { user_id: "bob", more: 1 },
    });
    for (const said of [{ config: { configurable: { user_id } } }, { context: { user_id } }]) {
      const { assistant_id } = (await bob("POST", "/assistants", { graph_id: "whoami", ...said })).json as {
        assistant_id: string;
      };
      expect(await by({ assistant_id })).toMatchObject({ ...bobs, context: { user_id: "bob" } });
    }
    const { thread_id: threadId } = (await bob("POST", "/threads", {})).json as { thread_id: string };
    const config = { configurable: { user_id } };
    const run = (await bob("POST", `/threads/${threadId}/runs`, { ...RUN, config })).json;
    expect(run).toMatchObject({ kwargs: { config: { configurable: { user_id: "bob" } } } });
  });

  test("is shown nowhere", async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const threadId = await world.thread();
    const path = `/threads/${threadId}`;
    const gate = crypto.randomUUID();
    const modes = "values updates messages messages-tuple debug tasks checkpoints events custom".split(" ");
    const run = {
      ...RUN,
      input: { gate: gates.url(gate) },
      stream_mode: modes,
      stream_resumable: true,
      stream_subgraphs: true,
      webhook: receiver.url,
      metadata: { a: 1 },
    };
    const seen = await frames(server.url, "POST", `${path}/stream/events`, {
      headers: ADA,
      body: { channels: EVERYTHING },
    });
    const { run_id } = (await ada("POST", `${path}/runs`, run)).json as { run_id: string };
    await gates.entered(gate);
    const look = async (): Promise<string> => {
      const places = ["", "/state", "/history?limit=100", "/runs", `/runs/${run_id}`].map((where) => path + where);
      const answers = await Promise.all([
        ...places.map((where) => ada("GET", where)),
        ada("POST", "/threads/search", {}),
        ada("GET", "/internal/webhooks"),
        ada("POST", `${path}/commands`, { id: 1, method: "agent.getTree" }),
        ada("POST", `${path}/commands`, { id: 2, method: "state.listCheckpoints", params: {} }),
        ada("GET", "/metrics"),
      ]);
      for (const { status, text } of answers) expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
      return answers.map(({ text }) => text).join("\n");
    };
    let text = await look();
    gates.open(gate);
    text += (await ada("GET", `${path}/runs/${run_id}/join`)).text + (await look());
    text += (await ada("GET", `${path}/runs/${run_id}/stream`, undefined, { "last-event-id": "-1" })).text;
    text += (await receiver.received(1))[0]!.text;
    for await (const frame of seen) {
      text += JSON.stringify(frame);
      const { method, params } = frame.data as { method: string; params: { data: { event?: string } } };
      if (method === "lifecycle" && params.data.event === "completed") break;
    }
    seen.leave();
    text += JSON.stringify(server.events);
    // All of it was looked at.
    for (const part of ["event: debug", "event: events", '"event":"lifecycle"', '"a":1']) expect(text).toContain(part);
    expect(text).not.toContain("canary");
    expect(text).not.toContain("langgraph_auth");
  });
});

describe("many runs at once", () => {
  test("one's own are canceled, and nobody else's", async () => {
    const { thread_id, run_id, gate } = await world.running();
    const theirs = crypto.randomUUID();
    const { run_id: own } = (
      await bob("POST", `/threads/${theirs}/runs`, {
        ...RUN,
        if_not_exists: "create",
        input: { gate: gates.url(theirs) },
      })
    ).json as { run_id: string };
    await gates.entered(theirs);
    expect((await bob("POST", "/runs/cancel", { status: "all" })).status).toBe(204);
    expect((await bob("GET", `/threads/${theirs}/runs/${own}`)).json).toMatchObject({ status: "interrupted" });
    expect((await ada("GET", `/threads/${thread_id}/runs/${run_id}`)).json).toMatchObject({ status: "running" });
    // Naming them does not help.
    expect((await bob("POST", "/runs/cancel", { thread_id, run_ids: [run_id] })).status).toBe(404);
    gates.open(gate);
    expect((await ada("GET", `/threads/${thread_id}/runs/${run_id}/join`)).json).toMatchObject(BY_ADA);
  });

  test("deleting an assistant with its threads leaves those of others", async () => {
    const rules = await startTestServer({ cwd: PROJECT, config: "langgraph.rules.json", persist: false });
    onTestFinished(() => void rules.stop());
    const by = (who: string, method: string, path: string, body?: unknown): Promise<Answer> =>
      call(rules.url, method, path, { headers: { "x-user": who }, ...(body === undefined ? {} : { body }) });
    // These handlers let everybody see all assistants.
    const made = await by("ada", "POST", "/assistants", { graph_id: "whoami" });
    const { assistant_id } = made.json as { assistant_id: string };
    const threads = [];
    for (const who of ["ada", "bob"]) {
      const { thread_id } = (await by(who, "POST", "/threads", {})).json as { thread_id: string };
      threads.push(thread_id);
      expect((await by(who, "POST", `/threads/${thread_id}/runs/wait`, { assistant_id, input: {} })).status).toBe(200);
    }
    expect((await by("bob", "DELETE", `/assistants/${assistant_id}?delete_threads=true`)).status).toBe(204);
    expect((await by("ada", "GET", `/threads/${threads[0]}`)).status).toBe(200);
    expect((await by("bob", "GET", `/threads/${threads[1]}`)).status).toBe(404);
  });

  test("a key of idempotency is its sender's", async () => {
    const key = { "idempotency-key": crypto.randomUUID() };
    const [first, again, other] = [
      await ada("POST", "/runs", RUN, key),
      await ada("POST", "/runs", RUN, key),
      await bob("POST", "/runs", RUN, key),
    ].map(({ json }) => (json as { run_id: string }).run_id);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe("crons", () => {
  test("run as their owner, who is not asked again", async () => {
    const clock = new TestClock("2026-03-01T00:00:30Z");
    const dataDir = temporaryFolder();
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    let own = await startTestServer({ cwd: PROJECT, dataDir, clock });
    const ask = (who: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
      call(own.url, method, path, { headers: who, ...(body === undefined ? {} : { body }) });
    const cron = { ...RUN, schedule: "* * * * *", on_run_completed: "keep", webhook: receiver.url };
    const made = await ask(ADA, "POST", "/runs/crons", cron);
    expect(made.json).toMatchObject({ user_id: "ada", metadata: { owner: "ada" } });
    const { cron_id } = made.json as { cron_id: string };
    // A restart does not forget whose it is.
    await own.stop();
    own = await startTestServer({ cwd: PROJECT, dataDir, clock });
    onTestFinished(() => void own.stop());
    await clock.advance(60_000);
    const [hook] = await receiver.received(1);
    expect(hook!.run).toMatchObject({ status: "success", values: BY_ADA });
    const found = (await ask(ADA, "POST", "/threads/search", {})).json as { thread_id: string; metadata: unknown }[];
    expect(found).toMatchObject([{ metadata: { owner: "ada", cron_id } }]);
    expect((await ask(BOB, "POST", "/threads/search", {})).json).toEqual([]);
    const shown = [
      await ask(ADA, "GET", `/runs/crons/${cron_id}`),
      await ask(ADA, "POST", "/runs/crons/search", {}),
      await ask(ADA, "PATCH", `/runs/crons/${cron_id}`, { schedule: "0 9 * * *" }),
    ];
    for (const { text } of [...shown, made]) {
      expect(text).toContain('"user_id":"ada"');
      expect(text).not.toContain("canary");
      expect(text).not.toContain("langgraph_auth");
    }
    expect((await ask(BOB, "POST", "/runs/crons/search", { metadata: { owner: "ada" } })).json).toEqual([]);
    expect((await ask(ADA, "POST", `/internal/crons/${cron_id}/run`)).status).toBe(200);
    expect((await receiver.received(2))[1]!.run).toMatchObject({ values: BY_ADA });
  });
});

describe("a crash", () => {
  test("does not make runs somebody else's", async () => {
    const dataDir = temporaryFolder();
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const own = await startGates();
    onTestFinished(() => own.close());
    const first = await startCli({ cwd: PROJECT, dataDir });
    onTestFinished(() => void first.child.process.kill("SIGKILL"));
    const ask = (
      url: string,
      who: Record<string, string>,
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Answer> => call(url, method, path, { headers: who, ...(body === undefined ? {} : { body }) });
    const { thread_id } = (await ask(first.url, ADA, "POST", "/threads", {})).json as { thread_id: string };
    const path = `/threads/${thread_id}/runs`;
    const deadly = { assistant_id: "deadly", input: { gate: own.url("deadly") } };
    const { run_id } = (await ask(first.url, ADA, "POST", path, deadly)).json as { run_id: string };
    const queued = (await ask(first.url, ADA, "POST", path, RUN)).json as { run_id: string };
    await own.entered("deadly");
    own.open("deadly");
    expect(await first.child.ended).toBe("SIGKILL");

    const second = await startCli({ cwd: PROJECT, dataDir });
    onTestFinished(() => void second.child.process.kill("SIGKILL"));
    expect((await ask(second.url, BOB, "GET", `${path}/${run_id}/join`)).status).toBe(404);
    expect((await ask(second.url, ADA, "GET", `${path}/${run_id}/join`)).json).toMatchObject(BY_ADA);
    expect((await ask(second.url, ADA, "GET", `${path}/${queued.run_id}/join`)).json).toMatchObject({
      ...BY_ADA,
      runs: 2,
    });
    const log = first.child.output.stderr + second.child.output.stderr;
    expect(log).toContain("recovered");
    expect(log).not.toContain("canary");
  });
});
