// The generations of A2A that this server speaks, and what they make together: one endpoint, one card.
import type { RpcFailure } from "../json-rpc.ts";
import { isObject, type Json } from "../resources/json.ts";
import type { CardFacts } from "./card.ts";
import { A2AFailure } from "./errors.ts";
import type { Generation } from "./generation.ts";
import type { Task } from "./model.ts";
import { V03 } from "./v03/generation.ts";
import { V1 } from "./v1/generation.ts";

/** The preferred one first. */
export const GENERATIONS: readonly Generation[] = [V1, V03];

export const PROTOCOL_VERSIONS: readonly string[] = GENERATIONS.map(({ version }) => version);

/** The generation that a method is of by its spelling; the oldest when it is of none, because its clients know least. */
export const generationOf = (method: string): Generation =>
  GENERATIONS.find(({ spells }) => spells(method)) ?? GENERATIONS.at(-1)!;

/**
 * A version that a client asks for, as major and minor.
 * @returns undefined when it asks for none. @throws A2AFailure -32009 when this server does not speak it.
 */
export function wantedVersion(asked: string | null): string | undefined {
  if (asked === null || asked.trim() === "") return undefined;
  const [, version] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(asked.trim()) ?? [];
  if (version !== undefined && PROTOCOL_VERSIONS.includes(version)) return version;
  const text = `A2A version ${asked.slice(0, 40)} is not supported (supported: ${PROTOCOL_VERSIONS.join(", ")})`;
  throw new A2AFailure("VERSION_NOT_SUPPORTED", text);
}

/** The JSON of a notification. */
export function notification(version: string, task: Task): string {
  const generation = GENERATIONS.find((one) => one.version === version) ?? GENERATIONS[0]!;
  return JSON.stringify(generation.notification(task));
}

/** An error with the data that a generation gives it. */
export const spelled = (
  failure: RpcFailure,
  { errorData }: Generation,
): { code: number; message: string; data?: unknown } => {
  const data = errorData(failure);
  return { code: failure.code, message: failure.message, ...(data === undefined ? {} : { data }) };
};

/** The card of one generation, which says nothing that the others do not know. */
export const pureCard = (facts: CardFacts): Json => V1.card(facts);

/** A card that clients of all generations understand. */
export function commonCard(facts: CardFacts): Json {
  const card: Json = {};
  for (const members of GENERATIONS.map((generation) => generation.card(facts))) {
    for (const [member, value] of Object.entries(members)) {
      card[member] = isObject(value) && isObject(card[member]) ? { ...card[member], ...value } : value;
    }
  }
  return card;
}
