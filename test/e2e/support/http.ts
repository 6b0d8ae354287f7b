// HTTP without a client library's opinions: any header (Host too), any body, and server-sent events frame by frame.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";

/** One complete answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is not. */
  readonly json: unknown;
}

/** One request. `body` is sent as JSON unless it is text. */
export interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** Sends a request and returns the answer when its head has come. */
export function open(url: string, method: string, path: string, sent: Sent = {}): Promise<IncomingMessage> {
  const { body } = sent;
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, {
      method,
      // A connection of its own: a test may break it.
      agent: false,
      headers: {
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        ...sent.headers,
      },
    });
    request.on("response", resolve);
    request.on("error", reject);
    request.end(text);
  });
}

/** Sends a request and reads the whole answer. */
export const call = async (url: string, method: string, path: string, sent: Sent = {}): Promise<Answer> =>
  answerOf(await open(url, method, path, sent), true);

/** Sends a request and reads the whole answer; of a stream of events only its beginning, and leaves it. */
export async function glance(url: string, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const response = await open(url, method, path, sent);
  const streams = response.headers["content-type"]?.startsWith("text/event-stream") === true;
  const answer = await answerOf(response, !streams);
  response.destroy();
  return answer;
}

async function answerOf(response: IncomingMessage, whole: boolean): Promise<Answer> {
  response.setEncoding("utf8");
  let text = "";
  for await (const chunk of response) {
    text += chunk;
    if (!whole) break;
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.statusCode!, headers: response.headers, text, json };
}

/** One server-sent event. */
export interface Frame {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

/** A stream of events that a test reads one by one, and may leave. */
export interface FrameStream extends AsyncIterableIterator<Frame> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The rest of the stream. */
  all(): Promise<Frame[]>;
  /** Breaks the connection. */
  leave(): void;
}

/** Opens a stream of events. */
export async function frames(url: string, method: string, path: string, sent: Sent = {}): Promise<FrameStream> {
  const response = await open(url, method, path, sent);
  const iterator = parse(response);
  return Object.assign(iterator, {
    status: response.statusCode!,
    headers: response.headers,
    all: () => collect(iterator),
    leave: () => void response.destroy(),
  });
}

async function* parse(response: IncomingMessage): AsyncGenerator<Frame, void, undefined> {
  response.setEncoding("utf8");
  let rest = "";
  for await (const chunk of response) {
    rest += chunk;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const fields = block
        .split("\n")
        .filter((line) => !line.startsWith(":"))
        .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()] as const);
      if (fields.length === 0) continue;
      const of = (name: string): string | undefined => fields.find(([field]) => field === name)?.[1];
      const id = of("id");
      yield { event: of("event") ?? "", data: JSON.parse(of("data") ?? "null"), ...(id === undefined ? {} : { id }) };
    }
  }
  // A comment may stand alone.
  if (/^[^:\n]/m.test(rest)) throw new Error(`the stream ended in the middle of a frame: ${rest}`);
}

/** Everything that an iterable gives. */
export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}
