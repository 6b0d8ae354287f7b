// The event log of a resumable run: every event is stored, so that a client goes on behind the last one that it saw however late it
// comes, after a crash of the server too. Readers that keep up are served from memory; what they have read is not kept there.
import type { BufferedDatabase } from "../storage/buffered.ts";
import { prefixRange } from "../storage/database.ts";
import { keys, partIndex } from "../storage/keys.ts";
import { EventLog, frameBody } from "./events.ts";
import { type Chunk, CHUNK_CHARS } from "./log-reader.ts";
import { advanceStamp, nextStamp } from "./stamp.ts";
import { RUN_DONE, type RunHead } from "./thread-events.ts";

/** Characters in memory per log while somebody reads. */
const TAIL_CHARS = 256 * 1024;
/** Stored events that are read at once. */
const CHUNK_EVENTS = 500;
/** Mode of what only those see who follow the thread: how the run ended. */
const HIDDEN = "#";

/** An event as it is stored: mode, number on its thread, and the frame without its id. */
export interface StoredEvent {
  readonly mode: string;
  readonly stamp: number;
  readonly body: string;
}

const pack = ({ mode, stamp, body }: StoredEvent): string => `${mode}\n${stamp}\n${body}`;

function unpack(text: string): StoredEvent {
  const first = text.indexOf("\n");
  const second = text.indexOf("\n", first + 1);
  return { mode: text.slice(0, first), stamp: Number(text.slice(first + 1, second)), body: text.slice(second + 1) };
}

/** Whether a stored event belongs to the stream of the thread only. */
export const isHidden = ({ mode }: StoredEvent): boolean => mode === HIDDEN;

export interface StoredLogOptions {
  readonly db: BufferedDatabase;
  readonly threadId: string;
  readonly runId: string;
  /** The run may go on: events will come. */
  readonly open: boolean;
  /** Called when the run has ended, and with it the log. */
  readonly onOver: () => void;
}

export class StoredLog extends EventLog {
  readonly #options: StoredLogOptions;
  /** Events were stored that may not be committed yet. */
  #dirty = false;
  #headStored: boolean;
  #dropped = false;

  constructor(options: StoredLogOptions) {
    const newest = newestEvent(options);
    super(newest === undefined ? 0 : newest.id + 1);
    if (newest !== undefined) advanceStamp(newest.stamp);
    this.#options = options;
    this.#headStored = newest !== undefined;
    if (!options.open) super.close();
  }

  override get resumable(): boolean {
    return true;
  }

  override get wanted(): boolean {
    return true;
  }

  protected override get oldest(): number {
    return 0;
  }

  override begin(run: RunHead): void {
    // `run_start` is not stored, and has the number before the one of `metadata`, from which it can be told again.
    if (this.tap === undefined) nextStamp();
    super.begin(run);
  }

  override push(name: string, data: string, mode: string | undefined = undefined): void {
    if (this.closed) return;
    const stamp = this.tap?.put(name, data, "event") ?? nextStamp();
    const body = frameBody(name, data);
    const id = this.#store({ mode: mode ?? "", stamp, body });
    if (this.readers.size > 0) this.add({ id, mode, frame: `${body}id: ${id}\n\n` });
  }

  override done(data: () => string): void {
    if (this.closed) return;
    const json = data();
    const stamp = this.tap?.put(RUN_DONE, json, "done") ?? nextStamp();
    const id = this.#store({ mode: HIDDEN, stamp, body: frameBody(RUN_DONE, json) });
    // No gap in memory.
    if (this.readers.size > 0) this.add({ id, mode: HIDDEN, frame: "" });
  }

  #store(event: StoredEvent): number {
    const id = this.next++;
    if (this.#dropped) return id;
    const { db, threadId, runId } = this.#options;
    const write = { key: keys.event(threadId, runId, id), value: pack(event) };
    db.writeSoon(this.#headStored ? [write] : [{ key: keys.eventLog(runId), value: headJson(threadId) }, write]);
    this.#headStored = true;
    this.#dirty = true;
    return id;
  }

  override close(over = true): void {
    super.close(over);
    if (over && !this.#dropped) this.#options.onOver();
  }

  /** The run is taken back or deleted: its events are gone, and readers end. */
  dropped(): void {
    this.#dropped = true;
    super.close();
  }

  /** What those have got of it who have not got everything, as a number that grows; undefined when there are none. */
  get progress(): number | undefined {
    const behind = [...this.readers].filter((reader) => !reader.ended);
    return behind.length === 0 ? undefined : behind.reduce((sum, { cursor }) => sum + cursor, 0);
  }

  /** The time of the events is over; those who have not read them yet learn it. */
  expired(): void {
    for (const reader of this.readers) if (!reader.ended) reader.cutOff();
  }

  /** Everything is stored: memory holds what readers are about to read. */
  protected override trim(chars: number): void {
    if (chars > TAIL_CHARS) this.dropTo(TAIL_CHARS / 2, this.events.length);
  }

  protected override unread(): void {
    this.drop(this.events.length);
  }

  override framesFrom(cursor: number, modes: ReadonlySet<string> | undefined): Chunk {
    // A client must not know an event that a crash could take back.
    if (this.#dirty) this.#options.db.flush();
    this.#dirty = false;
    return super.framesFrom(cursor, modes);
  }

  protected override older(cursor: number, first: number, modes: ReadonlySet<string> | undefined): Chunk {
    let text = "";
    let last: number | undefined;
    for (const [id, event] of this.stored(cursor, first)) {
      last = id;
      if (isHidden(event) || (modes !== undefined && event.mode !== "" && !modes.has(event.mode))) continue;
      text += `${event.body}id: ${id}\n\n`;
      if (text.length >= CHUNK_CHARS) break;
    }
    // Nothing there: they are gone, with the run.
    return { text, next: last === undefined ? first : last + 1 };
  }

  /** Stored events from one id to another, but not more than are to be read at once. */
  *stored(from: number, to: number = this.next): Generator<readonly [id: number, event: StoredEvent]> {
    const { db, threadId, runId } = this.#options;
    const range = { start: keys.event(threadId, runId, from), end: keys.event(threadId, runId, to) };
    for (const [key, text] of db.range({ ...range, limit: CHUNK_EVENTS })) yield [partIndex(key), unpack(text)];
  }

  /** One stored event. */
  at(id: number): StoredEvent | undefined {
    const text = this.#options.db.get(keys.event(this.#options.threadId, this.#options.runId, id));
    return text === undefined ? undefined : unpack(text);
  }
}

/** The record of a log; `expires` is in milliseconds since the epoch, and absent as long as the run has not ended. */
export const headJson = (threadId: string, expires?: number): string =>
  JSON.stringify({ thread_id: threadId, ...(expires === undefined ? {} : { expires }) });

function newestEvent({ db, threadId, runId }: StoredLogOptions): { id: number; stamp: number } | undefined {
  const range = prefixRange(keys.eventsOf(threadId, runId));
  const [newest] = db.range({ ...range, reverse: true, limit: 1 });
  return newest === undefined ? undefined : { id: partIndex(newest[0]), stamp: unpack(newest[1]).stamp };
}
