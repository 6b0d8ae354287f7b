// One WebSocket: commands come in, responses and events go out in one order. An event goes out once, however many subscriptions it fits; a new
// subscription first gets what has been. Nothing is sent ahead of what the client takes.
import { UNRESTRICTED } from "../auth/access.ts";
import { parseForeignJson } from "../json-text.ts";
import type { Json } from "../resources/json.ts";
import { validated } from "../resources/schema.ts";
import { subscribeParams, unsubscribeParams } from "./bodies.ts";
import { ProtocolError } from "./errors.ts";
import { matches, type EventFilter } from "./filter.ts";
import type { Replay } from "./replay.ts";
import { filterOf, type CommandResponse, type ConnectionRights, type ProtocolService } from "./service.ts";
import type { ThreadSession } from "./session.ts";
import type { LogFollower, LoggedEvent } from "./thread-log.ts";

/** Bytes on their way to the client; more wait in the log. */
const MAX_BUFFERED = 1024 * 1024;
/** Commands that wait for their turn, their characters together unless one alone has more, and subscriptions, per connection. */
const MAX_WAITING = 1000;
const MAX_WAITING_CHARS = 16 * 1024 * 1024;
const MAX_SUBSCRIPTIONS = 1000;

/** The codes of RFC 6455 that we close with. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

/** The other end. */
export interface Socket {
  /** @returns bytes that are on their way to the client and have not left. */
  send(text: string): number;
  close(code: number, reason: string): void;
}

/** What is sent to a new subscription before the events of now. */
interface Backlog extends Replay {
  readonly subscription: string;
  cursor: number;
  readonly end: number;
}

export class ProtocolConnection implements LogFollower {
  readonly #threadId: string;
  readonly #service: ProtocolService;
  readonly #socket: Socket;
  readonly #hidden: Json | undefined;
  readonly #rights: ConnectionRights;
  readonly #session: ThreadSession;
  readonly #disconnect: () => void;
  readonly #subscriptions = new Map<string, EventFilter>();
  #backlogs: Backlog[] = [];
  #commands: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingChars = 0;
  /** Lets the next command go, which waits for the client to take what was sent. */
  #goOn: (() => void) | undefined;
  #subscribed = 0;
  #full = false;
  #scheduled = false;
  #closed = false;
  /** The first event of now that was not looked at. */
  #live: number;

  /** @param hidden settings for the graph alone, from the headers of the request. @param rights what was asked for; all by default. */
  constructor(
    threadId: string,
    service: ProtocolService,
    socket: Socket,
    hidden: Json | undefined,
    rights: ConnectionRights = { access: UNRESTRICTED, isSeen: undefined },
  ) {
    this.#threadId = threadId;
    this.#service = service;
    this.#socket = socket;
    this.#hidden = hidden;
    this.#rights = rights;
    this.#session = service.session(threadId);
    this.#live = this.#session.log.lastSeq + 1;
    this.#disconnect = this.#session.connect(this);
  }

  /** The oldest event that is still to be sent to anybody. */
  get cursor(): number {
    return Math.min(this.#live, ...this.#backlogs.map((backlog) => backlog.cursor));
  }

  /** A message has come. Commands are carried out one after the other. */
  receive(text: string): void {
    const isFull = this.#waiting > 0 && this.#waitingChars + text.length > MAX_WAITING_CHARS;
    if (isFull || this.#waiting >= MAX_WAITING) return this.#close(POLICY_VIOLATION, "too many commands at once");
    this.#waiting++;
    this.#waitingChars += text.length;
    this.#commands = this.#commandAfter(this.#commands, text);
  }

  async #commandAfter(before: Promise<void>, text: string): Promise<void> {
    await before;
    // Nor is it answered ahead of what it takes.
    if (this.#full && !this.#closed) await new Promise<void>((resolve) => (this.#goOn = resolve));
    this.#waiting--;
    this.#waitingChars -= text.length;
    if (!this.#closed) await this.#command(text);
  }

  async #command(text: string): Promise<void> {
    let payload: unknown;
    try {
      payload = parseForeignJson(text);
    } catch (error) {
      const message = `The message is not valid JSON: ${(error as Error).message}`;
      return this.#send({ type: "error", id: null, error: "invalid_argument", message });
    }
    try {
      const { response } = await this.#service.command(this.#threadId, payload, {
        access: this.#rights.access,
        hidden: this.#hidden,
        commands: {
          "subscription.subscribe": (params) => this.#subscribe(params),
          "subscription.unsubscribe": (params) => this.#unsubscribe(params),
        },
      });
      this.#send(response);
    } catch (error) {
      this.#service.report(error);
      const id = (payload as { id: number }).id;
      this.#send({ type: "error", id, error: "unknown_error", message: "Internal Server Error" });
    }
    this.#pump();
  }

