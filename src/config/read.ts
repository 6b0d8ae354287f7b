// Reads a text file of the user's and says plainly what is wrong with it: editors and shells on Windows write BOMs and UTF-16,
// and "EISDIR: illegal operation on a directory, read" helps nobody.
import { readFile } from "node:fs/promises";
import { CliError, EXIT } from "../errors.ts";

/**
 * The text of `file`, without a BOM.
 * @throws CliError with one sentence when it cannot be read or is not UTF-8.
 */
export async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw readError(file, error);
  }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new CliError(`${file} is saved as UTF-16; it must be UTF-8.`, {
      exitCode: EXIT.usage,
      hint: "PowerShell's > writes UTF-16: save the file again as UTF-8 in your editor.",
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CliError(`${file} is not valid UTF-8 text.`, {
      exitCode: EXIT.usage,
      hint: "Save the file again as UTF-8 in your editor.",
      cause: error,
    });
  }
}

/** The error for a file that cannot be read, in one sentence. */
export function readError(file: string, cause: unknown): CliError {
  const code = errorCode(cause);
  const messages: Record<string, string> = {
    ENOENT: `${file} does not exist.`,
    ENOTDIR: `${file} does not exist: a part of its path is a file.`,
    EISDIR: `${file} is a folder; a file is needed.`,
    EACCES: `No permission to read ${file}.`,
    EPERM: `No permission to read ${file}.`,
    ELOOP: `${file} is a symbolic link that leads to itself.`,
    ENAMETOOLONG: `The path is longer than the file system allows: ${file}`,
  };
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = (code === undefined ? undefined : messages[code]) ?? `${file} cannot be read: ${reason}`;
  return new CliError(message, { exitCode: EXIT.usage, cause });
}

/** The `code` of a system error. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
