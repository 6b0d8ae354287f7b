// Reads the events of a run from a server, across broken connections; says so when it has to try again.
import { type Client, isConnectionError, type RequestOptions } from "./client.ts";
import type { Output } from "./output.ts";
import type { Cli } from "./program.ts";
import { followSse, type SseEvent } from "./sse.ts";

/** A stream, and where its rest is. */
export interface Followed {
  readonly cli: Cli;
  readonly client: Client;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** The open stream; opened from `path` when absent. */
  readonly body?: AsyncIterable<Uint8Array>;
  /** What to GET after a break; undefined when there is no way back. */
  readonly path: string | undefined;
  readonly query?: RequestOptions["query"];
}

/** The events of the stream until its clean end. */
export async function* followRun(followed: Followed): AsyncGenerator<SseEvent> {
  const { cli, client, output, signal, path, query = {} } = followed;
  const open = async (at: string, lastEventId: string | undefined): Promise<AsyncIterable<Uint8Array>> => {
    const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return (await client.stream("GET", at, { query, headers, signal })).body;
  };
  const body = followed.body ?? (path === undefined ? undefined : await open(path, undefined));
  if (!body) return;
  yield* followSse({
    body,
    reopen: path === undefined ? undefined : (lastEventId) => open(path, lastEventId),
    isTransient: isConnectionError,
    wait: async (ms) => {
      output.note(output.err.yellow(`connection lost, trying again in ${ms} ms`));
      await cli.io.sleep(ms, signal);
    },
    signal,
  });
}
