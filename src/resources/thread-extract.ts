// `extract` of a thread search: single values out of what may be large, under names that the caller chooses.
import { isObject, type Json } from "./json.ts";

/** Parts of a thread that a path may begin with. */
const ROOTS = ["values", "metadata", "config", "interrupts"] as const;
export type ExtractRoot = (typeof ROOTS)[number];

/** A parsed path: a part of the thread, and the steps from there: keys of objects and indexes of lists, from the end if negative. */
export interface ExtractPath {
  readonly root: ExtractRoot;
  readonly steps: readonly (string | number)[];
}

/** What a path looks like, for error messages and the API document. */
export const PATH_FORM = "a path from values, metadata, config or interrupts, such as values.messages[-1].content";

const STEP = /\.([^.[\]]+)|\[(-?\d{1,15})\]/y;

/** The path of such a text; undefined when it is none. */
export function parsePath(text: string): ExtractPath | undefined {
  const root = ROOTS.find((name) => text === name || text.startsWith(`${name}.`) || text.startsWith(`${name}[`));
  if (root === undefined) return undefined;
  const steps: (string | number)[] = [];
  STEP.lastIndex = root.length;
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text);
    if (match === null) return undefined;
    steps.push(match[1] ?? Number(match[2]));
  }
  return { root, steps };
}

/** What is at a path of a thread; null when there is nothing. `partOf` gives a part of the thread. */
export function extract({ root, steps }: ExtractPath, partOf: (root: ExtractRoot) => unknown): unknown {
  let value = partOf(root);
  for (const step of steps) {
    if (typeof step === "number") value = Array.isArray(value) ? (value as unknown[]).at(step) : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? (value as Json)[step] : undefined;
  }
  return value ?? null;
}
