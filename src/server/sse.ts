// A reader of an event log on a socket: it takes what the socket takes, keeps the connection alive, and closes it the moment the
// log ends; or breaks it, if the log goes on at the next start of the server.
import { Readable } from "node:stream";
import { frame } from "../runs/events.ts";
import type { LogReader } from "../runs/log-reader.ts";
import type { Joined } from "../runs/streams.ts";
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

/** Streams to a client that joins: it is told which run it is in the middle of, and goes on behind that if it comes back. */
export function joinedStream(
  reply: Reply,
  { reader, metadata }: Joined,
  headers: Readonly<Record<string, string>>,
): Response {
  const prelude = metadata === undefined ? OPENING : frame("metadata", metadata, reader.cursor - 1);
  return eventStream(reply, reader, headers, prelude);
}

class ReaderStream extends Readable {
  readonly #reader: LogReader;
  readonly #heartbeat: NodeJS.Timeout;
  #prelude: string;
  #wanted = false;
  #scheduled = false;
  #pumping = false;

  constructor(reader: LogReader, prelude: string) {
    super({ encoding: "utf8" });
    this.#reader = reader;
    this.#prelude = prelude;
    reader.onWake(() => {
      // A client that takes nothing any more is not waited for.
      if (reader.lost) this.destroy(new Error("the client is too slow for this stream"));
      else this.#schedule();
    });
    this.#heartbeat = setInterval(() => {
      if (this.#wanted) this.#wanted = this.push(HEARTBEAT);
    }, HEARTBEAT_MS).unref();
  }

  override _read(): void {
    this.#wanted = true;
    this.#pump();
  }

  /** Events that are pushed in one turn of the event loop go out in one write. */
  #schedule(): void {
    if (this.#scheduled || !this.#wanted) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#wanted && !this.destroyed) if (!this.#step()) break;
    } catch (error) {
      // What is stored cannot be read now; the client is to come back for it.
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#pumping = false;
    }
  }

  /** Sends a piece. @returns whether there is more to do at once. */
  #step(): boolean {
    const reader = this.#reader;
    // Not ended but broken: the client is to come back for the rest.
    if (reader.lost) throw new Error("the client is too slow for this stream");
    const text = this.#prelude + reader.read();
    this.#prelude = "";
    if (text !== "") this.#wanted = this.push(text);
    if (reader.ended) {
      clearInterval(this.#heartbeat);
      this.#wanted = false;
      if (reader.goesOn) this.#break();
      else this.push(null);
      return false;
    }
    if (reader.caughtUp) return false;
    // Nothing in this piece was for the reader: the next one is for the next turn, because others wait.
    if (text === "") this.#schedule();
    return text !== "";
  }

  /**
   * The run goes on when the server starts again. An end would say that the run is over; a broken connection lets the official client come
   * back for the rest. What was pushed in this turn goes out first.
   */
  #break(): void {
    setImmediate(() => this.destroy(new Error("the server stops")));
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#heartbeat);
    this.#reader.close();
    callback(error);
  }
}
