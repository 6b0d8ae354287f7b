// The records of runs over HTTP, and stopping runs (wire-api §1.3).
import { z } from "zod";
import { pick, type Json } from "../../resources/json.ts";
import { runShape, selected } from "../../resources/shapes.ts";
import { publicRun } from "../../runs/request.ts";
import { cancelMany } from "../../runs/bulk.ts";
import { cancelManyBody, cancelManyQuery, cancelQuery, listRunsQuery } from "../../runs/run-body.ts";
import { answer, done, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

export function runRoutes(route: Route, services: Services): void {
  const { engine, runs, threads } = services;
  const tag = "Thread runs";
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs",
      tag,
      access: "threads:read",
      summary: "runs of the thread, newest first",
      query: listRunsQuery,
      answers: answer("The runs.", z.array(selected(runShape))),
      errors: [404],
    },
    (context) => {
      const threadId = context.uuid("thread_id");
      const { select, ...query } = context.query();
      threads.get(threadId);
      const { status, limit, offset } = query;
      // What has not ended is known without reading everything that has.
      const found =
        status === "pending" || status === "running"
          ? engine.unfinished(threadId, status).slice(offset, offset + limit)
          : runs.list(threadId, query);
      return context.reply.json(found.map((run) => pick(publicRun(run) as unknown as Json, select)));
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id",
      tag,
      access: "threads:read",
      summary: "one run",
      answers: answer("The run.", runShape),
      errors: [404],
    },
    (context) => context.reply.json(publicRun(engine.record(context.uuid("thread_id"), context.uuid("run_id")))),
  );
  route(
    {
      method: "DELETE",
      path: "/threads/:thread_id/runs/:run_id",
      tag,
      access: "threads:delete",
      summary: "delete the record; a run that has not ended is rolled back",
      answers: done("It is gone."),
      errors: [404],
    },
    (context) => {
      engine.delete(context.uuid("thread_id"), context.uuid("run_id"));
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/runs/:run_id/cancel",
      tag,
      access: "threads:update",
      summary: "`?action=interrupt` or `rollback`, `?wait=true`",
      query: cancelQuery,
      authValue: (_body, { action }) => ({ action }),
      answers: { 202: { means: "It is being stopped." }, 204: { means: "With `wait=true`: it has stopped." } },
      errors: [404, 409],
    },
    async (context) => {
      const { wait, action } = context.query();
      const stopped = engine.cancel(context.uuid("thread_id"), context.uuid("run_id"), action);
      if (!wait) return context.reply.empty(202);
      await stopped;
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/runs/cancel",
      tag,
      access: "asks",
      summary: "stop many runs: by `status`, over all threads, or by `thread_id` and `run_ids`; `?action` as above",
      description:
        "Answers when they have stopped. Of the named runs, those that are unknown or have ended are left out; 409 when all that were found have ended.",
      query: cancelManyQuery,
      body: cancelManyBody,
      answers: done("They have stopped."),
      errors: [404, 409],
    },
    async (context) => {
      const { action } = context.query();
      const body = await context.body();
      const { allows } = context.access.restricted
        ? await context.access.authorize("threads:update", { ...body, action })
        : { allows: undefined };
      await cancelMany(services, body, action, allows);
      return context.reply.empty();
    },
  );
}
