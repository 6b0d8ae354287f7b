// What a run gave, collected from its events: final values, interrupts, error.
import type { SseEvent } from "../sse.ts";
import { isRecord } from "../json.ts";
import { type Message, messagesOf } from "../messages.ts";

/** One question of a graph to a person. */
export interface Interrupt {
  readonly id: string | undefined;
  readonly value: unknown;
}

/** The event's JSON; the raw text when it is none. */
export function eventData(event: SseEvent): unknown {
  try {
    return JSON.parse(event.data);
  } catch {
    return event.data;
  }
}

/** Collects one run. */
export class RunResult {
  runId: string | undefined;
  /** The newest full state of the graph; null before the first. */
  values: unknown = null;
  interrupts: readonly Interrupt[] = [];
  error: { readonly name: string; readonly message: string } | undefined;
  /** Ids of the messages that were there before the graph did anything. */
  #before: ReadonlySet<string> | undefined;

  /** Takes in one event of the root graph. */
  take(event: SseEvent, data: unknown): void {
    if (event.event === "metadata" && isRecord(data) && typeof data["run_id"] === "string") this.runId = data["run_id"];
    else if (event.event === "values" && isRecord(data)) this.#takeValues(data);
    else if (event.event === "values") this.values = data;
    else if (event.event === "updates" && isRecord(data)) this.#takeInterrupts(data["__interrupt__"]);
    else if (event.event === "error") this.error = toError(data);
  }

  /** The messages that this run added; undefined when the state has no messages. */
  newMessages(): Message[] | undefined {
    return messagesOf(this.values)?.filter((message) => message.id === undefined || !this.#before?.has(message.id));
  }

  /** The values as `/wait` gives them. */
  document(): unknown {
    if (this.interrupts.length === 0) return this.values;
    return { ...(isRecord(this.values) ? this.values : {}), __interrupt__: this.interrupts };
  }

  #takeValues(data: Record<string, unknown>): void {
    const { __interrupt__: interrupts, ...values } = data;
    this.#takeInterrupts(interrupts);
    // Some servers send the interrupt as an event of its own, without the state.
    if (interrupts !== undefined && Object.keys(values).length === 0) return;
    // The first of several states is the one before the graph did anything; one alone is the result.
    if (this.values !== null) this.#before ??= idsOf(this.values);
    this.values = values;
  }

  #takeInterrupts(list: unknown): void {
    if (!Array.isArray(list)) return;
    this.interrupts = list.filter(isRecord).map((item) => ({
      id: typeof item["id"] === "string" ? item["id"] : undefined,
      value: item["value"],
    }));
  }
}

function idsOf(values: unknown): Set<string> {
  return new Set(messagesOf(values)?.flatMap((message) => message.id ?? []));
}

function toError(data: unknown): { name: string; message: string } {
  if (!isRecord(data)) return { name: "Error", message: String(data) };
  return { name: String(data["error"] ?? "Error"), message: String(data["message"] ?? "") };
}
