// The event log of one run: every reader has its own cursor and gets every event from where it joined; a reader that is slow or
// gone never slows the run or another reader. An event is serialised once, as the frame that goes onto the socket.
import { type Chunk, CHUNK_CHARS, LogReader, type Source } from "./log-reader.ts";
import {
  metadataJson,
  RUN_DONE,
  RUN_START,
  type RunHead,
  runStartJson,
  type ThreadEventKind,
} from "./thread-events.ts";

/** Events kept for a client that lost its connection and comes back with Last-Event-ID, when the run is not resumable. */
const RECONNECT_WINDOW = 1024;
/** Characters kept per run; beyond them the oldest events go, and a reader that far behind is cut off. */
const MAX_LOG_CHARS = 64 * 1024 * 1024;
/** Characters of events that all readers have read and that are kept for one that comes back. */
const RECONNECT_CHARS = 2 * 1024 * 1024;

/** One event, ready to send. */
export interface LogEvent {
  /** Counts up by one. */
  readonly id: number;
  /** What it belongs to, for readers that want only some; undefined for those that everybody gets. */
  readonly mode: string | undefined;
  readonly frame: string;
}

/** Where a reader begins: at the events to come, at the first kept, or behind an id. */
export type ReadFrom = "now" | "start" | { readonly after: number };

/** Where the events of a run go beside its own log: the feed of its thread, if somebody reads that. */
export interface Tap {
  /** Whether events are to be serialised for it. */
  readonly wanted: boolean;
  /** @returns the event's id there. */
  put(name: string, data: string, kind: ThreadEventKind): number;
  /** The state of the thread may be another one. */
  changed(): void;
}

