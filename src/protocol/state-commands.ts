// The commands that read states: `state.get` and `state.listCheckpoints`. A namespace names a graph inside the graph; its segments may leave
// out what comes behind the colon, as in the filters of events.
import type { z } from "zod";
import { withOffset } from "../ids.ts";
import { pick, type Json } from "../resources/json.ts";
import type { ThreadStates } from "../runs/states.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { listCheckpointsParams, stateGetParams } from "./bodies.ts";
import { ProtocolError } from "./errors.ts";
import { isPrefix } from "./filter.ts";

const CHECKPOINTS_BY_DEFAULT = 10;

export interface StateCommandsOptions {
  readonly states: ThreadStates;
  readonly checkpoints: CheckpointStore;
}

export class StateCommands {
  readonly #options: StateCommandsOptions;

  constructor(options: StateCommandsOptions) {
    this.#options = options;
  }

  /** The newest state: its values, or those under some keys, and its checkpoint. @throws ProtocolError no_such_namespace. */
  async get(threadId: string, { namespace, keys }: z.output<typeof stateGetParams>): Promise<Json> {
    const { states } = this.#options;
    const ns = this.#find(threadId, namespace);
    const text =
      ns === "" ? await states.latest(threadId, false) : await states.at(threadId, { checkpoint_ns: ns }, false);
    const { values, checkpoint } = JSON.parse(text) as { values: Json; checkpoint: Json | null };
    const id = checkpoint?.["checkpoint_id"];
    return {
      values: keys === undefined ? values : pick(values, keys),
      ...(typeof id === "string" ? { checkpoint: { id, ns } } : {}),
    };
  }

  /** Checkpoints, newest first. @throws ProtocolError no_such_namespace, no_such_checkpoint (for `before`). */
  list(threadId: string, params: z.output<typeof listCheckpointsParams>): Json {
    const { checkpoints } = this.#options;
    const { namespace, limit = CHECKPOINTS_BY_DEFAULT, before } = params;
    const ns = this.#find(threadId, namespace);
    if (before !== undefined && checkpoints.get(threadId, ns, before) === undefined)
      throw new ProtocolError("no_such_checkpoint", `Checkpoint ${before} not found`);
    const found = checkpoints.list(threadId, ns, { limit, ...(before === undefined ? {} : { before }) });
    return {
      checkpoints: Array.from(found, (stored) => {
        const metadata: Json = checkpoints.metadata(stored);
        return { id: stored.id, timestamp: withOffset(stored.record.ts), step: metadata["step"] ?? 0, metadata };
      }),
    };
  }

  /** The stored namespace that a client means: the one that it spells, or else the newest that fits. */
  #find(threadId: string, namespace: readonly string[] | undefined): string {
    if (namespace === undefined || namespace.length === 0) return "";
    const { checkpoints } = this.#options;
    const fitting = checkpoints
      .namespaces(threadId)
      .filter((ns) => ns.split("|").length === namespace.length && isPrefix(namespace, ns.split("|")))
      .map((ns) => ({ ns, newest: checkpoints.get(threadId, ns)?.id ?? "" }))
      .toSorted((a, b) => (a.newest < b.newest ? 1 : -1));
    if (fitting[0] === undefined)
      throw new ProtocolError("no_such_namespace", `No state is stored under ${JSON.stringify(namespace)}.`);
    return fitting[0].ns;
  }
}
