// Building blocks of the zod schemas of all resources. They follow what clients really send: null for what they leave out, unknown
// fields, query strings for booleans.
import { z } from "zod";
import { isObject, type Json } from "./json.ts";

/** Any JSON object. Not z.record: that copies every value and drops `__proto__` keys. */
export const jsonObject = z
  .unknown()
  .refine(isObject, "must be a JSON object")
  .meta({ type: "object", additionalProperties: true }) as unknown as z.ZodType<Json, Json>;

/** A field that may be absent or null. */
export const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** A UUID, in lower case. */
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, "must be a UUID")
  .meta({ format: "uuid" })
  .transform((id) => id.toLowerCase());

/** Direction of a sort. */
export const sortOrder = optional(z.enum(["asc", "desc"]));

/** Page size, 1 to 1000. */
export const limit = (byDefault = 10) =>
  z
    .int()
    .min(1)
    .max(1000)
    .nullish()
    .meta({ default: byDefault })
    .transform((value) => value ?? byDefault);

/** Number of results to leave out at the beginning. */
export const offset = z
  .int()
  .min(0)
  .nullish()
  .meta({ default: 0 })
  .transform((value) => value ?? 0);

/** A boolean in a query string: `true`, `false`, `1` or `0`. */
export const queryFlag = (byDefault: boolean) =>
  z
    .enum(["true", "false", "1", "0", ""])
    .optional()
    .meta({ default: byDefault })
    .transform((value) => (value === undefined || value === "" ? byDefault : value === "true" || value === "1"));

/** A number in a query string. */
export const queryInt = (min: number, max: number, byDefault: number) =>
  z.coerce.number().int().min(min).max(max).default(byDefault);

/** One value or several in a query string. */
export const queryList = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => (value === undefined ? undefined : [value].flat()));
