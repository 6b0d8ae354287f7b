// Joining runs that are there already: waiting for the result, and reading the stream (wire-api §1.3, §3.10).
import type { z } from "zod";
import { ApiError } from "../../errors.ts";
import { eventStreamShape, runValuesShape } from "../../resources/shapes.ts";
import { frame, type ReadFrom } from "../../runs/events.ts";
import { joinQuery, joinStreamQuery } from "../../runs/run-body.ts";
import type { Context } from "../context.ts";
import type { Answer, Route } from "../operation.ts";
import { cancelWhenGone, runPath } from "../run-path.ts";
import type { Services } from "../services.ts";
import { eventStream, OPENING } from "../sse.ts";
import { waitFor } from "../wait.ts";

const STREAM: Record<number, Answer> = {
  200: {
    means: "Events of the run; the stream ends with it.",
    body: eventStreamShape,
    type: "text/event-stream",
    headers: { "Content-Location": "Path of the run.", Location: "Path of this stream." },
  },
};
const LAST_EVENT_ID = {
  "Last-Event-ID": "Goes on behind this event; `-1` or `-`: from the beginning, for runs with `stream_resumable`.",
} as const;

export function joinRunRoutes(route: Route, services: Services): void {
  const { engine } = services;

  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id/join",
      tag: "Thread runs",
      summary: "wait for the final values",
      query: joinQuery,
      answers: {
        200: { means: "The final values.", body: runValuesShape, headers: { Location: "Path of this operation." } },
      },
      errors: [404],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const runId = context.uuid("run_id");
      const { cancel_on_disconnect } = context.query();
      const ended = engine.streams.join(threadId, runId);
      const active = engine.active(runId);
      if (active !== undefined) cancelWhenGone(context, engine, active, cancel_on_disconnect);
      return waitFor(context.reply, ended, { location: `${runPath(threadId, runId)}/join` });
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id/stream",
      tag: "Thread runs",
      summary: "join the stream; `Last-Event-ID` continues behind an event",
      query: joinStreamQuery,
      headers: LAST_EVENT_ID,
      answers: STREAM,
      errors: [404],
    },
    (context) => {
      const threadId = context.uuid("thread_id");
      const runId = context.uuid("run_id");
      return join(context, services, threadId, runId, runPath(threadId, runId));
    },
  );
  route(
    {
      method: "GET",
      path: "/runs/:run_id/stream",
      tag: "Stateless runs",
      summary: "join the stream of a run without a thread",
      query: joinStreamQuery,
      headers: LAST_EVENT_ID,
      answers: STREAM,
      errors: [404],
    },
    (context) => {
      const runId = context.uuid("run_id");
      return join(context, services, engine.streams.threadOf(runId), runId, runPath(undefined, runId));
    },
  );
}

/** Joins the stream of a run: what comes from now on, or what came behind `Last-Event-ID`. */
function join(
  context: Context<z.ZodType, typeof joinStreamQuery>,
  { engine }: Services,
  threadId: string,
  runId: string,
  path: string,
): Response {
  const { stream_mode, cancel_on_disconnect } = context.query();
  const { attempt, resumable, pending } = engine.streams.head(threadId, runId);
  const from = readFrom(context.header("last-event-id"), resumable);
  const reader = engine.streams.read(threadId, runId, from, stream_mode === undefined ? undefined : new Set(stream_mode));
  const active = engine.active(runId);
  if (active !== undefined) cancelWhenGone(context, engine, active, cancel_on_disconnect);
  const headers = { "content-location": path, location: `${path}/stream` };
  // The first event of a run says which it is; who joins after it is told the same.
  const begun = !pending && from === "now";
  const prelude = begun ? frame("metadata", JSON.stringify({ run_id: runId, attempt })) : OPENING;
  return eventStream(context.reply, reader, headers, prelude);
}

/** `-1` and `-` ask for everything that was kept, a number for what came after that id. @throws ApiError 422 */
function readFrom(header: string | null, resumable: boolean): ReadFrom {
  if (header === null || header === "") return "now";
  if (header === "-1" || header === "-") return resumable ? "start" : "now";
  if (!/^\d{1,15}$/.test(header))
    throw new ApiError(422, `Last-Event-ID must be an event id, -1 or -, got "${header.slice(0, 40)}"`);
  return { after: Number(header) };
}
