// Keeps the project's graphs loaded and current: loads them at start, loads again what a saved file touches, and goes on serving the
// last good version when that fails. A run holds its GraphVersion; nothing here ever changes one.
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { GraphSpec, ProjectConfig } from "../config/types.ts";
import { UnknownGraphError } from "./errors.ts";
import { evaluate } from "./evaluate.ts";
import { evaluateExport } from "./exports.ts";
import type { ExportResult, ExportSpec } from "./exports.ts";
import { createLoader } from "./loader.ts";
import type { ModuleLoader } from "./loader.ts";
import { nearestTsconfig } from "./missing.ts";
import { report } from "./report.ts";
import type { Attempt } from "./report.ts";
import { loadRuntime, packageFolder } from "./runtime.ts";
import { Slot } from "./slot.ts";
import type { Outcome } from "./slot.ts";
import type { GraphEvent, GraphVersion, LangGraphRuntime } from "./types.ts";
import { FileWatcher } from "./watch.ts";

/** What a host needs. */
export interface GraphHostOptions {
  readonly project: ProjectConfig;
  /** Whether to watch the files and load again on save. */
  readonly reload: boolean;
  /** Told of everything that happens to the graphs. */
  onEvent(event: GraphEvent): void;
}

/** The graphs of one project. The environment of the process must be set before `start` and `reconfigure`. */
export class GraphHost {
  readonly #onEvent: (event: GraphEvent) => void;
  readonly #watcher: FileWatcher | null;
  readonly #slots = new Map<string, Slot>();
  readonly #warned = new Set<string>();
  /** How the exports that are no graphs were loaded last, by file and name; gone when a file of theirs was saved. */
  readonly #exports = new Map<string, ExportResult>();
  /** Exports that are to be loaded again, or for the first time: what of them is watched until they are. */
  readonly #dueExports = new Map<string, Pick<ExportResult, "files" | "retry">>();
  readonly #exportListeners = new Set<() => void>();
  /** Counts what made loaded modules out of date. */
  #generation = 0;
  #project: ProjectConfig;
  #loader: Promise<ModuleLoader> | undefined;
  #runtime: Promise<LangGraphRuntime> | undefined;
  #tsconfigs: ReadonlySet<string> = new Set();
  // A package that was missing is remembered as missing; only a reset makes the loader look again.
  #stale = false;
  #closed = false;

  constructor({ project, reload, onEvent }: GraphHostOptions) {
    this.#project = project;
    this.#onEvent = onEvent;
    this.#watcher = reload
      ? new FileWatcher(
          (paths) => this.#onChange(paths),
          (error) => this.#warnOnce("watch", `${error.message}; saves there do not reload.`),
        )
      : null;
    for (const spec of project.graphs) this.#slots.set(spec.id, new Slot(spec));
  }

