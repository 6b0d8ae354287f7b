// Crons over HTTP (wire-api §1.5).
import { z } from "zod";
import { pick, type Json } from "../../resources/json.ts";
import { cronShape, PAGINATION_HEADERS, runShape, selected } from "../../resources/shapes.ts";
import { countCronsBody, createCronBody, patchCronBody, searchCronsBody } from "../../runs/cron-body.ts";
import { publicRun } from "../../runs/request.ts";
import { answer, done, type Route } from "../operation.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";

export function cronRoutes(route: Route, { crons, cronService, assistants, fireCron }: Services): void {
  const tag = "Crons";
  /** Crons name their assistant by its id; callers may by its graph. One that nobody knows has no crons. */
  const assistantIdOf = (idOrGraph: string | undefined): string | undefined =>
    idOrGraph === undefined ? undefined : (assistants.find(idOrGraph)?.assistant_id ?? idOrGraph);

  route(
    {
      method: "POST",
      path: "/runs/crons",
      tag,
      summary: "a run on a schedule, each time on a new thread",
      body: createCronBody,
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    async (context) => context.reply.json(await cronService.create(undefined, await context.body())),
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/runs/crons",
      tag,
      summary: "a run on a schedule, always on this thread",
      body: createCronBody,
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    async (context) => context.reply.json(await cronService.create(context.uuid("thread_id"), await context.body())),
  );
  route(
    {
      method: "POST",
      path: "/runs/crons/search",
      tag,
      summary: "filter, sort, select; pages",
      body: searchCronsBody,
      answers: answer("Matches.", z.array(selected(cronShape)), PAGINATION_HEADERS),
    },
    async (context) => {
      const { select, assistant_id, ...query } = await context.body();
      const page = crons.search({ ...query, assistant_id: assistantIdOf(assistant_id) });
      return context.reply.json(
        page.items.map((cron) => pick(cron as unknown as Json, select)),
        pagination(page),
      );
    },
  );
  route(
    {
      method: "POST",
      path: "/runs/crons/count",
      tag,
      summary: "how many match",
      body: countCronsBody,
      answers: answer("Number of matches.", z.int()),
    },
    async (context) => {
      const { assistant_id, ...filter } = await context.body();
      return context.reply.json(crons.count({ ...filter, assistant_id: assistantIdOf(assistant_id) }));
    },
  );
  route(
    {
      method: "GET",
      path: "/runs/crons/:cron_id",
      tag,
      summary: "one cron",
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    (context) => context.reply.json(crons.get(context.uuid("cron_id"))),
  );
  route(
    {
      method: "PATCH",
      path: "/runs/crons/:cron_id",
      tag,
      summary: "change some fields; `end_time: null` clears it, `enabled` pauses and resumes",
      body: patchCronBody,
      answers: answer("The cron.", cronShape),
      errors: [404],
    },
    async (context) => context.reply.json(await cronService.patch(context.uuid("cron_id"), await context.body())),
  );
  route(
    {
      method: "DELETE",
      path: "/runs/crons/:cron_id",
      tag,
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
      summary: "fire now, beside the schedule",
      answers: answer("The run.", runShape),
      errors: [404, 409],
    },
    (context) => context.reply.json(publicRun(fireCron(crons.get(context.uuid("cron_id"))).record)),
  );
}
