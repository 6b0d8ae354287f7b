// Following a thread: what happens on it, run after run (wire-api §1.2).
import { eventStreamShape } from "../../resources/shapes.ts";
import { seenBy, threadModes, threadStreamQuery } from "../../runs/stream-queries.ts";
import type { Route } from "../operation.ts";
import type { Services } from "../services.ts";
import { joinedStream } from "../sse.ts";

const DESCRIPTION = `The stream stays open from run to run, until the client leaves or the thread is deleted. \`stream_mode\` says what it has; several modes may be asked for:

- \`run_modes\` (the default): the events of every run, by the names and with the data that the run's own stream has, then \`run_done\`. A client that comes in the middle of a run is told which one by a \`metadata\` event.
- \`lifecycle\`: \`run_start\` and \`run_done\`.
- \`state_update\`: \`state_update\` behind every run and every change from outside, with the state that \`GET /threads/{thread_id}/state\` answers with.

Data of \`run_start\`: \`{run_id, thread_id, attempt, status: "running"}\`. Data of \`run_done\`: \`{run_id, thread_id, attempt, status}\` with the final status of the run, \`error\` {error, message} if it failed, and \`rolled_back: true\` if it was taken back. A run that is stopped before it begins has no \`run_start\`.

Ids are numbers that only grow, over restarts of the server too. Behind a \`Last-Event-ID\` comes what happened since: everything if the thread was followed in the last two minutes, else the kept events of runs with \`stream_resumable\`.`;

export function threadStreamRoutes(route: Route, { engine, threads }: Services): void {
  route(
    {
      method: "GET",
      path: "/threads/:thread_id/stream",
      tag: "Threads",
      access: "threads:read",
      summary: "follow everything that happens on the thread, run after run",
      description: DESCRIPTION,
      query: threadStreamQuery,
      headers: { "Last-Event-ID": "Goes on behind this event; `-1` or `-`: from the beginning of what is kept." },
      answers: {
        200: {
          means: "What happens on the thread, until the client leaves.",
          body: eventStreamShape,
          type: "text/event-stream",
          headers: { Location: "Path at which a client that lost the connection goes on." },
        },
      },
      errors: [404],
    },
    (context) => {
      const threadId = context.uuid("thread_id");
      const query = context.query();
      const seen = seenBy(context.header("last-event-id"), query.after);
      threads.get(threadId);
      const from = seen === undefined ? "now" : seen === "kept" ? "start" : { after: seen };
      const joined = engine.streams.feeds.follow(threadId, from, threadModes(query));
      const location = `/threads/${threadId}/stream?after=${joined.reader.cursor - 1}`;
      return joinedStream(context.reply, joined, { location });
    },
  );
}
