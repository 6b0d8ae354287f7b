// Assistants: one system assistant per configured graph, under the same ids as on every Agent Server.
// They are derived from the config; their records are stored so that created_at survives a restart.
import { ApiError } from "../errors.ts";
import { isUuid, systemAssistantId, timestamp } from "../ids.ts";
import { prefixRange, type Database } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { contains, page, type Json, type Page } from "./json.ts";

/** An assistant as clients see it. */
export interface Assistant {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly config: Json;
  readonly context: Json;
  readonly created_at: string;
  readonly updated_at: string;
  readonly metadata: Json;
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
}

export type AssistantSortField = "assistant_id" | "created_at" | "updated_at" | "name" | "graph_id";

export interface AssistantQuery {
  readonly metadata?: Json | undefined;
  readonly graph_id?: string | undefined;
  /** Case-insensitive part of the name. */
  readonly name?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly sort_by?: AssistantSortField | undefined;
  readonly sort_order?: "asc" | "desc" | undefined;
}

export class Assistants {
  readonly #db: Database;
  readonly #byId = new Map<string, Assistant>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Makes the system assistants those of the configured graphs; at start and whenever the config changes. */
  sync(graphs: readonly { readonly id: string; readonly description: string | null }[]): void {
    const stored = new Map(
      Array.from(this.#db.range(prefixRange(keys.assistants)), ([, text]) => JSON.parse(text) as Assistant).map(
        (assistant) => [assistant.assistant_id, assistant] as const,
      ),
    );
    this.#byId.clear();
    for (const { id, description } of graphs) {
      const assistantId = systemAssistantId(id);
      let assistant = stored.get(assistantId);
      if (assistant === undefined || assistant.description !== description) {
        const now = timestamp();
        assistant = {
          assistant_id: assistantId,
          graph_id: id,
          config: {},
          context: {},
          created_at: assistant?.created_at ?? now,
          updated_at: now,
          metadata: { created_by: "system" },
          version: 1,
          name: id,
          description,
        };
        this.#db.write([{ key: keys.assistant(assistantId), value: JSON.stringify(assistant) }]);
      }
      this.#byId.set(assistantId, assistant);
    }
  }

  /** The assistant with this id, or the system assistant of the graph with this name. */
  find(idOrGraph: string): Assistant | undefined {
    return this.#byId.get(isUuid(idOrGraph) ? idOrGraph.toLowerCase() : systemAssistantId(idOrGraph));
  }

  /** @throws ApiError 404 */
  get(idOrGraph: string): Assistant {
    const assistant = this.find(idOrGraph);
    if (assistant === undefined) throw new ApiError(404, `Assistant "${idOrGraph}" not found`);
    return assistant;
  }

  /** The assistant that a run names. @throws ApiError 404 that lists what there is. */
  forRun(idOrGraph: string): Assistant {
    const assistant = this.find(idOrGraph);
    if (assistant !== undefined) return assistant;
    const names = [...this.#byId.values()].map(({ graph_id }) => graph_id).join(", ");
    throw new ApiError(
      404,
      `No assistant found for "${idOrGraph}". Make sure the assistant ID is for a valid assistant or a valid graph ID (graphs here: ${names}).`,
    );
  }

  search(query: AssistantQuery): Page<Assistant> {
    const name = query.name?.toLowerCase();
    const found = [...this.#byId.values()].filter(
      (assistant) =>
        (query.graph_id === undefined || assistant.graph_id === query.graph_id) &&
        (name === undefined || assistant.name.toLowerCase().includes(name)) &&
        (query.metadata === undefined || contains(assistant.metadata, query.metadata)),
    );
    const field = query.sort_by ?? "created_at";
    const sign = query.sort_order === "asc" ? 1 : -1;
    found.sort((a, b) => sign * (a[field] < b[field] ? -1 : a[field] > b[field] ? 1 : 0));
    return page(found, query.limit, query.offset);
  }
}
