// One reader of an event log: where it stands in it, and whether it could keep up.

/** Characters that a reader gets at once, unless a single event is larger: what waits in the buffer of a slow client. */
export const CHUNK_CHARS = 256 * 1024;

/** Frames for a reader, and where it goes on. */
export interface Chunk {
  readonly text: string;
  readonly next: number;
}

/** What is read. */
export interface Source {
  /** No more events will come. */
  readonly closed: boolean;
  /** It is closed only because the server stops: what it tells of goes on at the next start. */
  readonly goesOn?: boolean;
  /** Id of the next event. */
  readonly end: number;
  /** Frames from a cursor on: a piece of what there is. @throws Error when the storage that they are in fails. */
  framesFrom(cursor: number, modes: ReadonlySet<string> | undefined): Chunk;
}

/** One reader's cursor. Call `read` when woken, until `ended`. */
export class LogReader {
  readonly #log: Source;
  readonly #modes: ReadonlySet<string> | undefined;
  readonly #leave: () => void;
  #listener: (() => void) | undefined;
  #cutOff = false;
  /** Id of the next event to read. */
  cursor: number;

  constructor(log: Source, cursor: number, modes: ReadonlySet<string> | undefined, leave: () => void) {
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

  /**
   * The next frames: a piece of what is there. Empty when there is nothing, or nothing that this reader wants in that piece.
   * @throws Error when the storage that they are in fails.
   */
  read(): string {
    const { text, next } = this.#log.framesFrom(this.cursor, this.#modes);
    this.cursor = next;
    return text;
  }

  /** Everything that is there has been read. */
  get caughtUp(): boolean {
    return this.cursor >= this.#log.end;
  }

  /** Everything has been read, and nothing more will come. */
  get ended(): boolean {
    return this.#log.closed && this.caughtUp;
  }

  /** What is read is not over: the client is to come back when the server is there again. */
  get goesOn(): boolean {
    return this.#log.goesOn === true;
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
