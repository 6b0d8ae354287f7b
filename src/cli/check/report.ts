// Everything that `check` knows of a project, in one document: what is wrong with its config and with the code that the config names.
import { existsSync } from "node:fs";
import { inspectConfig, inspectProject, type Inspection } from "../../config/load.ts";
import { isRecord } from "../../config/source.ts";
import type { Diagnostic } from "../../config/types.ts";
import { CliError } from "../../errors.ts";
import type { GraphSchemas } from "../../graphs/types.ts";
import { demoProject } from "../../server/demo.ts";
import type { Io } from "../io.ts";
import { exportsOf } from "./exports.ts";
import { hostedWarnings } from "./hosted.ts";
import { loadInChild, type CodeReport } from "./load.ts";
import { EMBEDDING, graphPart, partsOf, uiPart, type CodeRequest } from "./messages.ts";

/** A graph of the config. */
export interface CheckedGraph {
  readonly id: string;
  /** Absolute path; null when the config names no file that is there. */
  readonly file: string | null;
  readonly export: string | null;
  /** Whether it can be loaded. */
  readonly ok: boolean;
  /** As `GET /assistants/{id}/schemas` has them; null when the graph cannot be asked. */
  readonly schemas: GraphSchemas | null;
}

/** The result of `check --json`. */
export interface CheckReport {
  /** Whether there are no errors. */
  readonly ok: boolean;
  /** Absolute path of the config; null when there are only the variables of the platform. */
  readonly file: string | null;
  readonly errors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  readonly graphs: readonly CheckedGraph[];
}

const NO_CODE: CodeReport = { parts: new Map(), problems: [], schemas: new Map() };

/**
 * Checks what `dev` would serve.
 * @param file Absolute path of the config; null for the variables of the platform alone.
 * @param timeout Seconds that its code may take.
 */
export async function checkProject(
  file: string | null,
  io: Pick<Io, "cwd" | "env" | "stderr">,
  timeout: number,
  signal: AbortSignal,
): Promise<CheckReport> {
  const inspection = file === null ? await inspectVariables(io) : await inspect(file, io.env);
  const { source, project, diagnostics } = inspection;
  if (source === null || project === null) return reportOf(file, inspection, [], NO_CODE);
  const named = exportsOf(source, project.root, diagnostics);
  const request = requestOf(project, named.exports);
  const code = partsOf(request).length > 0 ? await loadInChild(request, io, timeout, signal) : NO_CODE;
  const hosted = file === null ? [] : hostedWarnings(source, project);
  return reportOf(file, inspection, [...named.diagnostics, ...hosted], code);
}

/** What is known of the config. The project is null when its file cannot be read. */
type Read = Omit<Inspection, "project"> & { readonly project: Inspection["project"] | null };

async function inspectVariables({ cwd, env }: Pick<Io, "cwd" | "env">): Promise<Read> {
  const inspection = await inspectProject({ cwd, processEnv: env, fallback: demoProject(cwd) });
  return inspection ?? { source: null, project: null, diagnostics: [] };
}

/** A config that cannot be read is a problem like any other here. */
async function inspect(file: string, env: Io["env"]): Promise<Read> {
  try {
    return await inspectConfig(file, env);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message, hint } = error;
    const location = { file, line: 1, column: 1 };
    const problem: Diagnostic = { severity: "error", message, location, ...(hint === undefined ? {} : { hint }) };
    return { source: null, project: null, diagnostics: [problem] };
  }
}

function requestOf(project: Inspection["project"], exports: CodeRequest["exports"]): CodeRequest {
  // What is missing has been said.
  const files = Object.fromEntries(Object.entries(project.ui.files).filter(([, path]) => existsSync(path)));
  return {
    project: { ...project, ui: { ...project.ui, files } },
    exports: exports.filter(({ key }) => key !== EMBEDDING || project.store?.index === undefined),
  };
}

function reportOf(file: string | null, read: Read, more: readonly Diagnostic[], code: CodeReport): CheckReport {
  const { source, project, diagnostics } = read;
  const all = [...diagnostics, ...more, ...code.problems, ...ofParts(code, read)];
  const errors = all.filter(({ severity }) => severity === "error");
  const entries = source?.value["graphs"];
  const graphs = Object.keys(isRecord(entries) ? entries : {}).map((id): CheckedGraph => {
    const spec = project?.graphs.find((each) => each.id === id);
    if (spec === undefined) return { id, file: null, export: null, ok: false, schemas: null };
    const problems = code.parts.get(graphPart(id)) ?? [];
    const ok = !problems.some(({ severity }) => severity === "error");
    return { id, file: spec.file, export: spec.exportName, ok, schemas: code.schemas.get(id) ?? null };
  });
  const warnings = all.filter(({ severity }) => severity === "warning");
  return { ok: errors.length === 0, file, errors, warnings, graphs };
}

/** The problems of all parts. Those that have one in common, such as a broken file that both import, are named together. */
function ofParts({ parts, problems }: CodeReport, { source, project }: Read): Diagnostic[] {
  // Without LangGraph no graph can be loaded; that is said once.
  const isSaid = ({ message }: Diagnostic): boolean =>
    message.startsWith('Cannot find module "@langchain/') &&
    problems.some((problem) => problem.message.startsWith("@langchain/"));
  const groups = new Map<string, { names: string[]; problem: Diagnostic }>();
  for (const [name, found] of parts) {
    for (const problem of found.filter((each) => !isSaid(each))) {
      const key = JSON.stringify([problem.message, problem.location, problem.severity]);
      const group = groups.get(key) ?? { names: [], problem };
      groups.set(key, { ...group, names: [...group.names, name] });
    }
  }
  return [...groups.values()].map(({ names, problem }) => {
    const named = { ...problem, message: `${names.join(", ")}: ${problem.message}` };
    // The bundler does not always say where.
    const component = problem.location
      ? undefined
      : Object.keys(project?.ui.files ?? {}).find((name) => names.includes(uiPart(name)));
    return component === undefined || !source ? named : source.report(["ui", component], "value", named);
  });
}
