// The semantic index of the long-term store: from the texts of an item to its vectors, and from a query to scores. What is stored is
// the truth; rows of the matrix are read when a search first meets their item.
import { ApiError } from "../errors.ts";
import type { Entry } from "./long-term-index.ts";
import { parsePath, type Path, textsAt } from "./long-term-paths.ts";
import type { ItemHead } from "./long-term-record.ts";
import { decodeVectors, encodeVectors, normalise, VectorMatrix } from "./long-term-vectors.ts";

/** Makes vectors of texts. What it gives is checked by whoever calls it. */
export interface Embedder {
  /** One vector per text, in their order. */
  embedDocuments(texts: string[]): Promise<unknown>;
  /** The vector of what somebody searches for. */
  embedQuery(text: string): Promise<unknown>;
  /** Gets ready, and tells by itself when it cannot. Never rejects. */
  check?(): Promise<void>;
}

/** Settings of a semantic index. */
export interface StoreIndex {
  /** Numbers in a vector, 1 or more. */
  readonly dims: number;
  /** Paths of the fields to embed; see parsePath. */
  readonly fields: readonly string[];
  /** Names what makes the vectors. Those that were made under another name, or for other dims or fields, are made anew. */
  readonly model: string;
  readonly embedder: Embedder;
}

/** What is to be embedded of one item. */
export interface ItemTexts {
  readonly index: ItemHead["index"];
  /** None twice. */
  readonly texts: readonly string[];
}

/** The vectors of an item, each of length 1, as a record for the database; it needs the sequence that the item gets. */
export type VectorRecord = (sequence: number) => string;

/** Where the vectors of an item are in the matrix. Most items have one, and a number takes less than a list of one. */
type Rows = number | readonly number[];
const NONE: Rows = [];

/** See StoreIndex. */
export class SemanticIndex {
  readonly #dims: number;
  readonly #model: string;
  readonly #fields: readonly string[];
  readonly #paths: readonly Path[];
  readonly #matrix: VectorMatrix;
  readonly #rows = new Map<Entry, Rows>();
  #embedder: Embedder;

  constructor({ dims, fields, model, embedder }: StoreIndex) {
    this.#dims = dims;
    this.#model = model;
    this.#fields = fields;
    this.#paths = fields.map(parsePath);
    this.#matrix = new VectorMatrix(dims);
    this.#embedder = embedder;
  }

  /** See Embedder. */
  async check(): Promise<void> {
    await this.#embedder.check?.();
  }

  /** Takes one that makes the same vectors; items that the one before could not embed are tried again. */
  replace(embedder: Embedder): void {
    this.#embedder = embedder;
    for (const [entry, rows] of this.#rows) if (rows === NONE) this.#rows.delete(entry);
  }

  /** Bytes of the vectors in memory. */
  get bytes(): number {
    return this.#matrix.bytes;
  }

  /** Whether vectors made with other settings are as good as those made with these. */
  fits({ dims, fields, model }: StoreIndex): boolean {
    return dims === this.#dims && model === this.#model && fields.join("\n") === this.#fields.join("\n");
  }

  /** What is to be embedded of an item: of its JSON, undefined for a delete, and the put's own `index`. */
  textsOf({ text, index }: { readonly text: string | undefined; readonly index: ItemHead["index"] }): ItemTexts {
    if (text === undefined || index === false) return { index, texts: [] };
    const value: unknown = JSON.parse(text);
    const paths = index === undefined ? this.#paths : index.map(parsePath);
    return { index, texts: [...new Set(paths.flatMap((path) => textsAt(value, path)))] };
  }

  /**
   * Embeds the texts of several items in one call.
   * @returns one record per item; undefined for those without texts.
   * @throws ApiError when the embedder fails, or gives something else than one vector of `dims` numbers per text.
   */
  async embed(items: readonly ItemTexts[]): Promise<(VectorRecord | undefined)[]> {
    const texts = [...new Set(items.flatMap((item) => item.texts))];
    if (texts.length === 0) return items.map(() => undefined);
    const given = await this.#embedder.embedDocuments([...texts]);
    if (!Array.isArray(given) || given.length !== texts.length) {
      const got = Array.isArray(given) ? `${given.length} vectors` : "no list of vectors";
      throw wrong(`gave ${got} for ${texts.length} texts`);
    }
    const vectors = new Map(texts.map((text, i) => [text, this.#vector(given[i])]));
    return items.map((item) => {
      if (item.texts.length === 0) return undefined;
      const own = item.texts.map((text) => vectors.get(text)!);
      return (sequence) => encodeVectors(this.#stamp(item.index, sequence), own);
    });
  }

  /** The vector of a query. @throws ApiError as `embed`. */
  async query(text: string): Promise<Float32Array> {
    return this.#vector(await this.#embedder.embedQuery(text));
  }

  /**
   * How near an item is to a query: the best cosine of its vectors, -1 to 1. Null when it has none and shall have none; undefined
   * when it has none of these settings yet.
   * @param stored reads the item's record of vectors.
   */
  score(query: Float32Array, entry: Entry, stored: () => string | undefined): number | null | undefined {
    const rows = this.#rows.get(entry) ?? this.#load(entry, stored);
    if (rows === undefined) return undefined;
    if (rows === NONE) return null;
    let best = -1;
    if (typeof rows === "number") best = this.#matrix.dot(query, rows);
    else for (const row of rows) best = Math.max(best, this.#matrix.dot(query, row));
    // Rounding may lead a little beyond.
    return Math.max(-1, Math.min(best, 1));
  }

  /** Settles that an item has no texts, or that they could not be embedded: `score` is null from now on. */
  settle(entry: Entry): void {
    this.#rows.set(entry, NONE);
  }

  /** Forgets an item that was deleted or replaced. */
  drop(entry: Entry): void {
    for (const row of [this.#rows.get(entry) ?? NONE].flat()) this.#matrix.remove(row);
    this.#rows.delete(entry);
  }

  #load(entry: Entry, stored: () => string | undefined): Rows | undefined {
    const { index, sequence } = entry.head;
    let rows: Rows = NONE;
    if (index !== false) {
      const vectors = decodeVectors(stored(), this.#stamp(index, sequence), this.#dims);
      if (vectors === undefined) return undefined;
      const added = vectors.map((vector) => this.#matrix.add(vector));
      rows = added.length === 1 ? added[0]! : added;
    }
    this.#rows.set(entry, rows);
    return rows;
  }

  /** What vectors depend on, beside the item's name: of another model, other fields or an earlier value they are worthless. */
  #stamp(index: ItemHead["index"], sequence: number): string {
    return JSON.stringify([this.#model, this.#dims, index ?? this.#fields, sequence]);
  }

  #vector(given: unknown): Float32Array {
    const isList = Array.isArray(given) || (ArrayBuffer.isView(given) && !(given instanceof DataView));
    if (!isList) throw wrong("gave a vector that is no list of numbers");
    const numbers = given as ArrayLike<unknown>;
    if (numbers.length !== this.#dims) {
      throw wrong(`gave a vector of ${numbers.length} numbers, but store.index.dims is ${this.#dims}`);
    }
    const vector = new Float32Array(this.#dims);
    for (let i = 0; i < this.#dims; i++) {
      const number = numbers[i];
      if (typeof number !== "number" || !Number.isFinite(number)) {
        throw wrong("gave a vector with something in it that is no finite number");
      }
      vector[i] = number;
    }
    return normalise(vector);
  }
}

function wrong(what: string): ApiError {
  return new ApiError(422, `store.index.embed ${what}`);
}
