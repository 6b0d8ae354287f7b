// The records of runs over HTTP, and stopping runs (wire-api §1.3).
import { z } from "zod";
import { pick, type Json } from "../../resources/json.ts";
import { runShape, selected } from "../../resources/shapes.ts";
import { publicRun } from "../../runs/request.ts";
import { cancelQuery, listRunsQuery } from "../../runs/run-body.ts";
import { answer, done, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

export function runRoutes(route: Route, { engine, runs, threads }: Services): void {
  const tag = "Thread runs";
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs",
      tag,
      summary: "runs of the thread, newest first",
      query: listRunsQuery,
      answers: answer("The runs.", z.array(selected(runShape))),
      errors: [404],
    },
    (context) => {
      const threadId = context.uuid("thread_id");
      const { select, ...query } = context.query();
      threads.get(threadId);
      const found = runs.list(threadId, query).map(publicRun);
      return context.reply.json(found.map((run) => pick(run as unknown as Json, select)));
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id",
      tag,
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
      summary: "`?action=interrupt` or `rollback`, `?wait=true`",
      query: cancelQuery,
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
}
