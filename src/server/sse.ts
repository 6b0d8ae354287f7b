// A reader of a run's event log on a socket: it takes what the socket takes, keeps the connection alive, and closes it the moment
// the run ends.
import { Readable } from "node:stream";
import type { LogReader } from "../runs/events.ts";
import type { Reply } from "./respond.ts";

/** Milliseconds between heartbeat comments, as on the hosted server. */
const HEARTBEAT_MS = 5000;

/**
 * Comment lines: one opens the stream for a reader that has nothing to read yet, the other keeps it alive. No blank line follows:
 * the official client would take that for the end of an event, because it still knows the last event's id.
 */
export const OPENING = ": stream\n";
const HEARTBEAT = ": heartbeat\n";

/**
 * Streams a reader's events.
 * @param prelude what to send before the reader's own events: a comment, or an event that it came too late for.
 */
export function eventStream(
  reply: Reply,
  reader: LogReader,
  headers: Readonly<Record<string, string>>,
  prelude = "",
): Response {
  return reply.stream(new ReaderStream(reader, prelude), "text/event-stream", headers);
}

class ReaderStream extends Readable {
  readonly #reader: LogReader;
  readonly #heartbeat: NodeJS.Timeout;
  #prelude: string;
  #wanted = false;
  #scheduled = false;

  constructor(reader: LogReader, prelude: string) {
    super({ encoding: "utf8" });
    this.#reader = reader;
    this.#prelude = prelude;
    // Events that are pushed in one turn of the event loop go out in one write.
    reader.onWake(() => {
      if (this.#scheduled || !this.#wanted) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#pump();
      });
    });
    this.#heartbeat = setInterval(() => {
      if (this.#wanted) this.push(HEARTBEAT);
    }, HEARTBEAT_MS).unref();
  }

  override _read(): void {
    this.#wanted = true;
    this.#pump();
  }

  #pump(): void {
    if (!this.#wanted || this.destroyed) return;
    // Not ended but broken: the client is to come back for the rest.
    if (this.#reader.lost) return void this.destroy(new Error("the client is too slow for this stream"));
    const ended = this.#reader.ended;
    const text = this.#prelude + this.#reader.read();
    this.#prelude = "";
    if (text !== "") this.#wanted = this.push(text);
    if (!ended) return;
    clearInterval(this.#heartbeat);
    this.#wanted = false;
    this.push(null);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#heartbeat);
    this.#reader.close();
    callback(error);
  }
}
