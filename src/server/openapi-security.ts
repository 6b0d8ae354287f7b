// What the API document says about credentials: what the config has in `auth.openapi`, or the header of the API keys, and which
// operations need none.
import type { Door } from "../auth/door.ts";
import type { SecurityConfig } from "../config/types.ts";
import type { JsonSchema } from "./json-schemas.ts";
import { pathTemplate, type Operation } from "./operation.ts";

/** The scheme of a server that takes API keys. */
const API_KEY: SecurityConfig = {
  securitySchemes: { apiKeyAuth: { type: "apiKey", in: "header", name: "X-Api-Key" } },
  security: [{ apiKeyAuth: [] }],
};

const REFUSALS = {
  401: "No credentials, or wrong ones.",
  403: "The caller may not do this.",
} as const;

/** What a door says about the operations. */
export interface Security {
  /** Undefined when everybody may come in. */
  readonly door: Door | undefined;
  readonly config: SecurityConfig | undefined;
}

/** Members of the document itself. */
export function documentSecurity({ door, config }: Security): { security?: unknown; securitySchemes?: unknown } {
  const { security, securitySchemes } = config ?? (door === undefined || door.opensPages ? {} : API_KEY);
  return {
    ...(security == null ? {} : { security }),
    ...(securitySchemes == null ? {} : { securitySchemes }),
  };
}

/** Members of an operation. */
export function operationSecurity(operation: Operation, { door, config }: Security): { security?: unknown } {
  const methods = config?.paths?.[pathTemplate(operation.path)] ?? {};
  const [, own] = Object.entries(methods).find(([method]) => method.toUpperCase() === operation.method) ?? [];
  if (own !== undefined) return { security: own };
  const hasScheme = documentSecurity({ door, config }).security !== undefined;
  return door !== undefined && hasScheme && isOpen(operation, door) ? { security: [] } : {};
}

/** Answers of an operation to those who may not call it, as error responses. */
export function refusals(
  operation: Operation,
  { door }: Security,
  errorResponse: (description: string) => JsonSchema,
): Record<string, JsonSchema> {
  if (door === undefined || isOpen(operation, door)) return {};
  const { access } = operation;
  const asks = door.opensPages && access !== "caller" && access !== "pages";
  return { 401: errorResponse(REFUSALS[401]), ...(asks ? { 403: errorResponse(REFUSALS[403]) } : {}) };
}

const isOpen = ({ access }: Operation, door: Door): boolean =>
  access === "everybody" || (access === "pages" && door.opensPages);
