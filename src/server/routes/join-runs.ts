// Joining runs that are there already: waiting for the result, and reading the stream (wire-api §1.3, §3.10).
import type { z } from "zod";
import { runNotFound } from "../../resources/runs.ts";
import { eventStreamShape, runValuesShape } from "../../resources/shapes.ts";
import type { RunEngine } from "../../runs/engine.ts";
import { joinQuery } from "../../runs/run-body.ts";
import { joinStreamQuery, seenBy } from "../../runs/stream-queries.ts";
import type { Context } from "../context.ts";
import type { Answer, Route } from "../operation.ts";
import { cancelWhenGone, locationOf, runPath } from "../run-path.ts";
import type { Services } from "../services.ts";
import { joinedStream } from "../sse.ts";
import { waitFor } from "../wait.ts";

const STREAM: Record<number, Answer> = {
  200: {
    means: "Events of the run; the stream ends with it. None when the run has ended and its events are not kept.",
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
      access: "threads:read",
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
      if (cancel_on_disconnect) await mayCancel(context, engine, threadId, runId);
      const ended = engine.streams.join(threadId, runId);
      const active = engine.active(runId);
      if (active !== undefined) cancelWhenGone(context, engine, active, cancel_on_disconnect);
      return waitFor(context.reply, ended, { location: `${runPath(threadId, runId)}/join` }, services.clock);
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id/stream",
      tag: "Thread runs",
      access: "threads:read",
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
      access: "threads:read",
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

/** Who stops a run by leaving must be allowed to stop it. @throws ApiError 403, or 404 when the caller may only look at it. */
async function mayCancel<Query extends z.ZodType>(
  { access }: Context<z.ZodType, Query>,
  engine: RunEngine,
  threadId: string,
  runId: string,
): Promise<void> {
  if (!access.restricted) return;
  const { allows } = await access.authorize("threads:update", {
    thread_id: threadId,
    run_id: runId,
    action: "interrupt",
  });
  const metadata = engine.streams.metadataOf(runId);
  if (metadata !== undefined && allows?.(metadata) === false) throw runNotFound();
}

/** Joins the stream of a run: what comes from now on, or what came behind what the client has seen. */
async function join(
  context: Context<z.ZodType, typeof joinStreamQuery>,
  { engine }: Services,
  threadId: string,
  runId: string,
  path: string,
): Promise<Response> {
  const { stream_mode, cancel_on_disconnect, after } = context.query();
  if (cancel_on_disconnect) await mayCancel(context, engine, threadId, runId);
  const seen = seenBy(context.header("last-event-id"), after);
  const joined = engine.streams.follow(threadId, runId, seen, stream_mode && new Set(stream_mode));
  const active = engine.active(runId);
  if (active !== undefined) cancelWhenGone(context, engine, active, cancel_on_disconnect);
  const headers = { "content-location": path, location: locationOf(path, active?.log.begun === false) };
  return joinedStream(context.reply, joined, headers);
}
