// What the graph of an assistant looks like over HTTP (wire-api §1.1): its schemas, those of its subgraphs, its drawing. The graph is
// the one that the assistant's runs get: a factory is called with the assistant's settings.
import type { Access } from "../../auth/access.ts";
import { drawGraph } from "../../graphs/drawing.ts";
import type { SubgraphQuery } from "../../graphs/graph-schemas.ts";
import type { GraphSchemas, GraphVersion, RunnableGraph } from "../../graphs/types.ts";
import { drawQuery, subgraphsQuery } from "../../resources/assistant-bodies.ts";
import type { Json } from "../../resources/json.ts";
import { drawingShape, graphSchemasShape, subgraphSchemasShape } from "../../resources/shapes.ts";
import type { Context } from "../context.ts";
import { answer, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "Assistants";

export function assistantGraphRoutes(route: Route, { assistants, graphs, schemas }: Services): void {
  const graphOf = async (
    id: string,
    { settings }: Access,
  ): Promise<{ graphId: string; version: GraphVersion; graph: RunnableGraph }> => {
    const { graph_id: graphId, assistant_id, config, context } = assistants.get(id);
    const version = await graphs.get(graphId);
    const own = config["configurable"] as Json | undefined;
    const configurable = { ...own, ...settings, graph_id: graphId, assistant_id };
    return { graphId, version, graph: await version.resolve({ ...config, context, configurable }) };
  };

  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id/graph",
      tag,
      access: "assistants:read",
      summary: "nodes and edges; `?xray=` draws subgraphs",
      query: drawQuery,
      answers: answer("The drawing.", drawingShape),
      errors: [404, 422],
    },
    async (context) => {
      const { xray } = context.query();
      const { graph } = await graphOf(context.param("assistant_id"), context.access);
      return context.reply.json(await drawGraph(graph, { xray }));
    },
  );
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id/schemas",
      tag,
      access: "assistants:read",
      summary: "JSON schemas of state, input, output, config and context",
      answers: answer("The schemas of its graph.", graphSchemasShape),
      errors: [404, 422],
    },
    async (context) => {
      const { graphId, version, graph } = await graphOf(context.param("assistant_id"), context.access);
      const found = await schemas.of(graphs.spec(graphId), version, graph);
      return context.reply.json({ graph_id: graphId, ...found });
    },
  );
  const subgraphs = async (context: Context, query: SubgraphQuery): Promise<Record<string, GraphSchemas>> => {
    const { graphId, version, graph } = await graphOf(context.param("assistant_id"), context.access);
    return schemas.subgraphs(graphs.spec(graphId), version, graph, query);
  };
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id/subgraphs",
      tag,
      access: "assistants:read",
      summary: "schemas of its subgraphs by name; `?recurse=true` of those inside them too",
      query: subgraphsQuery,
      answers: answer("Schemas by the name of the subgraph: `node`, or `node|inner`.", subgraphSchemasShape),
      errors: [404, 422],
    },
    async (context) => context.reply.json(await subgraphs(context, { recurse: context.query().recurse })),
  );
  route(
    {
      method: "GET",
      path: "/assistants/:assistant_id/subgraphs/:namespace",
      tag,
      access: "assistants:read",
      summary: "schemas of the subgraph with this name",
      query: subgraphsQuery,
      answers: answer("Its schemas under its name; nothing when there is no such subgraph.", subgraphSchemasShape),
      errors: [404, 422],
    },
    async (context) => {
      const query = { namespace: context.param("namespace"), recurse: context.query().recurse };
      return context.reply.json(await subgraphs(context, query));
    },
  );
}
