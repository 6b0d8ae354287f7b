// The events of one thread, numbered, kept within bounds, for readers that come later or come back. An event is serialised once; what a
// reader gets of it is that text. Readers have cursors of their own, so that a slow one holds nobody up.
import type { ObservedEvent } from "../runs/observer.ts";
import { channelOf, type Filterable } from "./filter.ts";

/** Events and characters kept per thread; beyond them the oldest go, and a reader that far behind is cut off. */
const MAX_EVENTS = 50_000;
const MAX_CHARS = 32 * 1024 * 1024;
/** As many events of the largest size may wait for a reader, if that is more: a step brings several that hold the whole state. */
const LARGE_EVENTS = 8;

/** An event as it is kept. */
export interface LoggedEvent extends Filterable {
  readonly seq: number;
  readonly method: string;
  /** Which run of the log it belongs to, counted from 1. */
  readonly run: number;
  /** It ends its run, or asks for input: no news any more when the run has a successor. */
  readonly passing: boolean;
  /** The whole event as JSON. */
  readonly json: string;
}

/** Somebody who reads a log. */
export interface LogFollower {
  /** The number of the next event to read. */
  readonly cursor: number;
  wake(): void;
  /** Events that were not read are gone. */
  cutOff(): void;
}

export class ThreadLog {
  readonly #followers = new Set<LogFollower>();
  #events: LoggedEvent[] = [];
  #next: number;
  #runs = 0;
  #chars = 0;
  /** Characters of the largest event that there was. */
  #largest = 0;
  #closed = false;

  /** @param base the log's numbers are greater than this. */
  constructor(base: number) {
    this.#next = base + 1;
  }

  /** The number of the newest event, or the one before the first. */
  get lastSeq(): number {
    return this.#next - 1;
  }

  /** The number of the oldest event that is kept, or of the next one. */
  get firstSeq(): number {
    return this.#events[0]?.seq ?? this.#next;
  }

  /** How many runs it has seen: the number of the newest one. */
  get runs(): number {
    return this.#runs;
  }

  /** Characters that are kept. */
  get chars(): number {
    return this.#chars;
  }

  /** Nothing more will come. */
  get closed(): boolean {
    return this.#closed;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** A run begins. @returns its number. */
  beginRun(): number {
    return ++this.#runs;
  }

  /** Adds an event of a run. `passing` is explained at `LoggedEvent`. */
  append({ method, namespace, timestamp, node, name, data }: ObservedEvent, run: number, passing = false): void {
    if (this.#closed) return;
    const seq = this.#next++;
    const from = node === undefined ? "" : `,"node":${JSON.stringify(node)}`;
    const json =
      `{"type":"event","event_id":"${seq}","seq":${seq},"method":${JSON.stringify(method)},` +
      `"params":{"namespace":${JSON.stringify(namespace)},"timestamp":${timestamp}${from},"data":${data}}}`;
    const channel = channelOf(method);
    const named = name === undefined ? undefined : `${channel}:${name}`;
    this.#events.push({ seq, method, channel, named, namespace, run, passing, json });
    this.#chars += json.length;
    this.#largest = Math.max(this.#largest, json.length);
    if (this.#chars > MAX_CHARS || this.#events.length > MAX_EVENTS) this.#trim();
    for (const follower of this.#followers) follower.wake();
  }

  /** The event with this number; undefined when it is gone or still to come. */
  at(seq: number): LoggedEvent | undefined {
    return this.#events[seq - this.firstSeq];
  }

  #trim(): void {
    // The newest stays, however large it is; and what is unread, as long as it is no more than some large events.
    const isRoom = this.#chars <= LARGE_EVENTS * this.#largest && this.#events.length <= MAX_EVENTS;
    const unread = isRoom ? Math.min(...Array.from(this.#followers, ({ cursor }) => cursor)) : Infinity;
    const last = this.#events.length - 1;
    const most = Math.min(last, Math.max(0, unread - this.firstSeq));
    let drop = 0;
    for (let chars = this.#chars; drop < most; drop++) {
      if (chars <= MAX_CHARS / 2 && last - drop < MAX_EVENTS / 2) break;
      chars -= this.#events[drop]!.json.length;
    }
    for (const event of this.#events.splice(0, drop)) this.#chars -= event.json.length;
    for (const follower of this.#followers) if (follower.cursor < this.firstSeq) follower.cutOff();
  }

  follow(follower: LogFollower): void {
    this.#followers.add(follower);
  }

  unfollow(follower: LogFollower): void {
    this.#followers.delete(follower);
  }

  /** Ends the log for all who read it. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#followers) follower.wake();
  }
}
