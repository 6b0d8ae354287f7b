// Where everything is stored: the one list of key layouts. Parts are joined by `/`; encoded parts hold neither `/` nor `:`, so no
// part can reach into another, whatever a client put into an id or a namespace.

import { LRUCache } from "lru-cache";
import { longId, SHORT_ID_CHARS, shortId } from "./short-id.ts";

/** One part of a key, safe and printable; order is kept for ASCII letters, digits, `-` and `_`. */
export const enc = (part: string): string => encodeURIComponent(part.toWellFormed());
/** The part before `enc`. */
export const dec = (part: string): string => decodeURIComponent(part);

/** An id as a part of a key: short if it is a UUID. */
function encId(id: string): string {
  const short = shortId(id);
  return short.length === SHORT_ID_CHARS && short !== id ? short : enc(short);
}

/** Thread ids come a dozen times per turn. */
const encodedThreads = new LRUCache<string, string>({ max: 500 });

function encThread(threadId: string): string {
  let part = encodedThreads.get(threadId);
  if (part === undefined) {
    part = encId(threadId);
    encodedThreads.set(threadId, part);
  }
  return part;
}

/** The id before `encId`. */
export const decId = (part: string): string => longId(dec(part));
/** The id that a key ends in. */
export const lastId = (key: string): string => decId(key.slice(key.lastIndexOf("/") + 1));

export const keys = {
  /** Version of this layout. */
  format: "meta/format",
  thread: (threadId: string) => `t/${enc(threadId)}`,
  threads: "t/",
  /** Threads that are to expire some time, so that a start need not read all threads to find them. */
  expiring: (threadId: string) => `ttl/${enc(threadId)}`,
  allExpiring: "ttl/",
  /** Threads that are being made as copies; what a crash left of such a one goes at the next start. */
  copying: (threadId: string) => `copy/${enc(threadId)}`,
  allCopying: "copy/",
  assistant: (assistantId: string) => `a/${enc(assistantId)}`,
  assistants: "a/",
  assistantVersion: (assistantId: string, version: number) =>
    `av/${enc(assistantId)}/${version.toString(36).padStart(7, "0")}`,
  assistantVersions: (assistantId: string) => `av/${enc(assistantId)}/`,
  run: (threadId: string, runId: string) => `r/${encThread(threadId)}/${encId(runId)}`,
  runsOf: (threadId: string) => `r/${encThread(threadId)}/`,
  /** Runs that have not ended, in the order of their making: run id → thread id. */
  queued: (runId: string) => `q/${runId}`,
  queue: "q/",
  /** Kept runs without a thread of their caller's, which are asked for by their ids alone: run id → hidden thread. */
  keptRun: (runId: string) => `rk/${runId}`,
  /** Which run a digest of an Idempotency-Key made, and how that run ended when its own records are gone. */
  idempotencyKey: (digest: string) => `i/k/${digest}`,
  idempotencyKeys: "i/k/",
  idempotencyEnd: (digest: string) => `i/e/${digest}`,
  /** Events of resumable runs, numbered per run. */
  event: (threadId: string, runId: string, index: number) =>
    `e/${encThread(threadId)}/${encId(runId)}/${index.toString(36).padStart(7, "0")}`,
  eventsOf: (threadId: string, runId: string) => `e/${encThread(threadId)}/${encId(runId)}/`,
  /** Of which runs there are events, and how long they are kept. */
  eventLog: (runId: string) => `eh/${runId}`,
  eventLogs: "eh/",
  /** Everything that LangGraph keeps of a thread. */
  checkpointsOf: (threadId: string) => `k/${encThread(threadId)}/`,
  allCheckpoints: "k/",
  checkpoint: (threadId: string, ns: string, id: string) => `k/${encThread(threadId)}/c/${enc(ns)}/${encId(id)}`,
  checkpoints: (threadId: string, ns: string) => `k/${encThread(threadId)}/c/${enc(ns)}/`,
  checkpointNamespaces: (threadId: string) => `k/${encThread(threadId)}/c/`,
  /** Pending writes of one task at one checkpoint. */
  writes: (threadId: string, ns: string, id: string, taskId: string) =>
    `k/${encThread(threadId)}/w/${enc(ns)}/${encId(id)}/${encId(taskId)}`,
  writesOf: (threadId: string, ns: string, id: string) => `k/${encThread(threadId)}/w/${enc(ns)}/${encId(id)}/`,
  /** Channel values and the elements of list channels, numbered per channel. */
  part: (threadId: string, ns: string, channel: string, index: number) =>
    `k/${encThread(threadId)}/p/${enc(ns)}/${enc(channel)}/${index.toString(36).padStart(7, "0")}`,
  parts: (threadId: string, ns: string, channel: string) => `k/${encThread(threadId)}/p/${enc(ns)}/${enc(channel)}/`,
  /** Items of the long-term store; long-term-record.ts makes the keys below it, and those of their vectors below `v/`. */
  items: "s/",
  /** Values of the newest checkpoint as they are shown, when a superstep was interrupted halfway. */
  shownValues: (threadId: string) => `k/${encThread(threadId)}/v`,
  /** Pending writes as they were before a run changed them at a checkpoint of an earlier run. */
  undo: (threadId: string, runId: string, ns: string, id: string, taskId: string) =>
    `k/${encThread(threadId)}/u/${encId(runId)}/${enc(ns)}/${encId(id)}/${encId(taskId)}`,
  undoOf: (threadId: string, runId: string) => `k/${encThread(threadId)}/u/${encId(runId)}/`,
  undos: (threadId: string) => `k/${encThread(threadId)}/u/`,
  /** Webhooks to be sent, in the order of their making, those that were, and what is sent. */
  pendingDelivery: (id: string) => `w/p/${id}`,
  pendingDeliveries: "w/p/",
  finishedDelivery: (id: string) => `w/f/${id}`,
  finishedDeliveries: "w/f/",
  deliveryBody: (id: string) => `w/b/${id}`,
  /** Headers of one delivery, which are secrets: they are never shown. */
  deliveryHeaders: (id: string) => `w/h/${id}`,
  cron: (id: string) => `c/${id}`,
  crons: "c/",
  /** A2A tasks: those of a thread together; the thread of each; all in the order of their status; those that wait for an answer. */
  task: (threadId: string, taskId: string) => `x/t/${encThread(threadId)}/${encId(taskId)}`,
  tasksOf: (threadId: string) => `x/t/${encThread(threadId)}/`,
  taskThread: (taskId: string) => `x/i/${encId(taskId)}`,
  taskOrder: (time: string, taskId: string) => `x/o/${time}/${taskId}`,
  taskOrders: "x/o/",
  waitingTask: (threadId: string) => `x/w/${encThread(threadId)}`,
  waitingTasks: "x/w/",
  /** What the checkpoints of one run share: metadata and the names of the visible channels. */
  context: (threadId: string, contextId: string) => `k/${encThread(threadId)}/d/${enc(contextId)}`,
  contexts: (threadId: string) => `k/${encThread(threadId)}/d/`,
} as const;

/** The index in a key that `keys.part` or `keys.event` made. */
export const partIndex = (key: string): number => parseInt(key.slice(key.lastIndexOf("/") + 1), 36);
