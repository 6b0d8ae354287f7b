// MCP without sessions: tools only, each call a stateless run. It answers JSON-RPC messages; routes/mcp.ts is the HTTP around it
// (a2a-mcp.md §3; modelcontextprotocol.io, revisions 2024-11-05 to 2025-11-25).
import type { Access } from "../auth/access.ts";
import { ApiError } from "../errors.ts";
import { RPC, RpcFailure, type RpcRequest } from "../json-rpc.ts";
import type { Assistant } from "../resources/assistant.ts";
import { isObject, type Json } from "../resources/json.ts";
import { toolNames, toolOf, type Tool } from "./tools.ts";

/** Revisions of the protocol, the newest first. */
export const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** How a run of a tool ended. */
export interface ToolOutcome {
  /** The JSON of the final values. */
  readonly values: string;
  /** Why it failed, or what it waits for. */
  readonly problem: string | undefined;
}

export interface McpOptions {
  readonly version: string;
  /** The assistants that a caller may run. @throws ApiError 403 */
  readonly assistants: (access: Access) => Promise<readonly Assistant[]>;
  /** The input schema of an assistant's graph; null when it cannot be known. */
  readonly inputSchema: (assistant: Assistant) => Promise<unknown>;
  /** Runs an assistant without a thread. `onStep` is told of every superstep. @throws ApiError */
  readonly run: (call: ToolCall, signal: AbortSignal, onStep: (() => void) | undefined) => Promise<ToolOutcome>;
}

/** A call of a tool. */
export interface ToolCall {
  readonly assistant: Assistant;
  readonly input: Json;
  readonly context: unknown;
  /** What the caller may do. */
  readonly access: Access;
  /** Settings for the graph alone, from the headers of the request. */
  readonly hidden: Json | undefined;
}

/** Who asks. */
export type McpCaller = Pick<ToolCall, "access" | "hidden">;

/** The code of an error that says that the caller may not do this; JSON-RPC itself has none. */
export const FORBIDDEN = -32_003;

/** Tools per page of `tools/list`. */
const PAGE = 100;

export class McpServer {
  readonly #options: McpOptions;

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /**
   * Answers a request.
   * @param notify sends a notification before the answer; undefined when the transport cannot.
   * @throws RpcFailure
   */
  async answer(
    { method, params = {} }: RpcRequest,
    caller: McpCaller,
    signal: AbortSignal,
    notify?: (method: string, params: Json) => void,
  ): Promise<unknown> {
    if (!isObject(params)) throw new RpcFailure(RPC.invalidParams, "params must be an object");
    switch (method) {
      case "initialize":
        return this.#initialize(params);
      case "ping":
        return {};
      case "tools/list":
        return this.#list(params, caller.access);
      case "tools/call":
        return this.#call(params, caller, signal, notify);
      default:
        throw new RpcFailure(RPC.methodNotFound, `Method not found: ${method.slice(0, 100)}`);
    }
  }

  #initialize({ protocolVersion }: Json): Json {
    if (typeof protocolVersion !== "string") {
      throw new RpcFailure(RPC.invalidParams, "protocolVersion must be a string");
    }
    const [newest, ...others] = PROTOCOL_VERSIONS;
    return {
      protocolVersion: others.find((version) => version === protocolVersion) ?? newest,
      capabilities: { tools: {} },
      serverInfo: { name: "agent-server", version: this.#options.version },
      instructions:
        "Each tool runs an agent: its arguments are the agent's input, its answer is the agent's final state as JSON.",
    };
  }

  async #list({ cursor }: Json, access: Access): Promise<{ tools: Tool[]; nextCursor?: string }> {
    const offset = cursor === undefined ? 0 : Number(cursor);
    if (!Number.isSafeInteger(offset) || offset < 0)
      throw new RpcFailure(RPC.invalidParams, "cursor is not one of this server");
    const names = [...toolNames(await this.#assistants(access))];
    const tools = await Promise.all(
      names.slice(offset, offset + PAGE).map(async ([name, assistant]) => {
        // A graph that does not load now has a tool all the same; calling it says what is wrong.
        const schema = await this.#options.inputSchema(assistant).catch(() => null);
        return toolOf(name, assistant, schema);
      }),
    );
    const next = offset + PAGE;
    return next < names.length ? { tools, nextCursor: String(next) } : { tools };
  }

  async #assistants(access: Access): Promise<readonly Assistant[]> {
    try {
      return await this.#options.assistants(access);
    } catch (error) {
      throw error instanceof ApiError && error.status < 500 ? new RpcFailure(FORBIDDEN, error.detail) : error;
    }
  }

  async #call(
    { name, arguments: input = {}, context, _meta: meta }: Json,
    caller: McpCaller,
    signal: AbortSignal,
    notify?: (method: string, params: Json) => void,
  ): Promise<Json> {
    const assistants = await this.#assistants(caller.access);
    const assistant = typeof name === "string" ? toolNames(assistants).get(name) : undefined;
    if (assistant === undefined) throw new RpcFailure(RPC.invalidParams, `Unknown tool: ${String(name).slice(0, 100)}`);
    if (!isObject(input)) throw new RpcFailure(RPC.invalidParams, "arguments must be an object");
    const progressToken = progressTokenIn(meta);
    let progress = 0;
    const onStep =
      notify === undefined || progressToken === undefined
        ? undefined
        : () => notify("notifications/progress", { progressToken, progress: ++progress });
    try {
      const { values, problem } = await this.#options.run({ assistant, input, context, ...caller }, signal, onStep);
      if (problem !== undefined) return { content: [{ type: "text", text: problem }], isError: true };
      return { content: [{ type: "text", text: values }], isError: false };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { content: [{ type: "text", text: error.detail }], isError: true };
    }
  }
}

/** What a caller knows progress by; undefined when it does not want to hear of it, or gives what is no token. */
export function progressTokenIn(meta: unknown): string | number | undefined {
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}
