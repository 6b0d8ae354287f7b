// Events on their way to one client that gets all of them: what it has not taken waits here. An event may be of any size; who does not read
// is let go, and not who reads slowly.
import { Readable } from "node:stream";

/** Milliseconds between comments that keep the connection alive, and between looks at whether the client reads. */
const PING_MS = 5000;
/** A comment, which clients read over. */
export const PING = ": ping\n\n";
/** Bytes of an event that are handed over at once, so that it shows whether they are taken. */
const PIECE = 256 * 1024;
/** Characters that may wait behind the event that is being sent, for a client that takes nothing of it between two looks. */
const MAX_UNREAD = 8 * 1024 * 1024;
/** Characters that may wait in any case, beside the largest event. */
const MAX_WAITING = 64 * 1024 * 1024;

export class OutgoingEvents extends Readable {
  readonly #pings: NodeJS.Timeout;
  readonly #maxWaiting: number;
  /** Events behind the one that is being sent. */
  readonly #waiting: string[] = [];
  #chars = 0;
  /** What is left of the event that is being sent. */
  #rest: Buffer | undefined;
  #wanted = false;
  #taken = false;
  #complete = false;

  constructor(maxWaiting: number = MAX_WAITING) {
    super();
    this.#maxWaiting = maxWaiting;
    this.#pings = setInterval(() => this.#look(), PING_MS).unref();
  }

  /** Sends an event: its text with the empty line at its end. */
  send(text: string): void {
    if (this.destroyed || this.#complete) return;
    this.#waiting.push(text);
    this.#chars += text.length;
    this.#pump();
    if (this.#chars <= this.#maxWaiting) return;
    const largest = this.#waiting.reduce((most, { length }) => Math.max(most, length), 0);
    if (this.#chars - largest > this.#maxWaiting) this.#letGo();
  }

  /** Ends the stream behind what was sent. */
  complete(): void {
    this.#complete = true;
    this.#pump();
  }

  override _read(): void {
    this.#wanted = true;
    this.#taken = true;
    this.#pump();
  }

  #pump(): void {
    while (this.#wanted && !this.destroyed) {
      this.#rest ??= this.#next();
      if (this.#rest === undefined) {
        if (this.#complete) this.#wanted = this.push(null);
        return;
      }
      const piece = this.#rest.subarray(0, PIECE);
      this.#rest = piece.length < this.#rest.length ? this.#rest.subarray(PIECE) : undefined;
      this.#wanted = this.push(piece);
    }
  }

  #next(): Buffer | undefined {
    const text = this.#waiting.shift();
    if (text === undefined) return undefined;
    this.#chars -= text.length;
    return Buffer.from(text);
  }

  #look(): void {
    if (this.#chars > MAX_UNREAD && !this.#taken) return this.#letGo();
    this.#taken = false;
    // Nothing is under way when more is wanted.
    if (this.#wanted) this.#wanted = this.push(PING);
  }

  #letGo(): void {
    this.destroy(new Error("the client does not read this stream"));
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#pings);
    this.#waiting.length = 0;
    this.#rest = undefined;
    callback(error);
  }
}
