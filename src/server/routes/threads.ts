// Threads over HTTP (wire-api §1.2): their heads. States and history are in states.ts.
import { z } from "zod";
import { pick, type Json } from "../../resources/json.ts";
import { PAGINATION_HEADERS, selected, threadShape } from "../../resources/shapes.ts";
import {
  countThreadsBody,
  createThreadBody,
  patchThreadBody,
  searchThreadsBody,
} from "../../resources/thread-bodies.ts";
import type { ThreadRecord } from "../../resources/threads.ts";
import type { SuperstepUpdates } from "../../runs/states.ts";
import { answer, done, type Route } from "../operation.ts";
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

  const tag = "Threads";
  route(
    {
      method: "POST",
      path: "/threads",
      tag,
      summary: "create; `supersteps` imports a history",
      body: createThreadBody,
      answers: answer("The thread.", threadShape),
      errors: [400, 404, 409],
    },
    async (context) => {
      const { thread_id, metadata, if_exists, supersteps } = await context.body();
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
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/search",
      tag,
      summary: "filter, sort, select; pages",
      body: searchThreadsBody,
      answers: answer("Matches.", z.array(selected(threadShape)), PAGINATION_HEADERS),
    },
    async (context) => {
      const { select, ...query } = await context.body();
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
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/count",
      tag,
      summary: "how many match",
      body: countThreadsBody,
      answers: answer("Number of matches.", z.int()),
    },
    async (context) => {
      return context.reply.json(threads.count(await context.body(), valuesOf));
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id",
      tag,
      summary: "status, metadata, interrupts, newest values",
      answers: answer("The thread.", threadShape),
      errors: [404],
    },
    (context) => context.reply.jsonText(threadJson(threads.get(context.uuid("thread_id")))),
  );
  route(
    {
      method: "PATCH",
      path: "/threads/:thread_id",
      tag,
      summary: "merge metadata",
      body: patchThreadBody,
      headers: { Prefer: "`return=minimal` asks for no body." },
      answers: { ...answer("The thread.", threadShape), ...done("With `Prefer: return=minimal`.") },
      errors: [404],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const { metadata } = await context.body();
      const record = threads.patch(threadId, metadata);
      if (context.header("prefer")?.includes("return=minimal") === true) return context.reply.empty();
      return context.reply.jsonText(threadJson(record));
    },
  );
  route(
    {
      method: "DELETE",
      path: "/threads/:thread_id",
      tag,
      summary: "the thread with its runs and checkpoints; runs that have not ended are stopped",
      answers: done("It is gone."),
      errors: [404],
    },
    async (context) => {
      await engine.deleteThread(context.uuid("thread_id"));
      return context.reply.empty();
    },
  );
}
