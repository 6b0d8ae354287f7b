// The long-term store over HTTP (wire-api §1.6).
import { z } from "zod";
import {
  deleteItem,
  deleteItemBody,
  getItem,
  getItemQuery,
  listNamespaces,
  listNamespacesBody,
  putItem,
  putItemBody,
  searchItems,
  searchItemsBody,
} from "../../resources/store-items.ts";
import { foundItemShape, itemShape } from "../../resources/shapes.ts";
import { StoreRights } from "../store-rights.ts";
import { answer, done, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

export function storeRoutes(route: Route, { store }: Services): void {
  const tag = "Store";
  const rights = new StoreRights(store);
  route(
    {
      method: "PUT",
      path: "/store/items",
      tag,
      access: "asks",
      summary: "put an item of long-term memory",
      description:
        "With `store.index` in the config its texts are embedded first. 502 when that fails; nothing is stored then.",
      body: putItemBody,
      answers: done("It is stored."),
    },
    async (context) => {
      const body = await context.body();
      await putItem(store, context.access.restricted ? await rights.put(context.access, body) : body);
      return context.reply.empty();
    },
  );
  route(
    {
      method: "GET",
      path: "/store/items",
      tag,
      access: "asks",
      summary: "get one, or `null`",
      query: getItemQuery,
      answers: answer("The item, or null.", itemShape.nullable()),
    },
    async (context) => {
      const query = context.query();
      if (!context.access.restricted) return context.reply.json(getItem(store, query));
      const asked = await rights.get(context.access, query);
      return context.reply.json(asked === undefined ? null : getItem(store, asked));
    },
  );
  route(
    {
      method: "DELETE",
      path: "/store/items",
      tag,
      access: "asks",
      summary: "delete one",
      body: deleteItemBody,
      answers: done("It is not there any more."),
    },
    async (context) => {
      const body = await context.body();
      const asked = context.access.restricted ? await rights.delete(context.access, body) : body;
      if (asked !== undefined) deleteItem(store, asked);
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/store/items/search",
      tag,
      access: "asks",
      summary: "by namespace prefix and filter, and by meaning with `query` if the config has `store.index`",
      description: "502 when the embedding of `query` fails.",
      body: searchItemsBody,
      answers: answer("Matches.", z.object({ items: z.array(foundItemShape) })),
    },
    async (context) => {
      const body = await context.body();
      if (!context.access.restricted) return context.reply.json(await searchItems(store, body));
      const { asked, sees } = await rights.search(context.access, body);
      return context.reply.json(await searchItems(store, asked, sees));
    },
  );
  route(
    {
      method: "POST",
      path: "/store/namespaces",
      tag,
      access: "asks",
      summary: "list namespaces",
      body: listNamespacesBody,
      answers: answer("Namespaces, sorted.", z.object({ namespaces: z.array(z.array(z.string())) })),
    },
    async (context) => {
      const body = await context.body();
      if (!context.access.restricted) return context.reply.json(listNamespaces(store, body));
      const { asked, sees } = await rights.list(context.access, body);
      return context.reply.json(listNamespaces(store, asked, sees));
    },
  );
}
