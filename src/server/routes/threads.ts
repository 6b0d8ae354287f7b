// Threads over HTTP (wire-api §1.2): their heads, and what is done with whole threads. States and history are in states.ts.
import { z } from "zod";
import { changedMetadata, type Access, type Allows, type AuthEvent } from "../../auth/access.ts";
import type { Json } from "../../resources/json.ts";
import { PAGINATION_HEADERS, selected, threadShape, threadStorageShape } from "../../resources/shapes.ts";
import {
  countThreadsBody,
  createThreadBody,
  getThreadQuery,
  patchThreadBody,
  pruneThreadsBody,
  searchThreadsBody,
} from "../../resources/thread-bodies.ts";
import { PATH_FORM } from "../../resources/thread-extract.ts";
import type { SuperstepUpdates } from "../../runs/state-updates.ts";
import { copyThread, nothingToCopy } from "../../runs/thread-copy.ts";
import { pruneThreads } from "../../runs/thread-prune.ts";
import { threadStorage } from "../../runs/thread-storage.ts";
import { answer, done, type Route } from "../operation.ts";
import { prefers } from "../prefer.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";
import { ThreadJson } from "../thread-json.ts";

const TTL =
  "A thread with a `ttl` (minutes, or `{ttl, strategy}`) expires so long after its last activity: a change of the thread or of its state, or the beginning or end of a run. Then strategy `delete` deletes it with its runs and checkpoints, and `keep_latest` only its checkpoints but the latest. A busy thread does not expire.";

