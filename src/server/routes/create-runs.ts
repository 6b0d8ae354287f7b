// Runs are started here: on threads and stateless, in the background, streamed or waited for (wire-api §1.3, §1.4).
import type { z } from "zod";
import { eventStreamShape, runShape, runValuesShape } from "../../resources/shapes.ts";
import type { ActiveRun } from "../../runs/active.ts";
import type { Caller } from "../../runs/engine.ts";
import { publicRun } from "../../runs/request.ts";
import { runBody, runRequest } from "../../runs/run-body.ts";
import type { Context } from "../context.ts";
import type { Answer, Operation, Route } from "../operation.ts";
import { cancelWhenGone, runPath } from "../run-path.ts";
import type { Services } from "../services.ts";
import { eventStream, OPENING } from "../sse.ts";
import { waitFor } from "../wait.ts";

type Body = typeof runBody;

const CONTENT_LOCATION = { "Content-Location": "Path of the run; it ends in the run's id." } as const;

const CREATED: Answer = { means: "The run.", body: runShape, headers: CONTENT_LOCATION };
const STREAMED: Answer = {
  means: "Events of the run, from its first one to its end.",
  body: eventStreamShape,
  type: "text/event-stream",
  headers: { ...CONTENT_LOCATION, Location: "Path at which a client that lost the connection goes on." },
};
const WAITED: Answer = {
  means: "The final values. Newlines come before them when the run takes long.",
  body: runValuesShape,
  headers: CONTENT_LOCATION,
};

export function createRunRoutes(route: Route, { engine }: Services): void {
  const create = async (
    context: Context<Body>,
    threadId: string | undefined,
    caller: Caller,
  ): Promise<{ run: ActiveRun; body: z.output<Body> }> => {
    const body = await context.body();
    return { run: engine.create(threadId, runRequest(body), caller), body };
  };

  for (const stateless of [false, true]) {
    const prefix = stateless ? "/runs" : "/threads/:thread_id/runs";
    const threadOf = (context: Context): string | undefined => (stateless ? undefined : context.uuid("thread_id"));
    const operation = (path: string, summaries: readonly [string, string], success: Answer): Operation<Body> => ({
      method: "POST",
      path: `${prefix}${path}`,
      tag: stateless ? "Stateless runs" : "Thread runs",
      summary: summaries[stateless ? 1 : 0],
      body: runBody,
      answers: { 200: success },
      errors: stateless ? [404] : [404, 409],
    });

    const background = ["start a run in the background", "a run without a thread, in the background"] as const;
    route(operation("", background, CREATED), async (context) => {
      const threadId = threadOf(context);
      const { run } = await create(context, threadId, "background");
      // It may have begun already, but what was asked for is that it is created.
      const created = { ...publicRun(run.record), status: "pending" };
      return context.reply.json(created, { "content-location": runPath(threadId, run.id) });
    });

    const streamed = ["start a run and stream its events", "a run without a thread, streamed"] as const;
    route(operation("/stream", streamed, STREAMED), async (context) => {
      const threadId = threadOf(context);
      const { run, body } = await create(context, threadId, "stream");
      const path = runPath(threadId, run.id);
      cancelWhenGone(context, engine, run, body.on_disconnect === "cancel");
      const headers = { "content-location": path, location: `${path}/stream` };
      return eventStream(context.reply, run.log.reader("start"), headers, run.started ? "" : OPENING);
    });

    const waited = [
      "start a run and answer with its final values",
      "a run without a thread, answered with its final values",
    ] as const;
    route(operation("/wait", waited, WAITED), async (context) => {
      const threadId = threadOf(context);
      const { run, body } = await create(context, threadId, "wait");
      const path = runPath(threadId, run.id);
      cancelWhenGone(context, engine, run, body.on_disconnect === "cancel");
      const location: Record<string, string> = stateless ? {} : { location: `${path}/join` };
      return waitFor(context.reply, run.ended, { "content-location": path, ...location });
    });
  }
}
