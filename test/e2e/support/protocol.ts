// Protocol v2 by hand: commands with plain fetch, and streams of events that a test reads up to a point.
import { join } from "node:path";
import { frames, type FrameStream } from "./http.ts";

/** The project whose graphs these tests know: test/fixtures/protocol-project. */
export const PROTOCOL_PROJECT = join(import.meta.dirname, "..", "..", "fixtures", "protocol-project");

/** All channels that events of this server are on. */
export const EVERYTHING = "values updates messages tools lifecycle input checkpoints tasks custom".split(" ");

export interface ProtocolEvent {
  readonly type: "event";
  readonly event_id: string;
  readonly seq: number;
  readonly method: string;
  readonly params: {
    readonly namespace: string[];
    readonly timestamp: number;
    readonly node?: string;
    readonly data: Record<string, unknown>;
  };
}

/** A response to a command, with the HTTP status that it came with. */
export interface Responded {
  readonly status: number;
  readonly type: string;
  readonly id: number | null;
  readonly result: Record<string, unknown>;
  readonly error?: string;
  readonly message?: string;
  readonly detail?: string;
  readonly meta?: { readonly thread_id: string; readonly applied_through_seq: number };
}

let commands = 0;

/** Sends a command over HTTP. */
export async function command(url: string, threadId: string, method: string, params?: unknown): Promise<Responded> {
  return post(url, threadId, { id: ++commands, method, ...(params === undefined ? {} : { params }) });
}

/** Sends anything where commands are expected. */
export async function post(url: string, threadId: string, body: unknown): Promise<Responded> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}/threads/${threadId}/commands`, { method: "POST", body: text });
  return { status: response.status, ...((await response.json()) as object) } as Responded;
}

/** Whether an event is the end of a run. */
export const isEnd = ({ method, params }: ProtocolEvent): boolean =>
  method === "lifecycle" && params.namespace.length === 0 && params.data["event"] !== "running";

/** Whether an event is the beginning of a run. */
export const isBeginning = ({ method, params }: ProtocolEvent): boolean =>
  method === "lifecycle" && params.namespace.length === 0 && params.data["event"] === "running";

/** A stream of events. */
export interface Events {
  readonly status: number;
  /** The next event. @throws Error when the stream ends instead. */
  next(): Promise<ProtocolEvent>;
  /** Events up to the first that matches, which is the last of them. */
  until(matches: (event: ProtocolEvent) => boolean): Promise<ProtocolEvent[]>;
  /** What comes until the stream ends. */
  rest(): Promise<ProtocolEvent[]>;
  /** Breaks the connection. */
  leave(): void;
}

/** Opens a stream of events. */
export async function events(url: string, threadId: string, body: unknown = {}): Promise<Events> {
  const filter = { channels: EVERYTHING, ...(body as object) };
  const stream = await frames(url, "POST", `/threads/${threadId}/stream/events`, { body: filter });
  return reading(stream);
}

function reading(stream: FrameStream): Events {
  const next = async (): Promise<ProtocolEvent> => {
    const { value, done } = await stream.next();
    if (done === true) throw new Error("the stream has ended");
    const frame = value as { event: string; id?: string; data: unknown };
    const event = frame.data as ProtocolEvent;
    if (frame.event !== event.method || frame.id !== String(event.seq))
      throw new Error(`the frame does not fit its event: ${JSON.stringify(frame)}`);
    return event;
  };
  return {
    status: stream.status,
    next,
    async until(matches) {
      const found: ProtocolEvent[] = [];
      for (;;) {
        const event = await next();
        found.push(event);
        if (matches(event)) return found;
      }
    },
    async rest() {
      const found: ProtocolEvent[] = [];
      for await (const frame of stream) found.push(frame.data as ProtocolEvent);
      return found;
    },
    leave: () => stream.leave(),
  };
}
