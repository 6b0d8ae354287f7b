// Ids of messages: a thread must have no two messages of one id, because the later one would take the place of the earlier. A client may use
// an id twice; its second message has an id of its own in the thread, and in the history of the task the one that the client gave.

const AGAIN = "#again-";
const MARK = /#again-[0-9a-f-]{36}$/;

/** Another id for a message, in which the client's is kept. @param unique a UUID. */
export const idAgain = (id: string, unique: string): string => `${id}${AGAIN}${unique}`;

/** The id that the client gave. */
export const clientId = (id: string): string => id.replace(MARK, "");
