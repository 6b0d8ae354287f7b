// Who somebody is, by what the project's `authenticate` said.
import { isObject, type Json } from "../resources/json.ts";
import type { Caller } from "./access.ts";

/** A caller by what `authenticate` returned; undefined when that is nobody. */
export function callerOf(answer: unknown): Caller | undefined {
  const given = typeof answer === "string" ? { identity: answer } : answer;
  if (!isObject(given)) return undefined;
  const { identity, permissions } = given;
  if (typeof identity !== "string" || identity === "") return undefined;
  const rights = Array.isArray(permissions) ? permissions.filter((one) => typeof one === "string") : [];
  const user: Json = {
    ...given,
    permissions: rights,
    is_authenticated: given["is_authenticated"] ?? true,
    display_name: given["display_name"] ?? identity,
  };
  // Plain data: it is stored with runs, and reaches the graph the same after a restart.
  return { identity, permissions: rights, user: JSON.parse(JSON.stringify(user)) as Json };
}
