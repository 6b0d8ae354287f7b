// A stream of the project's own app that breaks: its reader sees no more than an end that comes too early, so that the error is told here.
import { FastResponse } from "srvx";

/** The same answer; `onBroken` is called when its body cannot be read to its end, but not when the client has left. */
export function watched(response: Response, onBroken: (error: unknown) => void): Response {
  // h3 gives these for everything; of finished text they know the length. (To `instanceof` all responses are such.)
  const isFast = Object.getPrototypeOf(response) === FastResponse.prototype;
  if (isFast && !isEventStream(response)) return response;
  const { body, status, statusText, headers } = response;
  if (!(body instanceof ReadableStream)) return response;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onBroken(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, statusText, headers });
}

const isEventStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;
