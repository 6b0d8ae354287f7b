// Crons over HTTP (wire-api §1.5).
import { z } from "zod";
import { changedMetadata, type Access } from "../../auth/access.ts";
import { publicCron } from "../../resources/crons.ts";
import { isObject, pick, type Json } from "../../resources/json.ts";
import { cronShape, PAGINATION_HEADERS, runShape, selected } from "../../resources/shapes.ts";
import { countCronsBody, createCronBody, patchCronBody, searchCronsBody } from "../../runs/cron-body.ts";
import { admitAssistant, admitRun } from "../../runs/admission.ts";
import type { CronOwner } from "../../runs/cron-service.ts";
import { publicRun } from "../../runs/request.ts";
import { runBody } from "../../runs/run-body.ts";
import type { Context } from "../context.ts";
import { answer, done, type Route } from "../operation.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";

type Body = typeof createCronBody;

export function cronRoutes(route: Route, { crons, cronService, assistants, threads, fireCron }: Services): void {
  const tag = "Crons";
  /** Crons name their assistant by its id; callers may by its graph. One that nobody knows has no crons. */
  const assistantIdOf = (idOrGraph: string | undefined): string | undefined =>
    idOrGraph === undefined ? undefined : (assistants.find(idOrGraph)?.assistant_id ?? idOrGraph);

  const create = async (context: Context<Body>, threadId: string | undefined): Promise<Response> => {
    const asked = await context.body();
    if (!context.access.restricted) return context.reply.json(publicCron(await cronService.create(threadId, asked)));
    const { body, owner } = await admitCron(context.access, threadId, asked);
    return context.reply.json(publicCron(await cronService.create(threadId, body, owner)));
  };
  /** Asks whether a cron may be made, and whether its runs may. @throws ApiError 403, or what a handler throws. */
  const admitCron = async (
    access: Access,
    threadId: string | undefined,
    asked: z.output<Body>,
  ): Promise<{ body: z.output<Body>; owner: CronOwner }> => {
    const { schedule, timezone, end_time, enabled, on_run_completed, metadata = {}, ...payload } = asked;
    const own = { schedule, timezone, end_time, enabled, on_run_completed };
    const { value } = await access.authorize("crons:create", {
      ...own,
      ...(threadId === undefined ? {} : { thread_id: threadId }),
      user_id: access.identity,
      metadata,
      payload,
    });
    const changed = changedMetadata(value);
    const run = { ...(isObject(value.payload) ? value.payload : payload), metadata: changed };
    const { body: admitted, grants } = await admitRun({ assistants, threads }, access, threadId, runBody.parse(run));
    const { metadata: runMetadata } = admitted;
    const { settings, identity } = access;
    return {
      body: { ...asked, ...own, ...admitted, metadata: changed },
      owner: { identity, settings, mayUse: grants.mayUse, runMetadata },
    };
  };

  route(
    {
      method: "POST",
      path: "/runs/crons",
      tag,
      access: "asks",
      summary: "a run on a schedule, each time on a new thread",
      body: createCronBody,
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    (context) => create(context, undefined),
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/runs/crons",
      tag,
      access: "asks",
      summary: "a run on a schedule, always on this thread",
      body: createCronBody,
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    (context) => create(context, context.uuid("thread_id")),
  );
  route(
    {
      method: "POST",
      path: "/runs/crons/search",
      tag,
      access: "crons:search",
      summary: "filter, sort, select; pages",
      body: searchCronsBody,
      answers: answer("Matches.", z.array(selected(cronShape)), PAGINATION_HEADERS),
    },
    async (context) => {
      const { select, assistant_id, ...query } = await context.body();
      const { allows } = context;
      const page = crons.search({ ...query, assistant_id: assistantIdOf(assistant_id), allows });
      return context.reply.json(
        page.items.map((cron) => pick(publicCron(cron) as unknown as Json, select)),
        pagination(page),
      );
    },
  );
  route(
    {
      method: "POST",
      path: "/runs/crons/count",
      tag,
      access: "crons:search",
      summary: "how many match",
      body: countCronsBody,
      answers: answer("Number of matches.", z.int()),
    },
    async (context) => {
      const { assistant_id, ...filter } = await context.body();
      const { allows } = context;
      return context.reply.json(crons.count({ ...filter, assistant_id: assistantIdOf(assistant_id), allows }));
    },
  );
  route(
    {
      method: "GET",
      path: "/runs/crons/:cron_id",
      tag,
      access: "crons:read",
      summary: "one cron",
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    (context) => context.reply.json(publicCron(crons.get(context.uuid("cron_id")))),
  );
  route(
    {
      method: "PATCH",
      path: "/runs/crons/:cron_id",
      tag,
      access: "crons:update",
      summary: "change some fields; `end_time: null` clears it, `enabled` pauses and resumes",
      body: patchCronBody,
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    async (context) => {
      const body = await context.body();
      const { access } = context;
      const assistant =
        access.restricted && body.assistant_id !== undefined
          ? await admitAssistant(assistants, access, body.assistant_id)
          : undefined;
      const after = await cronService.patch(context.uuid("cron_id"), body, { assistant, thread: undefined });
      return context.reply.json(publicCron(after));
    },
  );
  route(
    {
      method: "DELETE",
      path: "/runs/crons/:cron_id",
      tag,
      access: "crons:delete",
      summary: "delete; runs that it has started go on",
      answers: done("It is gone."),
      errors: [404],
    },
    (context) => {
      cronService.delete(context.uuid("cron_id"));
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/internal/crons/:cron_id/run",
      tag,
      access: "crons:update",
      summary: "fire now, beside the schedule",
      answers: answer("The run.", runShape),
      errors: [404, 409],
    },
    (context) => context.reply.json(publicRun(fireCron(crons.get(context.uuid("cron_id"))).record)),
  );
}
