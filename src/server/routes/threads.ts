// Threads over HTTP (wire-api §1.2): their heads. States and history are in states.ts.
import { countThreadsBody, createThreadBody, patchThreadBody, searchThreadsBody } from "../../resources/bodies.ts";
import { pick, type Json } from "../../resources/json.ts";
import type { ThreadRecord } from "../../resources/threads.ts";
import type { SuperstepUpdates } from "../../runs/states.ts";
import type { Route } from "../app.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";

export function threadRoutes(route: Route, { threads, states, values, checkpoints, engine }: Services): void {
  const heads = new WeakMap<ThreadRecord, string>();
  /** The JSON of a thread; its values are text already. */
  const threadJson = (record: ThreadRecord): string => {
    let head = heads.get(record);
    if (head === undefined) {
      head = JSON.stringify(record).slice(0, -1);
      heads.set(record, head);
    }
    return `${head},"values":${values.json(record.thread_id)}}`;
  };
  const valuesOf = (threadId: string): unknown => values.data(threadId);

  route("POST", "/threads", async (context) => {
    const { thread_id, metadata, if_exists, supersteps } = await context.body(createThreadBody);
    const existed = thread_id !== undefined && threads.find(thread_id) !== undefined;
    let record = threads.create({ threadId: thread_id, metadata, ifExists: if_exists ?? "raise" });
    if (!existed) checkpoints.begin(record.thread_id);
    if (supersteps !== undefined && supersteps.length > 0 && !existed) {
      try {
        await states.importSupersteps(record.thread_id, supersteps as SuperstepUpdates[]);
      } catch (error) {
        // A thread that could not be imported was not created.
        await engine.deleteThread(record.thread_id);
        throw error;
      }
      record = threads.get(record.thread_id);
    }
    return context.reply.jsonText(threadJson(record));
  });
  route("POST", "/threads/search", async (context) => {
    const { select, ...query } = await context.body(searchThreadsBody);
    const page = threads.search(query, valuesOf);
    const items =
      select === undefined
        ? page.items.map(threadJson)
        : page.items.map((record) => {
            const whole: Json = { ...record };
            if (select.includes("values")) whole["values"] = values.data(record.thread_id);
            return JSON.stringify(pick(whole, select));
          });
    return context.reply.jsonText(`[${items.join(",")}]`, pagination(page));
  });
  route("POST", "/threads/count", async (context) => {
    return context.reply.json(threads.count(await context.body(countThreadsBody), valuesOf));
  });
  route("GET", "/threads/:thread_id", (context) =>
    context.reply.jsonText(threadJson(threads.get(context.uuid("thread_id")))),
  );
  route("PATCH", "/threads/:thread_id", async (context) => {
    const threadId = context.uuid("thread_id");
    const { metadata } = await context.body(patchThreadBody);
    const record = threads.patch(threadId, metadata);
    if (context.header("prefer")?.includes("return=minimal") === true) return context.reply.empty();
    return context.reply.jsonText(threadJson(record));
  });
  route("DELETE", "/threads/:thread_id", async (context) => {
    await engine.deleteThread(context.uuid("thread_id"));
    return context.reply.empty();
  });
}
