// Breakpoints (`interrupt_before`, `interrupt_after`) of a run that is taken up again after a crash. LangGraph takes the next start for
// the resumption that a client asked for and runs past the breakpoint where it stopped; so whether it stood at one is decided before.
import type { GraphRunConfig, RunnableGraph } from "../graphs/types.ts";
import type { RunKwargs } from "../resources/runs.ts";
import type { StoredCheckpoint } from "../storage/checkpoints.ts";

/**
 * Whether the newest checkpoint of the run is one at which it had stopped, or was about to.
 * @param graph bound to a checkpointer that may be shallow.
 */
export async function standsAtBreakpoint(
  graph: RunnableGraph,
  { interrupt_before, interrupt_after }: RunKwargs,
  latest: StoredCheckpoint,
): Promise<boolean> {
  if (interrupt_before === undefined && interrupt_after === undefined) return false;
  // A fork is where a run begins, not where it stopped.
  if (latest.record.m["source"] !== "loop") return false;
  const nextAt = async (id: string): Promise<readonly string[]> => {
    const config: GraphRunConfig = {
      configurable: { thread_id: latest.threadId, checkpoint_ns: "", checkpoint_id: id },
    };
    return (await graph.getState(config)).next;
  };
  const next = await nextAt(latest.id);
  if (next.length === 0) return false;
  if (matches(interrupt_before, next)) return true;
  return latest.record.p !== undefined && matches(interrupt_after, await nextAt(latest.record.p));
}

function matches(breakpoints: RunKwargs["interrupt_before"], nodes: readonly string[]): boolean {
  if (breakpoints === undefined) return false;
  return breakpoints === "*" || nodes.some((node) => breakpoints.includes(node));
}
