// Pages of tasks: the last changed first, each page begins behind the last task of the one before, whatever has changed meanwhile.
import { RPC, RpcFailure } from "../json-rpc.ts";
import type { Threads } from "../resources/threads.ts";
import type { Addressed, Task, TaskState, TaskStatus } from "./model.ts";
import { seesContext } from "./rights.ts";
import { placeOf, type TaskHead, type TaskRecord, type Tasks } from "./tasks.ts";
import type { TaskViews } from "./views.ts";

/** Which tasks. */
export interface TaskQuery {
  readonly contextId?: string | undefined;
  readonly state?: TaskState | undefined;
  /** Only those whose status is of this time or later, in milliseconds. */
  readonly since?: number | undefined;
  readonly pageSize: number;
  readonly pageToken?: string | undefined;
  /** Messages of each; none when undefined. */
  readonly historyLength?: number | undefined;
  readonly includeArtifacts: boolean;
}

export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  /** Matches on all pages. */
  readonly totalSize: number;
}

interface Sources {
  readonly tasks: Tasks;
  readonly views: TaskViews;
  readonly threads: Threads;
}

/** @throws RpcFailure -32602 for a page token that is none. */
export function listTasks(sources: Sources, query: TaskQuery, to: Addressed): TaskPage {
  const { pageSize, pageToken, historyLength = 0, includeArtifacts } = query;
  const behind = pageToken === undefined || pageToken === "" ? undefined : placeIn(pageToken);
  const found: TaskHead[] = [];
  let totalSize = 0;
  for (const head of sources.tasks.heads(query.contextId?.toLowerCase())) {
    if (!matches(sources, head, query, to)) continue;
    totalSize++;
    // One more than the page has says whether there is another page.
    if (found.length <= pageSize && (behind === undefined || placeOf(head) < behind)) found.push(head);
  }
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tasks: page.flatMap(({ id }) => {
      const shown = current(sources, id);
      if (shown === undefined) return [];
      return [sources.views.view(shown.task, shown.status, { history: historyLength, artifacts: includeArtifacts })];
    }),
    nextPageToken:
      found.length > pageSize && last !== undefined ? Buffer.from(placeOf(last)).toString("base64url") : "",
    pageSize,
    totalSize,
  };
}

function matches(
  sources: Sources,
  head: TaskHead,
  { state, since }: TaskQuery,
  { assistant, owner, rights }: Addressed,
): boolean {
  if (head.assistantId !== assistant.assistant_id || head.owner !== owner) return false;
  if (!seesContext(sources.threads, rights, head.contextId)) return false;
  if (since !== undefined && Date.parse(head.timestamp) < since) return false;
  // Of a task that works, only the run knows how far it is, or that it is gone.
  const now = head.state === "submitted" ? current(sources, head.id)?.status.state : head.state;
  return now !== undefined && (state === undefined || state === now);
}

function current({ tasks, views }: Sources, id: string): { task: TaskRecord; status: TaskStatus } | undefined {
  const task = tasks.find(id);
  const status = task === undefined ? undefined : views.status(task);
  return task === undefined || status === undefined ? undefined : { task, status };
}

/** The place that a page token stands for. */
function placeIn(token: string): string {
  const place = Buffer.from(token, "base64url").toString();
  if (/^[\d-]{10}T[\d:.]+Z\/[0-9a-f-]{36}$/.test(place)) return place;
  throw new RpcFailure(RPC.invalidParams, "Invalid params: pageToken is not one of this server");
}
