// What `a2a send` and `a2a stream` say: text, data and files from the arguments.
import { readFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { CliError, EXIT } from "../../errors.ts";
import type { SayFlags } from "../commands/a2a.ts";
import { parseJson, readAll, readText } from "../invoke/payload.ts";
import type { Io } from "../io.ts";
import type { FileToSend, Saying } from "./words.ts";

/** Media types by extension, of the files that models take. */
const TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".svg": "image/svg+xml",
  ".pdf": "application/pdf",
  ".json": "application/json",
  ".txt": "text/plain",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".html": "text/html",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".mp4": "video/mp4",
};

/** What is said. @throws CliError when there is nothing, or it cannot be read. */
export async function readSaying(
  message: string | undefined,
  flags: SayFlags,
  io: Pick<Io, "stdin" | "cwd">,
): Promise<Pick<Saying, "text" | "data" | "files">> {
  if (message === undefined && flags.data === undefined && flags.file.length === 0) {
    const hint = 'Give a message: agent-server a2a send "hello", or --data with JSON, or --file.';
    throw new CliError("There is nothing to send.", { exitCode: EXIT.usage, hint });
  }
  if (message === "-" && flags.data === "-") {
    throw new CliError("Only one of the message and --data can come from stdin.", { exitCode: EXIT.usage });
  }
  return {
    text: message === "-" ? await readAll(io.stdin) : message,
    data: flags.data === undefined ? undefined : parseJson(await readText(flags.data, io), "--data"),
    files: await Promise.all(flags.file.map((path) => fileOf(path, io))),
  };
}

/** A file of this machine with its bytes, or one elsewhere by its URL. */
async function fileOf(path: string, io: Pick<Io, "cwd">): Promise<FileToSend> {
  const isUrl = /^https?:\/\//i.test(path) && URL.canParse(path);
  const name = basename(isUrl ? new URL(path).pathname : path);
  const about = {
    name,
    mediaType: TYPES[extname(name).toLowerCase()] ?? (isUrl ? undefined : "application/octet-stream"),
  };
  if (isUrl) return { ...about, uri: path };
  try {
    return { ...about, bytes: (await readFile(resolve(io.cwd, path))).toString("base64") };
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}.`, { exitCode: EXIT.usage });
  }
}
