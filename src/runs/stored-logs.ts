// The event logs of resumable runs: which there are, of runs that go on and of those that have ended, and when they go. Each has a
// record that names its thread and, behind the end of the run, its time; what that record does not vouch for is deleted at start.
import type { Timers } from "../clock.ts";
import type { RunRecord } from "../resources/runs.ts";
import type { BufferedDatabase } from "../storage/buffered.ts";
import { prefixRange, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import { headJson, StoredLog } from "./stored-log.ts";
import { runDoneJson } from "./thread-events.ts";

/** Keys that are deleted in one go. */
const BATCH = 500;
/** Milliseconds in which somebody who reads events must have got on, if they are kept for a shorter time. */
const READING_MS = 5000;

/** Seconds that events are kept behind the end of their run, unless RESUMABLE_STREAM_TTL_SECONDS says otherwise. */
const DEFAULT_SECONDS = 120;

/**
 * The time that `text` (RESUMABLE_STREAM_TTL_SECONDS) asks for.
 * @returns milliseconds, and what is wrong with the text when the default stands in for it.
 */
export function eventTtl(text: string | undefined): { readonly ms: number; readonly warning?: string } {
  const trimmed = text?.trim() ?? "";
  const seconds = trimmed === "" ? DEFAULT_SECONDS : Number(trimmed);
  if (seconds >= 0 && Number.isFinite(seconds)) return { ms: Math.ceil(seconds * 1000) };
  const warning = `RESUMABLE_STREAM_TTL_SECONDS must be a number of seconds, 0 or more, got "${trimmed.slice(0, 40)}"; events of resumable runs are kept for ${DEFAULT_SECONDS} seconds`;
  return { ms: DEFAULT_SECONDS * 1000, warning };
}

interface Entry {
  readonly runId: string;
  readonly threadId: string;
  log: StoredLog | undefined;
  /** Milliseconds since the epoch; undefined as long as the run has not ended. */
  expires: number | undefined;
  /** What readers had got when its time was over. */
  progress: number | undefined;
}

export class StoredLogs {
  readonly #db: BufferedDatabase;
  readonly #keepMs: number;
  readonly #clock: Timers;
  readonly #entries = new Map<string, Entry>();
  /** Entries of runs that have ended, the first to go first. */
  readonly #ended = new Set<Entry>();
  #callOff: (() => void) | undefined;
  #deleting: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param keepMs milliseconds that events are kept when their run has ended. */
  constructor(db: BufferedDatabase, keepMs: number, clock: Timers) {
    this.#db = db;
    this.#keepMs = keepMs;
    this.#clock = clock;
  }

  /** Finds out what is stored; at start, before runs are recovered. */
  load(): void {
    const ended: Entry[] = [];
    for (const [key, text] of this.#db.range(prefixRange(keys.eventLogs))) {
      const { thread_id: threadId, expires } = JSON.parse(text) as { thread_id: string; expires?: number };
      const runId = key.slice(keys.eventLogs.length);
      const entry: Entry = { runId, threadId, expires, log: undefined, progress: undefined };
      this.#entries.set(runId, entry);
      if (expires !== undefined) ended.push(entry);
    }
    for (const entry of ended.toSorted((a, b) => a.expires! - b.expires!)) this.#ended.add(entry);
    this.#expire();
  }

  /** Gives those their time whose runs ended without being able to say so; when runs are recovered. */
  settle(isActive: (runId: string) => boolean): void {
    for (const entry of this.#entries.values())
      if (entry.expires === undefined && !isActive(entry.runId)) this.#over(entry);
  }

  /** The log of a run that begins, or that goes on behind a stop of the server. */
  open({ run: { run_id: runId, thread_id: threadId } }: RunRecord): StoredLog {
    let entry = this.#entries.get(runId);
    if (entry === undefined) {
      entry = { runId, threadId, log: undefined, expires: undefined, progress: undefined };
      this.#entries.set(runId, entry);
    }
    return (entry.log = this.#log(entry, true));
  }

  #log(entry: Entry, open: boolean): StoredLog {
    const { threadId, runId } = entry;
    return new StoredLog({ db: this.#db, threadId, runId, open, onOver: () => this.#over(entry) });
  }

  /** The log of a run that is kept. */
  find(threadId: string, runId: string): StoredLog | undefined {
    const entry = this.#entries.get(runId);
    if (entry?.threadId !== threadId) return undefined;
    return (entry.log ??= this.#log(entry, entry.expires === undefined));
  }

  /** The thread of a run whose log is kept. */
  threadOf(runId: string): string | undefined {
    return this.#entries.get(runId)?.threadId;
  }

  /** The logs of a thread that are kept. */
  of(threadId: string): StoredLog[] {
    const found: StoredLog[] = [];
    for (const entry of this.#entries.values())
      if (entry.threadId === threadId) found.push(this.find(threadId, entry.runId)!);
    return found;
  }

  /** Makes sure that every event so far is stored. @throws Error when storage fails. */
  commit(): void {
    this.#db.flush();
  }

  /** Tells those who come back to a run that it was given up. */
  givenUp(record: RunRecord): void {
    if (!this.#entries.has(record.run.run_id)) return;
    const log = this.open(record);
    log.push("error", JSON.stringify(record.error));
    log.done(() => runDoneJson(record, record.run.status, false));
    log.close();
  }

  #over(entry: Entry): void {
    entry.expires = this.#clock.now() + this.#keepMs;
    this.#db.writeSoon([{ key: keys.eventLog(entry.runId), value: headJson(entry.threadId, entry.expires) }]);
    this.#ended.add(entry);
    this.#schedule();
  }

  #schedule(): void {
    const [first] = this.#ended;
    if (this.#callOff !== undefined || first === undefined || this.#stopped) return;
    this.#callOff = this.#clock.at(first.expires!, () => {
      this.#callOff = undefined;
      this.#expire();
    });
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const entry of this.#ended) {
      if (entry.expires! > now) break;
      this.#ended.delete(entry);
      const progress = entry.log?.progress;
      if (progress !== undefined && progress !== entry.progress) {
        // Somebody is still reading, slowly. A reader that stands still must not keep it for ever.
        entry.progress = progress;
        entry.expires = now + Math.max(this.#keepMs, READING_MS);
        this.#ended.add(entry);
      } else {
        entry.log?.expired();
        this.#delete(entry);
      }
    }
    this.#schedule();
  }

  /** The changes that make a run's events void; they go from storage when the changes are committed. */
  deletion(runId: string): Write[] {
    const entry = this.#entries.get(runId);
    if (entry === undefined) return [];
    entry.log?.dropped();
    this.#ended.delete(entry);
    this.#delete(entry);
    return [{ key: keys.eventLog(runId), value: headJson(entry.threadId, 0) }];
  }

  /** The changes that make all events of a thread void. */
  deletionOf(threadId: string): Write[] {
    const runs = [...this.#entries.values()].filter((entry) => entry.threadId === threadId);
    return runs.flatMap(({ runId }) => this.deletion(runId));
  }

  /** Deletes the events of a run, a batch per turn of the event loop; what it does not get to is found at the next start. */
  #delete(entry: Entry): void {
    const { runId, threadId } = entry;
    this.#entries.delete(runId);
    const work = async (): Promise<void> => {
      for (let from = 0, end = Infinity; from < end; from += BATCH) {
        await new Promise((resolve) => void setImmediate(resolve));
        if (this.#stopped) return;
        // The newest goes last, so that what is left can be found.
        ({ end } = entry.log ??= this.#log(entry, false));
        const count = Math.max(0, Math.min(BATCH, end - from));
        const gone = Array.from({ length: count }, (_, i) => keys.event(threadId, runId, from + i));
        const last = from + BATCH >= end ? [keys.eventLog(runId)] : [];
        this.#db.writeSoon([...gone, ...last].map((key) => ({ key, value: undefined })));
      }
    };
    // A disk that fails is reported where something is to be stored.
    this.#deleting = this.#deleting.then(work).catch(() => undefined);
  }

  /** Deletes nothing any more, because storage is about to be closed. */
  stop(): void {
    this.#stopped = true;
    this.#callOff?.();
  }
}
