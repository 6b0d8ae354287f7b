// The life of a server around its runs, through the official client: how many run at once, what stopping does, what is found again,
// clients inside the server's own process, and the same server as a process of its own.
import { rmSync } from "node:fs";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { collect, frames, open } from "./support/http.ts";
import { clientOf, complaints, startCli, startTestServer, temporaryFolder, type TestServer } from "./support/server.ts";

const gates = useGates();
const gated = (name: string) => ({ input: { name, gate: gates.url(name) } });

/** Runs `use` with a server that is stopped in any case, and must not have complained. */
async function withServer<T>(
  choices: Parameters<typeof startTestServer>[0],
  use: (server: TestServer, client: Client) => Promise<T>,
): Promise<T> {
  const server = await startTestServer(choices);
  try {
    const result = await use(server, clientOf(server.url));
    expect(complaints(server.events)).toEqual([]);
    return result;
  } finally {
    await server.stop();
  }
}

describe("how many run at once", () => {
  test("as many as the server was told; the others follow in their order", async () => {
    await withServer({ jobs: 2, persist: false }, async (_server, client) => {
      const create = async (name: string) => {
        const { thread_id } = await client.threads.create();
        return client.runs.create(thread_id, "gated", gated(name));
      };
      const first = await create("slot-1");
      const second = await create("slot-2");
      await Promise.all([gates.entered("slot-1"), gates.entered("slot-2")]);
      const third = await create("slot-3");
      const fourth = await create("slot-4");
      const status = async (run: typeof first) => (await client.runs.get(run.thread_id, run.run_id)).status;
      expect([await status(third), await status(fourth)]).toEqual(["pending", "pending"]);
      gates.open("slot-2");
      await client.runs.join(second.thread_id, second.run_id);
      await gates.entered("slot-3");
      expect([await status(third), await status(fourth)]).toEqual(["running", "pending"]);
      for (const name of ["slot-1", "slot-3", "slot-4"]) gates.open(name);
      const rest = [first, third, fourth];
      await Promise.all(rest.map((run) => client.runs.join(run.thread_id, run.run_id)));
      expect(await Promise.all(rest.map(status))).toEqual(["success", "success", "success"]);
    });
  });

  test("a hundred, each on a thread of its own", async () => {
    await withServer({}, async (_server, client) => {
      const threads = await Promise.all(Array.from({ length: 100 }, () => client.threads.create()));
      const ends = Promise.all(threads.map(({ thread_id }) => client.runs.wait(thread_id, "gated", gated("crowd"))));
      // One that fails never comes to the gate.
      await Promise.race([gates.entered("crowd", 100), ends]);
      gates.open("crowd");
      const values = (await ends) as unknown as { log: string[] }[];
      expect(values.every(({ log }) => log.length === 2)).toBe(true);
      expect(await client.threads.count({ status: "idle" })).toBe(100);
    });
  });
});

