// Keeps what was read from types, in memory and on disk, for as long as no file that it depends on changes. The types of a graph come
// from more files than the graph is run from, so an entry knows its own.
import { createHash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { hashFile } from "./hash.ts";
import type { Extraction } from "./extract.ts";

/** Graphs kept in memory. */
const MAX_ENTRIES = 100;
/** Files kept on disk. */
const MAX_FILES = 200;

interface Entry {
  readonly extraction: Extraction;
  /** What the files looked like when their contents were compared last. */
  readonly looks: Map<string, string>;
}

/** Extractions by a key that names the graph and everything that reads it. */
export class ExtractionCache {
  readonly #folder: string | null;
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES });

  /** @param folder Made when there is something to keep; null keeps nothing on disk. */
  constructor(folder: string | null) {
    this.#folder = folder;
  }

  /** The extraction of `key` if it is still true. A file that cannot be understood counts as none. */
  async get(key: string): Promise<Extraction | undefined> {
    const entry = this.#entries.get(key) ?? (await this.#read(key));
    if (entry === undefined || !isCurrent(entry)) return undefined;
    this.#entries.set(key, entry);
    return entry.extraction;
  }

  /** Keeps an extraction. @throws Error when the folder cannot be written; it is kept in memory even so. */
  async set(key: string, extraction: Extraction): Promise<void> {
    this.#entries.set(key, { extraction, looks: new Map() });
    if (this.#folder === null) return;
    await mkdir(this.#folder, { recursive: true });
    const file = this.#fileOf(key);
    const draft = `${file}.${randomUUID()}.tmp`;
    await writeFile(draft, JSON.stringify(extraction));
    await rename(draft, file);
    await this.#prune();
  }

  #fileOf(key: string): string {
    return join(this.#folder ?? "", `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
  }

  async #read(key: string): Promise<Entry | undefined> {
    if (this.#folder === null) return undefined;
    try {
      const extraction: unknown = JSON.parse(await readFile(this.#fileOf(key), "utf8"));
      return isExtraction(extraction) ? { extraction, looks: new Map() } : undefined;
    } catch {
      return undefined;
    }
  }

  async #prune(): Promise<void> {
    const folder = this.#folder ?? "";
    const names = await readdir(folder);
    if (names.length <= MAX_FILES) return;
    const ages = await Promise.all(
      names.map(async (name) => ({
        name,
        at: await stat(join(folder, name)).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      })),
    );
    const old = ages.toSorted((left, right) => left.at - right.at).slice(0, names.length - MAX_FILES);
    await Promise.all(old.map(({ name }) => rm(join(folder, name), { force: true })));
  }
}

/** Whether all files have the contents that they had. One that looks as it did the last time is not read again. */
function isCurrent({ extraction, looks }: Entry): boolean {
  return Object.entries(extraction.files).every(([file, hash]) => {
    const look = lookOf(file);
    if (looks.get(file) === look) return true;
    if ((look === "" ? null : hashFile(file)) !== hash) return false;
    looks.set(file, look);
    return true;
  });
}

function lookOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
}

function isExtraction(value: unknown): value is Extraction {
  if (typeof value !== "object" || value === null) return false;
  const { graph, subgraphs, files } = value as Partial<Record<keyof Extraction, unknown>>;
  const isObject = (each: unknown): boolean => typeof each === "object" && each !== null && !Array.isArray(each);
  return (graph === null || isObject(graph)) && isObject(subgraphs) && isObject(files);
}
