// The API keys that `dev` is given on its command line: one by one, and in a file.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { keysOfFile } from "../../auth/api-keys.ts";
import { CliError, EXIT } from "../../errors.ts";
import type { DevFlags } from "../commands/dev.ts";

/** @throws CliError when the file cannot be read or has no keys. */
export function givenKeys({ apiKey, apiKeyFile }: DevFlags, cwd: string): string[] {
  if (apiKeyFile === undefined) return [...apiKey];
  const path = resolve(cwd, apiKeyFile);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new CliError(`The file of --api-key-file cannot be read: ${path} (${code}).`, { exitCode: EXIT.usage });
  }
  const keys = keysOfFile(text);
  if (keys.length > 0) return [...apiKey, ...keys];
  // Without keys the server would be open, which nobody wants who names a file.
  throw new CliError(`The file of --api-key-file has no keys: ${path}.`, {
    exitCode: EXIT.usage,
    hint: `agent-server keys new >> ${apiKeyFile}`,
  });
}