describe("stopping", () => {
  test("lets a run end that is at its end, keeps what waits for the next start, and holds up no stream", async () => {
    const dataDir = temporaryFolder();
    try {
      const server = await startTestServer({ dataDir });
      const client = clientOf(server.url);
      const { thread_id } = await client.threads.create();
      const running = await client.runs.create(thread_id, "gated", { ...gated("stop-1"), streamResumable: true });
      await gates.entered("stop-1");
      const waiting = await client.runs.create(thread_id, "gated", gated("stop-2"));
      const path = (run: { run_id: string }): string => `/threads/${thread_id}/runs/${run.run_id}`;
      const streams = await Promise.all(
        [running, waiting].map((run) => frames(server.url, "GET", `${path(run)}/stream`)),
      );
      // Resolves with the head of the answer, so the server knows of this client.
      const joined = await open(server.url, "GET", `${path(running)}/join`);
      const stopped = server.stop();
      gates.open("stop-1");
      // Who waits for a run that ends gets its end, and not a broken connection.
      const [live, text] = await Promise.all([
        streams[0]!.all(),
        collect(joined.setEncoding("utf8")),
        // Its run is not over: the client is to come back for it.
        expect(streams[1]!.all()).rejects.toThrow("aborted"),
      ]);
      expect(live.at(-1)).toMatchObject({ event: "values", data: { log: ["first stop-1", "second stop-1"] } });
      expect(JSON.parse(text.join(""))).toMatchObject({ log: ["first stop-1", "second stop-1"] });
      expect(await stopped).toEqual({ finished: 1, parked: 1 });
      await expect(client.threads.get(thread_id)).rejects.toThrow();

      gates.open("stop-2");
      await withServer({ dataDir }, async ({ events, url }) => {
        expect(events).toContainEqual({ type: "recovered", pending: 1, resumed: 0, failed: 0 });
        const again = clientOf(url);
        expect(await again.runs.join(thread_id, waiting.run_id)).toMatchObject({
          log: ["first stop-1", "second stop-1", "first stop-2", "second stop-2"],
        });
        expect((await again.runs.get(thread_id, running.run_id)).status).toBe("success");
        expect((await again.threads.get(thread_id)).status).toBe("idle");
      });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test("can be done twice, and with nothing to do", async () => {
    const server = await startTestServer();
    expect(await server.stop()).toEqual({ finished: 0, parked: 0 });
    await server.stop();
    await expect(fetch(`${server.url}/ok`)).rejects.toThrow();
  });
});

test("a client inside the server's process finds it without a URL, and needs no socket", async () => {
  await withServer({}, async (_server, outside) => {
    const inside = new Client({ apiKey: null as unknown as string, callerOptions: { maxRetries: 0 } });
    const { thread_id } = await inside.threads.create({ metadata: { from: "inside" } });
    expect((await outside.threads.get(thread_id)).metadata).toEqual({ from: "inside" });
    expect(await inside.runs.wait(thread_id, "counter", { input: {} })).toMatchObject({ total: 111 });
    const events = await collect(inside.runs.stream(thread_id, "counter", { input: {}, streamMode: "updates" }));
    expect(events.map(({ event }) => event)).toEqual(["metadata", "updates", "updates", "updates"]);
    expect(await inside.threads.search({ metadata: { from: "inside" } })).toHaveLength(1);
    await inside.store.putItem(["inside"], "k", { a: 1 });
    expect((await inside.store.getItem(["inside"], "k"))!.value).toEqual({ a: 1 });
    await expect(inside.threads.get(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
    await inside.threads.delete(thread_id);
    await expect(outside.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
  });
});

describe("as a process of its own", () => {
  test("it serves the same, and a second start finds everything", async () => {
    const dataDir = temporaryFolder();
    try {
      const first = await startCli({ dataDir });
      const client = clientOf(first.url);
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, "approval", { input: { topic: "tea" } });
      const before = await client.threads.getState(thread_id);
      expect(await first.kill("SIGTERM")).toBe(0);
      expect(first.child.output.stdout).toBe("");
      const second = await startCli({ dataDir });
      const again = clientOf(second.url);
      expect(await again.threads.getState(thread_id)).toEqual(before);
      const events = await collect(
        again.runs.stream(thread_id, "approval", { command: { resume: "yes" }, streamMode: "updates" }),
      );
      expect(events.at(-1)!.data).toEqual({ act: { log: ["did tea"] } });
      expect(await second.kill("SIGINT")).toBe(130);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test("after a crash an Idempotency-Key finds its run, and a run without a thread still has its result", async () => {
    const dataDir = temporaryFolder();
    const start = async () => {
      const { url, kill } = await startCli({ dataDir });
      const keyed = (key: string): Client => clientOf(url, { "idempotency-key": key });
      return { kill, keyed, client: clientOf(url) };
    };
    try {
      const first = await start();
      const { thread_id } = await first.client.threads.create();
      const run = await first.keyed("one").runs.create(thread_id, "gated", gated("crash"));
      const waiting = expect(first.keyed("two").runs.wait(null, "gated", gated("crash-wait"))).rejects.toThrow();
      await Promise.all([gates.entered("crash"), gates.entered("crash-wait")]);
      expect(await first.kill("SIGKILL")).toBe("SIGKILL");
      await waiting;
      const second = await start();
      // Both have been taken up again.
      await Promise.all([gates.entered("crash", 2), gates.entered("crash-wait", 2)]);
      gates.open("crash");
      gates.open("crash-wait");
      expect((await second.keyed("one").runs.create(thread_id, "gated", gated("crash"))).run_id).toBe(run.run_id);
      expect(await second.client.runs.join(thread_id, run.run_id)).toMatchObject({
        log: ["first crash", "second crash"],
      });
      expect(await second.keyed("two").runs.wait(null, "gated", gated("crash-wait"))).toMatchObject({
        log: ["first crash-wait", "second crash-wait"],
      });
      expect(await second.client.runs.list(thread_id)).toHaveLength(1);
      expect([gates.visits("crash"), gates.visits("crash-wait")]).toEqual([2, 2]);
      expect(await second.kill("SIGTERM")).toBe(0);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
