// The command `agent.getTree`: the tree of graphs of a run, as far as it is known.
import { ApiError } from "../errors.ts";
import type { Runs, RunStatus } from "../resources/runs.ts";
import type { ThreadRecord } from "../resources/threads.ts";
import type { RunEngine } from "../runs/engine.ts";
import type { TreeNode } from "./agent-tree.ts";
import { ProtocolError } from "./errors.ts";
import type { ProtocolSessions } from "./sessions.ts";

/** Runs that are looked through for the newest one that has begun; more do not wait on one thread. */
const MAX_WAITING = 20;

const STATUS_OF_RUN: Readonly<Record<RunStatus, TreeNode["status"]>> = {
  pending: "started",
  running: "running",
  success: "completed",
  error: "failed",
  interrupted: "interrupted",
  timeout: "failed",
};
const STATUS_OF_THREAD: Readonly<Record<ThreadRecord["status"], TreeNode["status"]>> = {
  idle: "completed",
  busy: "running",
  interrupted: "interrupted",
  error: "failed",
};

/**
 * The tree of a run, or of the newest one: the one in memory if it is that run's, or else its root as the records tell it.
 * @throws ProtocolError no_such_run
 */
export function treeOf(
  { sessions, runs, engine }: { sessions: ProtocolSessions; runs: Runs; engine: RunEngine },
  { thread_id: threadId, metadata, status }: ThreadRecord,
  runId: string | undefined,
): TreeNode {
  const session = sessions.find(threadId);
  const newest = (): string | undefined =>
    runs.list(threadId, { limit: MAX_WAITING, offset: 0 }).find(({ run }) => run.status !== "pending")?.run.run_id;
  const live = session !== undefined && session.runId === (runId ?? newest()) ? session.tree.root() : undefined;
  if (live !== undefined) return live;
  if (runId === undefined) {
    if (typeof metadata["graph_id"] !== "string")
      throw new ProtocolError("no_such_run", `Nothing has run on thread ${threadId} yet.`);
    return { namespace: [], status: STATUS_OF_THREAD[status], graph_name: metadata["graph_id"] };
  }
  try {
    const { run, graphId } = engine.record(threadId, runId);
    return { namespace: [], status: STATUS_OF_RUN[run.status], graph_name: graphId };
  } catch (error) {
    if (error instanceof ApiError) throw new ProtocolError("no_such_run", error.detail);
    throw error;
  }
}
