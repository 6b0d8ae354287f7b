// Protocol v2 over HTTP and WebSocket (wire-api §1.10): commands, and the events of a thread.
import { z } from "zod";
import { parseForeignJson } from "../../json-text.ts";
import { commandEnvelope, eventsBody } from "../../protocol/bodies.ts";
import { ProtocolConnection } from "../../protocol/connection.ts";
import { asProtocolError, ERROR_CODES } from "../../protocol/errors.ts";
import type { ConnectionRights } from "../../protocol/service.ts";
import { eventStreamShape } from "../../resources/shapes.ts";
import { headerPicker } from "../configurable-headers.ts";
import type { Context } from "../context.ts";
import type { Answer, Route } from "../operation.ts";
import type { Services } from "../services.ts";
import { eventStream, OPENING } from "../sse.ts";

const metaShape = z.looseObject({ thread_id: z.string(), applied_through_seq: z.int() });
const responseShape = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("success"), id: z.int(), result: z.looseObject({}), meta: metaShape }),
    z.object({
      type: z.literal("error"),
      id: z.int().nullable(),
      error: z.enum(ERROR_CODES),
      message: z.string(),
      meta: metaShape.optional(),
    }),
  ])
  .meta({ id: "ProtocolResponse" });

const refusalShape = z
  .object({
    type: z.literal("error"),
    id: z.int().nullable(),
    error: z.enum(ERROR_CODES),
    message: z.string(),
    detail: z.string(),
    meta: metaShape.optional(),
  })
  .meta({ id: "ProtocolError" });
const MALFORMED: Answer = { means: "The envelope is not as it must be.", body: refusalShape };
const NO_THREAD: Answer = { means: "The thread does not exist.", body: refusalShape };

const COMMANDS =
  "`run.start`, `input.respond`, `state.get`, `state.listCheckpoints`, `state.fork`, `agent.getTree`; on a WebSocket also " +
  "`subscription.subscribe` and `subscription.unsubscribe`. A command that fails is answered with 200 and `type: error`.";

export function protocolRoutes(route: Route, { protocol, http }: Services): void {
  const tag = "Streaming protocol";
  const hiddenSettings = headerPicker(http.configurable_headers);

  /** An error with the body that the protocol has for them, and with `detail` as all our errors. */
  const refused = (context: Context, error: unknown, status: number): Response => {
    const known = asProtocolError(error);
    if (known === undefined) throw error;
    const { code, message } = known;
    const body = { type: "error", id: null, error: code, message, detail: message };
    return context.reply.json(body, undefined, known.status === 200 ? status : known.status);
  };

  route(
    {
      method: "POST",
      path: "/threads/:thread_id/commands",
      tag,
      access: "inside",
      summary: "one command of protocol v2: start a run, answer an interrupt, look at the state",
      description: COMMANDS,
      body: commandEnvelope,
      answers: {
        200: { means: "The response to the command.", body: responseShape },
        400: MALFORMED,
        404: NO_THREAD,
      },
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const text = await context.text();
      let payload: unknown;
      try {
        payload = parseForeignJson(text);
      } catch (error) {
        const message = `The request body is not valid JSON: ${(error as Error).message}`;
        const body = { type: "error", id: null, error: "invalid_argument", message, detail: message };
        return context.reply.json(body, undefined, 400);
      }
      const { response, status } = await protocol.command(threadId, payload, {
        access: context.access,
        hidden: hiddenSettings(context.headers),
      });
      const detail = response.type === "error" && status !== 200 ? { detail: response.message } : {};
      return context.reply.json({ ...response, ...detail }, undefined, status);
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/stream/events",
      tag,
      access: "inside",
      summary: "events of the thread as protocol v2 has them: what is kept, then what comes",
      description:
        "The thread need not exist yet. The stream stays open between runs. Without `since` everything comes that is kept, but for " +
        "how earlier runs ended and what they asked for.",
      body: eventsBody,
      answers: { 200: { means: "Events.", body: eventStreamShape, type: "text/event-stream" }, 400: MALFORMED },
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      try {
        const reader = await protocol.events(threadId, await context.body(), context.access);
        return eventStream(context.reply, reader, {}, OPENING);
      } catch (error) {
        return refused(context, error, 400);
      }
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/stream/events",
      tag,
      access: "inside",
      summary: "a WebSocket for commands and events of the thread",
      answers: { 101: { means: "The connection is a WebSocket now." } },
      errors: [426],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const hidden = hiddenSettings(context.headers);
      let rights: ConnectionRights;
      try {
        rights = await protocol.connection(threadId, context.access);
      } catch (error) {
        return refused(context, error, 403);
      }
      context.offerSocket((socket) => new ProtocolConnection(threadId, protocol, socket, hidden, rights));
      const detail = "This is a WebSocket; for server-sent events use POST.";
      return context.reply.json({ detail }, { upgrade: "websocket" }, 426);
    },
  );
}
