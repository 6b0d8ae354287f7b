// A reader of a run's event log on a socket: it takes what the socket takes, keeps the connection alive, and closes it the moment
// the run ends.
import { Readable } from "node:stream";
import { frame } from "../runs/events.ts";
import type { LogReader } from "../runs/events.ts";
import type { Reply } from "./respond.ts";

/** Milliseconds between heartbeat comments, as on the hosted server. */
const HEARTBEAT_MS = 5000;

/**
 * Streams a reader's events.
 * @param first an event to send before the reader's own, so that a late reader too learns which run it reads.
 */
export function eventStream(
  reply: Reply,
  reader: LogReader,
  headers: Readonly<Record<string, string>>,
  first?: { event: string; data: string },
): Response {
  return reply.stream(
    new ReaderStream(reader, first === undefined ? "" : frame(first.event, first.data)),
    "text/event-stream",
    headers,
  );
}

class ReaderStream extends Readable {
  readonly #reader: LogReader;
  readonly #heartbeat: NodeJS.Timeout;
  #first: string;
  #wanted = false;
  #scheduled = false;

  constructor(reader: LogReader, first: string) {
    super({ encoding: "utf8" });
    this.#reader = reader;
    this.#first = first;
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
      if (this.#wanted) this.push(": heartbeat\n\n");
    }, HEARTBEAT_MS).unref();
  }

  override _read(): void {
    this.#wanted = true;
    this.#pump();
  }

  #pump(): void {
    if (!this.#wanted || this.destroyed) return;
    const ended = this.#reader.ended;
    const text = this.#first + this.#reader.read();
    this.#first = "";
    if (text !== "") this.#wanted = this.push(text);
    if (ended) this.push(null);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#heartbeat);
    this.#reader.close();
    callback(error);
  }
}
