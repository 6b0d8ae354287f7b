// Long work over stored entries, in slices: between two of them everybody else gets a turn.

/** Entries of one slice, and characters of their keys and values, unless one entry alone has more. */
const SLICE_ENTRIES = 1000;
const SLICE_CHARS = 1024 * 1024;

type Entry = readonly [key: string, value: string];

/**
 * The entries of a range in slices. They are all of the one snapshot that is taken when the first slice is asked for. What fits into
 * one slice is done without a turn for others.
 */
export async function* slices(entries: Iterable<Entry>): AsyncGenerator<readonly Entry[], void, undefined> {
  let slice: Entry[] = [];
  let chars = 0;
  for (const entry of entries) {
    if (slice.length >= SLICE_ENTRIES || chars >= SLICE_CHARS) {
      yield slice;
      await new Promise((resolve) => setImmediate(resolve));
      slice = [];
      chars = 0;
    }
    slice.push(entry);
    chars += entry[0].length + entry[1].length;
  }
  if (slice.length > 0) yield slice;
}
