// What a command sees of the process. Passed in, so that tests own every stream, variable, signal and clock.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

/** The signals that ask a command to stop. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Where text goes. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** Bits of colour that the terminal shows: 1, 4, 8 or 24. */
  getColorDepth?(env: object): number;
}

/** Where input comes from. */
export interface InputStream extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined;
}

/** Streams, environment and signals of one call of the program. */
export interface Io {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls `handler` for every stop signal, until the returned function is called. */
  onSignal(handler: (signal: StopSignal) => void): () => void;
  /** Calls `handler` when the process ends and it was not this program that ended it, until the returned function is called. */
  onForeignExit(handler: (code: number) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** A new random UUID. */
  uuid(): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits; rejects when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Whether it is known why the process ends. */
let explained = false;

/** Ends the process. */
export function endProcess(code: number): never {
  explained = true;
  return process.exit(code);
}

/** The real process. */
export function processIo(): Io {
  return {
    // Touching process.stdin opens it, so only a command that reads does.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    onSignal(handler) {
      const signals: StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
      for (const signal of signals) process.on(signal, handler);
      return () => {
        for (const signal of signals) process.off(signal, handler);
      };
    },
    onForeignExit(handler) {
      const onExit = (code: number): void => {
        if (!explained) handler(code);
      };
      // Node has told of an error that nobody caught.
      const onError = (): void => {
        explained ||= process.listenerCount("uncaughtException") === 0;
      };
      process.on("exit", onExit);
      process.on("uncaughtExceptionMonitor", onError);
      return () => {
        process.off("exit", onExit);
        process.off("uncaughtExceptionMonitor", onError);
      };
    },
    exit: endProcess,
    uuid: randomUUID,
    now: Date.now,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
  };
}
