// Everything about A2A behind the routes: its tasks over threads and runs, and what is known of the graphs' inputs.
import type { GraphHost } from "../graphs/host.ts";
import { graphSchemas } from "../graphs/schemas.ts";
import type { GraphVersion } from "../graphs/types.ts";
import { notification } from "../a2a/generations.ts";
import type { InputShape } from "../a2a/input.ts";
import { A2AServer } from "../a2a/server.ts";
import { A2AService } from "../a2a/service.ts";
import type { Assistant } from "../resources/assistant.ts";
import type { Assistants } from "../resources/assistants.ts";
import { isObject } from "../resources/json.ts";
import type { Runs } from "../resources/runs.ts";
import type { Threads } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { ThreadValues } from "../runs/values.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import type { CheckpointStore } from "../storage/checkpoints.ts";
import type { Webhooks } from "./assemble-webhooks.ts";

/** Nothing is known: the graph may take anything. */
const UNKNOWN: InputShape = { messages: true, keys: undefined };

/** What the routes and the engine need of A2A. */
export interface A2AParts {
  readonly service: A2AService;
  readonly server: A2AServer;
}

export function assembleA2A(parts: {
  readonly database: BufferedDatabase;
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly runs: Runs;
  readonly values: ThreadValues;
  readonly checkpoints: CheckpointStore;
  readonly graphs: GraphHost;
  readonly webhooks: Webhooks;
  readonly engine: () => RunEngine;
  /** Told of errors that are ours. */
  readonly report: (error: unknown) => void;
}): A2AParts {
  const { graphs, webhooks } = parts;
  const shapes = new WeakMap<GraphVersion, Map<string, InputShape>>();

  /** What the input of an assistant's graph has, as far as the graph tells at run time; types would have to be read first. */
  const shapeOf = async ({
    graph_id,
    assistant_id,
    version: assistantVersion,
    config,
  }: Assistant): Promise<InputShape> => {
    try {
      const version = await graphs.get(graph_id);
      let known = shapes.get(version);
      if (known === undefined) shapes.set(version, (known = new Map()));
      // A graph may be made from the assistant's config.
      const key = `${assistant_id}/${assistantVersion}`;
      let shape = known.get(key);
      if (shape === undefined) {
        const { input_schema } = await graphSchemas(await version.resolve({ ...config }), await graphs.runtime());
        known.set(key, (shape = shapeIn(input_schema)));
      }
      return shape;
    } catch {
      // It does not load, which its run will say better.
      return UNKNOWN;
    }
  };

  const service = new A2AService({
    ...parts,
    db: parts.database,
    deliveries: webhooks.deliveries,
    shapeOf,
    pushes: () => webhooks.enabled,
    checkUrl: (url) => webhooks.check(url),
    pushBody: notification,
  });
  return { service, server: new A2AServer(service, parts.report) };
}

function shapeIn(schema: unknown): InputShape {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  const keys = isObject(properties) ? Object.keys(properties) : [];
  return keys.length === 0 ? UNKNOWN : { messages: keys.includes("messages"), keys: new Set(keys) };
}
