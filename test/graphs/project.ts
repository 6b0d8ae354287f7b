// Real projects for the tests: a temporary folder with the repository's node_modules, files as given, and a record of the events.
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import type { GraphSpec, ProjectConfig } from "../../src/config/types.ts";
import { GraphHost } from "../../src/graphs/host.ts";
import type { GraphEvent, GraphRunConfig, RunnableGraph } from "../../src/graphs/types.ts";

const REPOSITORY = join(import.meta.dirname, "..", "..");
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) {
    // oxlint-disable-next-line no-await-in-loop -- in the reverse order of their making
    await cleanup();
  }
});

/** A project on disk. */
export interface TestProject {
  readonly root: string;
  path(file: string): string;
  write(file: string, text: string): void;
  /** Saves as editors do: a new file, renamed over the old one. */
  save(file: string, text: string): void;
  config(graphs: Record<string, string>, more?: Partial<ProjectConfig>): ProjectConfig;
}

/** Makes a project; removed after the test. `node_modules` is that of the repository unless `modules` is false. */
export function project(files: Record<string, string>, options: { modules?: boolean } = {}): TestProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-server-graphs-")));
  cleanups.push(() => rmSync(root, { recursive: true, force: true }));
  const path = (file: string): string => join(root, file);
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(path(file)), { recursive: true });
    writeFileSync(path(file), text);
  };
  write("package.json", `{ "type": "module" }`);
  for (const [file, text] of Object.entries(files)) write(file, text);
  if (options.modules ?? true) symlinkSync(join(REPOSITORY, "node_modules"), path("node_modules"), "junction");
  return {
    root,
    path,
    write,
    save(file, text) {
      write(`${file}.tmp`, text);
      renameSync(path(`${file}.tmp`), path(file));
    },
    config(graphs, more) {
      const specs = Object.entries(graphs).map(([id, target], index): GraphSpec => {
        const [file = "", exportName = ""] = target.split(":");
        const location = { file: path("langgraph.json"), line: index + 2, column: 3 };
        return { id, file: path(file), exportName, description: null, location };
      });
      const lines = Object.entries(graphs).map((entry) => `  "${entry.join('": "')}"`);
      write("langgraph.json", `{\n${lines.join(",\n")}\n}\n`);
      return {
        file: path("langgraph.json"),
        root,
        demo: false,
        graphs: specs,
        env: {},
        envFile: null,
        persist: true,
        http: {
          disable_assistants: false,
          disable_threads: false,
          disable_runs: false,
          disable_store: false,
          disable_meta: false,
          disable_ui: false,
          disable_webhooks: false,
          disable_mcp: false,
          disable_a2a: false,
        },
        ui: { files: {}, shared: [] },
        ...more,
      };
    },
  };
}

type EventOf<T extends GraphEvent["type"]> = Extract<GraphEvent, { type: T }>;

/** A host, closed after the test, and what it said. */
export interface TestHost {
  readonly host: GraphHost;
  readonly events: GraphEvent[];
  /** The next event of that type that was not asked for before; waits for it. */
  next<T extends GraphEvent["type"]>(type: T): Promise<EventOf<T>>;
}

/** Makes a host; not started yet. */
export function hostOf(config: ProjectConfig, options: { reload?: boolean } = {}): TestHost {
  const events: GraphEvent[] = [];
  const unread: GraphEvent[] = [];
  let wake = (): void => {};
  const host = new GraphHost({
    project: config,
    reload: options.reload ?? false,
    onEvent(event) {
      events.push(event);
      unread.push(event);
      wake();
    },
  });
  cleanups.push(() => host.close());
  return {
    host,
    events,
    async next(type) {
      for (;;) {
        const index = unread.findIndex((event) => event.type === type);
        const [found] = index < 0 ? [] : unread.splice(index, 1);
        if (found) return found as EventOf<typeof type>;
        // oxlint-disable-next-line no-await-in-loop -- one event after the other
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** Starts a host of these files with one graph `agent`. */
export async function start(
  files: Record<string, string>,
  target: string,
  options: { reload?: boolean } = {},
): Promise<TestHost & TestProject> {
  const files_ = project(files);
  const host = hostOf(files_.config({ agent: target }), options);
  await host.host.start();
  return { ...files_, ...host };
}

/** Source of a graph whose one node sets `reply` to the value of `expression`. */
export function graphSource(expression: string, imports = ""): string {
  return `import { Annotation, StateGraph } from "@langchain/langgraph";
${imports}
const State = Annotation.Root({ input: Annotation<string>, reply: Annotation<unknown> });
export const builder = new StateGraph(State)
  .addNode("answer", async (state) => ({ reply: ${expression} }))
  .addEdge("__start__", "answer");
export const graph = builder.compile();
`;
}

/** What the graph of `graphSource` replies. */
export async function replyOf(graph: RunnableGraph, config: Record<string, unknown> = {}): Promise<unknown> {
  let last: unknown;
  for await (const chunk of await graph.stream({ input: "hi" }, { streamMode: "values", ...config })) last = chunk;
  return (last as { reply?: unknown } | undefined)?.reply;
}

/** The reply of the current version of `agent`. */
export async function reply(
  { host }: { host: GraphHost },
  id = "agent",
  config: GraphRunConfig = {},
): Promise<unknown> {
  const version = await host.get(id);
  return replyOf(await version.resolve(config));
}
