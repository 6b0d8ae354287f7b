// Runs an assistant for a tool call: stateless, waited for, and stopped when the caller leaves.
import { admitRun, type AdmissionSources } from "../runs/admission.ts";
import type { RunEngine } from "../runs/engine.ts";
import { runBody, runRequest } from "../runs/run-body.ts";
import type { ToolCall, ToolOutcome } from "./server.ts";

/** Runs the tool. @param onStep told of every superstep. @throws ApiError */
export async function runTool(
  sources: AdmissionSources & { readonly engine: RunEngine },
  { assistant, input, context, access, hidden }: ToolCall,
  signal: AbortSignal,
  onStep: (() => void) | undefined,
): Promise<ToolOutcome> {
  const body = runBody.parse({ assistant_id: assistant.assistant_id, input, context, stream_mode: "updates" });
  const { engine } = sources;
  const { body: admitted, grants } = await admitRun(sources, access, undefined, body, hidden);
  const request = { ...runRequest(admitted), ...grants };
  const run = engine.create(undefined, request, onStep === undefined ? "wait" : "stream");
  const stop = (): void => {
    if (engine.active(run.id) === run) void engine.cancel(run.threadId, run.id, "interrupt");
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  if (onStep !== undefined) {
    const reader = run.log.reader("start", new Set(["updates"]));
    reader.onWake(() => {
      for (const _ of reader.read().matchAll(/^event: updates/gm)) onStep();
    });
    void run.ended.then(() => reader.close());
  }
  const { status, json } = await run.ended;
  signal.removeEventListener("abort", stop);
  return { values: json, problem: problemOf(status, json) };
}

function problemOf(status: string, json: string): string | undefined {
  const { __error__: error, __interrupt__: interrupts } = JSON.parse(json) as {
    __error__?: { error: string; message: string };
    __interrupt__?: unknown;
  };
  if (error !== undefined) return `${error.error}: ${error.message}`;
  if (interrupts !== undefined) {
    return `The agent stopped to ask, which a tool call cannot answer: ${JSON.stringify(interrupts)}`;
  }
  return status === "success" ? undefined : `The run ended with the status "${status}".`;
}
