// Makes events of the attempts to load a set of graphs.
import type { Outcome, Slot } from "./slot.ts";
import type { GraphEvent } from "./types.ts";

/** An attempt that has ended. */
export interface Attempt {
  readonly slot: Slot;
  readonly outcome: Outcome;
  /** Whether the graph had no good version before. */
  readonly first: boolean;
}

/** What to tell of `attempts`, which took `ms` together. */
export function report(attempts: readonly Attempt[], type: "loaded" | "reloaded", ms: number): GraphEvent[] {
  const loaded = attempts.filter(({ outcome }) => outcome === "loaded").map(({ slot }) => slot.spec.id);
  const events: GraphEvent[] = loaded.length > 0 ? [{ type, ids: loaded, ms }] : [];
  // Two graphs that fail for one reason, a broken file that both import, are reported together.
  const groups = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    if (attempt.outcome !== "failed") continue;
    const { location, message } = attempt.slot.error?.diagnostic ?? {};
    const key = JSON.stringify([message, location]);
    groups.set(key, [...(groups.get(key) ?? []), attempt]);
  }
  for (const group of groups.values()) {
    const error = group[0]?.slot.error;
    const ids = group.map(({ slot }) => slot.spec.id);
    if (error) events.push({ type: "failed", ids, error, firstLoad: group.every(({ first }) => first) });
  }
  return events;
}
