// Runs the process that reads types: starts it with the first request, gives it one at a time, ends it when nothing has come for a while,
// and when a request takes too long.
import { fork, type ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildAnswer } from "./child.ts";
import type { Extraction, ExtractionRequest } from "./extract.ts";

/** Milliseconds without a request after which the process ends. */
const IDLE_MS = 30_000;
/** Megabytes of its heap. */
const MEMORY_MB = 1024;

// Beside this file, built or not.
const ENTRY = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));

/** The types took longer to read than they may. */
export class ExtractionTimeout extends Error {
  override readonly name = "ExtractionTimeout";
}

interface Job {
  readonly request: ExtractionRequest;
  readonly settle: (answer: ChildAnswer | Error) => void;
}

/** Reads types in a process of its own. */
export class TypeReader {
  readonly #timeoutMs: number;
  readonly #waiting: Job[] = [];
  #child: ChildProcess | undefined;
  #current: Job | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param timeoutMs How long one request may take, the waiting for others included. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Reads the types of one export.
   * @throws ExtractionTimeout
   * @throws Error when the process fails.
   */
  read(request: ExtractionRequest): Promise<Extraction> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error("closed"));
      const job: Job = {
        request,
        settle: (answer) => {
          clearTimeout(timer);
          if (answer instanceof Error) reject(answer);
          else if (answer.extraction) resolve(answer.extraction);
          else reject(new Error(answer.error ?? "no answer"));
        },
      };
      const timer = setTimeout(() => this.#giveUp(job), this.#timeoutMs).unref();
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Ends the process; what still waits is rejected. */
  close(): void {
    this.#closed = true;
    this.#stop(new Error("closed"));
    for (const job of this.#waiting.splice(0)) job.settle(new Error("closed"));
  }

  #next(): void {
    if (this.#current || this.#closed) return;
    const job = this.#waiting.shift();
    clearTimeout(this.#idle);
    if (!job) {
      this.#idle = setTimeout(() => this.#stop(), IDLE_MS).unref();
      return;
    }
    this.#current = job;
    const child = (this.#child ??= this.#start());
    // When it cannot be sent, the end of the process tells.
    child.send(job.request, () => {});
  }

  #start(): ChildProcess {
    const flags = process.execArgv.filter((flag) => !/^--(inspect|max-old-space-size)/.test(flag));
    const child = fork(ENTRY, [], {
      execArgv: [...flags, `--max-old-space-size=${MEMORY_MB}`],
      // TypeScript writes nothing; a heap that is too small would fill the terminal.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.unref();
    child.channel?.unref();
    child.on("message", (answer) => {
      if (child === this.#child) this.#answer(answer as ChildAnswer);
    });
    const onEnd = (reason: string): void => {
      if (child !== this.#child) return;
      this.#child = undefined;
      this.#answer(new Error(reason));
    };
    child.on("error", (error) => onEnd(error.message));
    child.on("exit", (code, signal) => onEnd(`the process ended with ${signal ?? `code ${code}`}`));
    return child;
  }

  #answer(answer: ChildAnswer | Error): void {
    const job = this.#current;
    this.#current = undefined;
    job?.settle(answer);
    this.#next();
  }

  #giveUp(job: Job): void {
    const error = new ExtractionTimeout(`longer than ${this.#timeoutMs} ms`);
    if (job === this.#current) return this.#stop(error);
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    job.settle(error);
  }

  /** Ends the process at once: it has nothing to lose. */
  #stop(reason?: Error): void {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
    if (reason && this.#current) this.#answer(reason);
  }
}