export function threadRoutes(route: Route, services: Services): void {
  const { threads, states, values, checkpoints, engine } = services;
  const json = new ThreadJson(values);
  const valuesOf = (threadId: string): string => values.json(threadId);
  /** Those of some threads that a caller sees; the others are like threads that do not exist. */
  const seen = async (access: Access, event: AuthEvent, ids: readonly string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const thread_id of new Set(ids)) {
      const { allows } = await access.authorize(event, { thread_id });
      const thread = threads.peek(thread_id);
      if (allows === undefined || (thread !== undefined && allows(thread.metadata))) found.push(thread_id);
    }
    return found;
  };
  /** What a caller may copy, and the metadata of the copy. */
  const copyRights = async (
    access: Access,
    threadId: string,
  ): Promise<{ allows?: Allows | undefined; metadata: Json }> => {
    const { allows } = await access.authorize("threads:read", { thread_id: threadId });
    const source = threads.find(threadId);
    if (source === undefined || allows?.(source.metadata) === false) throw nothingToCopy(threadId);
    const { value } = await access.authorize("threads:create", { metadata: structuredClone(source.metadata) });
    return { allows, metadata: changedMetadata(value) };
  };

  const tag = "Threads";
  route(
    {
      method: "POST",
      path: "/threads",
      tag,
      access: "threads:create",
      summary: "create; `ttl` lets it expire, `supersteps` imports a history",
      description: TTL,
      body: createThreadBody,
      answers: answer("The thread.", threadShape),
      errors: [400, 404, 409],
    },
    async (context) => {
      const { thread_id, metadata, ttl, if_exists, supersteps } = await context.body();
      const exists = (): boolean => thread_id !== undefined && threads.find(thread_id) !== undefined;
      if (supersteps !== undefined && supersteps.length > 0 && !exists()) {
        const draft = threads.draft(thread_id, metadata, ttl);
        const made = await states.updates.importThread(
          draft,
          supersteps as SuperstepUpdates[],
          context.access.settings,
        );
        if (made !== undefined) return context.reply.jsonText(json.whole(made));
      }
      const existed = exists();
      const ifExists = if_exists ?? "raise";
      const record = threads.create({ threadId: thread_id, metadata, ttl, ifExists, allows: context.allows });
      if (!existed) checkpoints.begin(record.thread_id);
      return context.reply.jsonText(json.whole(record));
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/search",
      tag,
      access: "threads:search",
      summary: "filter, sort, select, extract; pages",
      description: `\`metadata\` and \`values\` are what those of a thread contain; a thread without values matches no filter on them. \`extract\` is at most 10 aliases, each ${PATH_FORM}; what is there stands in \`extracted\` by alias, or null.`,
      body: searchThreadsBody,
      answers: answer("Matches.", z.array(selected(threadShape)), PAGINATION_HEADERS),
    },
    async (context) => {
      const { select, extract, ...query } = await context.body();
      const page = await threads.searchBy({ ...query, allows: context.allows }, valuesOf);
      const items = page.items.map((record) => json.found(record, select, extract));
      return context.reply.jsonText(`[${items.join(",")}]`, pagination(page));
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/count",
      tag,
      access: "threads:search",
      summary: "how many match",
      body: countThreadsBody,
      answers: answer("Number of matches.", z.int()),
    },
    async (context) => {
      return context.reply.json(await threads.countBy({ ...(await context.body()), allows: context.allows }, valuesOf));
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/prune",
      tag,
      access: "asks",
      summary: "delete threads, or (`keep_latest`) all their checkpoints but the latest",
      description:
        "Unknown ids are left out. Runs of threads that are deleted are stopped, as by DELETE; `keep_latest` leaves out threads that are busy. `pruned_count` is the number of threads that were not left out.",
      body: pruneThreadsBody,
      answers: answer("How many were pruned.", z.object({ pruned_count: z.int() })),
    },
    async (context) => {
      const { thread_ids, strategy } = await context.body();
      const event = strategy === "delete" ? "threads:delete" : "threads:update";
      const ids = context.access.restricted ? await seen(context.access, event, thread_ids) : thread_ids;
      return context.reply.json({ pruned_count: await pruneThreads(services, ids, strategy) });
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id",
      tag,
      access: "threads:read",
      summary: "status, metadata, interrupts, newest values; `?include=ttl`",
      query: getThreadQuery,
      answers: answer("The thread.", threadShape),
      errors: [404],
    },
    (context) => {
      const { include } = context.query();
      return context.reply.jsonText(json.whole(threads.get(context.uuid("thread_id")), include));
    },
  );
  route(
    {
      method: "PATCH",
      path: "/threads/:thread_id",
      tag,
      access: "threads:update",
      summary: "merge metadata; set `ttl`",
      description: TTL,
      body: patchThreadBody,
      headers: { Prefer: "`return=minimal` asks for no body." },
      answers: { ...answer("The thread.", threadShape), ...done("With `Prefer: return=minimal`.") },
      errors: [404],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const record = threads.patch(threadId, await context.body());
      if (!prefers(context.header("prefer"), "return", "minimal")) return context.reply.jsonText(json.whole(record));
      return context.reply.empty(204, { "preference-applied": "return=minimal" });
    },
  );
  route(
    {
      method: "DELETE",
      path: "/threads/:thread_id",
      tag,
      access: "threads:delete",
      summary: "the thread with its runs and checkpoints; runs that have not ended are stopped",
      answers: done("It is gone."),
      errors: [404],
    },
    async (context) => {
      await engine.deleteThread(context.uuid("thread_id"));
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/threads/:thread_id/copy",
      tag,
      access: "asks",
      summary: "a new thread with the same metadata, config, state and history; runs stay with the original",
      description:
        "Of a thread that is busy, the copy has the state that is stored by now, and is not busy. 409 when there is no such thread.",
      answers: answer("The copy.", threadShape),
      errors: [409],
    },
    async (context) => {
      const threadId = context.uuid("thread_id");
      const rights = context.access.restricted ? await copyRights(context.access, threadId) : {};
      return context.reply.jsonText(json.whole(await copyThread(services, threadId, rights)));
    },
  );
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/storage",
      tag,
      access: "threads:read",
      summary: "how many bytes its checkpoints take, and which channels take them",
      answers: answer("Bytes of keys and values as they are stored.", threadStorageShape),
      errors: [404],
    },
    async (context) => {
      const { thread_id } = threads.get(context.uuid("thread_id"));
      return context.reply.json(await threadStorage(checkpoints, thread_id));
    },
  );
}
