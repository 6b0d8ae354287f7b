// Pages of tasks: the last changed first, each page begins behind the last task of the one before, whatever has changed meanwhile.
import { changedMetadata, type Allows } from "../auth/access.ts";
import { isUuid } from "../ids.ts";
import { RPC, RpcFailure } from "../json-rpc.ts";
import { contains } from "../resources/json.ts";
import type { Threads } from "../resources/threads.ts";
import { isTerminal, type Addressed, type Task, type TaskState } from "./model.ts";
import { seesContext } from "./rights.ts";
import type { TaskNow, TaskStates } from "./states.ts";
import { placeOf, type TaskHead, type Tasks } from "./tasks.ts";
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
  readonly states: TaskStates;
  readonly views: TaskViews;
  readonly threads: Threads;
}

/** @throws RpcFailure -32602 for a page token that is none; ApiError 403, or what an auth handler throws. */
export async function listTasks(sources: Sources, query: TaskQuery, to: Addressed): Promise<TaskPage> {
  const { pageSize, pageToken, historyLength = 0, includeArtifacts } = query;
  const behind = pageToken === undefined || pageToken === "" ? undefined : placeIn(pageToken);
  const sees = await seenBy(to, query);
  const found: TaskHead[] = [];
  let totalSize = 0;
  for (const head of sources.tasks.heads(query.contextId?.toLowerCase())) {
    if (!matches(sources, head, query, to, sees)) continue;
    totalSize++;
    // One more than the page has says whether there is another page.
    if (found.length <= pageSize && (behind === undefined || placeOf(head) < behind)) found.push(head);
  }
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tasks: page.flatMap(({ id }) => {
      const shown: TaskNow | undefined = sources.states.find(id);
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
  { assistant, owner }: Addressed,
  sees: Allows | undefined,
): boolean {
  if (head.assistantId !== assistant.assistant_id || head.owner !== owner) return false;
  if (!seesContext(sources.threads, sees, head.contextId)) return false;
  if (since !== undefined && Date.parse(head.timestamp) < since) return false;
  const now = isTerminal(head.state) ? head.state : stateOf(sources, head.id);
  return now !== undefined && (state === undefined || state === now);
}

/** What a task is that has not ended when it was stored last. Nothing is stored while the list is gone through. */
function stateOf({ tasks, states }: Sources, id: string): TaskState | undefined {
  const task = tasks.find(id);
  return task === undefined ? undefined : states.look(task)?.state;
}

/** What of the tasks a caller sees, by the metadata of their contexts; everything when undefined. */
async function seenBy({ access }: Addressed, { contextId, pageSize }: TaskQuery): Promise<Allows | undefined> {
  if (access === undefined) return undefined;
  // A context that there cannot be has no tasks to ask about.
  if (contextId !== undefined && !isUuid(contextId)) return undefined;
  if (contextId !== undefined) {
    return (await access.authorize("threads:read", { thread_id: contextId.toLowerCase() })).allows;
  }
  const asked = { metadata: {}, limit: pageSize, offset: 0 };
  const { value, allows } = await access.authorize("threads:search", asked);
  const wanted = changedMetadata(value);
  if (Object.keys(wanted).length === 0) return allows;
  return (metadata) => contains(metadata, wanted) && allows?.(metadata) !== false;
}

/** The place that a page token stands for. */
function placeIn(token: string): string {
  const place = Buffer.from(token, "base64url").toString();
  if (/^[\d-]{10}T[\d:.]+Z\/[0-9a-f-]{36}$/.test(place)) return place;
  throw new RpcFailure(RPC.invalidParams, "Invalid params: pageToken is not one of this server");
}
