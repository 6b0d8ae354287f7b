// MCP over HTTP: Streamable HTTP without sessions (a2a-mcp.md §3). An answer is JSON, or a stream of events where there is progress to tell
// or the run takes long.
import { PassThrough } from "node:stream";
import { z } from "zod";
import {
  idOf,
  isResponse,
  parseJson,
  RPC,
  RpcFailure,
  rpcError,
  rpcResult,
  toRequest,
  type RpcResponse,
} from "../../json-rpc.ts";
import { isObject } from "../../resources/json.ts";
import { errorShape, eventStreamShape, rpcErrorShape } from "../../resources/shapes.ts";
import { McpServer, PROTOCOL_VERSIONS } from "../../mcp/server.ts";
import { runTool } from "../../mcp/run-tool.ts";
import type { Context } from "../context.ts";
import type { Operation, Route } from "../operation.ts";
import { localOrigin } from "../origin.ts";
import type { Services } from "../services.ts";

/** Messages in one request. */
const MAX_BATCH = 50;
/** Milliseconds until a slow answer becomes a stream, so that no client gives the connection up. */
const STREAM_AFTER_MS = 5000;
const PING_MS = 5000;

const messageBody = z
  .union([z.looseObject({ jsonrpc: z.literal("2.0"), method: z.string() }), z.array(z.unknown())])
  .meta({
    description: "A JSON-RPC 2.0 message of the Model Context Protocol.",
    example: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  });

const POST: Operation<typeof messageBody> = {
  method: "POST",
  path: "/mcp",
  tag: "MCP",
  summary: "the Model Context Protocol: each assistant is a tool",
  body: messageBody,
  headers: {
    Accept: "Must allow `application/json` and `text/event-stream`.",
    "MCP-Protocol-Version": `One of ${PROTOCOL_VERSIONS.join(", ")}.`,
  },
  answers: {
    200: {
      means: "A JSON-RPC answer; with progress to tell, or after five seconds, as a stream of events.",
      body: z.unknown(),
      alternatives: { "text/event-stream": eventStreamShape },
    },
    202: { means: "For notifications." },
    400: { means: "It is no JSON-RPC message.", body: rpcErrorShape },
  },
};

export function mcpRoutes(route: Route, services: Services): void {
  const { assistants, engine, http, graphs, schemas, version } = services;
  const server = new McpServer({
    version,
    assistants: () => assistants.search({ limit: Number.MAX_SAFE_INTEGER, offset: 0 }).items,
    async inputSchema({ graph_id, config }) {
      const graphVersion = await graphs.get(graph_id);
      const graph = await graphVersion.resolve(config);
      return (await schemas.of(graphs.spec(graph_id), graphVersion, graph)).input_schema;
    },
    run: (call, signal, onStep) => runTool(engine, call, signal, onStep),
  });

  route(POST, async (context) => {
    const refused = refusal(context, http.cors);
    if (refused !== undefined) return refused;
    const text = await context.text();
    let message: unknown;
    try {
      message = parseJson(text);
    } catch (error) {
      return context.reply.json(rpcError(null, error as RpcFailure), undefined, 400);
    }
    const gone = new AbortController();
    context.onDisconnect(() => gone.abort());
    if (Array.isArray(message)) return batch(context, message, (one) => answerOne(server, one, gone.signal));
    return single(context, server, message, gone.signal);
  });
  route(
    {
      method: "GET",
      path: "/mcp",
      tag: "MCP",
      summary: "405: the server sends nothing unasked",
      answers: { 405: { means: "There is no such stream.", body: errorShape } },
    },
    (context) => context.reply.json({ detail: "This server opens no streams: use POST" }, { allow: "POST" }, 405),
  );
  route(
    {
      method: "DELETE",
      path: "/mcp",
      tag: "MCP",
      summary: "404: there are no sessions",
      answers: {},
      errors: [404],
    },
    (context) => context.reply.json({ detail: "Session not found: this server has none" }, undefined, 404),
  );
}

