// Where this package lies on disk and what it is called; the same from src/ and from dist/.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Absolute path of the package's root folder, with a trailing separator. */
export const packageRoot: string = fileURLToPath(new URL("../../", import.meta.url));

/** Version of this package, e.g. `0.1.0`. */
export const version: string = readVersion();

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return (manifest as { version: string }).version;
}