  /** Ids of all graphs in the order of the config, broken ones included. */
  get ids(): readonly string[] {
    return [...this.#slots.keys()];
  }

  /** Whether `close` was called: what fails from then on is no news. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Loads all graphs. A broken one is reported and stops no other.
   * @throws CliError when LangGraph is not installed.
   */
  async start(): Promise<void> {
    const runtime = this.runtime();
    const loading = Promise.all([runtime, this.#load([...this.#slots.values()], "loaded", runtime)]);
    await loading.catch((error: unknown) => {
      // What a close cuts short is no failure.
      if (!this.#closed) throw error;
    });
  }

  /** @throws UnknownGraphError */
  spec(id: string): GraphSpec {
    return this.#slot(id).spec;
  }

  /**
   * The current version of a graph; waits for its first load.
   * @throws UnknownGraphError
   * @throws GraphLoadError when it could never be loaded.
   */
  async get(id: string): Promise<GraphVersion> {
    const slot = this.#slot(id);
    await slot.settled;
    if (slot.current) return slot.current;
    throw slot.error ?? new Error(`Graph "${id}" was closed before it was loaded`);
  }

  /**
   * The LangGraph that the graphs run on.
   * @throws CliError when it is not installed.
   */
  runtime(): Promise<LangGraphRuntime> {
    this.#runtime ??= this.#findRuntime().catch((error: unknown) => {
      this.#runtime = undefined;
      throw error;
    });
    return this.#runtime;
  }

  /**
   * What a module of the user's exports, for what the config names beside graphs. It is loaded once, and again after a save.
   * @throws ExportError
   */
  async loadExport(spec: ExportSpec): Promise<unknown> {
    const name = `${spec.file}:${spec.exportName}`;
    let result = this.#exports.get(name);
    while (result === undefined) {
      const generation = this.#generation;
      const since = Date.now() + 1;
      // A module that never finishes to evaluate must not keep its own correction from being seen.
      if (!this.#dueExports.has(name)) this.#dueExports.set(name, { files: new Set([spec.file]), retry: [] });
      this.#watch(since);
      // oxlint-disable-next-line no-await-in-loop -- again only when a save came between
      const loaded = await evaluateExport(await this.#getLoader(), spec, this.#project.root);
      if (generation !== this.#generation) continue;
      result = loaded;
      this.#stale ||= result.missing;
      this.#exports.set(name, result);
      this.#dueExports.delete(name);
      this.#watch(since);
    }
    if (result.error !== null) throw result.error;
    return result.value;
  }

  /**
   * Calls `listener` when exports have to be loaded again, for those that are to be current before anybody asks. @returns a function
   * that ends it.
   */
  onExportsChange(listener: () => void): () => void {
    this.#exportListeners.add(listener);
    return () => this.#exportListeners.delete(listener);
  }

  /** A package as the project imports it; null when it is not installed. Rejects with what its modules throw. */
  async importPackage(specifier: string): Promise<Record<string, unknown> | null> {
    const loader = await this.#getLoader();
    const { root, graphs } = this.#project;
    for (const importer of new Set([join(root, "package.json"), ...graphs.map(({ file }) => file)])) {
      // oxlint-disable-next-line no-await-in-loop -- the first that has it wins
      const file = await loader.resolve(specifier, importer);
      if (file !== null) return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    }
    return null;
  }

  /** Takes over a changed config of the same root: loads what is new or different, and everything when `env` changed. */
  async reconfigure(project: ProjectConfig): Promise<void> {
    const everything = !isDeepStrictEqual(project.env, this.#project.env);
    this.#project = project;
    if (everything) {
      await (await this.#getLoader()).reset();
      this.#forgetExports();
    }
    const known = new Map(this.#slots);
    this.#slots.clear();
    const added: Slot[] = [];
    const changed: Slot[] = [];
    for (const spec of project.graphs) {
      const slot = known.get(spec.id);
      const next = slot ?? new Slot(spec);
      if (!slot) added.push(next);
      else if (everything || slot.spec.file !== spec.file || slot.spec.exportName !== spec.exportName)
        changed.push(slot);
      next.spec = spec;
      known.delete(spec.id);
      this.#slots.set(spec.id, next);
    }
    for (const removed of known.values()) this.#retire(removed);
    await Promise.all([this.#load(added, "loaded"), this.#load(changed, "reloaded")]);
    this.#watch();
  }

  /** Stops watching and loading. Versions that runs still hold go on working. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watcher?.close();
    for (const slot of this.#slots.values()) this.#retire(slot);
    const loader = this.#loader;
    this.#loader = undefined;
    await (await loader?.catch(() => undefined))?.close();
  }

  #forgetExports(names: Iterable<string> = this.#exports.keys()): void {
    this.#generation++;
    const gone = [...names];
    for (const name of gone) {
      const result = this.#exports.get(name);
      if (result !== undefined) this.#dueExports.set(name, result);
      this.#exports.delete(name);
    }
    if (gone.length > 0) for (const listener of this.#exportListeners) listener();
  }

  #slot(id: string): Slot {
    const slot = this.#slots.get(id);
    if (!slot) throw new UnknownGraphError(id, this.ids);
    return slot;
  }

  #getLoader(): Promise<ModuleLoader> {
    if (this.#closed) return Promise.reject(new Error("The graph host is closed"));
    this.#loader ??= createLoader(this.#project.root);
    return this.#loader;
  }

  #retire(slot: Slot): void {
    slot.cancel();
    slot.settle();
  }

  async #findRuntime(): Promise<LangGraphRuntime> {
    const { root, demo, graphs } = this.#project;
    const loader = await this.#getLoader();
    const files = [...new Set(graphs.map((spec) => spec.file))];
    return loadRuntime({
      root,
      files,
      fallback: demo,
      resolve: (specifier, importer) => loader.resolve(specifier, importer),
    });
  }

  // Without LangGraph every graph fails; then `before` rejects and says it once and better.
  async #load(slots: readonly Slot[], type: "loaded" | "reloaded", before?: Promise<unknown>): Promise<void> {
    if (slots.length === 0) return;
    const begun = performance.now();
    // The next whole millisecond: file times have fractions, and one from just before must not look newer.
    const since = Date.now() + 1;
    // A module that never finishes to evaluate must not keep its own correction from being seen.
    this.#watch(since);
    const attempts = await Promise.all(
      slots.map(async (slot): Promise<Attempt> => {
        const first = slot.current === null;
        return { slot, first, outcome: await slot.attempt((isNewest) => this.#attempt(slot, isNewest)) };
      }),
    );
    await before;
    if (this.#closed) return;
    this.#watch(since);
    for (const event of report(attempts, type, performance.now() - begun)) this.#onEvent(event);
    await Promise.all(
      attempts.filter(({ outcome }) => outcome === "loaded").map(({ slot }) => this.#warnOfCopies(slot.spec)),
    );
  }

  async #attempt(slot: Slot, isNewest: () => boolean): Promise<Outcome> {
    const { spec, current } = slot;
    const warn = (parts: readonly string[]): void => {
      const message = `Graph "${spec.id}" has its own ${parts.join(" and ")}; the server's own takes over.`;
      this.#warnOnce(`persistence ${spec.id}`, message);
    };
    const loader = await this.#getLoader();
    const result = await evaluate(loader, spec, this.#project.root, (current?.version ?? 0) + 1, warn);
    if (!isNewest()) return "superseded";
    this.#stale ||= result.missing;
    slot.current = result.version ?? current;
    slot.error = result.error;
    slot.files = result.files;
    slot.retry = result.retry;
    slot.settle();
    return result.error ? "failed" : "loaded";
  }

  #watch(since?: number): void {
    if (!this.#watcher || this.#closed) return;
    const slots = [...this.#slots.values()];
    const tsconfigs = slots.map(({ spec }) => nearestTsconfig(dirname(spec.file)));
    this.#tsconfigs = new Set(tsconfigs.filter((file) => file !== null));
    const exports = [...this.#exports.values(), ...this.#dueExports.values()];
    const files = [...slots, ...exports].flatMap((loaded) => [...loaded.files]);
    this.#watcher.set([...this.#tsconfigs, ...files], since);
  }

  #onChange(paths: readonly string[]): void {
    this.#reload(paths).catch((error: unknown) => {
      if (!this.#closed) this.#warn(`Reloading failed: ${String(error)}`);
    });
  }

  async #reload(paths: readonly string[]): Promise<void> {
    const resetAll = paths.some((path) => basename(path) === "tsconfig.json" && this.#tsconfigs.has(path));
    const slots = [...this.#slots.values()].filter(({ files }) => resetAll || paths.some((path) => files.has(path)));
    const exports = [...this.#exports, ...this.#dueExports].filter(
      ([, { files }]) => resetAll || paths.some((path) => files.has(path)),
    );
    if (slots.length === 0 && exports.length === 0) return;
    const loader = await this.#getLoader();
    if (resetAll || this.#stale) {
      this.#stale = false;
      await loader.reset();
      this.#forgetExports();
    } else {
      const retry = [...slots, ...exports.map(([, result]) => result)].flatMap((loaded) => loaded.retry);
      loader.invalidate([...paths, ...retry]);
      this.#forgetExports(exports.map(([name]) => name));
    }
    await this.#load(slots, "reloaded");
  }

  // Messages and commands of one copy mean nothing to another, and the errors that follow do not say so.
  async #warnOfCopies({ id, file }: GraphSpec): Promise<void> {
    const [{ folder }, loader] = await Promise.all([this.runtime(), this.#getLoader()]);
    for (const imported of await loader.packagesOf(file)) {
      if (!/[\\/]@langchain[\\/]langgraph[\\/]/.test(imported)) continue;
      const other = packageFolder(imported);
      const message = `Graph "${id}" imports another copy of @langchain/langgraph (${other}) than the server (${folder}). Install it once, at the root of the project.`;
      if (other !== folder) this.#warnOnce(`copy ${id} ${other}`, message);
    }
  }

  #warnOnce(key: string, message: string): void {
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.#warn(message);
  }

  #warn(message: string): void {
    this.#onEvent({ type: "warning", message });
  }
}
