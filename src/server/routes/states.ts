// Thread states over HTTP (wire-api §1.2): the newest, at a checkpoint, the history, and updates.
import { z } from "zod";
import {
  checkpointParam,
  historyBody,
  historyQuery,
  patchStateBody,
  stateAtBody,
  stateQuery,
  updateStateBody,
} from "../../resources/state-bodies.ts";
import type { Json } from "../../resources/json.ts";
import { checkpointShape, threadStateShape } from "../../resources/shapes.ts";
import { answer, done, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

export function stateRoutes(route: Route, { states }: Services): void {
  const tag = "Threads";
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/state",
      tag,
      access: "threads:read",
      summary: "newest state; `?subgraphs=true`",
      query: stateQuery,
      answers: answer("The state.", threadStateShape),
      errors: [404],
    },
    async (context) => {
      const { subgraphs } = context.query();
      return context.reply.jsonText(await states.latest(context.uuid("thread_id"), subgraphs, context.access.settings));
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/state",
      tag,
      access: "threads:update",
      summary: "change the state, as if a node had returned it; also from an earlier checkpoint",
      body: updateStateBody,
      answers: answer("Where the new state is.", z.object({ checkpoint: checkpointShape })),
      errors: [400, 404, 409],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const { values, as_node, checkpoint, checkpoint_id } = await context.body();
      const from = checkpoint ?? (checkpoint_id === undefined ? undefined : { checkpoint_id });
      const update = { values: values ?? null, asNode: as_node, checkpoint: from as Json | undefined };
      const reference = await states.updates.make(threadId, update, context.access.settings);
      return context.reply.json({ checkpoint: reference });
    },
  );
  route(
    {
      method: "PATCH",
      path: "/threads/:thread_id/state",
      tag,
      access: "threads:update",
      summary: "merge metadata into that of the newest checkpoint",
      description:
        "Keys that LangGraph or the server sets (`source`, `step`, `parents`, `run_id`, `run_attempt`, `thread_id`) are left out. 404 also when the thread has no checkpoint yet, 409 when it is busy.",
      body: patchStateBody,
      // The metadata is that of a checkpoint.
      authValue: () => ({}),
      answers: done("It is stored."),
      errors: [404, 409],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      await states.updates.patchMetadata(threadId, (await context.body()).metadata);
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/state/checkpoint",
      tag,
      access: "threads:read",
      summary: "state at a checkpoint, given as an object",
      body: stateAtBody,
      answers: answer("The state.", threadStateShape),
      errors: [404],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const { checkpoint, subgraphs } = await context.body();
      return context.reply.jsonText(
        await states.at(threadId, checkpoint as Json, subgraphs ?? false, context.access.settings),
      );
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/state/:checkpoint_id",
      tag,
      access: "threads:read",
      summary: "state at a checkpoint",
      query: stateQuery,
      answers: answer("The state.", threadStateShape),
      errors: [404],
    },
    async (context) => {
      const { subgraphs } = context.query();
      const checkpoint = { checkpoint_id: checkpointParam.parse(context.param("checkpoint_id")) };
      return context.reply.jsonText(
        await states.at(context.uuid("thread_id"), checkpoint, subgraphs, context.access.settings),
      );
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/history",
      tag,
      access: "threads:read",
      summary: "states, newest first; `?limit=` and `?before=`",
      query: historyQuery,
      answers: answer("States, newest first.", z.array(threadStateShape)),
      errors: [404],
    },
    async (context) => {
      const { limit, before } = context.query();
      const caller = context.access.settings;
      const found = await states.history(context.uuid("thread_id"), { limit, before, caller });
      return context.reply.jsonText(`[${found.join(",")}]`);
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/history",
      tag,
      access: "threads:read",
      summary: "the same, with filters",
      body: historyBody,
      authValue: () => ({}),
      answers: answer("States, newest first.", z.array(threadStateShape)),
      errors: [404],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const { limit, before, metadata, checkpoint } = await context.body();
      const ns = checkpoint?.checkpoint_ns;
      const caller = context.access.settings;
      const found = await states.history(threadId, { limit, before, ns, metadata, caller });
      return context.reply.jsonText(`[${found.join(",")}]`);
    },
  );
}
