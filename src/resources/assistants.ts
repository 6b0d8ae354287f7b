// Assistants: configured instances of graphs. One per graph comes from the config, under the same id as on every Agent Server; callers
// make more. All of them are in memory, their versions are not.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../errors.ts";
import { isUuid, systemAssistantId, timestamp, uuid4 } from "../ids.ts";
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import type { Assistant, AssistantFields, NewAssistant } from "./assistant.ts";
import { matching, searchAssistants, type AssistantFilter, type AssistantQuery } from "./assistant-search.ts";
import { mirrored, type Settings } from "./assistant-settings.ts";
import { AssistantVersions } from "./assistant-versions.ts";
import { contains, page, type Json, type Page } from "./json.ts";
import { merged } from "./settings-size.ts";
import { followed, givenBefore, systemAssistant, type Given } from "./system-assistants.ts";

/** An assistant and, for a system assistant, what the config gave to it. */
interface Entry {
  readonly assistant: Assistant;
  readonly given: Given | undefined;
}

type Allows = (metadata: Json) => boolean;

const NO_SETTINGS: Settings = { config: {}, context: {} };
const idOf = (idOrGraph: string): string =>
  isUuid(idOrGraph) ? idOrGraph.toLowerCase() : systemAssistantId(idOrGraph);

export class Assistants {
  readonly #db: Database;
  readonly #versions: AssistantVersions;
  readonly #entries = new Map<string, Entry>();
  /** Graphs of the config. */
  #graphs: ReadonlySet<string> = new Set();
  #loaded = false;

  constructor(db: Database) {
    this.#db = db;
    this.#versions = new AssistantVersions(db);
  }

  /**
   * Takes over the graphs of the config; at start and whenever it changes. Graphs that have no assistant get theirs. The assistant of a
   * graph that left the config is kept with its versions, and seen again when the graph is back.
   * @param settings config and context by graph, as far as the environment gives them.
   */
  sync(
    graphs: readonly { readonly id: string; readonly description: string | null }[],
    settings: ReadonlyMap<string, Settings> = new Map(),
  ): void {
    this.#load();
    this.#graphs = new Set(graphs.map(({ id }) => id));
    for (const { id, description } of graphs) {
      const now: Given = { graph_id: id, description, ...(settings.get(id) ?? NO_SETTINGS) };
      const entry = this.#entries.get(systemAssistantId(id));
      if (entry === undefined) this.#store(systemAssistant(now), now);
      else if (entry.given !== undefined && !isDeepStrictEqual(entry.given, now)) this.#follow(entry, entry.given, now);
    }
  }

  #load(): void {
    if (this.#loaded) return;
    this.#loaded = true;
    for (const [, text] of this.#db.range(prefixRange(keys.assistants))) {
      const { given, ...assistant } = JSON.parse(text) as Assistant & { given?: Given };
      const before = given ?? givenBefore(assistant);
      if (given !== before) this.#store(assistant, before);
      else this.#entries.set(assistant.assistant_id, { assistant, given });
    }
  }

