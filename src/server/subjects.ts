// What the paths of operations name: the records whose metadata decides whether a caller may see them, and the answer for those that
// do not exist, which is the answer for those that must not be seen as well.
import type { Allows } from "../auth/access.ts";
import type { ApiError } from "../errors.ts";
import type { Assistants } from "../resources/assistants.ts";
import { cronNotFound, type Crons } from "../resources/crons.ts";
import { deliveryNotFound, type Deliveries, type Delivery } from "../resources/deliveries.ts";
import { isObject, type Json } from "../resources/json.ts";
import { runNotFound } from "../resources/runs.ts";
import { threadNotFound, type Threads } from "../resources/threads.ts";
import type { RunStreams } from "../runs/streams.ts";
import type { Context } from "./context.ts";

/** Where the records are. */
export interface SubjectSources {
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly crons: Crons;
  readonly deliveries: Deliveries;
  readonly streams: RunStreams;
}

/** A record, as far as it decides who sees it. */
interface Subject {
  /** Undefined when there is none. */
  readonly metadata: Json | undefined;
  readonly missing: () => ApiError;
}

export class Subjects {
  readonly #sources: SubjectSources;

  constructor(sources: SubjectSources) {
    this.#sources = sources;
  }

  /** The ids in a path, as an auth handler sees them: an assistant by its id, also where the path has the name of a graph. */
  ids(path: string, context: Context): Json {
    const names = Array.from(path.matchAll(/:(\w+_id)\b/g), ([, name = ""]) => name);
    return Object.fromEntries(
      names.map((name) => {
        if (name === "checkpoint_id") return [name, context.param(name)];
        if (name !== "assistant_id") return [name, context.uuid(name)];
        const idOrGraph = context.param(name);
        return [name, this.#sources.assistants.find(idOrGraph)?.assistant_id ?? idOrGraph];
      }),
    );
  }

  /** @throws ApiError 404, as if it did not exist, when the caller must not see what a path names. */
  check(path: string, context: Context, allows: Allows): void {
    const subject = this.#subject(path, context);
    if (subject?.metadata !== undefined && !allows(subject.metadata)) throw subject.missing();
  }

  #subject(path: string, context: Context): Subject | undefined {
    const { threads, assistants, crons, deliveries, streams } = this.#sources;
    const has = (name: string): boolean => path.includes(`:${name}`);
    if (has("thread_id")) {
      const id = context.uuid("thread_id");
      const thread = threads.find(id)?.metadata;
      if (!has("run_id")) return { metadata: thread, missing: () => threadNotFound(id) };
      // The thread of a run without one may be gone while the run is still known.
      return { metadata: thread ?? streams.metadataOf(context.uuid("run_id")), missing: runNotFound };
    }
    if (has("assistant_id")) {
      const id = context.param("assistant_id");
      return { metadata: assistants.find(id)?.metadata, missing: () => assistants.notFound(id) };
    }
    if (has("cron_id")) {
      const id = context.uuid("cron_id");
      return { metadata: crons.find(id)?.metadata, missing: () => cronNotFound(id) };
    }
    if (has("delivery_id")) {
      const delivery = deliveries.get(context.uuid("delivery_id"));
      return { metadata: this.ofDelivery(delivery), missing: () => deliveryNotFound(delivery.delivery_id) };
    }
    if (has("run_id")) return { metadata: streams.metadataOf(context.uuid("run_id")), missing: runNotFound };
    return undefined;
  }

  /** What decides about a delivery: its thread, or the run that it tells of when the thread is gone. */
  ofDelivery({ delivery_id, thread_id }: Delivery): Json {
    const thread = this.#sources.threads.find(thread_id);
    if (thread !== undefined) return thread.metadata;
    const { metadata } = JSON.parse(this.#sources.deliveries.body(delivery_id)) as { metadata?: unknown };
    return isObject(metadata) ? metadata : {};
  }
}
