// The command line as users get it: built from the sources of this moment into a folder of its own, once per test run (test/build.ts), so
// that a test never runs an old dist/ and never disturbs the one of the developer.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = process.env["AGENT_SERVER_TEST_BUILD"]!;

/** The built copy of the package: its root folder, and the file of its command. */
export const built = { folder, bin: join(folder, "bin", "agent-server.js") } as const;

/** Makes a folder a project that has the built package and LangGraph installed. */
export function installInto(project: string): void {
  const modules = join(project, "node_modules");
  mkdirSync(modules, { recursive: true });
  symlinkSync(join(root, "node_modules", "@langchain"), join(modules, "@langchain"));
  symlinkSync(built.folder, join(modules, "agent-server"));
}

/** The variables of a child: nothing of this process that changes colours or names a server. */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...extra };
}

/** A child process whose output is collected. */
export interface Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly output: { stdout: string; stderr: string };
  /** Exit code; the signal's name when one ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves with the match as soon as stderr has it; rejects when the process ends before. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts the built command line. */
export function start(args: readonly string[], options: { cwd: string; env?: Record<string, string> }): Child {
  const child = spawn(process.execPath, [built.bin, ...args], {
    cwd: options.cwd,
    env: cleanEnv(options.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
    for (const check of waiting) check();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return {
    process: child,
    output,
    ended,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(output.stderr);
          if (match) resolve(match);
        };
        waiting.add(check);
        check();
        void ended.then((code) => reject(new Error(`ended with ${code} before ${pattern}:\n${output.stderr}`)));
      }),
  };
}
