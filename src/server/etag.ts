// Tags of contents, by which clients ask whether what they have is still current.
import { createHash } from "node:crypto";

/** The ETag of a content. */
export const etagOf = (content: string | Uint8Array): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
