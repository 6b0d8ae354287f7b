// The storage interface that everything durable goes through: ordered string keys, string values, atomic batches.
// unstorage has neither batches with deletes nor range reads, so our drivers offer these beside the unstorage interface.
// It is synchronous on purpose: a check and the write that depends on it cannot be torn apart by another request.

/** One change: `value` undefined deletes the key. */
export interface Write {
  readonly key: string;
  readonly value: string | undefined;
}

/** Which keys a range read visits: `start` inclusive, `end` exclusive, in code-unit order of the keys. */
export interface Range {
  readonly start: string;
  readonly end: string;
  /** Newest first for keys that end in a time or counter. */
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** An ordered key-value database in this process. */
export interface Database {
  get(key: string): string | undefined;
  /** Commits all writes or none. When it returns, they survive SIGKILL of this process (with a persistent driver). */
  write(writes: readonly Write[]): void;
  /** Visits a consistent snapshot; the database may be written to while iterating. */
  range(range: Range): Iterable<readonly [key: string, value: string]>;
  /** Number of keys in a range, without reading values. */
  count(start: string, end: string): number;
  /** Bytes on disk; 0 in memory. */
  size(): number;
  close(): Promise<void>;
}

/** LMDB refuses longer keys; no driver takes them, so that what works in memory works on disk. */
export const MAX_KEY_BYTES = 1978;

/** @throws RangeError when a key is too long; nothing is written then. */
export function checkKeys(writes: readonly Write[]): void {
  for (const { key } of writes) {
    if (key.length > MAX_KEY_BYTES / 3 && Buffer.byteLength(key) > MAX_KEY_BYTES) {
      throw new RangeError(`a storage key would be longer than ${MAX_KEY_BYTES} bytes: ${key.slice(0, 60)}…`);
    }
  }
}

/** Number of keys that begin with `prefix` (which ends in a separator). */
export function countOf(database: Database, prefix: string): number {
  const { start, end } = prefixRange(prefix);
  return database.count(start, end);
}

/** The range of all keys that begin with `prefix` (which ends in a separator). */
export function prefixRange(prefix: string): { start: string; end: string } {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
