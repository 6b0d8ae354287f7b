// Ctrl-C: the first one stops in order, a second one stops at once.
import { EXIT } from "../errors.ts";
import type { Io, StopSignal } from "./io.ts";
import type { Cli } from "./program.ts";

/**
 * npm and npx pass Ctrl-C on to a child that the terminal has signalled already: two signals for one key.
 * A person who wants to force the end is slower than this.
 */
const SAME_KEYPRESS_MS = 500;

/** Calls `stop` for the first signal; a later one ends the process at once. Returns how to stop listening. */
export function onStop(io: Pick<Io, "onSignal" | "exit" | "now">, stop: (signal: StopSignal) => void): () => void {
  let first: number | undefined;
  return io.onSignal((signal) => {
    if (first === undefined) {
      first = io.now();
      stop(signal);
    } else if (io.now() - first >= SAME_KEYPRESS_MS) {
      io.exit(EXIT.interrupted);
    }
  });
}

/** Runs `work` until it ends or a signal comes; then `cleanUp` runs and the exit code says interrupted. */
export async function interruptible(
  cli: Cli,
  work: (signal: AbortSignal) => Promise<void>,
  cleanUp: () => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const stopListening = onStop(cli.io, () => controller.abort());
  try {
    await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    cli.exitCode = EXIT.interrupted;
    await cleanUp();
  } finally {
    stopListening();
  }
}
