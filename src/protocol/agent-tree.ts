// The tree of graphs of a thread's newest run, as `agent.getTree` shows it.
import type { ObservedStep } from "../runs/observer.ts";

/** One graph of the tree. */
export interface TreeNode {
  readonly namespace: readonly string[];
  readonly status: ObservedStep["status"];
  readonly graph_name: string;
  readonly children?: readonly TreeNode[];
}

/** Graphs of one run that are remembered; a run that fans out into more shows these. */
const MAX_NODES = 10_000;

const keyOf = (namespace: readonly string[]): string => namespace.join("\u0000");

export class AgentTree {
  readonly #steps = new Map<string, ObservedStep>();

  /** A run begins: what was is forgotten. */
  begin(graphName: string): void {
    this.#steps.clear();
    this.record({ namespace: [], status: "running", graphName });
  }

  record(step: ObservedStep): void {
    const key = keyOf(step.namespace);
    if (this.#steps.size < MAX_NODES || this.#steps.has(key)) this.#steps.set(key, step);
  }

  /** Graphs below the root that have not ended, the deepest first. */
  open(): ObservedStep[] {
    return [...this.#steps.values()]
      .filter(({ namespace, status }) => namespace.length > 0 && (status === "started" || status === "running"))
      .toSorted((a, b) => b.namespace.length - a.namespace.length);
  }

  /** The tree from the root down; undefined when no run has begun. */
  root(): TreeNode | undefined {
    const nodes = new Map<string, TreeNode & { children?: TreeNode[] }>();
    const steps = [...this.#steps.values()].toSorted((a, b) => a.namespace.length - b.namespace.length);
    for (const { namespace, status, graphName } of steps) {
      const node = { namespace, status, graph_name: graphName };
      nodes.set(keyOf(namespace), node);
      const parent = namespace.length === 0 ? undefined : nodes.get(keyOf(namespace.slice(0, -1)));
      if (parent !== undefined) (parent.children ??= []).push(node);
    }
    return nodes.get("");
  }
}
