// MCP over HTTP: Streamable HTTP without sessions (a2a-mcp.md §3). An answer is JSON, or a stream of events where there is progress to tell
// or the run takes long.
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
import { FORBIDDEN, McpServer, progressTokenIn, PROTOCOL_VERSIONS, type McpCaller } from "../../mcp/server.ts";
import { runTool } from "../../mcp/run-tool.ts";
import { headerPicker } from "../configurable-headers.ts";
import type { Context } from "../context.ts";
import type { Operation, Route } from "../operation.ts";
import { localOrigin } from "../origin.ts";
import { answerStream, LATE, within } from "../mcp-stream.ts";
import type { Services } from "../services.ts";

/** Messages in one request. */
const MAX_BATCH = 50;
/** Milliseconds until a slow answer becomes a stream, so that no client gives the connection up. */
const STREAM_AFTER_MS = 5000;

/** HTTP statuses of errors that are not 200. */
const STATUS_OF: Readonly<Record<number, number>> = { [RPC.invalidRequest]: 400, [FORBIDDEN]: 403 };

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
  access: "inside",
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
  const { assistants, http, graphs, schemas, version, report } = services;
  const hiddenSettings = headerPicker(http.configurable_headers);
  const server = new McpServer({
    version,
    async assistants(access) {
      if (!access.restricted) return assistants.usable(undefined);
      return assistants.usable((await access.authorize("assistants:search", { metadata: {} })).allows);
    },
    async inputSchema({ graph_id, config }) {
      const graphVersion = await graphs.get(graph_id);
      const graph = await graphVersion.resolve(config);
      return (await schemas.of(graphs.spec(graph_id), graphVersion, graph)).input_schema;
    },
    run: (call, signal, onStep) => runTool(services, call, signal, onStep),
  });

  route(POST, async (context) => {
    const answerOne = answerer(server, { access: context.access, hidden: hiddenSettings(context.headers) }, report);
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
    if (Array.isArray(message)) return batch(context, message, (one) => answerOne(one, gone.signal));
    return single(context, answerOne, message, gone.signal);
  });
  route(
    {
      method: "GET",
      path: "/mcp",
      tag: "MCP",
      access: "caller",
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
      access: "caller",
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
    return fail(403, `Origin ${origin} is neither of this machine nor allowed by http.cors`);
  const accept = context.header("accept") ?? "*/*";
  if (!accepts(accept, "application/json") || !accepts(accept, "text/event-stream")) {
    return fail(400, "Accept must list application/json and text/event-stream");
  }
  const revision = context.header("mcp-protocol-version");
  if (revision === null || (PROTOCOL_VERSIONS as readonly string[]).includes(revision)) return undefined;
  return fail(
    400,
    `MCP-Protocol-Version ${revision.slice(0, 40)} is not supported (supported: ${PROTOCOL_VERSIONS.join(", ")})`,
  );
}

/** Whether `Accept` has a media type, or a range that it is in (RFC 9110 §12.5.1). What it is worth less than others does not matter. */
function accepts(accept: string, type: string): boolean {
  const any = `${type.slice(0, type.indexOf("/"))}/*`;
  return accept.split(",").some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return ["*/*", any, type].includes(name) && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}

/** The answer to one message; undefined for notifications and answers. Never rejects. */
type AnswerOne = (
  message: unknown,
  signal: AbortSignal,
  notify?: (method: string, params: Record<string, unknown>) => void,
) => Promise<RpcResponse | undefined>;

/** @param report told of errors that are ours. */
function answerer(server: McpServer, caller: McpCaller, report: (error: unknown) => void): AnswerOne {
  return async (message, signal, notify) => {
    if (isResponse(message)) return undefined;
    try {
      const request = toRequest(message);
      if (request.id === undefined) return undefined;
      return rpcResult(request.id, await server.answer(request, caller, signal, notify));
    } catch (error) {
      if (error instanceof RpcFailure) return rpcError(idOf(message), error);
      report(error);
      return rpcError(idOf(message), new RpcFailure(RPC.internalError, "Internal error"));
    }
  };
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

async function single(
  context: Context,
  answerOne: AnswerOne,
  message: unknown,
  signal: AbortSignal,
): Promise<Response> {
  if (!wantsProgress(message)) {
    const answering = answerOne(message, signal);
    const answer = await within(answering, STREAM_AFTER_MS);
    if (answer === LATE) return answerStream(context.reply, () => answering);
    if (answer === undefined) return context.reply.empty(202);
    const status = "error" in answer ? STATUS_OF[answer.error.code] : undefined;
    return context.reply.json(answer, undefined, status ?? 200);
  }
  return answerStream(context.reply, (send) =>
    answerOne(message, signal, (method, params) => send({ jsonrpc: "2.0", method, params })),
  );
}

function wantsProgress(message: unknown): boolean {
  if (!isObject(message) || message["method"] !== "tools/call" || !isObject(message["params"])) return false;
  const meta = message["params"]["_meta"];
  return progressTokenIn(meta) !== undefined;
}
