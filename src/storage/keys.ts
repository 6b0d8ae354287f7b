// Where everything is stored: the one list of key layouts. Parts are joined by `/`; encoded parts hold neither `/` nor `:`, so no
// part can reach into another, whatever a client put into an id or a namespace.

/** One part of a key, safe and printable; order is kept for ASCII letters, digits, `-` and `_`. */
export const enc = (part: string): string => encodeURIComponent(part);
/** The part before `enc`. */
export const dec = (part: string): string => decodeURIComponent(part);

export const keys = {
  /** Version of this layout. */
  format: "meta/format",
  thread: (threadId: string) => `t/${enc(threadId)}`,
  threads: "t/",
  assistant: (assistantId: string) => `a/${enc(assistantId)}`,
  assistants: "a/",
  run: (threadId: string, runId: string) => `r/${enc(threadId)}/${runId}`,
  runsOf: (threadId: string) => `r/${enc(threadId)}/`,
  /** Runs that have not ended, in the order of their making: run id → thread id. */
  queued: (runId: string) => `q/${runId}`,
  queue: "q/",
  /** Everything that LangGraph keeps of a thread. */
  checkpointsOf: (threadId: string) => `k/${enc(threadId)}/`,
  allCheckpoints: "k/",
  checkpoint: (threadId: string, ns: string, id: string) => `k/${enc(threadId)}/c/${enc(ns)}/${id}`,
  checkpoints: (threadId: string, ns: string) => `k/${enc(threadId)}/c/${enc(ns)}/`,
  checkpointNamespaces: (threadId: string) => `k/${enc(threadId)}/c/`,
  /** Pending writes of one task at one checkpoint. */
  writes: (threadId: string, ns: string, id: string, taskId: string) =>
    `k/${enc(threadId)}/w/${enc(ns)}/${id}/${enc(taskId)}`,
  writesOf: (threadId: string, ns: string, id: string) => `k/${enc(threadId)}/w/${enc(ns)}/${id}/`,
  /** Channel values and the elements of list channels, numbered per channel. */
  part: (threadId: string, ns: string, channel: string, index: number) =>
    `k/${enc(threadId)}/p/${enc(ns)}/${enc(channel)}/${index.toString(36).padStart(7, "0")}`,
  parts: (threadId: string, ns: string, channel: string) => `k/${enc(threadId)}/p/${enc(ns)}/${enc(channel)}/`,
  /** Items of the long-term store; long-term-record.ts makes the keys below it. */
  items: "s/",
  /** Values of the newest checkpoint as they are shown, when a superstep was interrupted halfway. */
  shownValues: (threadId: string) => `k/${enc(threadId)}/v`,
  /** What the checkpoints of one run share: metadata and the names of the visible channels. */
  context: (threadId: string, contextId: string) => `k/${enc(threadId)}/d/${enc(contextId)}`,
} as const;

/** The index in a key that `keys.part` made. */
export const partIndex = (key: string): number => parseInt(key.slice(key.lastIndexOf("/") + 1), 36);
