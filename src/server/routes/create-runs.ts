// Runs are started here: on threads and stateless, in the background, streamed or waited for (wire-api §1.3, §1.4).
import { Readable } from "node:stream";
import { z } from "zod";
import { ApiError } from "../../errors.ts";
import { requestMark } from "../../resources/idempotency.ts";
import { eventStreamShape, runShape, runValuesShape } from "../../resources/shapes.ts";
import type { Caller } from "../../runs/engine-options.ts";
import { admitRun, type Admitted } from "../../runs/admission.ts";
import { batchBody, runBody, runRequest } from "../../runs/run-body.ts";
import { earlierRun, startedRun, type StartedRun } from "../../runs/started.ts";
import { headerPicker } from "../configurable-headers.ts";
import type { Context } from "../context.ts";
import { answer, type Answer, type Operation, type Route } from "../operation.ts";
import { cancelWhenGone, locationOf, runPath } from "../run-path.ts";
import type { Services } from "../services.ts";
import { eventStream, OPENING } from "../sse.ts";
import { waitFor } from "../wait.ts";

type Body = typeof runBody;

const CONTENT_LOCATION = { "Content-Location": "Path of the run; it ends in the run's id." } as const;
const IDEMPOTENCY_KEY = {
  "Idempotency-Key":
    "A request that comes again with the same key and body within 24 hours gets the run that the first one made. Up to 255 characters. No key is forgotten before; when there are a million of them, new ones are refused with 429.",
} as const;

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
  headers: {
    ...CONTENT_LOCATION,
    Location:
      "Path at which a client that lost the connection goes on waiting; not for a run of which nothing is stored.",
  },
};

export function createRunRoutes(route: Route, services: Services): void {
  const { engine, http, webhooks } = services;
  const hiddenSettings = headerPicker(http.configurable_headers);

  const start = async (context: Context<Body>, threadId: string | undefined, caller: Caller): Promise<StartedRun> => {
    const { access } = context;
    const asked = await context.body();
    const hidden = hiddenSettings(context.headers);
    const { body, grants } = access.restricted
      ? await admitRun(services, access, threadId, asked, hidden)
      : { body: asked, grants: { hidden } };
    const key = context.header("idempotency-key");
    const once = key === null ? undefined : requestMark(key, { caller, threadId, body: asked }, access.identity);
    if (body.webhook !== undefined) await webhooks.check(body.webhook);
    // From here on nothing may wait: of two requests with one key the second must find what the first has made.
    const earlier = once === undefined ? undefined : earlierRun(services, once);
    const request = { ...runRequest(body), ...grants, once };
    const started = earlier ?? startedRun(engine.create(threadId, request, caller));
    const { active } = started;
    const waits = caller !== "background" && active !== undefined;
    if (waits) cancelWhenGone(context, engine, active, body.on_disconnect === "cancel");
    return started;
  };

  for (const stateless of [false, true]) {
    const prefix = stateless ? "/runs" : "/threads/:thread_id/runs";
    const threadOf = (context: Context): string | undefined => (stateless ? undefined : context.uuid("thread_id"));
    const operation = (path: string, summaries: readonly [string, string], success: Answer): Operation<Body> => ({
      method: "POST",
      path: `${prefix}${path}`,
      tag: stateless ? "Stateless runs" : "Thread runs",
      access: "asks",
      summary: summaries[stateless ? 1 : 0],
      headers: IDEMPOTENCY_KEY,
      body: runBody,
      answers: { 200: success },
      errors: [404, 409, 429],
    });

    const background = ["start a run in the background", "a run without a thread, in the background"] as const;
    route(operation("", background, CREATED), async (context) => {
      const threadId = threadOf(context);
      const run = await start(context, threadId, "background");
      return context.reply.json(run.record(), { "content-location": runPath(threadId, run.runId) });
    });

    const streamed = ["start a run and stream its events", "a run without a thread, streamed"] as const;
    route(operation("/stream", streamed, STREAMED), async (context) => {
      const threadId = threadOf(context);
      const run = await start(context, threadId, "stream");
      const path = runPath(threadId, run.runId);
      const headers = { "content-location": path, location: locationOf(path, true) };
      const events = run.events();
      if (typeof events === "string")
        return context.reply.stream(Readable.from([events]), "text/event-stream", headers);
      return eventStream(context.reply, events, headers, run.active?.started === true ? "" : OPENING);
    });

    const waited = [
      "start a run and answer with its final values",
      "a run without a thread, answered with its final values",
    ] as const;
    route(operation("/wait", waited, WAITED), async (context) => {
      const threadId = threadOf(context);
      const run = await start(context, threadId, "wait");
      // A run of which nothing is stored can only be waited for here.
      const stored = run.active !== undefined && run.active.record.ephemeral !== true ? run.active.threadId : undefined;
      const joinable = threadId ?? stored;
      const headers = {
        "content-location": runPath(threadId, run.runId),
        ...(joinable === undefined ? {} : { location: `${runPath(joinable, run.runId)}/join` }),
      };
      return waitFor(context.reply, run.ended(), headers, services.clock);
    });
  }

  route(
    {
      method: "POST",
      path: "/runs/batch",
      tag: "Stateless runs",
      access: "asks",
      summary: "start many runs without threads in the background: all of them, or none",
      body: batchBody,
      answers: answer("The runs, in the order of the request.", z.array(runShape)),
      errors: [404],
    },
    async (context) => {
      if (context.header("idempotency-key") !== null) {
        throw new ApiError(422, "Idempotency-Key works for single runs; /runs/batch does not take it");
      }
      const hidden = hiddenSettings(context.headers);
      const admitted: Admitted[] = [];
      for (const body of await context.body())
        admitted.push(await admitRun(services, context.access, undefined, body, hidden));
      for (const webhook of new Set(admitted.map(({ body }) => body.webhook))) await webhooks.check(webhook);
      const runs = engine.createBatch(admitted.map(({ body, grants }) => ({ ...runRequest(body), ...grants })));
      return context.reply.json(runs.map((run) => startedRun(run).record()));
    },
  );
}
