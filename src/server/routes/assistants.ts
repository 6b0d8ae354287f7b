// Assistants over HTTP (wire-api §1.1): the records and their versions. What their graphs look like is in assistant-graphs.ts.
import { z } from "zod";
import {
  countAssistantsBody,
  createAssistantBody,
  deleteAssistantQuery,
  latestBody,
  latestQuery,
  patchAssistantBody,
  searchAssistantsBody,
  versionsBody,
} from "../../resources/assistant-bodies.ts";
import { ApiError } from "../../errors.ts";
import { pick, type Json } from "../../resources/json.ts";
import type { ThreadRecord } from "../../resources/threads.ts";
import { assistantShape, PAGINATION_HEADERS, selected } from "../../resources/shapes.ts";
import { deleteAssistant } from "../../runs/delete-assistant.ts";
import { answer, done, type Route } from "../operation.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";

const tag = "Assistants";
const SAME_THING =
  "`config.configurable` and `context` are two names of one thing: what is given under one name is there under the other too. " +
  "Both with different contents: 400.";

export function assistantRoutes(route: Route, { assistants, threads, engine }: Services): void {
  route(
    {
      method: "POST",
      path: "/assistants",
      tag,
      access: "assistants:create",
      summary: "create from a graph, with config, context and metadata of its own",
      description: SAME_THING,
      body: createAssistantBody,
      answers: answer("The assistant.", assistantShape),
      errors: [400, 404, 409],
    },
    async (context) => context.reply.json(assistants.create(await context.body(), context.allows)),
  );
  route(
    {
      method: "POST",
      path: "/assistants/search",
      tag,
      access: "assistants:search",
      summary: "filter, sort, select; pages",
      body: searchAssistantsBody,
      answers: answer("Matches.", z.array(selected(assistantShape)), PAGINATION_HEADERS),
    },
    async (context) => {
      const { select, ...query } = await context.body();
      const page = assistants.search({ ...query, allows: context.allows });
      return context.reply.json(
        page.items.map((assistant) => pick(assistant as unknown as Json, select)),
        pagination(page),
      );
    },
  );
  route(
    {
      method: "POST",
      path: "/assistants/count",
      tag,
      access: "assistants:search",
      summary: "how many match",
      body: countAssistantsBody,
      answers: answer("Number of matches.", z.int()),
    },
    async (context) => context.reply.json(assistants.count({ ...(await context.body()), allows: context.allows })),
  );
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id",
      tag,
      access: "assistants:read",
      summary: "one assistant; a graph's name works as the id",
      answers: answer("The assistant.", assistantShape),
      errors: [404],
    },
    (context) => context.reply.json(assistants.get(context.param("assistant_id"))),
  );
  route(
    {
      method: "PATCH",
      path: "/assistants/:assistant_id",
      tag,
      access: "assistants:update",
      summary: "a new version, which is the latest then; metadata is merged",
      description: `Absent fields stay. ${SAME_THING}`,
      body: patchAssistantBody,
      answers: answer("The assistant.", assistantShape),
      errors: [400, 404],
    },
    async (context) => context.reply.json(assistants.patch(context.param("assistant_id"), await context.body())),
  );
  route(
    {
      method: "DELETE",
      path: "/assistants/:assistant_id",
      tag,
      access: "assistants:delete",
      summary: "stop its runs, delete it with its versions; `?delete_threads=true` its threads too",
      description: "The assistant that a graph of the config has comes back at the next start or change of the config.",
      query: deleteAssistantQuery,
      answers: done("It is gone."),
      errors: [404],
    },
    async (context) => {
      const { delete_threads } = context.query();
      const services = { assistants, threads, engine };
      const mayDelete = async ({ thread_id, metadata }: ThreadRecord): Promise<boolean> => {
        const { allows } = await context.access.authorize("threads:delete", { thread_id });
        return allows === undefined || allows(metadata);
      };
      await deleteAssistant(services, context.param("assistant_id"), { threads: delete_threads, mayDelete });
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/assistants/:assistant_id/versions",
      tag,
      access: "assistants:read",
      summary: "its versions, newest first; pages",
      body: versionsBody,
      authValue: () => ({}),
      answers: answer("Versions; their times are those of their making.", z.array(assistantShape), PAGINATION_HEADERS),
      errors: [404],
    },
    async (context) => {
      const page = assistants.versions(context.param("assistant_id"), await context.body());
      return context.reply.json(page.items, pagination(page));
    },
  );
  route(
    {
      method: "POST",
      path: "/assistants/:assistant_id/latest",
      tag,
      access: "assistants:update",
      summary: "make an earlier version the latest, with everything that it had",
      description: "The version is taken from the body, else from the query.",
      body: latestBody,
      query: latestQuery,
      answers: answer("The assistant.", assistantShape),
      errors: [404],
    },
    async (context) => {
      const { version: asked } = context.query();
      const version = (await context.body()).version ?? asked;
      if (version === undefined) throw new ApiError(422, "version: Required");
      return context.reply.json(assistants.setLatest(context.param("assistant_id"), version));
    },
  );
}
