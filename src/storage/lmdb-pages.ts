// Looks at an LMDB data file without LMDB, which reads through a memory map and takes the process down on a damaged page (SIGABRT,
// SIGSEGV, SIGBUS). Walks the trees that the newest meta page names: every page in use has its own number, a kind, entries inside its
// bounds and exactly one parent, and every value is text. About 1 ms per MB; reads a page at a time.
import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Layout of the lmdb package's format 2 on 64-bit machines; numbers are little endian, entry offsets count from behind the header. */
const MAGIC = 0xbeefc0de;
const HEADER = 24;
const NODE_HEADER = 8;
const META_BYTES = 160;
/** Kinds of pages. */
const BRANCH = 1;
const LEAF = 2;
/** The value stands on pages of its own. */
const LONG_VALUE = 1;
/** The value is LMDB's record of another tree. */
const SUBTREE = 2;
/** The root of an empty tree. */
const NO_PAGE = 0xffffffffffffffffn;

class Damage extends Error {}

interface Trees {
  readonly fd: number;
  readonly pageSize: number;
  readonly lastPage: number;
  /** Pages that have been met. */
  readonly seen: Uint8Array;
}

/** Says what is wrong with a data file; undefined when it is whole, empty or absent from the start. */
export function findDamage(file: string): string | undefined {
  const fd = openSync(file, "r");
  try {
    const { size } = fstatSync(fd);
    if (size === 0) return undefined;
    const { pageSize, lastPage, free, main } = newestMeta(fd);
    if ((lastPage + 1) * pageSize > size)
      return `the data file ends at ${size} bytes and should have ${(lastPage + 1) * pageSize}`;
    const trees = { fd, pageSize, lastPage, seen: new Uint8Array(lastPage + 1) };
    // What is in the list of free pages are numbers, and not our text.
    walk(trees, free, false);
    walk(trees, main, true);
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(fd);
  }
}

function newestMeta(fd: number): {
  pageSize: number;
  lastPage: number;
  free: bigint;
  main: bigint;
  transaction: bigint;
} {
  const read = (at: number) => {
    const page = Buffer.alloc(META_BYTES);
    if (readSync(fd, page, 0, page.length, at) < page.length || page.readUInt32LE(24) !== MAGIC)
      throw new Damage("the data file does not begin like a database");
    return {
      pageSize: page.readUInt32LE(48),
      free: page.readBigUInt64LE(88),
      main: page.readBigUInt64LE(136),
      lastPage: Number(page.readBigUInt64LE(144)),
      transaction: page.readBigUInt64LE(152),
    };
  };
  const first = read(0);
  const second = read(first.pageSize);
  return first.transaction >= second.transaction ? first : second;
}

function walk(trees: Trees, root: bigint, isText: boolean): void {
  if (root === NO_PAGE) return;
  const page = Buffer.allocUnsafe(trees.pageSize);
  const left = [Number(root)];
  for (let number = left.pop(); number !== undefined; number = left.pop()) {
    take(trees, number, 1);
    readSync(trees.fd, page, 0, page.length, number * trees.pageSize);
    const kind = page.readUInt16LE(18) & (BRANCH | LEAF);
    const lower = HEADER + page.readUInt16LE(20);
    const upper = HEADER + page.readUInt16LE(22);
    const whole = Number(page.readBigUInt64LE(0)) === number && (kind === BRANCH || kind === LEAF);
    if (!whole || lower > upper || upper > page.length) throw new Damage(`page ${number} is not one of a tree`);
    for (let at = HEADER; at < lower; at += 2) {
      const entry = HEADER + page.readUInt16LE(at);
      if (entry < upper || entry + NODE_HEADER > page.length) throw new Damage(`page ${number} has an entry outside`);
      const low = page.readUInt32LE(entry);
      const flags = page.readUInt16LE(entry + 4);
      const value = entry + NODE_HEADER + page.readUInt16LE(entry + 6);
      if (kind === BRANCH) left.push(low + flags * 2 ** 32);
      else if ((flags & SUBTREE) === 0) checkValue(trees, page, { number, value, length: low, flags, isText });
    }
  }
}

function checkValue(
  trees: Trees,
  page: Buffer,
  entry: { number: number; value: number; length: number; flags: number; isText: boolean },
): void {
  const { number, value, length, flags, isText } = entry;
  const isLong = (flags & LONG_VALUE) !== 0;
  if (value + (isLong ? 8 : length) > page.length) throw new Damage(`page ${number} has a value outside`);
  let bytes = page.subarray(value, value + length);
  if (isLong) {
    const first = Number(page.readBigUInt64LE(value));
    take(trees, first, Math.ceil((HEADER + length) / trees.pageSize));
    if (!isText) return;
    bytes = Buffer.allocUnsafe(length);
    readSync(trees.fd, bytes, 0, length, first * trees.pageSize + HEADER);
  }
  if (isText && !isUtf8(bytes)) throw new Damage(`a value on page ${number} is not text`);
}

/** Marks pages as used by one entry of one tree. */
function take({ lastPage, seen }: Trees, first: number, count: number): void {
  if (first < 2 || first + count - 1 > lastPage) throw new Damage(`page ${first} is outside of the file`);
  for (let number = first; number < first + count; number++) {
    if (seen[number] !== 0) throw new Damage(`page ${number} is in two places`);
    seen[number] = 1;
  }
}
