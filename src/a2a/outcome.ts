// How the end of a run leaves its task.
import type { RunRecord } from "../resources/runs.ts";
import type { InterruptJson, ThreadStatus } from "../resources/threads.ts";
import type { RunEnd } from "../runs/active.ts";
import { isTerminal, type Artifact, type Message, type Part, type TaskStatus } from "./model.ts";
import { interruptArtifact, messagesIn, promptParts, responseOf } from "./output.ts";
import type { TaskRecord } from "./tasks.ts";
import { artifactId, now } from "./times.ts";

/**
 * The task behind the end of its last run.
 * @param thread what the run leaves its thread in. @param values the JSON of the thread's values.
 */
export function outcomeOf(
  task: TaskRecord,
  record: RunRecord,
  end: RunEnd,
  { thread, values: left }: { readonly thread: ThreadStatus; readonly values: () => string },
): TaskRecord {
  const { before: _before, turn: _turn, ...head } = task;
  const runId = record.run.run_id;
  const stopped = (status: TaskStatus, artifacts: readonly Artifact[], at?: number): TaskRecord => ({
    ...head,
    status,
    artifacts,
    runs: head.runs.includes(runId) ? head.runs : [...head.runs, runId],
    ...(isTerminal(status.state) ? { end: at ?? messagesIn(JSON.parse(left())).length } : {}),
  });
  if (end.status === "interrupted") return stopped({ state: "canceled", timestamp: now() }, []);
  if (end.status !== "success") {
    const reason = record.error === undefined ? end.status : record.error.message;
    return stopped(saying(task, runId, "failed", [{ kind: "text", text: `Error executing assistant: ${reason}` }]), []);
  }
  const values = JSON.parse(end.json) as { __interrupt__?: InterruptJson[] };
  if (thread !== "interrupted") {
    return stopped(
      { state: "completed", timestamp: now() },
      responseOf(task.id, values, true),
      messagesIn(values).length,
    );
  }
  const interrupts = values.__interrupt__ ?? [];
  const status = saying(task, runId, "input-required", promptParts(interrupts));
  return stopped(status, [...responseOf(task.id, values, false), interruptArtifact(task.id, interrupts)]);
}

/** A task whose question is not open any more, because its conversation went on without an answer. */
export function superseded(task: TaskRecord): TaskRecord {
  const { before: _before, turn: _turn, ...head } = task;
  const text = "The conversation went on without an answer to what this task asked.";
  return { ...head, status: saying(task, task.runs.at(-1) ?? "", "canceled", [{ kind: "text", text }]), artifacts: [] };
}

/** A status with a message of the agent's. */
function saying(task: TaskRecord, runId: string, state: TaskStatus["state"], parts: readonly Part[]): TaskStatus {
  const message: Message = {
    messageId: artifactId(task.id, `${state} ${runId}`),
    role: "agent",
    parts,
    contextId: task.contextId,
    taskId: task.id,
  };
  return { state, timestamp: now(), message };
}
