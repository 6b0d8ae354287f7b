// What an agent card says of an assistant, before a generation of the protocol spells it.
import type { Assistant } from "../resources/assistant.ts";
import { DEFAULT_MODES, modesOf } from "./input.ts";

/** The facts of a card. */
export interface CardFacts {
  readonly name: string;
  readonly description: string;
  /** Absolute URL of the endpoint. */
  readonly url: string;
  /** Of the agent; that of this server. */
  readonly version: string;
  /** Versions of the protocol, the preferred one first. */
  readonly protocolVersions: readonly string[];
  readonly pushNotifications: boolean;
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly skill: { readonly id: string; readonly tags: readonly string[] };
}

/** @param origin of the endpoint, without a slash at its end. */
export function cardFacts(
  assistant: Assistant,
  about: {
    readonly origin: string;
    readonly version: string;
    readonly protocolVersions: readonly string[];
    readonly pushNotifications: boolean;
  },
): CardFacts {
  const { assistant_id: id, name, description, graph_id, metadata } = assistant;
  const modes = modesOf(metadata);
  const { origin, ...rest } = about;
  return {
    ...rest,
    name,
    description: description ?? `LangGraph agent: ${graph_id}`,
    url: `${origin}/a2a/${id}`,
    inputModes: modes.input ?? DEFAULT_MODES,
    outputModes: modes.output ?? DEFAULT_MODES,
    skill: { id: `${id}-main`, tags: ["assistant", "langgraph"] },
  };
}