/** An SSE frame without its id and its end. `data` is JSON on one line. */
export const frameBody = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n`;

/** An SSE frame. */
export function frame(event: string, data: string, id?: number): string {
  return id === undefined ? `${frameBody(event, data)}\n` : `event: ${event}\ndata: ${data}\nid: ${id}\n\n`;
}

export class EventLog implements Source {
  /** Set while somebody follows the thread. */
  tap: Tap | undefined;
  /** The newest events, without a gap up to `next`. */
  protected events: LogEvent[] = [];
  protected readonly readers = new Set<LogReader>();
  /** Id of the next event. */
  protected next: number;
  readonly #maxChars: number;
  #chars = 0;
  /** How many characters there may be before it is looked for those that all readers have read. */
  #lookAt = 2 * RECONNECT_CHARS;
  #begun = false;
  #hadReader = false;
  #leftEarly = false;
  #closed = false;
  #goesOn = false;

  /** @param next id of the first event. @param maxChars characters kept at most. */
  constructor(next = 0, maxChars: number = MAX_LOG_CHARS) {
    this.next = next;
    this.#maxChars = maxChars;
  }

  /** Whether every event is kept, from the first on. */
  get resumable(): boolean {
    return false;
  }

  /** Whether anybody reads or may come to read: if not, the event need not even be serialised. */
  get wanted(): boolean {
    return this.#hadReader || this.tap?.wanted === true;
  }

  /** Says that a reader of everything is about to come. */
  expectReader(): void {
    this.#hadReader = true;
  }

  /** Characters that are kept in memory. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether its first event is there: it is the one that says which run this is. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Somebody is waited for, or left before the end: a client whose connection broke may come back. */
  get abandoned(): boolean {
    return this.#hadReader && (this.#leftEarly || this.readers.size === 0);
  }

  /** Somebody reads, and has perhaps not got everything yet. */
  get watched(): boolean {
    return this.readers.size > 0;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Id of the next event. */
  get end(): number {
    return this.next;
  }

  /** Id of the first event in memory. */
  protected get first(): number {
    return this.events[0]?.id ?? this.next;
  }

  /** Id of the first event that can be read. */
  protected get oldest(): number {
    return this.first;
  }

  /** An execution of the run begins. */
  begin(run: RunHead): void {
    this.#begun = true;
    this.tap?.put(RUN_START, runStartJson(run), "start");
    this.push("metadata", metadataJson(run));
  }

  /** Adds an event; `name` may carry a namespace (`updates|sub:…`). */
  push(name: string, data: string, mode: string | undefined = undefined): void {
    const id = this.next++;
    if (this.#closed) return;
    this.tap?.put(name, data, "event");
    if (this.#hadReader) this.add({ id, mode, frame: frame(name, data, id) });
  }

  /** Counts an event that nobody wants, so that ids stay those of the run. */
  skip(): void {
    this.next++;
  }

  /** The run has ended; for those who follow its thread. `data` is what `run_done` says. */
  done(data: () => string): void {
    this.tap?.put(RUN_DONE, data(), "done");
  }

  /** Closed only because the server stops. */
  get goesOn(): boolean {
    return this.#goesOn;
  }

  /** No more events; readers end when they have read what there is. @param over false when the run goes on at the next start. */
  close(over = true): void {
    this.#closed = true;
    this.#goesOn = !over;
    for (const reader of this.readers) reader.wake();
  }

  /** Keeps an event in memory and tells the readers. */
  protected add(event: LogEvent): void {
    this.events.push(event);
    this.#chars += event.frame.length;
    this.trim(this.#chars);
    for (const reader of this.readers) reader.wake();
  }

  /** Characters that are kept at most. */
  protected get room(): number {
    return this.#maxChars;
  }

  /** Drops what no reader needs any more. */
  protected trim(chars: number): void {
    if (this.events.length > 2 * RECONNECT_WINDOW) {
      let drop = this.events.length - RECONNECT_WINDOW;
      for (const reader of this.readers) drop = Math.min(drop, reader.cursor - this.first);
      if (drop > 0) this.drop(drop);
    }
    if (chars > this.#lookAt && this.readers.size > 0) this.#dropRead();
    const { room } = this;
    if (chars <= room) return;
    // The newest stays, however large it is.
    this.dropTo(room / 2, this.events.length - 1);
    for (const reader of this.readers) if (reader.cursor < this.first) reader.cutOff();
  }

  /** Drops what all readers have read, but for the newest of it. */
  #dropRead(): void {
    let unread = this.next;
    for (const { cursor } of this.readers) unread = Math.min(unread, cursor);
    let kept = 0;
    // The newest of it that fit in, backwards from the last one, which may be on its way and stays.
    let count = Math.max(0, unread - this.first - 1);
    for (; count > 0; count--) {
      kept += this.events[count - 1]!.frame.length;
      if (kept > RECONNECT_CHARS) break;
    }
    this.drop(count);
    // Not before there is as much more of it again.
    this.#lookAt = this.#chars + RECONNECT_CHARS;
  }

  /** Drops the oldest until so many characters are left, but not more than `most` events. */
  protected dropTo(maxChars: number, most: number): void {
    let count = 0;
    for (let left = this.#chars; left > maxChars && count < most; count++) left -= this.events[count]!.frame.length;
    this.drop(count);
  }

  protected drop(count: number): void {
    for (const event of this.events.splice(0, count)) this.#chars -= event.frame.length;
  }

  /**
   * A reader of this log.
   * @param modes only events of these modes (and those of no mode); all when undefined.
   */
  reader(from: ReadFrom, modes?: ReadonlySet<string>): LogReader {
    this.#hadReader = true;
    const { oldest, next } = this;
    const cursor = from === "now" ? next : from === "start" ? oldest : clamp(from.after + 1, oldest, next);
    const reader: LogReader = new LogReader(this, cursor, modes, () => {
      if (!this.readers.delete(reader)) return;
      this.#leftEarly ||= !reader.ended;
      if (this.readers.size === 0) this.unread();
    });
    this.readers.add(reader);
    return reader;
  }

  /** The last reader has left. */
  protected unread(): void {}

  /** Frames from a cursor on: a piece of what there is. For readers. */
  framesFrom(cursor: number, modes: ReadonlySet<string> | undefined): Chunk {
    const { first } = this;
    const older = cursor < first ? this.older(cursor, first, modes) : undefined;
    if (older !== undefined) return older;
    let text = "";
    let i = Math.max(0, cursor - first);
    for (; i < this.events.length && text.length < CHUNK_CHARS; i++) {
      const event = this.events[i]!;
      if (modes === undefined || event.mode === undefined || modes.has(event.mode)) text += event.frame;
    }
    return { text, next: i < this.events.length ? first + i : this.next };
  }

  /** Frames from before the first event in memory; undefined where there are none. */
  protected older(_cursor: number, _first: number, _modes: ReadonlySet<string> | undefined): Chunk | undefined {
    return undefined;
  }
}

const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(value, max));
