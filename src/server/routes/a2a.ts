// A2A over HTTP (a2a-mcp.md §1.1): one endpoint per assistant for all generations of the protocol. Errors of JSON-RPC come with status 200;
// only an agent that does not exist is a 404.
import { z } from "zod";
import { PROTOCOL_VERSIONS } from "../../a2a/generations.ts";
import type { Addressed } from "../../a2a/model.ts";
import { isStream, UnknownAgent, type Reply } from "../../a2a/server.ts";
import { ApiError } from "../../errors.ts";
import { parseJson, RPC, RpcFailure, rpcError } from "../../json-rpc.ts";
import { errorShape, eventStreamShape, rpcErrorShape } from "../../resources/shapes.ts";
import { admitAssistant } from "../../runs/admission.ts";
import { headerPicker } from "../configurable-headers.ts";
import type { Context } from "../context.ts";
import type { Operation, Route } from "../operation.ts";
import { OutgoingEvents } from "../outgoing-events.ts";
import type { Services } from "../services.ts";
import { waitFor } from "../wait.ts";

/** Milliseconds after which the head of an answer goes out, so that no proxy or client gives the connection up. */
const HEAD_AFTER_MS = 1000;

const body = z
  .looseObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int(), z.null()]).optional(),
    method: z.string(),
  })
  .meta({
    description: "A JSON-RPC 2.0 request of A2A 0.3 (`message/send`, …) or 1.0 (`SendMessage`, …).",
    example: {
      jsonrpc: "2.0",
      id: 1,
      method: "message/send",
      params: {
        message: {
          kind: "message",
          role: "user",
          messageId: "00000000-0000-4000-8000-000000000000",
          parts: [{ kind: "text", text: "Hello" }],
        },
      },
    },
  });

const POST: Operation<typeof body> = {
  method: "POST",
  path: "/a2a/:assistant_id",
  tag: "A2A",
  access: "inside",
  summary: "the Agent2Agent protocol, 0.3 and 1.0: messages, tasks, streams, push notifications",
  description:
    "The method's name says which generation of the protocol is spoken. Errors are JSON-RPC errors with status 200.",
  body,
  rpc: true,
  headers: { "A2A-Version": `One of ${PROTOCOL_VERSIONS.join(", ")}, or nothing.` },
  answers: {
    200: {
      means: "A JSON-RPC answer; methods that stream answer with events, each of them a JSON-RPC answer.",
      body: z.unknown(),
      alternatives: { "text/event-stream": eventStreamShape },
    },
    404: { means: "There is no such assistant.", body: rpcErrorShape },
  },
};

export function a2aRoutes(route: Route, services: Services): void {
  const { a2a, assistants, http } = services;
  const hiddenSettings = headerPicker(http.configurable_headers);
  /** Whom a caller addresses. @throws UnknownAgent; ApiError 403, or what an auth handler throws. */
  const addressed = async (context: Context): Promise<Addressed> => {
    const { access } = context;
    const named = context.param("assistant_id");
    const allows = access.restricted ? await admitAssistant(assistants, access, named) : undefined;
    try {
      return {
        assistant: assistants.forRun(named, allows),
        owner: access.identity ?? null,
        access: access.restricted ? access : undefined,
        hidden: hiddenSettings(context.headers),
      };
    } catch (error) {
      throw error instanceof ApiError ? new UnknownAgent(RPC.invalidParams, error.detail) : error;
    }
  };

  route(POST, async (context) => {
    const text = await context.text();
    let message: unknown;
    try {
      message = parseJson(text);
    } catch (error) {
      return context.reply.json(rpcError(null, error as RpcFailure));
    }
    const answering = a2a.server.answer({
      message,
      version: context.header("a2a-version") ?? context.url.searchParams.get("A2A-Version"),
      isJson: isJson(context.header("content-type")),
      to: () => addressed(context),
    });
    if (isStream(message)) return respond(context, await answering);
    const reply = await within(answering, HEAD_AFTER_MS);
    if (reply !== undefined) return respond(context, reply);
    const json = answering.then(
      (late) => ({ status: "success", json: late.kind === "answer" ? late.json : "" }) as const,
    );
    return waitFor(context.reply, json, {});
  });
  route(
    {
      method: "GET",
      path: "/a2a/:assistant_id",
      tag: "A2A",
      access: "caller",
      summary: "405: A2A takes POST; the agent card is below `.well-known`",
      answers: { 405: { means: "There is nothing to get here.", body: errorShape } },
    },
    (context) => {
      const card = `/.well-known/agent-card.json?assistant_id=${encodeURIComponent(context.param("assistant_id"))}`;
      return context.reply.json({ detail: `A2A takes POST; the agent card is at ${card}` }, { allow: "POST" }, 405);
    },
  );
}

/** Whether a body says that it is JSON, or does not say what it is. */
function isJson(type: string | null): boolean {
  return type === null || /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type);
}

function respond(context: Context, reply: Reply): Response {
  if (reply.kind === "events") return stream(context, reply);
  const status = reply.unknownAgent === true ? 404 : reply.forbidden === true ? 403 : 200;
  return context.reply.jsonText(reply.json, undefined, status);
}

/** The result of some work, if it comes in time. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Answers with events: each is one line of data. */
function stream(context: Context, { open }: Extract<Reply, { kind: "events" }>): Response {
  const out = new OutgoingEvents();
  const close = open(
    (json) => out.send(`data: ${json}\n\n`),
    () => out.complete(),
  );
  out.once("close", close);
  context.onDisconnect(() => out.destroy());
  return context.reply.stream(out, "text/event-stream", {});
}
