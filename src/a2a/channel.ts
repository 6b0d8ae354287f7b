// The way of a task's events to one client. Events may come before the client is connected, and a client that does not read is let go.
import type { RpcFailure } from "../json-rpc.ts";
import type { TaskEvent } from "./model.ts";

/** Where events go. */
export interface EventSink {
  event(event: TaskEvent): void;
  /** Nothing more comes; a failure is the reason why the task's own end is not told. */
  end(failure?: RpcFailure): void;
}

/** Events that wait for a client to be connected. */
const MAX_WAITING = 10_000;

export class EventChannel implements EventSink {
  readonly #onClose: (channel: EventChannel) => void;
  #waiting: TaskEvent[] = [];
  #sink: EventSink | undefined;
  #ended: { readonly failure: RpcFailure | undefined } | undefined;
  #closed = false;

  /** @param onClose called once, when nobody needs events any more. */
  constructor(onClose: (channel: EventChannel) => void) {
    this.#onClose = onClose;
  }

  event(event: TaskEvent): void {
    if (this.#closed) return;
    if (this.#sink !== undefined) this.#sink.event(event);
    else if (this.#waiting.length >= MAX_WAITING) this.close();
    else this.#waiting.push(event);
  }

  end(failure?: RpcFailure): void {
    if (this.#closed) return;
    this.#ended = { failure };
    if (this.#sink === undefined) return;
    this.#sink.end(failure);
    this.close();
  }

  /** Lets events out: those that waited first. */
  connect(sink: EventSink): void {
    if (this.#closed) return sink.end();
    this.#sink = sink;
    for (const event of this.#waiting.splice(0)) sink.event(event);
    if (this.#ended !== undefined) this.end(this.#ended.failure);
  }

  /** The client has left. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    this.#onClose(this);
  }
}
