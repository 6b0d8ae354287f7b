// Building blocks of the zod schemas of all resources. They follow what clients really send: null for what they leave out, unknown
// fields, query strings for booleans.
import { z } from "zod";
import { isObject, type Json } from "./json.ts";
import { MAX_FILTER_KEYS, MAX_KEYS, settingsProblem } from "./settings-size.ts";

/** Ids in one request. */
export const MAX_IDS = 10_000;
/** Updates, targets and steps in one request. */
export const MAX_STEPS = 10_000;
/** Names in one list: nodes, tags, fields. */
export const MAX_NAMES = 1000;

/** Characters of a request in which everything that is wrong is named; of a longer one that is only the first thing. */
const ALL_NAMED = 16 * 1024;
/** Zod stops at the first thing that is wrong. Its types know that of `validate` only, which does not say what it was. */
export const FIRST_ONLY = { abortEarly: true } as z.core.ParseContext<z.core.$ZodIssue>;

/**
 * What a request holds, as a schema has it. Naming a thing that is wrong takes a thousand times the work of reading it, so that a request
 * must not be able to have a million of them.
 * @param length characters of the request, if they are known.
 * @throws ZodError
 */
export const validated = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  length: number = Infinity,
): z.output<Schema> => schema.parse(value, length > ALL_NAMED ? FIRST_ONLY : undefined);

/** One line that names every field that is wrong, and why; of very many the first ten. */
export const issuesText = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 10)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`))
    .join("; ");

/** Any JSON object. Not z.record: that copies every value and drops `__proto__` keys. */
export const jsonObject = z
  .unknown()
  .refine(isObject, { error: "must be a JSON object", abort: true })
  .meta({ type: "object", additionalProperties: true }) as unknown as z.ZodType<Json, Json>;

const settingsOf = (maxKeys: number): z.ZodType<Json, Json> =>
  z
    .unknown()
    .superRefine((value, context) => {
      const problem = settingsProblem(value, maxKeys);
      if (problem !== undefined) context.addIssue({ code: "custom", message: problem, continue: false });
    })
    .meta({
      type: "object",
      additionalProperties: true,
      description: `At most ${maxKeys} keys in all, and 1 MiB.`,
    }) as unknown as z.ZodType<Json, Json>;

/** Metadata, or settings that are copied like metadata: a JSON object that is not too large. */
export const settings = settingsOf(MAX_KEYS);

/** What metadata or values have to contain. */
export const containedFilter = settingsOf(MAX_FILTER_KEYS);

/** A list of names. */
export const nameList = z.array(z.string()).max(MAX_NAMES);

/** Which fields of records to answer with. */
export const selection = <const Field extends string>(fields: readonly Field[]) =>
  optional(z.array(z.enum(fields)).max(MAX_NAMES));

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
