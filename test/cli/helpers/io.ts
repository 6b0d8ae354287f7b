// A process in memory: what a command reads, writes and hears. Nothing here waits by the clock.
import type { Io, StopSignal } from "../../../src/cli/io.ts";
import { run } from "../../../src/cli/main.ts";

/** How the pretended process looks. */
export interface TestProcess {
  /** Whether stdout and stderr are a terminal. */
  readonly tty?: boolean;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly stdin?: string;
}

/** One call of the program. */
export interface Call {
  readonly io: Io;
  /** Everything written so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Codes given to `io.exit`. */
  readonly exits: readonly number[];
  /** Delays that the program asked for; each ends at once. */
  readonly sleeps: readonly number[];
  readonly exitCode: Promise<number>;
  /** Moves the clock of `io.now`. */
  advance(ms: number): void;
  /** Sends a signal to the program. */
  signal(name: StopSignal): void;
  /** Resolves with stdout or stderr as soon as it matches. */
  seen(stream: "stdout" | "stderr", pattern: RegExp): Promise<string>;
}

/** Starts the program with `args`. */
export function call(args: readonly string[], options: TestProcess = {}): Call {
  const process = testProcess(options);
  return Object.assign(process, { exitCode: run(args, process.io) });
}

/** Runs the program to its end. */
export async function finish(
  args: readonly string[],
  options: TestProcess = {},
): Promise<{ code: number; stdout: string; stderr: string; sleeps: readonly number[] }> {
  const started = call(args, options);
  const code = await started.exitCode;
  return { code, stdout: started.stdout, stderr: started.stderr, sleeps: started.sleeps };
}

/** The pretended process alone. */
export function testProcess({ tty = false, env = {}, cwd = "/nowhere", stdin = "" }: TestProcess = {}) {
  const text = { stdout: "", stderr: "" };
  const waiting: { stream: "stdout" | "stderr"; pattern: RegExp; resolve: (text: string) => void }[] = [];
  const handlers = new Set<(signal: StopSignal) => void>();
  const exits: number[] = [];
  const sleeps: number[] = [];
  let time = Date.parse("2026-01-01T12:00:00Z");
  const stream = (name: "stdout" | "stderr") => ({
    isTTY: tty,
    getColorDepth: () => 4,
    write(written: string) {
      text[name] += written;
      for (const entry of waiting) {
        if (entry.stream === name && entry.pattern.test(text[name])) entry.resolve(text[name]);
      }
    },
  });
  const io: Io = {
    stdin: {
      async *[Symbol.asyncIterator]() {
        yield new TextEncoder().encode(stdin);
      },
    },
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env,
    cwd,
    onSignal(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    onForeignExit: () => () => {},
    exit: (code) => void exits.push(code),
    uuid: () => "11111111-1111-4111-8111-111111111111",
    now: () => time,
    async sleep(ms, signal) {
      sleeps.push(ms);
      signal.throwIfAborted();
    },
  };
  return {
    io,
    exits,
    sleeps,
    get stdout() {
      return text.stdout;
    },
    get stderr() {
      return text.stderr;
    },
    advance: (ms: number) => void (time += ms),
    signal: (name: StopSignal) => {
      for (const handler of handlers) handler(name);
    },
    seen: (name: "stdout" | "stderr", pattern: RegExp) =>
      new Promise<string>((resolve) => {
        if (pattern.test(text[name])) resolve(text[name]);
        else waiting.push({ stream: name, pattern, resolve });
      }),
  };
}
