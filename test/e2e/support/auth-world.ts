// Two users of one server (test/fixtures/auth-project), and what one of them has there: records of every kind, made anew for every test,
// and a picture of all of them, so that a test sees whether anything was changed.
import { vi } from "vitest";
import type { Gates } from "./gates.ts";
import { call, type Answer, type Sent } from "./http.ts";

export const ADA = { authorization: "Bearer token-of-ada" };
export const BOB = { authorization: "Bearer token-of-bob" };

/** One kind of thing, by path. */
type Made = Record<string, unknown>;

export class AuthWorld {
  readonly url: string;
  readonly gates: Gates;

  constructor(url: string, gates: Gates) {
    this.url = url;
    this.gates = gates;
  }

  /** A request of Ada's that must succeed. */
  async ada(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const sent: Sent = { headers: { ...ADA, ...headers }, ...(body === undefined ? {} : { body }) };
    const answer = await call(this.url, method, path, sent);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async #made(method: string, path: string, body?: unknown): Promise<Made> {
    return (await this.ada(method, path, body)).json as Made;
  }

  /** A thread without runs. */
  async thread(): Promise<string> {
    return (await this.#made("POST", "/threads", { metadata: { kept: true } }))["thread_id"] as string;
  }

  /** A thread on which a run has ended. */
  async ran(): Promise<{ thread_id: string; run_id: string; checkpoint_id: string }> {
    const thread_id = await this.thread();
    await this.ada("POST", `/threads/${thread_id}/runs/wait`, { assistant_id: "whoami", input: {} });
    const [run] = (await this.ada("GET", `/threads/${thread_id}/runs`)).json as { run_id: string }[];
    const { checkpoint } = (await this.ada("GET", `/threads/${thread_id}/state`)).json as {
      checkpoint: { checkpoint_id: string };
    };
    return { thread_id, run_id: run!.run_id, checkpoint_id: checkpoint.checkpoint_id };
  }

  /** A thread whose run stands at a gate. */
  async running(): Promise<{ thread_id: string; run_id: string; gate: string }> {
    const thread_id = await this.thread();
    const gate = crypto.randomUUID();
    const body = { assistant_id: "whoami", input: { gate: this.gates.url(gate) } };
    const { run_id } = await this.#made("POST", `/threads/${thread_id}/runs`, body);
    await this.gates.entered(gate);
    return { thread_id, run_id: run_id as string, gate };
  }

  /** A run without a thread that stands at a gate. */
  async stateless(): Promise<{ run_id: string; gate: string }> {
    const gate = crypto.randomUUID();
    const body = { assistant_id: "whoami", input: { gate: this.gates.url(gate) } };
    const { run_id } = await this.#made("POST", "/runs", body);
    await this.gates.entered(gate);
    return { run_id: run_id as string, gate };
  }

  async assistant(): Promise<string> {
    const body = { graph_id: "whoami", name: `of ada ${crypto.randomUUID()}` };
    return (await this.#made("POST", "/assistants", body))["assistant_id"] as string;
  }

  async cron(): Promise<string> {
    const body = { assistant_id: "whoami", schedule: "0 9 1 1 *", input: {} };
    return (await this.#made("POST", "/runs/crons", body))["cron_id"] as string;
  }

  /** A webhook that was sent, of a run without a thread. */
  async delivery(): Promise<string> {
    const hook = crypto.randomUUID();
    this.gates.open(hook);
    const { run_id } = await this.#made("POST", "/runs", {
      assistant_id: "whoami",
      input: {},
      webhook: this.gates.url(hook),
    });
    await this.gates.entered(hook);
    const path = `/internal/webhooks?run_id=${String(run_id)}`;
    await this.arrived(path);
    const found = (await this.ada("GET", path)).json as Made[];
    return found[0]!["delivery_id"] as string;
  }

  /** Resolves when no delivery is under way, so that none changes by itself between two pictures. */
  async arrived(path = "/internal/webhooks?limit=1000"): Promise<void> {
    await vi.waitFor(async () => {
      const deliveries = (await this.ada("GET", path)).json as Made[];
      const waiting = deliveries.filter(({ status }) => status !== "delivered");
      if (waiting.length > 0) throw new Error(`not delivered: ${JSON.stringify(waiting)}`);
    }, 10_000);
  }

  /** An item of the store. */
  async item(): Promise<{ namespace: string[]; key: string }> {
    const item = { namespace: ["ada", crypto.randomUUID()], key: "key" };
    await this.ada("PUT", "/store/items", { ...item, value: { a: 1 } });
    return item;
  }

  /** A task of an agent that has ended. */
  async task(): Promise<{ id: string; contextId: string }> {
    const message = {
      kind: "message",
      role: "user",
      messageId: crypto.randomUUID(),
      parts: [{ kind: "data", data: {} }],
    };
    const answer = await this.ada("POST", "/a2a/whoami", rpc("message/send", { message }));
    const { result } = answer.json as { result: { id: string; contextId: string } };
    return result;
  }

  /**
   * Everything of Ada's, as she sees it. Two pictures are the same when nobody has changed anything between them.
   * @param threads those whose runs and states are to be in it.
   */
  async picture(threads: readonly string[]): Promise<unknown> {
    const all = { limit: 1000 };
    const answers = await Promise.all([
      this.ada("POST", "/threads/search", all),
      this.ada("POST", "/assistants/search", all),
      this.ada("POST", "/runs/crons/search", all),
      this.ada("POST", "/store/items/search", { ...all, namespace_prefix: ["ada"] }),
      this.ada("GET", "/internal/webhooks?limit=1000"),
      ...threads.flatMap((id) =>
        ["/runs", "/state", "/history?limit=100"].map((path) => this.ada("GET", `/threads/${id}${path}`)),
      ),
    ]);
    return answers.map(({ json }) => json);
  }
}

/** A JSON-RPC request. */
export const rpc = (method: string, params: unknown): unknown => ({ jsonrpc: "2.0", id: 1, method, params });
