// The five store operations as HTTP callers know them: the schemas of their bodies and queries, and what each answers.
// The schemas also make the API document, so every limit and default of this resource is here.

import { z } from "zod";
import type { LongTermStore, WireItem, WireSearchItem } from "../storage/long-term-store.ts";
import { containedFilter, jsonObject, limit, nameList, offset, optional } from "./schema.ts";

const labels = nameList;

/** Body of `PUT /store/items`. */
export const putItemBody = z.object({
  namespace: labels,
  key: z.string(),
  value: jsonObject,
  index: z
    .union([z.literal(false), nameList])
    .nullish()
    .meta({
      description:
        "The fields to embed in place of those of `store.index.fields`, or false for none. Without `store.index` in the config nothing is embedded; it is kept for the case that there is one later.",
    }),
  ttl: z
    .number()
    .positive()
    .nullish()
    .meta({ description: "Minutes to live; null: for ever; absent: `store.ttl.default_ttl` of the config." }),
});
export type PutItemBody = z.infer<typeof putItemBody>;

/** Body of `DELETE /store/items`. */
export const deleteItemBody = z.object({ namespace: optional(labels), key: z.string() });
export type DeleteItemBody = z.infer<typeof deleteItemBody>;

/** Query of `GET /store/items`: `namespace` as `a.b` or repeated; `refresh_ttl` as `true`, `false`, `1` or `0`. */
export const getItemQuery = z.object({
  // No label holds a period, so dotted and repeated can be told apart and mixed.
  namespace: z
    .union([z.string(), labels])
    .nullish()
    .transform((value) => (value ? [value].flat().flatMap((part) => part.split(".")) : [])),
  key: z.string(),
  refresh_ttl: z
    .union([z.boolean(), z.enum(["true", "false", "1", "0"])])
    .nullish()
    .transform((value) => (value === null || value === undefined ? undefined : [true, "true", "1"].includes(value))),
});
export type GetItemQuery = z.infer<typeof getItemQuery>;

/** Body of `POST /store/items/search`. */
export const searchItemsBody = z.object({
  namespace_prefix: optional(labels),
  filter: optional(containedFilter),
  limit: limit(10),
  offset,
  query: optional(z.string()).meta({
    description:
      "Sorts by nearness in meaning, with a `score`; items without vectors come last. Ignored without `store.index` in the config.",
  }),
  refresh_ttl: optional(z.boolean()),
});
export type SearchItemsBody = z.infer<typeof searchItemsBody>;

/** Body of `POST /store/namespaces`; `*` in `prefix` and `suffix` stands for any one label. */
export const listNamespacesBody = z.object({
  prefix: optional(labels),
  suffix: optional(labels),
  max_depth: optional(z.int().min(1)),
  limit: limit(100),
  offset,
});
export type ListNamespacesBody = z.infer<typeof listNamespacesBody>;

/** Stores an item, embedded if it is to be; the answer is 204. @throws ApiError 422 for a bad namespace; what embedding throws. */
export async function putItem(store: LongTermStore, { namespace, key, value, ttl, index }: PutItemBody): Promise<void> {
  await store.putItem({ namespace, key, value, ttl, index });
}

/** Deletes an item or nothing; the answer is 204. @throws ApiError 422 for a bad namespace. */
export function deleteItem(store: LongTermStore, { namespace, key }: DeleteItemBody): void {
  // Every item has a namespace, so without one there is nothing to delete; the API has it optional all the same.
  if (namespace !== undefined) store.deleteItem(namespace, key);
}

/** The item, or null (answered as 200 `null`). @throws ApiError 422 for a bad namespace. */
export function getItem(store: LongTermStore, { namespace, key, refresh_ttl }: GetItemQuery): WireItem | null {
  return store.getItem(namespace, key, { refreshTtl: refresh_ttl });
}

/**
 * Items under the prefix that match the filter: the nearest to the query first, or without one the last put.
 * @param sees which of them the caller sees; all by default.
 * @throws ApiError 422 for a bad prefix or filter; what embedding throws.
 */
export async function searchItems(
  store: LongTermStore,
  { namespace_prefix, filter, limit: most, offset: from, query, refresh_ttl }: SearchItemsBody,
  sees?: (item: WireItem) => boolean,
): Promise<{ items: WireSearchItem[] }> {
  const search = {
    namespacePrefix: namespace_prefix,
    filter,
    limit: most,
    offset: from,
    query,
    refreshTtl: refresh_ttl,
    sees,
  };
  return { items: await store.findItems(search) };
}

/** The namespaces that hold items (that the caller sees), sorted. @throws ApiError 422 for a bad prefix or suffix. */
export function listNamespaces(
  store: LongTermStore,
  { prefix, suffix, max_depth, limit: most, offset: from }: ListNamespacesBody,
  sees?: (item: WireItem) => boolean,
): { namespaces: string[][] } {
  const options = { prefix, suffix, maxDepth: max_depth, limit: most, offset: from, sees };
  return { namespaces: store.listNamespacePaths(options) };
}
