// The vectors of the long-term store: as rows of a matrix in memory, and as text in the database. The matrix grows by blocks, so that
// growing copies nothing and a row stays where it is.

/** Size of a block; a store with few vectors takes one. */
const BLOCK_BYTES = 1024 * 1024;

/** Rows of `dims` floats each, 4 bytes a float. Rows of removed vectors are taken again. */
export class VectorMatrix {
  readonly #dims: number;
  readonly #rowsPerBlock: number;
  readonly #blocks: Float32Array[] = [];
  readonly #free: number[] = [];
  #rows = 0;

  constructor(dims: number) {
    this.#dims = dims;
    this.#rowsPerBlock = Math.max(1, Math.floor(BLOCK_BYTES / (4 * dims)));
  }

  /** Bytes that the matrix takes. */
  get bytes(): number {
    return this.#blocks.length * this.#rowsPerBlock * this.#dims * 4;
  }

  /** Copies a vector into the matrix. @returns its row. */
  add(vector: Float32Array): number {
    const row = this.#free.pop() ?? this.#rows++;
    const at = Math.floor(row / this.#rowsPerBlock);
    const block = (this.#blocks[at] ??= new Float32Array(this.#rowsPerBlock * this.#dims));
    block.set(vector, (row % this.#rowsPerBlock) * this.#dims);
    return row;
  }

  remove(row: number): void {
    this.#free.push(row);
  }

  /** The dot product of a row with `query`: for vectors of length 1, the cosine of their angle. */
  dot(query: Float32Array, row: number): number {
    const block = this.#blocks[Math.floor(row / this.#rowsPerBlock)]!;
    return dot(query, block, (row % this.#rowsPerBlock) * this.#dims);
  }
}

/** Of all numbers of `query` with as many of `block` from `at` on. */
function dot(query: Float32Array, block: Float32Array, at: number): number {
  // Four sums that do not wait for each other: twice as fast as one.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (const last = query.length - 3; i < last; i += 4) {
    a += query[i]! * block[at + i]!;
    b += query[i + 1]! * block[at + i + 1]!;
    c += query[i + 2]! * block[at + i + 2]!;
    d += query[i + 3]! * block[at + i + 3]!;
  }
  for (; i < query.length; i++) a += query[i]! * block[at + i]!;
  return a + b + c + d;
}

/** Scales a vector to length 1, in place; one of zeros stays. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) return vector;
  const factor = 1 / Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i]! *= factor;
  return vector;
}

/** Vectors of one item as text: `stamp`, a new line, and the floats in base64. `stamp` has no new line. */
export function encodeVectors(stamp: string, vectors: readonly Float32Array[]): string {
  const bytes = Buffer.concat(
    vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
  return `${stamp}\n${bytes.toString("base64")}`;
}

/** The vectors that `encodeVectors` wrote with the same stamp; undefined when there are none or the stamp is another one. */
export function decodeVectors(record: string | undefined, stamp: string, dims: number): Float32Array[] | undefined {
  if (record === undefined || record[stamp.length] !== "\n" || !record.startsWith(stamp)) return undefined;
  // In a buffer of its own: one of Node's pool may begin where no float can.
  const text = record.slice(stamp.length + 1);
  const floats = new Float32Array(Math.floor(Buffer.byteLength(text, "base64") / 4));
  Buffer.from(floats.buffer).write(text, "base64");
  return Array.from({ length: Math.floor(floats.length / dims) }, (_, i) => floats.subarray(i * dims, (i + 1) * dims));
}
