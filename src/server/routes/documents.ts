// The document of the API and the page that shows it. `http.disable_meta` takes both away.
import { z } from "zod";
import { ApiError } from "../../errors.ts";
import { graphSchemas } from "../../graphs/schemas.ts";
import type { GraphVersion } from "../../graphs/types.ts";
import { DOCS_HEADERS, docsHtml, docsScript, docsScriptText } from "../docs-page.ts";
import { etagOf } from "../etag.ts";
import type { ExampleSource } from "../examples.ts";
import { openApiDocument } from "../openapi.ts";
import { answer, type Operation, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

const NOT_CHANGED = { 304: { means: "With `If-None-Match`: the client has it." } } as const;
const IF_NONE_MATCH = { "If-None-Match": "The ETag of what the client has." } as const;

/** @param operations everything that is registered, by the time that a request comes. */
export function documentRoutes(route: Route, services: Services, operations: readonly Operation[]): void {
  const { version, graphs, http, door } = services;
  const security = { door, config: services.security };
  const tag = "System";
  /** The first graph, if it has been loaded; nobody who reads the documents waits for that. */
  const firstGraph = async (): Promise<GraphVersion | undefined> => {
    const [id] = graphs.ids;
    if (id === undefined) return undefined;
    const now = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
    return Promise.race([graphs.get(id).catch(() => undefined), now]);
  };
  const inputOf = async (graph: GraphVersion | undefined): Promise<ExampleSource["input"]> => {
    if (graph === undefined) return null;
    try {
      return (await graphSchemas(await graph.resolve({}), await graphs.runtime())).input_schema;
    } catch {
      // A graph that is made per run, and not without a config.
      return null;
    }
  };
  let made: { readonly graph: GraphVersion | undefined; readonly text: string; readonly etag: string } | undefined;
  const document = async (): Promise<{ text: string; etag: string }> => {
    // Where the document is open and the rest is not, it tells nothing of the graphs.
    const graph = door?.opensPages === true ? undefined : await firstGraph();
    if (made === undefined || made.graph !== graph) {
      const graphId = door?.opensPages === true ? undefined : graphs.ids[0];
      const examples = { graphId, input: await inputOf(graph) };
      const prefix = http.mount_prefix;
      const text = JSON.stringify(openApiDocument(operations, { version, examples, prefix, security }));
      made = { graph, text, etag: etagOf(text) };
    }
    return made;
  };

  route(
    {
      method: "GET",
      path: "/openapi.json",
      tag,
      access: "pages",
      summary: "this API as an OpenAPI 3.1 document",
      headers: IF_NONE_MATCH,
      answers: {
        ...answer("The document.", z.record(z.string(), z.unknown()), { ETag: "Of the document." }),
        ...NOT_CHANGED,
      },
    },
    async (context) => {
      const { text, etag } = await document();
      const headers = { etag, "cache-control": "no-cache" };
      if (context.header("if-none-match") === etag) return context.reply.empty(304, headers);
      return context.reply.jsonText(text, headers);
    },
  );
  route(
    {
      method: "GET",
      path: "/docs",
      tag,
      access: "pages",
      summary: "this API as a page that can try it",
      answers: { 200: { means: "The page.", type: "text/html", body: z.string() } },
    },
    (context) => context.reply.text(docsHtml(context.url.pathname), "text/html", DOCS_HEADERS),
  );
  route(
    {
      method: "GET",
      path: "/docs/:file",
      tag,
      access: "pages",
      summary: "the script of that page, `scalar.js`",
      headers: IF_NONE_MATCH,
      answers: { 200: { means: "The script.", type: "text/javascript", body: z.string() }, ...NOT_CHANGED },
      errors: [404],
    },
    (context) => {
      if (context.param("file") !== "scalar.js")
        throw new ApiError(404, `/docs has no file "${context.param("file")}"`);
      const { bytes, etag } = docsScript();
      const headers = { etag, vary: "Accept-Encoding", "cache-control": "public, max-age=31536000, immutable" };
      if (context.header("if-none-match") === etag) return context.reply.empty(304, headers);
      if (context.header("accept-encoding")?.includes("gzip") !== true)
        return context.reply.text(docsScriptText(), "text/javascript", headers);
      return context.reply.text(bytes, "text/javascript", { ...headers, "content-encoding": "gzip" });
    },
  );
}
