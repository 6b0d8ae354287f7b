// What of the long-term store a caller gets: the auth handlers see what is asked and may put it into another namespace; their filters are
// about an item's value, with its `namespace` and `key`. An item that is not seen is like one that does not exist.
import type { Access, Allows } from "../auth/access.ts";
import { ApiError } from "../errors.ts";
import { isObject, type Json } from "../resources/json.ts";
import type {
  DeleteItemBody,
  GetItemQuery,
  ListNamespacesBody,
  PutItemBody,
  SearchItemsBody,
} from "../resources/store-items.ts";
import type { LongTermStore, WireItem } from "../storage/long-term-store.ts";

type Item = Pick<WireItem, "namespace" | "key" | "value">;
/** Whether a caller sees an item. */
type Sees = (item: Item) => boolean;

export class StoreRights {
  readonly #store: LongTermStore;

  constructor(store: LongTermStore) {
    this.#store = store;
  }

  /** @throws ApiError 403 when the caller would not see what it puts, or does not see what it would replace. */
  async put(access: Access, body: PutItemBody): Promise<PutItemBody> {
    const { value, allows } = await access.authorize("store:put", {
      namespace: [...body.namespace],
      key: body.key,
      value: body.value,
    });
    const asked: PutItemBody = { ...body, namespace: namespaceIn(value), key: keyIn(value), value: valueIn(value) };
    const before = this.#find(asked.namespace, asked.key);
    if (allows !== undefined && ![asked, ...(before === undefined ? [] : [before])].every(seenBy(allows)))
      throw new ApiError(403, "The filter of this server's auth handler for store:put does not let this item through");
    return asked;
  }

  /** What to get; undefined when the caller does not see it. */
  async get(access: Access, { namespace, key, ...rest }: GetItemQuery): Promise<GetItemQuery | undefined> {
    const { value, allows } = await access.authorize("store:get", { namespace: [...namespace], key });
    const asked = { ...rest, namespace: namespaceIn(value), key: keyIn(value) };
    return this.#isSeen(asked.namespace, asked.key, allows) ? asked : undefined;
  }

  /** What to delete; undefined when the caller does not see it. */
  async delete(access: Access, { namespace, key }: DeleteItemBody): Promise<DeleteItemBody | undefined> {
    const { value, allows } = await access.authorize("store:delete", { namespace: [...(namespace ?? [])], key });
    const asked = { namespace: namespaceIn(value), key: keyIn(value) };
    if (namespace === undefined && asked.namespace.length === 0) return undefined;
    return this.#isSeen(asked.namespace, asked.key, allows) ? asked : undefined;
  }

  async search(access: Access, body: SearchItemsBody): Promise<{ asked: SearchItemsBody; sees: Sees | undefined }> {
    const { namespace_prefix = [], filter, limit, offset, query } = body;
    const { value, allows } = await access.authorize("store:search", {
      namespace: [...namespace_prefix],
      filter,
      limit,
      offset,
      query,
    });
    const narrowed = isObject(value.filter) ? value.filter : undefined;
    const asked = { ...body, namespace_prefix: namespaceIn(value), filter: narrowed };
    return { asked, sees: allows && seenBy(allows) };
  }

  async list(access: Access, body: ListNamespacesBody): Promise<{ asked: ListNamespacesBody; sees: Sees | undefined }> {
    const { prefix = [], suffix, max_depth, limit, offset } = body;
    const { value, allows } = await access.authorize("store:list_namespaces", {
      namespace: [...prefix],
      suffix: suffix && [...suffix],
      max_depth,
      limit,
      offset,
    });
    const end = value.suffix === undefined ? undefined : namespaceIn({ namespace: value.suffix });
    return { asked: { ...body, prefix: namespaceIn(value), suffix: end }, sees: allows && seenBy(allows) };
  }

  #isSeen(namespace: readonly string[], key: string, allows: Allows | undefined): boolean {
    const item = allows === undefined ? undefined : this.#find(namespace, key);
    return item === undefined || allows === undefined || seenBy(allows)(item);
  }

  /** @throws ApiError 422 for a bad namespace. */
  #find(namespace: readonly string[], key: string): Item | undefined {
    return this.#store.getItem(namespace, key, { refreshTtl: false }) ?? undefined;
  }
}

const seenBy =
  (allows: Allows): Sees =>
  ({ namespace, key, value }) =>
    allows({ ...value, namespace, key });

function namespaceIn({ namespace }: Json): string[] {
  if (namespace === undefined || namespace === null) return [];
  if (Array.isArray(namespace) && namespace.every((label) => typeof label === "string")) return [...namespace];
  throw misuse("namespace", "a list of strings");
}

function keyIn({ key }: Json): string {
  if (typeof key === "string") return key;
  throw misuse("key", "a string");
}

function valueIn({ value }: Json): Json {
  if (isObject(value)) return value;
  throw misuse("value", "an object");
}

const misuse = (name: string, expected: string): ApiError =>
  new ApiError(422, `The auth handler of this server has made ${name} something else than ${expected}`);
