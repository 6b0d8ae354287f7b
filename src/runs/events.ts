// The event log of one run: every reader has its own cursor and gets every event from where it joined; a reader that is slow or
// gone never slows the run or another reader. An event is serialised once, as the frame that goes onto the socket.

/** Events kept for a client that lost its connection and comes back with Last-Event-ID, when the run is not resumable. */
const RECONNECT_WINDOW = 1024;
/** Characters kept per run; beyond them the oldest events go, and a reader that far behind is cut off. */
const MAX_LOG_CHARS = 64 * 1024 * 1024;

/** One event, ready to send. Ids count from 0 within the run. */
interface LogEvent {
  readonly id: number;
  /** Stream mode that it belongs to, for readers that want only some; undefined for those that everybody gets. */
  readonly mode: string | undefined;
  readonly frame: string;
}

/** Where a reader begins: at the events to come, at the first kept, or behind an id. */
export type ReadFrom = "now" | "start" | { readonly after: number };

/** An SSE frame. `data` is JSON on one line. */
export function frame(event: string, data: string, id?: number): string {
  return id === undefined ? `event: ${event}\ndata: ${data}\n\n` : `event: ${event}\ndata: ${data}\nid: ${id}\n\n`;
}

export class EventLog {
  /** Keep every event, for clients that come later. */
  readonly resumable: boolean;
  readonly #readers = new Set<LogReader>();
  #events: LogEvent[] = [];
  #chars = 0;
  #next = 0;
  #hadReader = false;
  #closed = false;

  constructor(resumable: boolean) {
    this.resumable = resumable;
  }

  /** Whether anybody reads or may come to read: if not, the event need not even be serialised. */
  get wanted(): boolean {
    return this.resumable || this.#hadReader;
  }

  /** Says that a reader of everything is about to come. */
  expectReader(): void {
    this.#hadReader = true;
  }

  /** Characters that are kept. */
  get chars(): number {
    return this.#chars;
  }

  /** Somebody read, and nobody does any more. */
  get abandoned(): boolean {
    return this.#hadReader && this.#readers.size === 0;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Adds an event; `name` may carry a namespace (`updates|sub:…`). */
  push(name: string, data: string, mode: string | undefined = undefined): void {
    const id = this.#next++;
    if (!this.wanted || this.#closed) return;
    const event = { id, mode, frame: frame(name, data, id) };
    this.#events.push(event);
    this.#chars += event.frame.length;
    this.#trim();
    for (const reader of this.#readers) reader.wake();
  }

  /** Counts an event that nobody wants, so that ids stay those of the run. */
  skip(): void {
    this.#next++;
  }

  /** Drops what no reader needs any more. */
  #trim(): void {
    if (!this.resumable && this.#events.length > 2 * RECONNECT_WINDOW) {
      let drop = this.#events.length - RECONNECT_WINDOW;
      const first = this.#events[0]!.id;
      for (const reader of this.#readers) drop = Math.min(drop, reader.cursor - first);
      if (drop > 0) this.#drop(drop);
    }
    if (this.#chars > MAX_LOG_CHARS) {
      let drop = 0;
      // The newest stays, however large it is.
      const last = this.#events.length - 1;
      for (let chars = this.#chars; chars > MAX_LOG_CHARS / 2 && drop < last; drop++) {
        chars -= this.#events[drop]!.frame.length;
      }
      this.#drop(drop);
      const first = this.#events[0]?.id ?? this.#next;
      for (const reader of this.#readers) if (reader.cursor < first) reader.cutOff();
    }
  }

  #drop(count: number): void {
    for (const event of this.#events.splice(0, count)) this.#chars -= event.frame.length;
  }

  /** No more events; readers end when they have read what there is. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.wake();
  }

  /**
   * A reader of this log.
   * @param modes only events of these stream modes (and those of no mode); all when undefined.
   */
  reader(from: ReadFrom, modes?: ReadonlySet<string>): LogReader {
    this.#hadReader = true;
    const first = this.#events[0]?.id ?? this.#next;
    const cursor =
      from === "now" ? this.#next : from === "start" ? first : Math.max(first, Math.min(from.after + 1, this.#next));
    const reader: LogReader = new LogReader(this, cursor, modes, () => this.#readers.delete(reader));
    this.#readers.add(reader);
    return reader;
  }

  /** Frames from a cursor on, as one text; for readers. */
  framesFrom(cursor: number, modes: ReadonlySet<string> | undefined): { text: string; next: number } {
    const first = this.#events[0]?.id ?? this.#next;
    let text = "";
    for (let i = Math.max(0, cursor - first); i < this.#events.length; i++) {
      const event = this.#events[i]!;
      if (modes === undefined || event.mode === undefined || modes.has(event.mode)) text += event.frame;
    }
    return { text, next: this.#next };
  }
}

/** One reader's cursor. Call `read` when woken, until `ended`. */
export class LogReader {
  readonly #log: EventLog;
  readonly #modes: ReadonlySet<string> | undefined;
  readonly #leave: () => void;
  #listener: (() => void) | undefined;
  #cutOff = false;
  cursor: number;

  constructor(log: EventLog, cursor: number, modes: ReadonlySet<string> | undefined, leave: () => void) {
    this.#log = log;
    this.cursor = cursor;
    this.#modes = modes;
    this.#leave = leave;
  }

  /** Calls `listener` whenever there may be something to read. */
  onWake(listener: () => void): void {
    this.#listener = listener;
  }

  wake(): void {
    this.#listener?.();
  }

  /** All frames that are there now. */
  read(): string {
    const { text, next } = this.#log.framesFrom(this.cursor, this.#modes);
    this.cursor = next;
    return text;
  }

  /** Nothing more will come. */
  get ended(): boolean {
    return this.#log.closed;
  }

  /** The reader was too slow for the log's bound: events that it has not read are gone. */
  get lost(): boolean {
    return this.#cutOff;
  }

  cutOff(): void {
    this.#cutOff = true;
    this.wake();
  }

  close(): void {
    this.#listener = undefined;
    this.#leave();
  }
}