  async #subscribe(params: Json): Promise<{ subscription_id: string; replayed_events: number }> {
    const filter = filterOf(validated(subscribeParams, params));
    await this.#service.supported();
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new ProtocolError("invalid_argument", `A connection may have ${MAX_SUBSCRIPTIONS} subscriptions.`);
    const id = String(++this.#subscribed);
    const { cursor, wants } = this.#session.replays.begin(filter, undefined);
    const backlog: Backlog = { subscription: id, cursor, wants, end: this.#live };
    let replayed = 0;
    for (let seq = cursor; seq < backlog.end; seq++) {
      const event = this.#session.log.at(seq);
      if (event !== undefined && wants(event)) replayed++;
    }
    // The response goes first: the client must know the subscription when its events come. `#command` sends both.
    if (replayed > 0) this.#backlogs.push(backlog);
    this.#subscriptions.set(id, filter);
    return { subscription_id: id, replayed_events: replayed };
  }

  #unsubscribe(params: Json): Record<string, never> {
    const { subscription_id: id } = validated(unsubscribeParams, params);
    if (!this.#subscriptions.delete(id)) throw new ProtocolError("no_such_subscription", `No subscription "${id}"`);
    this.#backlogs = this.#backlogs.filter(({ subscription }) => subscription !== id);
    return {};
  }

  /** There are new events. Those of one turn of the event loop go out together. */
  wake(): void {
    if (this.#scheduled || this.#full || this.#closed) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** The client has taken what was sent. */
  drained(): void {
    this.#full = false;
    // A command comes first, or events would keep it waiting; they follow behind it.
    if (this.#goOn === undefined) this.#pump();
    else this.#next();
  }

  #next(): void {
    this.#goOn?.();
    this.#goOn = undefined;
  }

  #pump(): void {
    const { isSeen } = this.#rights;
    while (!this.#closed && !this.#full) {
      // The thread did not exist when the connection was opened, and has become somebody else's.
      if (isSeen?.() === false) return this.#close(POLICY_VIOLATION, "the thread is not yours");
      const event = this.#nextEvent();
      if (event === undefined) break;
      this.#write(event.json);
    }
    if (!this.#full && this.#session.log.closed) this.#close(GOING_AWAY, "the thread or the server is gone");
  }

  #nextEvent(): LoggedEvent | undefined {
    const { log } = this.#session;
    for (let backlog = this.#backlogs[0]; backlog !== undefined; backlog = this.#backlogs[0]) {
      while (backlog.cursor < backlog.end) {
        const event = log.at(backlog.cursor++);
        if (event !== undefined && backlog.wants(event)) return event;
      }
      this.#backlogs.shift();
    }
    while (this.#live <= log.lastSeq) {
      const event = log.at(this.#live++);
      if (event !== undefined && this.#wants(event)) return event;
    }
    return undefined;
  }

  #wants(event: LoggedEvent): boolean {
    for (const filter of this.#subscriptions.values()) if (matches(filter, event)) return true;
    return false;
  }

  cutOff(): void {
    this.#close(TRY_AGAIN_LATER, "the client is too slow for this stream");
  }

  #send(response: CommandResponse): void {
    if (!this.#closed) this.#write(JSON.stringify(response));
  }

  #write(text: string): void {
    if (this.#socket.send(text) > MAX_BUFFERED) this.#full = true;
  }

  #close(code: number, reason: string): void {
    if (this.#closed) return;
    this.closed();
    this.#socket.close(code, reason);
  }

  /** The socket is closed. */
  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#next();
    for (const filter of this.#subscriptions.values()) this.#session.replays.left(filter, this.#live);
    this.#disconnect();
  }
}
