// Loads everything that is the user's own code, as `dev` does, and says what is wrong with it. Runs in a process of its own (child.ts).
import { CustomAuth } from "../../auth/custom-auth.ts";
import type { AuthConfig, Diagnostic, GraphSpec } from "../../config/types.ts";
import { CliError } from "../../errors.ts";
import { ProjectEmbedder } from "../../graphs/embeddings.ts";
import { GraphLoadError, messageOf } from "../../graphs/errors.ts";
import { ExportError, exportProblem, type ExportSpec } from "../../graphs/exports.ts";
import { SchemaSource } from "../../graphs/graph-schemas.ts";
import { GraphHost } from "../../graphs/host.ts";
import type { GraphVersion, RunnableGraph } from "../../graphs/types.ts";
import { UiBundles } from "../../graphs/ui.ts";
import { systemSettings } from "../../resources/system-assistants.ts";
import { webApp } from "../../server/web-app.ts";
import { EMBEDDING, graphPart, uiPart, type CodeMessage, type CodeRequest } from "./messages.ts";

/** A graph that can be asked for its schemas. */
interface Loaded {
  readonly spec: GraphSpec;
  readonly version: GraphVersion;
  readonly graph: RunnableGraph;
}

/** Loads what is asked for. Ends with a message "done"; never throws for what is wrong with the user's code. */
export async function loadCode({ project, exports }: CodeRequest, send: (message: CodeMessage) => void): Promise<void> {
  const warn = (message: string): void => send({ type: "problem", problem: { severity: "warning", message } });
  const part = (name: string, problems: readonly Diagnostic[] = []): void =>
    send({ type: "part", part: name, problems });
  const host = new GraphHost({
    project,
    reload: false,
    onEvent: (event) => (event.type === "warning" ? warn(event.message) : undefined),
  });
  const { settings, problems } = systemSettings(
    process.env["LANGGRAPH_CONFIG"],
    project.graphs.map(({ id }) => id),
  );
  for (const problem of problems) warn(problem);

  const loadGraph = async (spec: GraphSpec): Promise<Loaded[]> => {
    let version: GraphVersion;
    try {
      version = await host.get(spec.id);
    } catch (error) {
      part(graphPart(spec.id), [diagnosticOf(error)]);
      return [];
    }
    try {
      // As its assistant calls it.
      const { config = {}, context } = settings.get(spec.id) ?? {};
      const configurable = { ...(config["configurable"] as object | undefined), graph_id: spec.id };
      const graph = await version.resolve({ ...config, context, configurable });
      part(graphPart(spec.id));
      return [{ spec, version, graph }];
    } catch (error) {
      // A factory may need what only a run brings. One that makes no graph is wrong with any config.
      const severity = error instanceof GraphLoadError && error.cause === undefined ? "error" : "warning";
      part(graphPart(spec.id), [{ ...diagnosticOf(error), severity }]);
      return [];
    }
  };
  const loadAuth = async (config: AuthConfig): Promise<void> => {
    const found: Diagnostic[] = [];
    const onProblem = (problem: Diagnostic): void =>
      void found.push({ ...problem, message: problem.message.replace(/^auth\.path:? /, "") });
    await new CustomAuth({ config, root: project.root, graphs: host, onProblem }).check();
    part("auth.path", found);
  };
  const loadExport = async (spec: ExportSpec): Promise<void> => {
    if (spec.key === "auth.path" && project.auth) return loadAuth(project.auth);
    try {
      const value = await host.loadExport(spec);
      if (value === undefined || value === null) throw exportProblem(spec, `"${spec.exportName}" is ${String(value)}`);
      if (spec.key === "http.app") webApp(value, spec);
      part(spec.key);
    } catch (error) {
      part(spec.key, [diagnosticOf(error)]);
    }
  };
  const loadEmbedding = async (): Promise<void> => {
    const index = project.store?.index;
    if (index === undefined) return;
    // A model may only lack the key that the machine of the server has.
    const severity = "file" in index.source ? "error" : "warning";
    const found: Diagnostic[] = [];
    const onProblem = (problem: Diagnostic): void => void found.push({ ...problem, severity });
    await new ProjectEmbedder({ index, root: project.root, graphs: host, onProblem }).check();
    part(EMBEDDING, found);
  };
  const bundles = new UiBundles(project.root, project.ui);
  const buildUi = async (name: string): Promise<void> => {
    const failure = await bundles.get(name).then(
      () => undefined,
      (error: unknown) => diagnosticOf(error),
    );
    part(uiPart(name), failure ? [failure] : []);
  };

  const started = host.start().catch((error: unknown) => send({ type: "problem", problem: diagnosticOf(error) }));
  const [loaded] = await Promise.all([
    Promise.all(project.graphs.map(loadGraph)),
    ...exports.map(loadExport),
    loadEmbedding(),
    ...Object.keys(project.ui.files).map(buildUi),
    started,
  ]);
  send({ type: "loaded" });

  const schemas = new SchemaSource({ cacheDir: null, runtime: () => host.runtime(), onWarning: warn });
  await Promise.all(
    loaded.flat().map(async ({ spec, version, graph }) => {
      try {
        send({ type: "schemas", id: spec.id, schemas: await schemas.of(spec, version, graph) });
      } catch (error) {
        warn(`The schemas of graph "${spec.id}" cannot be made: ${messageOf(error)}`);
      }
    }),
  );
  await schemas.close();
  await host.close();
  send({ type: "done" });
}

function diagnosticOf(error: unknown): Diagnostic {
  if (error instanceof GraphLoadError || error instanceof ExportError) return error.diagnostic;
  if (!(error instanceof CliError)) return { severity: "error", message: messageOf(error) };
  const { message, hint } = error;
  return { severity: "error", message, ...(hint === undefined ? {} : { hint }) };
}
