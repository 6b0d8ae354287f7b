// `webhooks listen`: a receiver of webhooks that shows each delivery, and can be told to be slow or to fail.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../../errors.ts";
import { verifySignature } from "../../webhooks/signature.ts";
import type { ListenFlags } from "../commands/webhooks.ts";
import { isRecord } from "../json.ts";
import { messagesOf } from "../messages.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { onStop } from "../signals.ts";
import { bytes, oneLine, toJson } from "../text.ts";

/** Bytes of a delivery that are taken. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Deliveries whose attempts are counted. */
const MAX_KNOWN = 10_000;

interface Received {
  readonly delivery_id: string | null;
  /** 1 for the first attempt that came here. */
  readonly attempt: number;
  readonly path: string;
  /** What was answered. */
  readonly answered: number;
  /** Null when no secret was given. */
  readonly signature: "valid" | "wrong" | "missing" | null;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: number;
  /** The run, or the text when it is no JSON. */
  readonly body: unknown;
}

/** `webhooks listen`. */
export async function listen(cli: Cli, flags: ListenFlags): Promise<void> {
  const output = await cli.output(flags);
  const attempts = new Map<string, number>();
  let left = flags.count ?? Infinity;
  let finish: () => void;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    if (text === undefined) return void response.writeHead(413, { connection: "close" }).end();
    if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
    const id = header(request, "webhook-id") ?? null;
    const attempt = (attempts.get(id ?? "") ?? 0) + 1;
    if (id !== null) {
      attempts.delete(id);
      attempts.set(id, attempt);
      const [oldest] = attempts.keys();
      if (attempts.size > MAX_KNOWN) attempts.delete(oldest!);
    }
    const signature = flags.secret === undefined ? null : check(request, text, flags.secret);
    const refused = signature !== null && signature !== "valid";
    const answered = attempt <= (flags.fail ?? 0) ? 503 : refused ? 401 : flags.status;
    show(output, {
      delivery_id: id,
      attempt,
      path: request.url ?? "/",
      answered,
      signature,
      headers: request.headers,
      bytes: Buffer.byteLength(text),
      body: parse(text),
    });
    if (flags.slow !== undefined) await sleep(flags.slow, undefined, { ref: false });
    if (response.destroyed) output.note(output.err.dim("  the sender did not wait for the answer"));
    else response.writeHead(answered, { "content-type": "application/json" }).end(toJson({ received: answered < 300 }));
    if (answered >= 300 || response.destroyed || --left > 0) return;
    if (response.closed) finish();
    else response.on("close", finish);
  };

  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => {
      output.note(output.err.red(`A request broke: ${oneLine(String(error))}`));
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      const message = taken
        ? `Port ${flags.port} is taken.`
        : `Cannot listen on ${flags.host}:${flags.port}: ${error.message}.`;
      reject(new CliError(message, { hint: taken ? "Choose another one with --port." : undefined, cause: error }));
    });
    server.listen(flags.port, flags.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = flags.host.includes(":") ? `[${flags.host}]` : flags.host;
  output.note(`Receiving webhooks at ${output.err.cyan(`http://${host}:${port}/`)} (any path; Ctrl-C ends)`);
  const stopListening = onStop(cli.io, () => finish());
  await finished;
  stopListening();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function check(request: IncomingMessage, body: string, secret: string): Received["signature"] {
  const [id, time, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    header(request, name),
  );
  if (id === undefined || time === undefined || signature === undefined) return "missing";
  return verifySignature({ id, time, signature, body, secret }) ? "valid" : "wrong";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function show(output: Output, received: Received): void {
  if (output.json) return output.record(received);
  const { delivery_id, attempt, path, answered, signature, body } = received;
  const { out } = output;
  const answer = answered < 300 ? out.green(answered) : out.red(answered);
  const which = delivery_id === null ? "" : `  ${out.dim(`${oneLine(delivery_id, 60)}, attempt ${attempt}`)}`;
  output.line(`${out.bold("POST")} ${oneLine(path, 200)}  ${answer}${which}`);
  const field = (name: string, value: string): void => output.line(`  ${out.dim(name.padEnd(9))}  ${value}`);
  if (signature !== null) field("signature", signature === "valid" ? out.green(signature) : out.red(signature));
  if (!isRecord(body)) return field("body", oneLine(String(body), 500));
  const run = `${oneLine(String(body["run_id"]))}  ${oneLine(String(body["status"]))}`;
  field("run", run);
  field("thread", oneLine(String(body["thread_id"])));
  if (isRecord(body["error"])) field("error", out.red(oneLine(toJson(body["error"]), 500)));
  const last = messagesOf(body["values"])?.at(-1);
  if (last !== undefined) field("answer", oneLine(`${last.type}: ${last.text}`, 500));
  else field("values", oneLine(toJson(body["values"] ?? null), 500));
  field("size", bytes(received.bytes));
}
