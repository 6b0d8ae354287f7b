// Assistants over HTTP (wire-api §1.1): the system assistants of the configured graphs, their schemas and drawings.
import { drawGraph } from "../../graphs/drawing.ts";
import { graphSchemas } from "../../graphs/schemas.ts";
import type { RunnableGraph } from "../../graphs/types.ts";
import { countAssistantsBody, drawQuery, searchAssistantsBody } from "../../resources/bodies.ts";
import { pick, type Json } from "../../resources/json.ts";
import type { Route } from "../app.ts";
import { pagination } from "../respond.ts";
import type { Services } from "../services.ts";

export function assistantRoutes(route: Route, { assistants, graphs }: Services): void {
  /** The graph of an assistant, compiled with the assistant's own config. */
  const graphOf = async (id: string): Promise<{ graphId: string; graph: RunnableGraph }> => {
    const { graph_id: graphId, config } = assistants.get(id);
    return { graphId, graph: await (await graphs.get(graphId)).resolve(config) };
  };

  route("POST", "/assistants/search", async (context) => {
    const { select, ...query } = await context.body(searchAssistantsBody);
    const page = assistants.search(query);
    return context.reply.json(
      page.items.map((assistant) => pick(assistant as unknown as Json, select)),
      pagination(page),
    );
  });
  route("POST", "/assistants/count", async (context) => {
    const query = await context.body(countAssistantsBody);
    return context.reply.json(assistants.search({ ...query, limit: 1, offset: 0 }).total);
  });
  route("GET", "/assistants/:assistant_id", (context) =>
    context.reply.json(assistants.get(context.param("assistant_id"))),
  );
  route("GET", "/assistants/:assistant_id/schemas", async (context) => {
    const { graphId, graph } = await graphOf(context.param("assistant_id"));
    return context.reply.json({ graph_id: graphId, ...(await graphSchemas(graph, await graphs.runtime())) });
  });
  route("GET", "/assistants/:assistant_id/graph", async (context) => {
    const { xray } = context.query(drawQuery);
    const { graph } = await graphOf(context.param("assistant_id"));
    return context.reply.json(await drawGraph(graph, { xray }));
  });
}
