// Reads server-sent events and keeps reading when the connection breaks. ofetch has no reader for them, and Node 20 has no EventSource.

/** One event; `data` is the raw text. */
export interface SseEvent {
  /** The last id that the stream gave, also when this event had none of its own. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Splits a byte stream into events. Comments are skipped; an event cut off by the end of the stream is dropped, as the standard says. */
export async function* parseSse(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  let id: string | undefined;
  let event = "";
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === "") {
      if (data.length > 0) yield { id, event: event || "message", data: data.join("\n") };
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) id = value;
  }
}

/** Lines that end in LF, CR LF or CR, whatever way the bytes were cut into chunks. */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // The decoder keeps a half character for the next chunk and drops a byte order mark.
  const decoder = new TextDecoder();
  // Pieces of the unfinished line: joined once, so that one huge event costs no quadratic time.
  let pieces: string[] = [];
  let afterCarriageReturn = false;
  for await (const chunk of body) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    if (afterCarriageReturn && text.startsWith("\n")) text = text.slice(1);
    afterCarriageReturn = text === "" ? false : text.endsWith("\r");
    const found = text.split(/\r\n|\n|\r/);
    for (const piece of found.slice(0, -1)) {
      pieces.push(piece);
      yield pieces.join("");
      pieces = [];
    }
    pieces.push(found.at(-1) ?? "");
  }
}

/** How {@link followSse} comes back after a break. */
export interface FollowOptions {
  readonly body: AsyncIterable<Uint8Array>;
  /** Opens the rest of the stream; without it a break is final. It throws what {@link isTransient} judges. */
  readonly reopen?: ((lastEventId: string | undefined) => Promise<AsyncIterable<Uint8Array>>) | undefined;
  /** Whether trying again can help. */
  isTransient(error: unknown): boolean;
  /** Waits before attempt `attempt` (from 1); throws when the caller gave up. */
  wait(ms: number): Promise<void>;
  readonly signal: AbortSignal;
}

/** Delays before the attempts after a break; one event that arrives starts them afresh. */
export const RETRY_DELAYS: readonly number[] = [250, 500, 1000, 2000, 4000, 5000];

/** The events of a stream; continues after the last seen one when the connection breaks. A clean end is the end. */
export async function* followSse(options: FollowOptions): AsyncGenerator<SseEvent> {
  let lastEventId: string | undefined;
  let failures = 0;
  let body: AsyncIterable<Uint8Array> | undefined = options.body;
  for (;;) {
    try {
      body ??= await options.reopen?.(lastEventId);
      if (!body) return;
      for await (const event of parseSse(body)) {
        failures = 0;
        lastEventId = event.id ?? lastEventId;
        yield event;
      }
      return;
    } catch (error) {
      const delay = RETRY_DELAYS[failures];
      if (options.signal.aborted || !options.reopen || delay === undefined || !options.isTransient(error)) throw error;
      failures += 1;
      body = undefined;
      await options.wait(delay);
    }
  }
}
