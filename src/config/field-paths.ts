// Paths of `store.index.fields` that no value can have anything at: the store would skip what it does not understand of them and embed
// nothing, or something else.
import type { Problem } from "./source.ts";

const NAME = String.raw`[^.[\]{}]*[^.[\]{}\s][^.[\]{}]*`;
const INDEX = String.raw`\[(?:\*|-?\d+)\]`;
const SEVERAL = String.raw`\{[^{}]+\}`;
const PATH = new RegExp(`^(?:${NAME}|${INDEX}|${SEVERAL})(?:\\.(?:${NAME}|${SEVERAL})|${INDEX}|${SEVERAL})*$`);

/** What is wrong with a path such as `a.b[*].{c,d}`; undefined when it can be followed. */
export function fieldPathProblem(path: string): Omit<Problem, "severity"> | undefined {
  if (isPath(path)) return undefined;
  return {
    message: `"store.index.fields" has a path that leads nowhere: ${JSON.stringify(path)}.`,
    hint: 'Write it like "title", "a.b", "a[0]", "a[*].b" or "a.{b,c}"; "$" is all of it.',
  };
}

function isPath(path: string): boolean {
  if (!PATH.test(path)) return false;
  return [...path.matchAll(/\{([^}]*)\}/g)].every(([, parts = ""]) =>
    parts.split(",").every((part) => isPath(part.trim())),
  );
}
