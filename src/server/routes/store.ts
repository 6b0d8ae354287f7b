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
import { answer, done, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

export function storeRoutes(route: Route, { store }: Services): void {
  const tag = "Store";
  route(
    {
      method: "PUT",
      path: "/store/items",
      tag,
      summary: "put an item of long-term memory",
      description:
        "With `store.index` in the config its texts are embedded first. 502 when that fails; nothing is stored then.",
      body: putItemBody,
      answers: done("It is stored."),
    },
    async (context) => {
      await putItem(store, await context.body());
      return context.reply.empty();
    },
  );
  route(
    {
      method: "GET",
      path: "/store/items",
      tag,
      summary: "get one, or `null`",
      query: getItemQuery,
      answers: answer("The item, or null.", itemShape.nullable()),
    },
    (context) => context.reply.json(getItem(store, context.query())),
  );
  route(
    {
      method: "DELETE",
      path: "/store/items",
      tag,
      summary: "delete one",
      body: deleteItemBody,
      answers: done("It is not there any more."),
    },
    async (context) => {
      deleteItem(store, await context.body());
      return context.reply.empty();
    },
  );
  route(
    {
      method: "POST",
      path: "/store/items/search",
      tag,
      summary: "by namespace prefix and filter, and by meaning with `query` if the config has `store.index`",
      description: "502 when the embedding of `query` fails.",
      body: searchItemsBody,
      answers: answer("Matches.", z.object({ items: z.array(foundItemShape) })),
    },
    async (context) => {
      return context.reply.json(await searchItems(store, await context.body()));
    },
  );
  route(
    {
      method: "POST",
      path: "/store/namespaces",
      tag,
      summary: "list namespaces",
      body: listNamespacesBody,
      answers: answer("Namespaces, sorted.", z.object({ namespaces: z.array(z.array(z.string())) })),
    },
    async (context) => {
      return context.reply.json(listNamespaces(store, await context.body()));
    },
  );
}
