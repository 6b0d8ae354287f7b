// JSON-RPC around the operations: finds the method, and gives its answer or its events in the words of its generation. No transport.
import { ApiError } from "../errors.ts";
import { idOf, RPC, RpcFailure, toRequest, type RpcId } from "../json-rpc.ts";
import { isObject } from "../resources/json.ts";
import type { EventChannel } from "./channel.ts";
import { A2AFailure } from "./errors.ts";
import { generationOf, spelled, wantedVersion } from "./generations.ts";
import type { Generation } from "./generation.ts";
import type { Addressed } from "./model.ts";
import { asForbidden, Forbidden } from "./rights.ts";
import type { A2AService } from "./service.ts";

/** What the transport knows of a request. */
export interface Envelope {
  /** The body, parsed. */
  readonly message: unknown;
  /** `A2A-Version`. */
  readonly version: string | null;
  /** False when the body said that it is something else than JSON. */
  readonly isJson: boolean;
  /** The agent that is addressed. @throws RpcFailure when there is no such agent; ApiError 403 when the caller may not address it. */
  readonly to: () => Promise<Addressed>;
}

/** JSON, or events: each `event` is the JSON of one JSON-RPC response. */
export type Reply =
  | { readonly kind: "answer"; readonly json: string; readonly unknownAgent?: true; readonly forbidden?: true }
  | { readonly kind: "events"; readonly open: (send: (json: string) => void, end: () => void) => () => void };

/** No such agent: told from other errors, because over HTTP it has a status of its own. */
export class UnknownAgent extends RpcFailure {}

/** Whether a request asks for events. */
export function isStream(message: unknown): boolean {
  const method = isObject(message) ? message["method"] : undefined;
  return typeof method === "string" && generationOf(method).streams.has(method);
}

export class A2AServer {
  readonly #service: A2AService;
  /** Told of errors that are ours. */
  readonly #report: (error: unknown) => void;

  constructor(service: A2AService, report: (error: unknown) => void) {
    this.#service = service;
    this.#report = report;
  }

  /** Answers a request. Never rejects. */
  async answer(envelope: Envelope): Promise<Reply> {
    const { message } = envelope;
    const method = isObject(message) && typeof message["method"] === "string" ? message["method"] : "";
    const generation = generationOf(method);
    const id = idOf(message);
    const open = generation.streams.get(method);
    try {
      const { params, to } = await this.#checked(envelope);
      if (open !== undefined) return events(await open(this.#service, params, to), id, generation);
      const call = generation.calls.get(method);
      if (call === undefined) throw new RpcFailure(RPC.methodNotFound, `Method not found: ${method.slice(0, 100)}`);
      return { kind: "answer", json: resultJson(id, await call(this.#service, params, to)) };
    } catch (error) {
      const failure = this.#failure(error);
      const json = errorJson(id, failure, generation);
      if (failure instanceof UnknownAgent) return { kind: "answer", json, unknownAgent: true };
      if (failure instanceof Forbidden) return { kind: "answer", json, forbidden: true };
      return open !== undefined && generation.earlyErrors === "event" ? only(json) : { kind: "answer", json };
    }
  }

  async #checked({
    message,
    version,
    isJson,
    to,
  }: Envelope): Promise<{ params: Record<string, unknown>; to: Addressed }> {
    const { params = {} } = toRequest(message);
    if (!isJson)
      throw new A2AFailure("CONTENT_TYPE_NOT_SUPPORTED", "Content type not supported: requests are application/json");
    wantedVersion(version);
    const addressed = await to();
    if (!isObject(params)) throw new RpcFailure(RPC.invalidParams, 'Invalid params: "params" must be an object');
    return { params, to: addressed };
  }

  #failure(error: unknown): RpcFailure {
    const failure = asFailure(error);
    if (failure !== undefined) return failure;
    this.#report(error);
    return new RpcFailure(RPC.internalError, "Internal error");
  }
}

/** Whether an error is the caller's, in the words of JSON-RPC. */
function asFailure(error: unknown): RpcFailure | undefined {
  if (error instanceof RpcFailure) return error;
  const forbidden = asForbidden(error);
  if (forbidden !== undefined) return forbidden;
  if (error instanceof ApiError && error.status >= 500) return undefined;
  return error instanceof ApiError ? new RpcFailure(RPC.invalidParams, error.detail) : undefined;
}

const resultJson = (id: RpcId, result: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, result });

const errorJson = (id: RpcId, failure: RpcFailure, generation: Generation): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: spelled(failure, generation) });

/** The events of a task. */
function events(channel: EventChannel, id: RpcId, generation: Generation): Reply {
  return {
    kind: "events",
    open(send, end) {
      channel.connect({
        event: (event) => send(resultJson(id, generation.event(event))),
        end(failure) {
          if (failure !== undefined) send(errorJson(id, failure, generation));
          end();
        },
      });
      return () => channel.close();
    },
  };
}

/** A stream of one event. */
const only = (json: string): Reply => ({
  kind: "events",
  open(send, end) {
    send(json);
    end();
    return () => undefined;
  },
});
