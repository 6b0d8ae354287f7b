// The id of a request, which every answer carries as `X-Request-Id`: clients show it with an error, and a log can be searched for it.
import { randomBytes } from "node:crypto";

/** Tells one process from the next; what follows is counted, because a random id per request would cost more than it tells. */
const PROCESS = randomBytes(4).toString("hex");
let made = 0;

/** What a client may call its request: a UUID, a trace id; nothing that could break a header or a log line. */
const SANE = /^[\w.:@+/=-]{1,128}$/;

/** The id that the client gave to the request in `X-Request-Id`; a new one when it gave none, or none that is sane. */
export function requestId(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && SANE.test(given) ? given : `${PROCESS}-${(++made).toString(36)}`;
}
