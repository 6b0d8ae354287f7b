// The content of a file as both sides of the reading of types compare it. Apart from extract.ts, so that the server never loads TypeScript.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Hash of the content of `file`; null when it cannot be read. */
export function hashFile(file: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("base64url");
  } catch {
    return null;
  }
}
