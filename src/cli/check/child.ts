// The process in which `check` loads the project's code, so that nothing of it reaches our own: what it prints, the handles that it leaves open,
// an endless loop, an end of the process. Started by load.ts, which also ends it.
import { frameOfError, messageOf } from "../../graphs/errors.ts";
import { loadCode } from "./code.ts";
import type { CodeMessage, CodeRequest } from "./messages.ts";

const exit = process.exit.bind(process);
const post = process.send?.bind(process);
const send = (message: CodeMessage): void => void post?.(message);
// Code that finds it takes its process for one that a process manager has started.
delete process.send;

process.exit = (code) => {
  throw new Error(`process.exit(${code ?? ""}) ends the whole server`);
};

process.once("message", (request: CodeRequest) => {
  const { root } = request.project;
  const stray = (error: unknown): void => {
    const { severity: _, ...place } = frameOfError(error, root) ?? { severity: "warning", message: messageOf(error) };
    const message = `An error that nothing catches: ${place.message}`;
    send({ type: "problem", problem: { ...place, severity: "warning", message } });
  };
  process.on("uncaughtException", stray);
  process.on("unhandledRejection", stray);
  send({ type: "begin" });
  loadCode(request, send).catch((error: unknown) => {
    // A mistake of ours: the parent reports the end of this process.
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, () => exit(1));
  });
});
// The one who asked is gone, however it ended.
process.on("disconnect", () => exit());
