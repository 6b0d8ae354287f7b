// Threads as clients see them. Values are JSON text already and are joined in as they are; the JSON of a head is kept as long as the head.
import type { THREAD_FIELDS } from "../resources/thread-bodies.ts";
import { extract, type ExtractPath } from "../resources/thread-extract.ts";
import type { ThreadRecord } from "../resources/thread-record.ts";
import { ttlJson } from "../resources/thread-ttl.ts";
import type { ThreadValues } from "../runs/values.ts";

type Field = (typeof THREAD_FIELDS)[number];

/** Names for values that are taken out of each thread. */
export type Extraction = readonly (readonly [alias: string, path: ExtractPath])[];

export class ThreadJson {
  readonly #values: ThreadValues;
  readonly #heads = new WeakMap<ThreadRecord, string>();

  constructor(values: ThreadValues) {
    this.#values = values;
  }

  /** A whole thread. @param include `ttl` beside the fields that every thread shows. */
  whole(record: ThreadRecord, include: readonly "ttl"[] = []): string {
    const ttl = include.includes("ttl") ? `,"ttl":${JSON.stringify(ttlJson(record))}` : "";
    return `${this.#open(record)}${ttl}}`;
  }

  /** A thread that was found: the fields that are asked for, and what is taken out of it. */
  found(record: ThreadRecord, select: readonly Field[] | undefined, extraction: Extraction | undefined): string {
    const extracted = extraction === undefined ? [] : [`"extracted":${this.#extracted(record, extraction)}`];
    if (select === undefined) return `${[this.#open(record), ...extracted].join(",")}}`;
    const fields = [...new Set(select)].map((field) => {
      const value = field === "values" ? this.#values.json(record.thread_id) : JSON.stringify(record[field]);
      return `${JSON.stringify(field)}:${value}`;
    });
    return `{${[...fields, ...extracted].join(",")}}`;
  }

  /** A thread without the bracket at its end. */
  #open(record: ThreadRecord): string {
    let head = this.#heads.get(record);
    if (head === undefined) {
      const { ttl: _, ...shown } = record;
      head = JSON.stringify(shown).slice(0, -1);
      this.#heads.set(record, head);
    }
    return `${head},"values":${this.#values.json(record.thread_id)}`;
  }

  #extracted(record: ThreadRecord, extraction: Extraction): string {
    let values: { readonly data: unknown } | undefined;
    // Values are read once, and only if a path leads there.
    const partOf = (root: ExtractPath["root"]): unknown =>
      root === "values" ? (values ??= { data: this.#values.data(record.thread_id) }).data : record[root];
    return JSON.stringify(Object.fromEntries(extraction.map(([alias, path]) => [alias, extract(path, partOf)])));
  }
}
