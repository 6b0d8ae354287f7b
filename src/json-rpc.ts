// JSON-RPC 2.0 as A2A and MCP use it: what a request is, and what answers and errors look like. No transport.
import { parseForeignJson } from "./json-text.ts";

/** A request's id; absent for notifications. */
export type RpcId = string | number | null;

export interface RpcRequest {
  readonly jsonrpc: "2.0";
  /** Undefined: a notification, which gets no answer. */
  readonly id?: RpcId;
  readonly method: string;
  readonly params?: unknown;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type RpcResponse =
  | { readonly jsonrpc: "2.0"; readonly id: RpcId; readonly result: unknown }
  | { readonly jsonrpc: "2.0"; readonly id: RpcId; readonly error: RpcError };

/** The codes of the specification. */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
} as const;

/** An error that becomes the answer of a call. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const rpcResult = (id: RpcId, result: unknown): RpcResponse => ({ jsonrpc: "2.0", id, result });

export function rpcError(id: RpcId, { code, message, data }: RpcFailure): RpcResponse {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** JSON text as a value. @throws RpcFailure -32700 */
export function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch (error) {
    throw new RpcFailure(RPC.parseError, `Parse error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The id of what may be a request, to answer an error with; null when it has none that could be used. */
export function idOf(value: unknown): RpcId {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : undefined;
  return isId(id) ? id : null;
}

const isId = (id: unknown): id is RpcId => id === null || typeof id === "string" || Number.isInteger(id);

/** A value as a request or notification. @throws RpcFailure -32600, or -32602 when `params` is neither object nor list. */
export function toRequest(value: unknown): RpcRequest {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RpcFailure(RPC.invalidRequest, "Invalid request: a request is a JSON object");
  }
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  if (jsonrpc !== "2.0") throw new RpcFailure(RPC.invalidRequest, 'Invalid request: "jsonrpc" must be "2.0"');
  if (typeof method !== "string" || method === "") {
    throw new RpcFailure(RPC.invalidRequest, 'Invalid request: "method" must be a string');
  }
  if (id !== undefined && !isId(id)) {
    throw new RpcFailure(RPC.invalidRequest, 'Invalid request: "id" must be a string, an integer or null');
  }
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    throw new RpcFailure(RPC.invalidParams, 'Invalid params: "params" must be an object');
  }
  return { jsonrpc: "2.0", method, ...(id === undefined ? {} : { id }), ...(params === undefined ? {} : { params }) };
}

/** Whether a message answers something that the server asked; servers that ask nothing take such messages and forget them. */
export function isResponse(value: unknown): boolean {
  return typeof value === "object" && value !== null && !("method" in value) && ("result" in value || "error" in value);
}
