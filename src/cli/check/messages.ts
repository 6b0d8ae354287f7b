// What the process that loads the project's code and the one that reports say to each other.
import type { Diagnostic, ProjectConfig } from "../../config/types.ts";
import type { ExportSpec } from "../../graphs/exports.ts";
import type { GraphSchemas } from "../../graphs/types.ts";

/** What to load. */
export interface CodeRequest {
  readonly project: ProjectConfig;
  /** What the config names beside graphs, UI components and what embeds. */
  readonly exports: readonly ExportSpec[];
}

/** One thing that was loaded or not: a graph, an export or UI components. */
export interface PartMessage {
  readonly type: "part";
  /** Its name, as `partsOf` has it. */
  readonly part: string;
  /** What is wrong with it; empty when nothing is. */
  readonly problems: readonly Diagnostic[];
}

/** What the loading process says. */
export type CodeMessage =
  /** The project's code is loaded from now on. */
  | { readonly type: "begin" }
  | PartMessage
  /** Something that belongs to no part. */
  | { readonly type: "problem"; readonly problem: Diagnostic }
  /** Every part was loaded: what follows is bounded by limits of its own. */
  | { readonly type: "loaded" }
  | { readonly type: "schemas"; readonly id: string; readonly schemas: GraphSchemas }
  | { readonly type: "done" };

const TYPES: readonly unknown[] = ["begin", "part", "problem", "loaded", "schemas", "done"];

/** Whether a message is one of ours: the user's code may send some as well. */
export function isCodeMessage(message: unknown): message is CodeMessage {
  return typeof message === "object" && message !== null && TYPES.includes((message as { type?: unknown }).type);
}

/** Everything that is loaded, in the words of a report. */
export function partsOf({ project, exports }: CodeRequest): string[] {
  return [
    ...project.graphs.map(({ id }) => graphPart(id)),
    ...exports.map(({ key }) => key),
    ...(project.store?.index ? [EMBEDDING] : []),
    ...Object.keys(project.ui.files).map(uiPart),
  ];
}

export const EMBEDDING = "store.index.embed";
export const graphPart = (id: string): string => `Graph "${id}"`;
export const uiPart = (name: string): string => `ui.${name}`;
