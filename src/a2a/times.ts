// Times as A2A writes them, and ids of artifacts, which a task must have the same ones of whenever somebody looks.
import { createHash } from "node:crypto";
import { timestamp } from "../ids.ts";

/** Now, as ISO 8601 in UTC with `Z`; strictly increasing in this process. */
export const now = (): string => timestamp().replace("+00:00", "Z");

/** The id of a task's artifact, by what the artifact is. */
export function artifactId(taskId: string, what: string): string {
  const hash = createHash("sha256").update(`${taskId}/${what}`).digest("hex");
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
