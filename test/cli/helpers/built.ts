// The command line as users get it: built from the sources of this moment into a folder of its own, so that a test never runs
// an old dist/ and never disturbs the one of the developer.
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createRequire } from "node:module";

const root = join(import.meta.dirname, "..", "..", "..");

/** A built copy of the package. */
export interface BuiltPackage {
  /** Its root folder. */
  readonly folder: string;
  readonly bin: string;
  remove(): void;
}

/** Builds the package; takes about half a second. */
export function buildPackage(): BuiltPackage {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "agent-server-"));
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  // Types are checked by `npm run typecheck`; here only the JavaScript counts.
  const args = [
    tsc,
    "-p",
    join(root, "tsconfig.json"),
    "--noCheck",
    "--declaration",
    "false",
    "--outDir",
    join(folder, "dist"),
  ];
  const built = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`tsc failed:\n${built.stdout}${built.stderr}`);
  for (const name of ["bin", "templates", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  return {
    folder,
    bin: join(folder, "bin", "agent-server.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Makes `folder` a project that has the built package and LangGraph installed. */
export function installInto(folder: string, built: BuiltPackage): void {
  const modules = join(folder, "node_modules");
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
export function start(
  built: BuiltPackage,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Child {
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
