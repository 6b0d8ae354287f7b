// Thread states over HTTP (wire-api §1.2): the newest, at a checkpoint, the history, and updates.
import {
  checkpointParam,
  historyBody,
  historyQuery,
  stateAtBody,
  stateQuery,
  updateStateBody,
} from "../../resources/bodies.ts";
import type { Json } from "../../resources/json.ts";
import type { Route } from "../app.ts";
import type { Services } from "../services.ts";

export function stateRoutes(route: Route, { states }: Services): void {
  route("GET", "/threads/:thread_id/state", async (context) => {
    const { subgraphs } = context.query(stateQuery);
    return context.reply.jsonText(await states.latest(context.uuid("thread_id"), subgraphs));
  });
  route("POST", "/threads/:thread_id/state", async (context) => {
    const threadId = context.uuid("thread_id");
    const { values, as_node, checkpoint, checkpoint_id } = await context.body(updateStateBody);
    const from = checkpoint ?? (checkpoint_id === undefined ? undefined : { checkpoint_id });
    const reference = await states.update(threadId, {
      values: values ?? null,
      asNode: as_node,
      checkpoint: from as Json | undefined,
    });
    return context.reply.json({ checkpoint: reference });
  });
  route("POST", "/threads/:thread_id/state/checkpoint", async (context) => {
    const threadId = context.uuid("thread_id");
    const { checkpoint, subgraphs } = await context.body(stateAtBody);
    return context.reply.jsonText(await states.at(threadId, checkpoint as Json, subgraphs ?? false));
  });
  route("GET", "/threads/:thread_id/state/:checkpoint_id", async (context) => {
    const { subgraphs } = context.query(stateQuery);
    const checkpoint = { checkpoint_id: checkpointParam.parse(context.param("checkpoint_id")) };
    return context.reply.jsonText(await states.at(context.uuid("thread_id"), checkpoint, subgraphs));
  });
  route("GET", "/threads/:thread_id/history", async (context) => {
    const { limit, before } = context.query(historyQuery);
    return context.reply.jsonText(
      `[${(await states.history(context.uuid("thread_id"), { limit, before })).join(",")}]`,
    );
  });
  route("POST", "/threads/:thread_id/history", async (context) => {
    const threadId = context.uuid("thread_id");
    const { limit, before, metadata, checkpoint } = await context.body(historyBody);
    const ns = checkpoint?.checkpoint_ns;
    return context.reply.jsonText(`[${(await states.history(threadId, { limit, before, ns, metadata })).join(",")}]`);
  });
}
