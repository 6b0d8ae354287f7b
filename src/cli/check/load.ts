// Has the project's code loaded in a process of its own and collects what it says, also when it never ends or ends that process.
import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Diagnostic } from "../../config/types.ts";
import { atConfig } from "../../graphs/diagnose.ts";
import { exportProblem } from "../../graphs/exports.ts";
import type { GraphSchemas } from "../../graphs/types.ts";
import type { Io } from "../io.ts";
import { graphPart, isCodeMessage, partsOf, type CodeRequest } from "./messages.ts";

// Beside this file, built or not.
const ENTRY = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));

/** Milliseconds that the last of its output may take to arrive behind the end of the process. */
const OUTPUT_GRACE_MS = 500;

/** What is known of the code. */
export interface CodeReport {
  /** What is wrong, by part; a part without problems has an empty list. */
  readonly parts: ReadonlyMap<string, readonly Diagnostic[]>;
  /** What belongs to no part. */
  readonly problems: readonly Diagnostic[];
  readonly schemas: ReadonlyMap<string, GraphSchemas>;
}

/**
 * Loads the code of a project. Never rejects for what is wrong with it.
 * @param timeout Seconds that it may take until the next thing is loaded.
 * @param signal ends the process.
 */
export function loadInChild(
  request: CodeRequest,
  io: Pick<Io, "cwd" | "env" | "stderr">,
  timeout: number,
  signal: AbortSignal,
): Promise<CodeReport> {
  const parts = new Map<string, readonly Diagnostic[]>();
  const problems: Diagnostic[] = [];
  const schemas = new Map<string, GraphSchemas>();
  const child = fork(ENTRY, [], {
    cwd: io.cwd,
    env: { ...request.project.env, ...process.env, ...io.env },
    execArgv: process.execArgv.filter((flag) => !flag.startsWith("--inspect")),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  // Nothing that this process prints is an answer of ours.
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => io.stderr.write(text));

  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    let how = "";
    const giveUp = (message: string, hint: string): void => {
      const left = partsOf(request).filter((part) => !parts.has(part));
      const [first] = left;
      if (first === undefined) return void problems.push({ severity: "error", message, hint });
      // Nobody can tell which of several it was: one problem for all of them.
      const text = left.length === 1 ? message : `one of these: ${message}`;
      const problem = problemAt(request, first, text, hint);
      for (const part of left) parts.set(part, [problem]);
    };
    const end = (): void => {
      isOver = true;
      clearTimeout(timer);
      child.kill("SIGKILL");
    };
    const wait = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      timer = setTimeout(() => {
        const hint = "Look for an endless loop, or an await at the top of a module that never ends.";
        giveUp(`not loaded within ${timeout} s (--timeout)`, hint);
        end();
      }, timeout * 1000);
    };
    const finish = (): void => {
      clearTimeout(timer);
      if (!isOver) giveUp(`it ends the whole process (${how})`, "agent-server dev would end in this way, too.");
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ parts, problems, schemas });
    };
    child.on("message", (message) => {
      if (!isCodeMessage(message)) return;
      if (message.type === "problem") problems.push(message.problem);
      else if (message.type === "schemas") schemas.set(message.id, message.schemas);
      else if (message.type === "loaded") clearTimeout(timer);
      else if (message.type === "done") end();
      else {
        if (message.type === "part") parts.set(message.part, message.problems);
        wait();
      }
    });
    child.on("error", reject);
    child.on("exit", (code, name) => {
      how = name ?? `exit code ${code}`;
      clearTimeout(timer);
      // Something that it has started may hold its output open.
      timer = setTimeout(finish, OUTPUT_GRACE_MS);
    });
    child.on("close", finish);
    signal.addEventListener("abort", end);
    // When it cannot be sent, the end of the process tells.
    child.send(request, () => {});
  });
}

/** The problem, where the config names the part. */
function problemAt({ project, exports }: CodeRequest, part: string, message: string, hint: string): Diagnostic {
  const graph = project.graphs.find(({ id }) => graphPart(id) === part);
  if (graph) return atConfig(graph, message, hint);
  const spec = exports.find(({ key }) => key === part);
  return spec ? exportProblem(spec, message, hint).diagnostic : { severity: "error", message, hint };
}
