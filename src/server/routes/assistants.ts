// Assistants over HTTP (wire-api §1.1): the system assistants of the configured graphs, their schemas and drawings.
import { z } from "zod";
import { drawGraph } from "../../graphs/drawing.ts";
import { graphSchemas } from "../../graphs/schemas.ts";
import type { RunnableGraph } from "../../graphs/types.ts";
import { countAssistantsBody, drawQuery, searchAssistantsBody } from "../../resources/assistant-bodies.ts";
import { pick, type Json } from "../../resources/json.ts";
import {
  assistantShape,
  drawingShape,
  graphSchemasShape,
  PAGINATION_HEADERS,
  selected,
} from "../../resources/shapes.ts";
import { answer, type Route } from "../operation.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";

export function assistantRoutes(route: Route, { assistants, graphs }: Services): void {
  /** The graph of an assistant, compiled with the assistant's own config. */
  const graphOf = async (id: string): Promise<{ graphId: string; graph: RunnableGraph }> => {
    const { graph_id: graphId, config } = assistants.get(id);
    return { graphId, graph: await (await graphs.get(graphId)).resolve(config) };
  };

  const tag = "Assistants";
  route(
    {
      method: "POST",
      path: "/assistants/search",
      tag,
      summary: "one assistant per graph; pages",
      body: searchAssistantsBody,
      answers: answer("Matches.", z.array(selected(assistantShape)), PAGINATION_HEADERS),
    },
    async (context) => {
      const { select, ...query } = await context.body();
      const page = assistants.search(query);
      return context.reply.json(
        page.items.map((assistant) => pick(assistant as unknown as Json, select)),
        pagination(page),
      );
    },
  );
  route(
    {
      method: "POST",
      path: "/assistants/count",
      tag,
      summary: "how many match",
      body: countAssistantsBody,
      answers: answer("Number of matches.", z.int()),
    },
    async (context) => {
      const query = await context.body();
      return context.reply.json(assistants.search({ ...query, limit: 1, offset: 0 }).total);
    },
  );
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id",
      tag,
      summary: "one assistant; a graph's name works as the id",
      answers: answer("The assistant.", assistantShape),
      errors: [404],
    },
    (context) => context.reply.json(assistants.get(context.param("assistant_id"))),
  );
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id/schemas",
      tag,
      summary: "JSON schemas of state, input, output, config and context",
      answers: answer("The schemas of its graph.", graphSchemasShape),
      errors: [404],
    },
    async (context) => {
      const { graphId, graph } = await graphOf(context.param("assistant_id"));
      return context.reply.json({ graph_id: graphId, ...(await graphSchemas(graph, await graphs.runtime())) });
    },
  );
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id/graph",
      tag,
      summary: "nodes and edges; `?xray=` draws subgraphs",
      query: drawQuery,
      answers: answer("The drawing.", drawingShape),
      errors: [404],
    },
    async (context) => {
      const { xray } = context.query();
      const { graph } = await graphOf(context.param("assistant_id"));
      return context.reply.json(await drawGraph(graph, { xray }));
    },
  );
}
