// A2A without a client library: raw JSON-RPC in both directions, so that a test sees exactly what is on the wire.
import { join } from "node:path";
import { call, open, type Answer } from "./http.ts";

/** The project whose agents the A2A tests know: test/fixtures/a2a-project. */
export const A2A_PROJECT = join(import.meta.dirname, "..", "..", "fixtures", "a2a-project");

/** A JSON value of which a test looks at what it expects. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers of the wire, whose shape is what the tests are about
export type Wire = any;

/** How to ask. */
export interface Asked {
  readonly headers?: Record<string, string>;
  readonly id?: unknown;
}

/** One request. */
export const rpc = (method: string, params: unknown, id: unknown = 1): Record<string, unknown> => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** An agent of a server. */
export class Agent {
  readonly #url: () => string;
  readonly path: string;

  constructor(url: () => string, assistant: string) {
    this.#url = url;
    this.path = `/a2a/${assistant}`;
  }

  /** Sends any body. */
  post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return call(this.#url(), "POST", this.path, { body, headers });
  }

  /** Calls a method and returns the whole answer, which must come with status 200. */
  async ask(method: string, params: unknown, { headers = {}, id = 1 }: Asked = {}): Promise<Wire> {
    const { status, json, text } = await this.post(rpc(method, params, id), headers);
    if (status !== 200) throw new Error(`${method} answered ${status}: ${text}`);
    return json;
  }

  /** Calls a method and returns its result. */
  async result(method: string, params: unknown, asked: Asked = {}): Promise<Wire> {
    const answer = await this.ask(method, params, asked);
    if (answer.error !== undefined) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** Calls a method that must fail, and returns its error. */
  async error(method: string, params: unknown, asked: Asked = {}): Promise<Wire> {
    const answer = await this.ask(method, params, asked);
    if (answer.error === undefined) throw new Error(`${method} did not fail: ${JSON.stringify(answer.result)}`);
    return answer.error;
  }

  /** Opens a stream. */
  async stream(method: string, params: unknown, { headers = {}, id = 1 }: Asked = {}): Promise<EventStream> {
    const body = rpc(method, params, id);
    const response = await open(this.#url(), "POST", this.path, { body, headers });
    response.setEncoding("utf8");
    return new EventStream(response.headers["content-type"] ?? "", response, () => response.destroy());
  }
}

/** Events as they come. */
export class EventStream {
  readonly type: string;
  readonly leave: () => void;
  readonly #events: AsyncGenerator<Wire, void, undefined>;
  /** Every line that came. */
  readonly lines: string[] = [];

  constructor(type: string, body: AsyncIterable<unknown>, leave: () => void) {
    this.type = type;
    this.leave = leave;
    this.#events = this.#parse(body);
  }

  async *#parse(body: AsyncIterable<unknown>): AsyncGenerator<Wire, void, undefined> {
    // A line may be of many megabytes: what has come of it is not looked through again with every piece.
    let begun: string[] = [];
    for await (const chunk of body) {
      const [first = "", ...others] = String(chunk).split("\n");
      begun.push(first);
      for (const next of others) {
        const line = begun.join("");
        begun = [next];
        this.lines.push(line);
        if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
      }
    }
  }

  /** The next event's whole answer. */
  async next(): Promise<Wire> {
    const { value, done } = await this.#events.next();
    if (done === true) throw new Error("the stream has ended");
    return value;
  }

  /** The results of all events that are left. */
  async rest(): Promise<Wire[]> {
    const results: Wire[] = [];
    for await (const event of this.#events) results.push(event.result ?? event);
    return results;
  }
}

let count = 0;
/** The id of a message, which the agent `kit` reads. */
export const messageId = (what = "complete-task"): string => `tck-${what}-${++count}-${crypto.randomUUID()}`;

/** A message in the words of 1.0. */
export const said1 = (text: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  message: { role: "ROLE_USER", parts: [{ text }], messageId: messageId(), ...more },
});

/** A message in the words of 0.3. */
export const said03 = (text: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  message: { kind: "message", role: "user", parts: [{ kind: "text", text }], messageId: messageId(), ...more },
});
