// What `dev` says while it runs: one line per event, and the user's own code framed once when it is broken.
import type { ChalkInstance } from "chalk";
import { formatDiagnostic, formatLocation } from "../../config/format.ts";
import type { Diagnostic } from "../../config/types.ts";
import type { ServerEvent } from "../../server/types.ts";
import type { Output } from "../output.ts";
import { count, oneLine, plain } from "../text.ts";

/** Returns the printer of one `dev` session. */
export function eventPrinter(output: Output, cwd: string): (event: ServerEvent) => void {
  const { note, err } = output;
  // The frame shown last for a graph: saving a file twice must not print it twice.
  const shown = new Map<string, string>();
  // The banner names what was loaded at start.
  let started = false;

  const failed = (event: Extract<ServerEvent, { type: "failed" }>): void => {
    const names = event.ids.join(", ");
    const { diagnostic } = event.error as { diagnostic?: Diagnostic };
    // A loader's error carries the place in the user's file; any other at least its own words.
    const text = diagnostic ? paint(diagnostic, err, cwd) : plain(event.error.stack ?? event.error.message);
    if (shown.get(names) === text) return note(`${err.red("still broken:")} ${names}`);
    shown.set(names, text);
    note(text);
    note(
      event.firstLoad
        ? err.dim(`${names} cannot run until this is repaired; saving the file loads it again.`)
        : err.dim(`${names} keeps running as it was last loaded.`),
    );
  };

  return (event) => {
    switch (event.type) {
      case "loaded":
        if (started) note(`${err.green("loaded")} ${event.ids.join(", ")} in ${Math.round(event.ms)} ms`);
        started = true;
        return;
      case "reloaded":
        shown.clear();
        return note(`${err.green("reloaded")} ${event.ids.join(", ")} in ${Math.round(event.ms)} ms`);
      case "failed":
        return failed(event);
      case "warning":
        return note(`${err.yellow("warning:")} ${plain(event.message)}`);
      case "diagnostic":
        return note(paint(event.diagnostic, err, cwd));
      case "port-taken":
        return note(`${err.yellow("note:")} port ${event.wanted} is taken, using ${event.port}`);
      case "recovered":
        return note(`${err.yellow("recovered:")} ${describeRecovery(event)}`);
      case "moved-aside":
        note(`${err.yellow("warning:")} the state folder was damaged (${oneLine(event.reason)}).`);
        return note(`It was moved to ${event.to}, and ${event.from} starts empty.`);
      case "run-failed":
        note(
          `${err.red("run failed:")} ${oneLine(event.error, 300)} ${err.dim(`(thread ${event.thread_id}, run ${event.run_id})`)}`,
        );
        return event.diagnostic ? note(placeOf(event.diagnostic, cwd)) : undefined;
      case "request":
        return note(requestLine(event, err));
      case "log":
        return note(`${event.level === "info" ? "" : `${event.level}: `}${plain(event.message)}`);
      default:
        event satisfies never;
    }
  };
}

function requestLine(
  { method, path, status, ms, left, headers }: Extract<ServerEvent, { type: "request" }>,
  err: ChalkInstance,
): string {
  const color = status >= 500 ? err.red : status >= 400 ? err.yellow : err.green;
  const shown = Object.entries(headers).map(([name, value]) => ` ${name}=${oneLine(value, 100)}`);
  const took = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  const end = `${took}${left ? ", the client left" : ""}`;
  return `${method} ${oneLine(path, 200)} ${color(String(status))} ${err.dim(`${end}${shown.join("")}`)}`;
}

function describeRecovery({ pending, resumed, failed }: Extract<ServerEvent, { type: "recovered" }>): string {
  const parts = [];
  if (pending > 0) parts.push(`${count(pending, "waiting run")} queued again`);
  if (resumed > 0) parts.push(`${count(resumed, "interrupted run")} continued from the last checkpoint`);
  if (failed > 0) parts.push(`${count(failed, "run")} given up after three attempts`);
  return parts.join(", ");
}

/** The place and the frame of a failed run; what went wrong is in the line before. */
function placeOf({ location, frame }: Diagnostic, cwd: string): string {
  return plain([location ? `at ${formatLocation(location, cwd)}` : [], frame ? ["", frame, ""] : []].flat().join("\n"));
}

/** A diagnostic with its severity coloured; the text itself may quote the user's code and is made safe. */
export function paint(diagnostic: Diagnostic, chalk: ChalkInstance, cwd: string): string {
  const color = diagnostic.severity === "error" ? chalk.red : chalk.yellow;
  return plain(formatDiagnostic(diagnostic, cwd)).replace(`${diagnostic.severity}:`, color(`${diagnostic.severity}:`));
}
