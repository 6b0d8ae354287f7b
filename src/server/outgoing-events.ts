// Events on their way to one client that gets all of them: what it has not taken waits here. An event may be of any size. A client that takes
// nothing for a minute is let go when much waits for it; one that reads slowly is not, as long as what waits stays within its bounds.
import { Readable } from "node:stream";

/** Milliseconds between comments that keep the connection alive, and between looks at whether the client reads. */
const PING_MS = 5000;
/**
 * Looks in a row at which nothing was taken: a minute. It cannot be much less: a socket says that it has room when a good part of what the
 * system holds for it is gone, which is 1.5 MB on Linux, and a client that reads 25 kB a second takes as long for that.
 */
const IDLE_LOOKS = 12;
/** A comment, which clients read over. */
export const PING = ": ping\n\n";
/** Characters of small events that are joined, and bytes that are handed over at once: small, so that it shows whether they are taken. */
const PIECE = 16 * 1024;
/** Characters that may wait behind the piece that is being sent, for a client that takes nothing. */
const MAX_UNREAD = 8 * 1024 * 1024;
/** Characters that may wait in any case, beside the largest event. */
const MAX_WAITING = 64 * 1024 * 1024;

/** One event, or small ones that follow each other. */
interface Batch {
  text: string;
  /** Characters of the largest of its events. */
  largest: number;
}

export class OutgoingEvents extends Readable {
  readonly #pings: NodeJS.Timeout;
  readonly #maxWaiting: number;
  /** Events behind what is being sent, in batches: there are few of them, whatever the size of the events. */
  readonly #waiting: Batch[] = [];
  /** Characters in all of them. */
  #chars = 0;
  /** Characters of the largest event in them; undefined when it is not known. */
  #largest: number | undefined = 0;
  /** What is left of the batch that is being sent. */
  #rest: Buffer | undefined;
  #wanted = false;
  #taken = false;
  #idleLooks = 0;
  #complete = false;

  constructor(maxWaiting: number = MAX_WAITING) {
    super();
    this.#maxWaiting = maxWaiting;
    this.#pings = setInterval(() => this.#look(), PING_MS).unref();
  }

  /** Sends an event: its text with the empty line at its end. */
  send(text: string): void {
    if (this.destroyed || this.#complete) return;
    this.#add(text);
    this.#pump();
    if (this.#chars <= this.#maxWaiting) return;
    this.#largest ??= this.#waiting.reduce((most, { largest }) => Math.max(most, largest), 0);
    if (this.#chars - this.#largest > this.#maxWaiting) this.#letGo();
  }

  #add(text: string): void {
    const { length } = text;
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.text.length + length <= PIECE) {
      last.text += text;
      last.largest = Math.max(last.largest, length);
    } else this.#waiting.push({ text, largest: length });
    this.#chars += length;
    if (this.#largest !== undefined) this.#largest = Math.max(this.#largest, length);
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
    const batch = this.#waiting.shift();
    if (batch === undefined) return undefined;
    this.#chars -= batch.text.length;
    if (batch.largest === this.#largest) this.#largest = undefined;
    return Buffer.from(batch.text);
  }

  #look(): void {
    // Of a client that has taken everything, more is wanted.
    this.#idleLooks = this.#taken || this.#wanted ? 0 : this.#idleLooks + 1;
    this.#taken = false;
    if (this.#idleLooks >= IDLE_LOOKS && this.#chars > MAX_UNREAD) return this.#letGo();
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
