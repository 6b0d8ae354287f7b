// What `invoke` sends to the graph, from the message, `--input`, `--resume` and `--configurable`.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, EXIT } from "../../errors.ts";
import type { InvokeFlags } from "../commands/invoke.ts";
import type { InputStream, Io } from "../io.ts";

type Source = Pick<Io, "stdin" | "cwd">;

/**
 * The part of a run's body that carries the input: `input`, or `command` to resume an interrupt.
 * @param example The command, as an example of it begins.
 */
export async function readPayload(
  message: string | undefined,
  flags: Pick<InvokeFlags, "input" | "thread"> & { readonly resume?: string },
  io: Source,
  example = "agent-server invoke",
): Promise<Record<string, unknown>> {
  const given = [message, flags.input, flags.resume].filter((value) => value !== undefined);
  if (given.length > 1) {
    throw usage("There is more than one input.", "Give one of: a message, --input, --resume.");
  }
  if (flags.resume !== undefined) {
    if (flags.thread === undefined) throw usage("--resume needs the thread that waits.", "Add --thread <id>.");
    return { command: { resume: parseAnswer(await readText(flags.resume, io)) } };
  }
  if (flags.input !== undefined) return { input: parseJson(await readText(flags.input, io), "--input") };
  if (message === undefined) {
    throw usage("There is nothing to send.", `Give a message, such as: ${example} "hello", or --input with JSON.`);
  }
  return { input: { messages: [{ role: "user", content: message === "-" ? await readAll(io.stdin) : message }] } };
}

/** `key=text` and `key:=json`, so that an id made of digits stays text. */
export function parseConfigurable(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const match = /^([^=:]+)(:?=)(.*)$/s.exec(pair);
      if (!match) {
        const lacks = /^:?=/.test(pair) ? "key" : "value";
        throw usage(`--configurable ${pair} has no ${lacks}.`, "Write key=text, or key:=json for numbers and objects.");
      }
      const [, key = "", operator, value = ""] = match;
      return [key, operator === ":=" ? parseJson(value, `--configurable ${key}`) : value];
    }),
  );
}

/** An answer to an interrupt: JSON where it is JSON, else the text itself. Broken JSON is a slip, not an answer. */
function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/^\s*[[{"]/.test(text)) return parseJson(text, "--resume");
    return text;
  }
}

/** JSON that the person has written. @throws CliError that names where. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(
      `${name} is not valid JSON: ${(error as Error).message}.`,
      "Write JSON, @file.json, or - to read stdin.",
    );
  }
}

/** The text itself, `@file`, or `-` for stdin. */
export async function readText(argument: string, io: Source): Promise<string> {
  if (argument === "-") return readAll(io.stdin);
  if (!argument.startsWith("@")) return argument;
  const path = resolve(io.cwd, argument.slice(1));
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usage(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** All of a stream as text, without the newline at its end. */
export async function readAll(stream: InputStream): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return (text + decoder.decode()).trimEnd();
}

function usage(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, hint });
}
