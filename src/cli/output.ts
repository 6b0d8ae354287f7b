// The one place that decides how a command talks: pretty or JSON, colour or not, which stream.
// Data goes to stdout and everything else to stderr, so that `agent-server … | jq` always works.
import type { ChalkInstance, ColorSupportLevel } from "chalk";
import type { Io, OutputStream } from "./io.ts";
import { toJson } from "./text.ts";

/** What a command writes with. */
export interface Output {
  /** True when stdout gets JSON: asked for, or not a terminal. */
  readonly json: boolean;
  /** Colours for stdout. */
  readonly out: ChalkInstance;
  /** Colours for stderr. */
  readonly err: ChalkInstance;
  /** Data to stdout as it is; remote text must have passed {@link import("./text.ts").plain}. */
  write(text: string): void;
  /** One line of data to stdout. */
  line(text?: string): void;
  /** One JSON document to stdout. */
  document(value: unknown): void;
  /** One line of JSON to stdout, for streams. */
  record(value: unknown): void;
  /** One line for the person, to stderr. */
  note(text?: string): void;
}

/** The output of one command call. */
export async function createOutput(
  io: Io,
  flags: { json?: boolean | undefined; color?: boolean | undefined },
): Promise<Output> {
  // Loaded here, because `--help` and usage errors have no colour and should not wait for it.
  const { Chalk } = await import("chalk");
  const line = (text = ""): void => void io.stdout.write(`${text}\n`);
  return {
    json: flags.json === true || io.stdout.isTTY !== true,
    out: new Chalk({ level: colorLevel(io.stdout, io.env, flags.color) }),
    err: new Chalk({ level: colorLevel(io.stderr, io.env, flags.color) }),
    write: (text) => void io.stdout.write(text),
    line,
    document: (value) => line(toJson(value, 2)),
    record: (value) => line(toJson(value)),
    note: (text = "") => void io.stderr.write(`${text}\n`),
  };
}

/**
 * How much colour one stream gets: `--no-color`, then FORCE_COLOR, NO_COLOR (Node's own order of the two), then TERM=dumb and
 * whether it is a terminal. Decided here because chalk ignores NO_COLOR.
 */
export function colorLevel(stream: OutputStream, env: Io["env"], flag: boolean | undefined): ColorSupportLevel {
  if (flag === false) return 0;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) {
    if (forced === "0" || forced === "false") return 0;
    return forced === "2" ? 2 : forced === "3" ? 3 : 1;
  }
  if (env["NO_COLOR"]) return 0;
  if (env["TERM"] === "dumb" || stream.isTTY !== true) return 0;
  const depth = stream.getColorDepth?.(env) ?? 4;
  return depth >= 24 ? 3 : depth >= 8 ? 2 : depth >= 4 ? 1 : 0;
}
