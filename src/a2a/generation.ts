// What a generation of the protocol is to the rest of this folder: its methods, and how it spells what they answer. v03/ and v1/ each hold
// one, and nothing else knows their words; a generation is removed with its folder and its line in generations.ts.
import { z } from "zod";
import { RPC, RpcFailure } from "../json-rpc.ts";
import type { Json } from "../resources/json.ts";
import { FIRST_ONLY } from "../resources/schema.ts";
import type { CardFacts } from "./card.ts";
import type { EventChannel } from "./channel.ts";
import type { Addressed, Task, TaskEvent } from "./model.ts";
import type { A2AService } from "./service.ts";

/** A method that answers once. @throws RpcFailure */
export type Call = (a2a: A2AService, params: Json, to: Addressed) => unknown;
/** A method that answers with events. @throws RpcFailure before the first one. */
export type Open = (a2a: A2AService, params: Json, to: Addressed) => EventChannel | Promise<EventChannel>;

export interface Generation {
  /** Major and minor version, such as `1.0`. */
  readonly version: string;
  /** Whether a method name, known or not, is spelled as this generation spells them. */
  readonly spells: (method: string) => boolean;
  readonly calls: ReadonlyMap<string, Call>;
  readonly streams: ReadonlyMap<string, Open>;
  /** The `result` of an event of a stream. */
  readonly event: (event: TaskEvent) => Json;
  /** The JSON that a notification sends. */
  readonly notification: (task: Task) => Json;
  /** The `data` of an error. */
  readonly errorData: (failure: RpcFailure) => unknown;
  /** How an error is answered that comes before the first event of a stream: as the only event, or as JSON. */
  readonly earlyErrors: "event" | "json";
  /** Its members of an agent card. */
  readonly card: (facts: CardFacts) => Json;
}

/** A method's parameters. @throws RpcFailure -32602 that names what is wrong. */
export function parse<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  const parsed = schema.safeParse(params, FIRST_ONLY);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.map(String).join(".") || "params"}: ${message}`);
  throw new RpcFailure(RPC.invalidParams, `Invalid params: ${issues.join("; ")}`);
}

/** A name that must not be empty. */
export const name = z.string().min(1);
/** A number of messages. */
export const historyLength = z.int().min(0).nullish();
/** Base64 in either alphabet. */
export const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, "must be base64");
/** Parts of one message. */
export const MAX_PARTS = 100;
