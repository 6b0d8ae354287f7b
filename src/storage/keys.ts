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
  assistant: (assistantId: string) => `a/${enc(assistantId)}`,
  assistants: "a/",
  run: (threadId: string, runId: string) => `r/${encThread(threadId)}/${encId(runId)}`,
  runsOf: (threadId: string) => `r/${encThread(threadId)}/`,
  /** Runs that have not ended, in the order of their making: run id → thread id. */
  queued: (runId: string) => `q/${runId}`,
  queue: "q/",
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
  /** Items of the long-term store; long-term-record.ts makes the keys below it. */
  items: "s/",
  /** Values of the newest checkpoint as they are shown, when a superstep was interrupted halfway. */
  shownValues: (threadId: string) => `k/${encThread(threadId)}/v`,
  /** Pending writes as they were before a run changed them at a checkpoint of an earlier run. */
  undo: (threadId: string, runId: string, ns: string, id: string, taskId: string) =>
    `k/${encThread(threadId)}/u/${encId(runId)}/${enc(ns)}/${encId(id)}/${encId(taskId)}`,
  undoOf: (threadId: string, runId: string) => `k/${encThread(threadId)}/u/${encId(runId)}/`,
  /** What the checkpoints of one run share: metadata and the names of the visible channels. */
  context: (threadId: string, contextId: string) => `k/${encThread(threadId)}/d/${enc(contextId)}`,
} as const;

/** The index in a key that `keys.part` made. */
export const partIndex = (key: string): number => parseInt(key.slice(key.lastIndexOf("/") + 1), 36);
