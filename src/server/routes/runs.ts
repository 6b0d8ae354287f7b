// Runs over HTTP, on threads and stateless (wire-api §1.3, §1.4).
import type { z } from "zod";
import { ApiError } from "../../errors.ts";
import { pick, type Json } from "../../resources/json.ts";
import type { ActiveRun } from "../../runs/active.ts";
import type { RunEngine } from "../../runs/engine.ts";
import { frame, type ReadFrom } from "../../runs/events.ts";
import { publicRun } from "../../runs/request.ts";
import { cancelQuery, joinQuery, joinStreamQuery, listRunsQuery, runBody, runRequest } from "../../runs/run-body.ts";
import type { Route } from "../app.ts";
import type { Context } from "../context.ts";
import type { Services } from "../services.ts";
import { eventStream, OPENING } from "../sse.ts";
import { waitFor } from "../wait.ts";

type Body = z.output<typeof runBody>;

/** Path of a run; clients find its id at the end of it. */
const runPath = (threadId: string | undefined, runId: string): string =>
  threadId === undefined ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;

export function runRoutes(route: Route, services: Services): void {
  const { engine } = services;

  /** Creates the run that a request describes. A stateless request names no thread. */
  const create = async (
    context: Context,
    threadId: string | undefined,
    caller: "stream" | "wait" | "background",
  ): Promise<{ run: ActiveRun; body: Body }> => {
    const body = await context.body(runBody);
    return { run: engine.create(threadId, runRequest(body), caller), body };
  };
  const cancelWhenGone = (context: Context, run: ActiveRun, wanted: boolean): void => {
    if (wanted) context.onDisconnect(() => cancelQuietly(engine, run));
  };

  for (const [prefix, stateless] of [
    ["/threads/:thread_id/runs", false],
    ["/runs", true],
  ] as const) {
    const threadOf = (context: Context): string | undefined => (stateless ? undefined : context.uuid("thread_id"));

    route("POST", prefix, async (context) => {
      const threadId = threadOf(context);
      const { run } = await create(context, threadId, "background");
      // It may have begun already, but what was asked for is that it is created.
      const created = { ...publicRun(run.record), status: "pending" };
      return context.reply.json(created, { "content-location": runPath(threadId, run.id) });
    });
    route("POST", `${prefix}/stream`, async (context) => {
      const threadId = threadOf(context);
      const { run, body } = await create(context, threadId, "stream");
      const path = runPath(threadId, run.id);
      cancelWhenGone(context, run, body.on_disconnect === "cancel");
      const headers = { "content-location": path, location: `${path}/stream` };
      return eventStream(context.reply, run.log.reader("start"), headers, run.started ? "" : OPENING);
    });
    route("POST", `${prefix}/wait`, async (context) => {
      const threadId = threadOf(context);
      const { run, body } = await create(context, threadId, "wait");
      const path = runPath(threadId, run.id);
      cancelWhenGone(context, run, body.on_disconnect === "cancel");
      const location: Record<string, string> = stateless ? {} : { location: `${path}/join` };
      return waitFor(context.reply, run.ended, { "content-location": path, ...location });
    });
    route("GET", `${prefix}/:run_id/stream`, (context) => {
      const runId = context.uuid("run_id");
      const threadId = threadOf(context) ?? engine.threadOf(runId);
      return join(context, services, threadId, runId, runPath(stateless ? undefined : threadId, runId));
    });
  }

  route("GET", "/threads/:thread_id/runs", (context) => {
    const threadId = context.uuid("thread_id");
    const { select, ...query } = context.query(listRunsQuery);
    services.threads.get(threadId);
    const found = services.runs.list(threadId, query).map(publicRun);
    return context.reply.json(found.map((run) => pick(run as unknown as Json, select)));
  });
  route("GET", "/threads/:thread_id/runs/:run_id", (context) => {
    return context.reply.json(publicRun(engine.record(context.uuid("thread_id"), context.uuid("run_id"))));
  });
  route("DELETE", "/threads/:thread_id/runs/:run_id", (context) => {
    engine.delete(context.uuid("thread_id"), context.uuid("run_id"));
    return context.reply.empty();
  });
  route("GET", "/threads/:thread_id/runs/:run_id/join", async (context) => {
    const threadId = context.uuid("thread_id");
    const runId = context.uuid("run_id");
    const { cancel_on_disconnect } = context.query(joinQuery);
    const active = engine.active(runId);
    if (active !== undefined) cancelWhenGone(context, active, cancel_on_disconnect);
    return waitFor(context.reply, engine.join(threadId, runId), { location: `${runPath(threadId, runId)}/join` });
  });
  route("POST", "/threads/:thread_id/runs/:run_id/cancel", async (context) => {
    const { wait, action } = context.query(cancelQuery);
    const stopped = engine.cancel(context.uuid("thread_id"), context.uuid("run_id"), action);
    if (!wait) return context.reply.empty(202);
    await stopped;
    return context.reply.empty();
  });
}

/** Joins the stream of a run: what comes from now on, or what came behind `Last-Event-ID`. */
function join(context: Context, { engine }: Services, threadId: string, runId: string, path: string): Response {
  const { stream_mode, cancel_on_disconnect } = context.query(joinStreamQuery);
  const { attempt, resumable, pending } = engine.streamed(threadId, runId);
  const from = readFrom(context.header("last-event-id"), resumable);
  const reader = engine.read(threadId, runId, from, stream_mode === undefined ? undefined : new Set(stream_mode));
  const active = engine.active(runId);
  if (active !== undefined && cancel_on_disconnect) context.onDisconnect(() => cancelQuietly(engine, active));
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

function cancelQuietly(engine: RunEngine, run: ActiveRun): void {
  // It may have ended in the same moment.
  if (engine.active(run.id) === run) void engine.cancel(run.threadId, run.id, "interrupt");
}