  /** Stores an assistant with the version that it is at, in one batch. */
  #store(assistant: Assistant, given: Given | undefined): Assistant {
    this.#commit({ assistant, given }, [this.#versions.writeOf({ ...assistant, created_at: assistant.updated_at })]);
    return assistant;
  }

  #commit(entry: Entry, more: readonly Write[]): void {
    const { assistant, given } = entry;
    const value = JSON.stringify(given === undefined ? assistant : { ...assistant, given });
    this.#db.write([{ key: keys.assistant(assistant.assistant_id), value }, ...more]);
    this.#entries.set(assistant.assistant_id, entry);
  }

  #follow({ assistant }: Entry, before: Given, now: Given): void {
    const writes = this.#versions.list(assistant.assistant_id).flatMap((version) => {
      const next = followed(version, before, now);
      return next === version ? [] : [this.#versions.writeOf({ ...next, updated_at: version.updated_at })];
    });
    this.#commit({ assistant: followed(assistant, before, now), given: now }, writes);
  }

  /** Whether the graph that a system assistant stands for is not in the config any more. */
  #isRetired({ given }: Entry): boolean {
    return given !== undefined && !this.#graphs.has(given.graph_id);
  }

  /** The assistant with this id, or the system assistant of the graph with this name. */
  find(idOrGraph: string): Assistant | undefined {
    const entry = this.#entries.get(idOf(idOrGraph));
    return entry === undefined || this.#isRetired(entry) ? undefined : entry.assistant;
  }

  /** @throws ApiError 404 */
  get(idOrGraph: string): Assistant {
    const assistant = this.find(idOrGraph);
    if (assistant === undefined) throw new ApiError(404, `Assistant "${idOrGraph}" not found${this.#why(idOrGraph)}`);
    return assistant;
  }

  /** The error for one that the caller may not see: that of one that does not exist. */
  notFound(idOrGraph: string): ApiError {
    return new ApiError(404, `Assistant "${idOrGraph}" not found`);
  }

  /** Whether runs of an assistant are for everybody: those of the graphs belong to nobody, so that no filter can be about them. */
  #isForAll({ assistant_id }: Assistant): boolean {
    return this.#entries.get(assistant_id)?.given !== undefined;
  }

  /**
   * The assistant that a run names.
   * @param allows what the caller sees, by metadata; assistants of graphs are for everybody. @throws ApiError 404 that lists what there is.
   */
  forRun(idOrGraph: string, allows?: Allows): Assistant {
    const assistant = this.find(idOrGraph);
    const isHidden = assistant !== undefined && !this.#isUsable(assistant, allows);
    if (assistant === undefined || isHidden) {
      const why =
        (isHidden ? "" : this.#why(idOrGraph)) ||
        ". Make sure the assistant ID is for a valid assistant or a valid graph ID";
      throw new ApiError(404, `No assistant found for "${idOrGraph}"${why} (${this.#graphsHere()}).`);
    }
    const { graph_id, name, assistant_id } = assistant;
    if (!this.#graphs.has(graph_id)) {
      const which = `Assistant "${name}" (${assistant_id})`;
      throw new ApiError(
        404,
        `${which} is made of the graph "${graph_id}", which is not in the config (${this.#graphsHere()}).`,
      );
    }
    return assistant;
  }

  #isUsable(assistant: Assistant, allows: Allows | undefined): boolean {
    return allows === undefined || this.#isForAll(assistant) || allows(assistant.metadata);
  }

  /** Those that a caller may run. */
  usable(allows: Allows | undefined): Assistant[] {
    return this.#visible().filter((assistant) => this.#isUsable(assistant, allows));
  }

  /** Why an id that should be known is not, as the end of a sentence. */
  #why(idOrGraph: string): string {
    if (this.#entries.has(idOf(idOrGraph))) return ": its graph is not in the config any more";
    return this.#graphs.has(idOrGraph)
      ? ": it was deleted, and comes back when the server starts again or the config changes"
      : "";
  }

  #graphsHere(): string {
    return `graphs here: ${[...this.#graphs].join(", ")}`;
  }

  /**
   * Creates an assistant.
   * @param allows what the caller sees, by metadata. @throws ApiError 400 `config.configurable` and `context` differ; 404 unknown graph; 409 it exists and `if_exists` is `raise`.
   */
  create(fields: NewAssistant, allows?: Allows): Assistant {
    const settings = mirrored(fields);
    this.#checkGraph(fields.graph_id);
    const assistantId = fields.assistant_id ?? uuid4();
    const existing = this.#entries.get(assistantId);
    if (existing !== undefined) {
      const isSeen = allows === undefined || allows(existing.assistant.metadata);
      if (fields.if_exists === "do_nothing" && isSeen) return existing.assistant;
      throw new ApiError(409, `Assistant ${assistantId} already exists`);
    }
    const now = timestamp();
    return this.#store(
      {
        assistant_id: assistantId,
        graph_id: fields.graph_id,
        ...settings,
        created_at: now,
        updated_at: now,
        metadata: fields.metadata ?? {},
        version: 1,
        name: fields.name ?? "Untitled",
        description: fields.description ?? null,
      },
      undefined,
    );
  }

  /** Makes a new version, which is the latest one then; metadata is merged, one level deep. Throws as `create` does. */
  patch(idOrGraph: string, fields: AssistantFields): Assistant {
    const before = this.get(idOrGraph);
    const settings = mirrored(fields, before);
    if (fields.graph_id !== undefined) this.#checkGraph(fields.graph_id);
    return this.#store(
      {
        ...before,
        ...settings,
        graph_id: fields.graph_id ?? before.graph_id,
        metadata: merged(before.metadata, fields.metadata),
        name: fields.name ?? before.name,
        description: fields.description ?? before.description,
        version: this.#versions.highest(before.assistant_id) + 1,
        updated_at: timestamp(),
      },
      this.#entries.get(before.assistant_id)?.given,
    );
  }

  #checkGraph(graphId: string): void {
    if (!this.#graphs.has(graphId)) throw new ApiError(404, `Graph "${graphId}" not found (${this.#graphsHere()})`);
  }

  /** Versions of an assistant, newest first. @throws ApiError 404 */
  versions(idOrGraph: string, query: { metadata?: Json | undefined; limit: number; offset: number }): Page<Assistant> {
    const all = this.#versions.list(this.get(idOrGraph).assistant_id);
    const { metadata } = query;
    const found = metadata === undefined ? all : all.filter((version) => contains(version.metadata, metadata));
    return page(found, query.limit, query.offset);
  }

  /** Makes an earlier version the latest one, with everything that belongs to it. @throws ApiError 404 */
  setLatest(idOrGraph: string, version: number): Assistant {
    const { assistant_id: id, created_at } = this.get(idOrGraph);
    const found = this.#versions.find(id, version);
    if (found === undefined) throw new ApiError(404, `Assistant ${id} has no version ${version}`);
    const assistant: Assistant = { ...found, created_at, updated_at: timestamp() };
    this.#commit({ assistant, given: this.#entries.get(id)?.given }, []);
    return assistant;
  }

  /** Deletes an assistant with its versions, in one batch; nothing happens when it is gone already. */
  delete(assistantId: string): void {
    if (!this.#entries.has(assistantId)) return;
    this.#db.write([{ key: keys.assistant(assistantId), value: undefined }, ...this.#versions.deletion(assistantId)]);
    this.#entries.delete(assistantId);
  }

  #visible(): Assistant[] {
    return [...this.#entries.values()].filter((entry) => !this.#isRetired(entry)).map(({ assistant }) => assistant);
  }

  /** Newest first unless asked otherwise. */
  search(query: AssistantQuery): Page<Assistant> {
    return searchAssistants(this.#visible(), query);
  }

  /** How many match. */
  count(filter: AssistantFilter): number {
    return matching(this.#visible(), filter).length;
  }
}