/** What is wrong with a request before its body is read. */
function refusal(context: Context, cors: Services["http"]["cors"]): Response | undefined {
  const fail = (status: number, text: string): Response =>
    context.reply.json(rpcError(null, new RpcFailure(RPC.invalidRequest, text)), undefined, status);
  const origin = context.header("origin");
  if (!localOrigin(origin, context.header("host"), cors))
    return fail(403, `Origin ${origin} is not in http.cors.allow_origins`);
  const accept = context.header("accept") ?? "*/*";
  const accepts = (type: string): boolean => accept.includes(type) || accept.includes("*/*");
  if (!accepts("application/json") || !accepts("text/event-stream")) {
    return fail(400, "Accept must list application/json and text/event-stream");
  }
  const revision = context.header("mcp-protocol-version");
  if (revision === null || (PROTOCOL_VERSIONS as readonly string[]).includes(revision)) return undefined;
  return fail(
    400,
    `MCP-Protocol-Version ${revision.slice(0, 40)} is not supported (supported: ${PROTOCOL_VERSIONS.join(", ")})`,
  );
}

/** The answer to one message; undefined for notifications and answers. */
async function answerOne(
  server: McpServer,
  message: unknown,
  signal: AbortSignal,
  notify?: (method: string, params: Record<string, unknown>) => void,
): Promise<RpcResponse | undefined> {
  if (isResponse(message)) return undefined;
  try {
    const request = toRequest(message);
    if (request.id === undefined) return undefined;
    return rpcResult(request.id, await server.answer(request, signal, notify));
  } catch (error) {
    if (error instanceof RpcFailure) return rpcError(idOf(message), error);
    throw error;
  }
}

async function batch(
  context: Context,
  messages: readonly unknown[],
  answer: (message: unknown) => Promise<RpcResponse | undefined>,
): Promise<Response> {
  if (messages.length === 0 || messages.length > MAX_BATCH) {
    const failure = new RpcFailure(RPC.invalidRequest, `Invalid request: a batch has 1 to ${MAX_BATCH} messages`);
    return context.reply.json(rpcError(null, failure), undefined, 400);
  }
  const answers = (await Promise.all(messages.map(answer))).filter((one) => one !== undefined);
  return answers.length === 0 ? context.reply.empty(202) : context.reply.json(answers);
}

async function single(context: Context, server: McpServer, message: unknown, signal: AbortSignal): Promise<Response> {
  if (!wantsProgress(message)) {
    const answering = answerOne(server, message, signal);
    const answer = await within(answering, STREAM_AFTER_MS);
    if (answer === LATE) return stream(context, () => answering);
    if (answer === undefined) return context.reply.empty(202);
    const invalid = "error" in answer && answer.error.code === RPC.invalidRequest;
    return context.reply.json(answer, undefined, invalid ? 400 : 200);
  }
  return stream(context, (send) =>
    answerOne(server, message, signal, (method, params) => send({ jsonrpc: "2.0", method, params })),
  );
}

const LATE = Symbol("late");

async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, milliseconds, LATE);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function wantsProgress(message: unknown): boolean {
  if (!isObject(message) || message["method"] !== "tools/call" || !isObject(message["params"])) return false;
  const meta = message["params"]["_meta"];
  return isObject(meta) && meta["progressToken"] !== undefined;
}

/** Answers as events: notifications, then the answer. */
function stream(
  context: Context,
  work: (send: (message: unknown) => void) => Promise<RpcResponse | undefined>,
): Response {
  const body = new PassThrough();
  const send = (message: unknown): void => void body.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  const pings = setInterval(() => body.write(": ping\n\n"), PING_MS).unref();
  const finish = async (): Promise<void> => {
    try {
      send(await work(send));
    } catch (error) {
      send(
        rpcError(null, new RpcFailure(RPC.internalError, error instanceof Error ? error.message : "Internal error")),
      );
    } finally {
      clearInterval(pings);
      body.end();
    }
  };
  void finish();
  return context.reply.stream(body, "text/event-stream", {});
}
