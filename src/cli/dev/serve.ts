// One `dev` session: start, say so, wait for Ctrl-C, stop in order.
import { EXIT } from "../../errors.ts";
import type { RunningServer } from "../../server/types.ts";
import type { DevFlags } from "../commands/dev.ts";
import type { StopSignal } from "../io.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { onStop } from "../signals.ts";
import { count, plain } from "../text.ts";
import { printAddress, printReady } from "./banner.ts";
import { eventPrinter } from "./events.ts";
import { givenKeys } from "./keys.ts";
import { keepHeapSmall } from "./memory.ts";

/** Serves until a signal comes. */
export async function serve(cli: Cli, flags: DevFlags): Promise<void> {
  const { io } = cli;
  const output = await cli.output();
  // Listening from the first moment: Ctrl-C while graphs load must not leave half a server behind.
  const signalled = new Promise<StopSignal>((resolve) => onStop(io, resolve));
  keepHeapSmall();
  io.onForeignExit((code) =>
    output.note(
      `${output.err.red("error:")} The project's code ended the process (exit code ${code}): something in it calls process.exit().`,
    ),
  );
  const { startServer } = await import("../../server/start.ts");
  const server = await startServer({
    cwd: io.cwd,
    config: flags.config,
    port: flags.port,
    strictPort: flags.strictPort === true,
    host: flags.host,
    dataDir: flags.dataDir,
    persist: flags.persist,
    reload: flags.reload,
    jobs: flags.nJobsPerWorker,
    logRequests: flags.logRequests,
    apiKeys: givenKeys(flags, io.cwd),
    insecure: flags.insecure,
    onEvent: eventPrinter(output, io.cwd),
  });
  surviveStrayErrors(output);
  printAddress(output, server);
  const first = await Promise.race([signalled, server.ready]);
  if (first === undefined) printReady(output, server, io, Math.round(performance.now()));
  const signal = await signalled;
  await stop(server, output);
  cli.exitCode = signal === "SIGINT" ? EXIT.interrupted : EXIT.ok;
}

async function stop(server: RunningServer, { note, err }: Output): Promise<void> {
  note(`\n${err.dim("stopping… (Ctrl-C again to force)")}`);
  const { finished, parked } = await server.stop();
  const parts = [];
  if (finished > 0) parts.push(`${count(finished, "run")} finished`);
  if (parked > 0)
    parts.push(`${count(parked, "run")} parked: the next start goes on with ${parked === 1 ? "it" : "them"}`);
  note(`stopped${parts.length > 0 ? ` · ${parts.join(" · ")}` : ""}`);
}

/** A forgotten promise in a graph must not take every other thread down. Installed once the port is open: before, an error is ours. */
function surviveStrayErrors({ note, err }: Output): void {
  const report = (error: unknown): void =>
    note(
      `${err.red("error outside of a run:")} ${plain(error instanceof Error ? (error.stack ?? error.message) : String(error))}`,
    );
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
}
