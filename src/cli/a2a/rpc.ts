// JSON-RPC with an agent: calls and streams, and on request every message as it is on the wire.
import { CliError, EXIT } from "../../errors.ts";
import type { Client, Exchange } from "../client.ts";
import { isRecord } from "../json.ts";
import { parseSse } from "../sse.ts";
import { oneLine, plain } from "../text.ts";
import { METHODS, type Version } from "./words.ts";

export class Rpc {
  readonly #client: Client;
  readonly #version: Version;
  readonly #show: ((line: string) => void) | undefined;
  #id = 0;

  /** @param client whose target is the endpoint. @param show gets each message with an arrow that says which way it went. */
  constructor(client: Client, version: Version, show: ((line: string) => void) | undefined) {
    this.#client = client;
    this.#version = version;
    this.#show = show;
  }

  /** The name of a method in the version that is spoken. */
  method(name: keyof typeof METHODS): string {
    return METHODS[name][this.#version];
  }

  /** Calls a method. @throws CliError with the agent's error. */
  async call(method: string, params: Record<string, unknown>): Promise<unknown> {
    return this.#result(await textOf(await this.#send(method, params, "application/json")));
  }

  /** The results of a method that streams. @throws CliError with the agent's error. */
  async *stream(method: string, params: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<unknown> {
    const exchange = await this.#send(method, params, "text/event-stream", signal);
    if (!exchange.type.includes("text/event-stream")) {
      yield this.#result(await textOf(exchange));
      return;
    }
    for await (const { data } of parseSse(exchange.body)) yield this.#result({ status: exchange.status, text: data });
  }

  #send(method: string, params: Record<string, unknown>, accept: string, signal?: AbortSignal): Promise<Exchange> {
    const body = { jsonrpc: "2.0", id: ++this.#id, method, params };
    this.#show?.(`→ ${plain(JSON.stringify(body))}`);
    const headers = { accept, "a2a-version": this.#version };
    return this.#client.exchange("", { body, headers, ...(signal === undefined ? {} : { signal }) });
  }

  #result({ status, text }: { status: number; text: string }): unknown {
    this.#show?.(`← ${plain(text)}`);
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = undefined;
    }
    if (isRecord(answer) && isRecord(answer["error"])) {
      const { code, message } = answer["error"];
      throw new CliError(`${oneLine(String(message), 1000).replace(/\.$/, "")} (A2A error ${oneLine(String(code))})`, {
        exitCode: EXIT.failed,
      });
    }
    if (isRecord(answer) && "result" in answer) return answer["result"];
    const detail =
      isRecord(answer) && typeof answer["detail"] === "string" ? `: ${oneLine(answer["detail"], 1000)}` : "";
    const what =
      status >= 400 ? `with HTTP ${status}${detail.replace(/\.$/, "")}` : "with something else than JSON-RPC";
    throw new CliError(`${this.#client.target.url} answers ${what}.`, {
      exitCode: EXIT.failed,
      hint:
        status === 401 || status === 403 ? "Set AGENT_SERVER_API_KEY to a key that this server accepts." : undefined,
    });
  }
}

/** The whole body. */
async function textOf({ status, body }: Exchange): Promise<{ status: number; text: string }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { status, text: Buffer.concat(chunks).toString("utf8").trim() };
}
