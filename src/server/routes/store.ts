// The long-term store over HTTP (wire-api §1.6).
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
import type { Route } from "../app.ts";
import type { Services } from "../services.ts";

export function storeRoutes(route: Route, { store }: Services): void {
  route("PUT", "/store/items", async (context) => {
    putItem(store, await context.body(putItemBody));
    return context.reply.empty();
  });
  route("GET", "/store/items", (context) => context.reply.json(getItem(store, context.query(getItemQuery))));
  route("DELETE", "/store/items", async (context) => {
    deleteItem(store, await context.body(deleteItemBody));
    return context.reply.empty();
  });
  route("POST", "/store/items/search", async (context) => {
    return context.reply.json(searchItems(store, await context.body(searchItemsBody)));
  });
  route("POST", "/store/namespaces", async (context) => {
    return context.reply.json(listNamespaces(store, await context.body(listNamespacesBody)));
  });
}
