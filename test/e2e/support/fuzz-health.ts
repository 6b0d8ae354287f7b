// Whether a server that was fuzzed is as it was: it works, nothing hangs in it, nothing is open, and its memory is back at its level.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, vi } from "vitest";
import type { ServerEvent } from "../../../src/server/types.ts";
import { call } from "./http.ts";
import { clientOf, complaints, type TestServer } from "./server.ts";

/** Bytes of heap that caches may hold more than before; a leak of what the fuzz tests send is many times that. */
const MORE_HEAP = 60 * 1024 * 1024;
/** Milliseconds that what is under way may take to come to its end on a busy machine. */
const SETTLING_MS = 20_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes of heap that are in use when nothing is left to collect. */
async function heap(): Promise<number> {
  for (let times = 0; times < 3; times++) {
    // What finalizers and promises hold goes in the turns between.
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

/** That a webhook goes nowhere, for which callers are to blame; and that types are read slowly, which is this machine's fault. */
const NO_FAULTS = /^(?:The webhook of run |The types of graph )/;

/** What a server complains of, and should not have had to. */
export const faultsToldBy = (events: readonly ServerEvent[]): ServerEvent[] =>
  complaints(events).filter((event) => !("message" in event) || !NO_FAULTS.test(event.message));

type Metrics = Record<string, { values: { value: number }[] }>;

/** What is open or under way, by the server's own metrics. */
async function load(url: string): Promise<Record<string, number>> {
  const metrics = (await call(url, "GET", "/metrics?format=json")).json as Metrics;
  const of = (name: string): number => metrics[`agent_server_${name}`]!.values[0]!.value;
  const [pending, running] = [of("runs_pending"), of("runs_running")];
  return { pending, running, streams: of("open_streams"), sockets: of("open_websockets") };
}

/** Remembers how a server is. Its process is this one. */
export class Health {
  readonly #server: TestServer;
  readonly #prototype = Object.getOwnPropertyNames(Object.prototype).join(" ");
  readonly #heap: number;

  private constructor(server: TestServer, heapBefore: number) {
    this.#server = server;
    this.#heap = heapBefore;
  }

  static async of(server: TestServer): Promise<Health> {
    return new Health(server, await heap());
  }

  /** Checks that no answer is being sent to somebody who has left. */
  async closed(): Promise<void> {
    const closed = { streams: 0, sockets: 0 };
    await vi.waitFor(async () => expect(await load(this.#server.url)).toMatchObject(closed), { timeout: SETTLING_MS });
  }

  /** Checks that it is that way again. Runs that are to wait for hours are cancelled. */
  async check(): Promise<void> {
    const { url, events } = this.#server;
    const client = clientOf(url);
    expect(faultsToldBy(events)).toEqual([]);
    expect(Object.getOwnPropertyNames(Object.prototype).join(" ")).toBe(this.#prototype);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    const { status } = await call(url, "POST", "/runs/cancel", { body: { status: "all" } });
    expect([204, 404]).toContain(status);
    const idle = { pending: 0, running: 0, streams: 0, sockets: 0 };
    await vi.waitFor(async () => expect(await load(url)).toEqual(idle), { timeout: SETTLING_MS });
    expect(await client.threads.search({ status: "busy", limit: 1000 })).toEqual([]);
    expect((await call(url, "GET", "/ok?check_db=1")).json).toEqual({ ok: true });
    const input = { messages: [{ role: "user", content: "still there?" }] };
    const { assistant_id } = await client.assistants.create({ graphId: "tokens" });
    expect(await client.runs.wait(null, assistant_id, { input })).toMatchObject({
      messages: [{ type: "human" }, { type: "ai", content: "you said still there? to me" }],
    });
    expect((await heap()) - this.#heap).toBeLessThan(MORE_HEAP);
  }
}
