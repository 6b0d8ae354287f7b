// Sends what the fuzz test made, and says what is wrong with the answer: that there is none, that the server blames itself, or that an error
// is not written down as errors are.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { Attempt } from "./fuzz-requests.ts";

/** Milliseconds that an answer may take on a machine that is busy with other tests: what takes longer hangs. */
export const DEADLINE_MS = 20_000;
/** Bytes of an answer that are looked at. */
const MAX_SHOWN = 300;

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Streams that are open until the client leaves; a path with dots may lead there, too. */
const ENDLESS = /^\/threads?\/[^/]+\/stream/;

/** Sends a request and reads the answer; of a stream that does not end, the beginning. @throws Error when nothing comes. */
export function send(url: string, attempt: Attempt): Promise<Got> {
  const { hostname, port } = new URL(url);
  const { method, path, headers, body, chunks } = attempt;
  const leave = ENDLESS.test(new URL(`${url}${path}`).pathname);
  return new Promise((resolve, reject) => {
    // Not URL: it would mend the path.
    const request = httpRequest({ hostname, port, method, path, headers, agent: false });
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${DEADLINE_MS / 1000} s`));
      request.destroy();
    }, DEADLINE_MS);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      settle();
      request.destroy();
    };
    request.on("error", (error) => end(() => reject(error)));
    request.on("response", (response) => {
      read(response, leave).then(
        (text) => end(() => resolve({ status: response.statusCode!, headers: response.headers, text })),
        (error: unknown) => end(() => reject(error)),
      );
    });
    for (const piece of pieces(body ?? Buffer.alloc(0), chunks ?? 1)) request.write(piece);
    request.end();
  });
}

function pieces(body: Buffer, count: number): Buffer[] {
  const size = Math.max(1, Math.ceil(body.length / count));
  return Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.subarray(i * size, (i + 1) * size));
}

async function read(response: IncomingMessage, leave: boolean): Promise<string> {
  response.setEncoding("utf8");
  const streams = response.headers["content-type"]?.startsWith("text/event-stream") === true;
  let text = "";
  for await (const chunk of response) {
    text += chunk;
    if (streams && leave) break;
  }
  return text;
}

/** Operations that may say that something behind the server has failed: texts are embedded by a model. */
const BEHIND = new Set(["PUT /store/items", "POST /store/items/search"]);
/** Operations with errors of JSON-RPC. */
const JSON_RPC = /^\w+ \/(?:mcp|a2a)\b/;

/** What is wrong with an answer; undefined when nothing is. */
export function faultOf({ name, method }: Attempt, { status, headers, text }: Got): string | undefined {
  if (status >= 500 && !(status === 502 && BEHIND.has(name))) return `status ${status}`;
  if (status < 200 || method === "HEAD") return undefined;
  const type = headers["content-type"] ?? "";
  if (JSON_RPC.test(name) && text.includes('"code":-32603')) return "an internal error of JSON-RPC";
  if (!type.startsWith("text/javascript") && text.includes("Internal Server Error")) return "an internal error";
  if (status < 400) return type.startsWith("application/json") ? notJson(text) : undefined;
  if (!type.startsWith("application/json")) return `an error of type "${type}"`;
  const wrong = notJson(text);
  if (wrong !== undefined) return wrong;
  const { detail, error } = JSON.parse(text) as { detail?: unknown; error?: { code?: unknown; message?: unknown } };
  if (typeof detail === "string" && detail !== "") return undefined;
  const rpc = JSON_RPC.test(name) && typeof error?.code === "number" && typeof error.message === "string";
  return rpc ? undefined : "an error without a detail";
}

function notJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return "a body that is not JSON";
  }
}

/** A fault with its request, so that it can be made again by hand. */
export function shown({ method, path, headers, body }: Attempt, fault: string, got?: Got): string {
  const cut = (text: string): string =>
    text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length})` : text;
  return [
    fault,
    `${method} ${cut(path)} ${cut(JSON.stringify(headers))}`,
    ...(body === undefined ? [] : [cut(body.toString())]),
    ...(got === undefined ? [] : [`→ ${got.status} ${cut(got.text)}`]),
  ].join("\n");
}
