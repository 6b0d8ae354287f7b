// Builds the project's UI components (`ui` in the config) for the browser, so that a chat page can show what a graph sends (wire-api §1.9).
// A bundle is built when it is first asked for, and again when one of its files was saved since.
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { InlineConfig, Rolldown } from "vite";
import { codeFrame } from "../config/frame.ts";
import type { Diagnostic, UiConfig } from "../config/types.ts";
import { GraphLoadError, messageOf } from "./errors.ts";
import { readSource } from "./stack.ts";

/** The files of a bundle. */
export interface UiBundle {
  readonly js: string;
  /** Empty when the components import no styles. */
  readonly css: string;
}

interface Built extends UiBundle {
  /** Modification times of the files that it is made of. */
  readonly files: ReadonlyMap<string, number>;
}

/** Name of the module that `entry` makes; there is no such file. */
const ENTRY = "agent-server-ui-entry.js";
/** Packages that the page brings; LoadExternalComponent of the SDK hands them out. */
const FROM_PAGE = [
  "react",
  "react-dom",
  "react/jsx-runtime",
  "@langchain/langgraph-sdk/react",
  "@langchain/langgraph-sdk/react-ui",
];

/** The global variable of the bundle `name`. Two names have two of them. */
export const uiGlobal = (name: string): string =>
  `__LGUI_${name.replaceAll(/[^A-Za-z0-9]/g, (character) => `_${character.codePointAt(0)!.toString(36)}_`)}`;

export class UiBundles {
  readonly #root: string;
  readonly #config: UiConfig;
  readonly #built = new Map<string, Promise<Built>>();

  /** @param root folder of the project. */
  constructor(root: string, config: UiConfig) {
    this.#root = root;
    this.#config = config;
  }

  /** Whether the config has components under this name. */
  has(name: string): boolean {
    return Object.hasOwn(this.#config.files, name);
  }

  /**
   * The current bundle. `has(name)` must be true.
   * @throws GraphLoadError when the components cannot be built.
   */
  async get(name: string): Promise<UiBundle> {
    const known = this.#built.get(name);
    if (known !== undefined) {
      const built = await known.catch(() => undefined);
      if (built !== undefined && (await isCurrent(built))) return built;
      // Another request may have begun a new build meanwhile.
      const newer = this.#built.get(name);
      if (newer !== undefined && newer !== known) return newer;
    }
    const building = this.#build(name);
    this.#built.set(name, building);
    return building;
  }

  async #build(name: string): Promise<Built> {
    const { createBuilder } = await import("vite");
    const nodeEnv = process.env["NODE_ENV"];
    const builder = await createBuilder(this.#options(name));
    // Vite sets it for its own sake; the user's code must see what the user has set.
    if (nodeEnv === undefined) delete process.env["NODE_ENV"];
    const output = await builder.build(builder.environments["client"]!).catch((error: unknown) => {
      throw new GraphLoadError(name, diagnose(error), error);
    });
    const parts = [output].flat().flatMap((part) => ("output" in part ? part.output : []));
    const chunk = parts.find((part): part is Rolldown.OutputChunk => part.type === "chunk");
    const styles = parts.flatMap((part) =>
      part.type === "asset" && part.fileName.endsWith(".css") ? [String(part.source)] : [],
    );
    const files = new Map<string, number>();
    for (const id of [this.#config.files[name]!, ...(chunk?.moduleIds ?? [])]) {
      const file = id.split("?")[0]!;
      if (isAbsolute(file) && basename(file) !== ENTRY) files.set(file, await modified(file));
    }
    return { js: chunk?.code ?? "", css: [...new Set(styles)].join("\n"), files };
  }

  #options(name: string): InlineConfig {
    const { files, shared } = this.#config;
    const external = new Set([...FROM_PAGE, ...shared]);
    const file = files[name]!;
    const made = join(this.#root, ENTRY);
    return {
      root: this.#root,
      configFile: false,
      envDir: false,
      publicDir: false,
      cacheDir: join(tmpdir(), "agent-server-vite"),
      resolve: { tsconfigPaths: true },
      logLevel: "silent",
      mode: "production",
      // Development builds call `react/jsx-dev-runtime`, which the page does not bring.
      oxc: { jsx: { runtime: "automatic", development: false } },
      define: { "process.env.NODE_ENV": '"production"' },
      plugins: [
        {
          name: "agent-server-ui",
          enforce: "pre",
          resolveId: (id) => (id === made ? made : undefined),
          load: (id) => (id === made ? entry(name, file) : undefined),
        },
      ],
      build: {
        write: false,
        minify: false,
        target: "es2022",
        lib: { entry: made, name: uiGlobal(name), formats: ["iife"], fileName: "entrypoint" },
        rolldownOptions: {
          external: (id) => external.has(id),
          output: { globals: (id) => `window[Symbol.for("LGUI_REQUIRE")](${JSON.stringify(id)})` },
        },
      },
    };
  }
}

/** The module that hands a component to the page. `respond` is what LoadExternalComponent listens to. */
function entry(name: string, file: string): string {
  return `import components from ${JSON.stringify(file)};
export function render(component, shadowRootId) {
  const root = document.getElementById(shadowRootId)?.shadowRoot;
  if (!root) return;
  if (!Object.hasOwn(components ?? {}, component)) {
    console.error(${JSON.stringify(`UI components of "${name}": the default export has no `)} + JSON.stringify(component));
    return;
  }
  const target = document.createElement("div");
  root.appendChild(target);
  window[Symbol.for("LGUI_EXT_STORE")].respond(shadowRootId, components[component], target);
}
`;
}

async function isCurrent({ files }: Built): Promise<boolean> {
  const times = await Promise.all([...files].map(async ([file, time]) => (await modified(file)) === time));
  return times.every(Boolean);
}

const modified = (file: string): Promise<number> =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** The place that the bundler names, with the lines around it. */
function diagnose(error: unknown): Diagnostic {
  const first = (error as { errors?: unknown[] }).errors?.[0] ?? error;
  const { loc, id } = first as { loc?: { file?: string; line: number; column: number }; id?: string };
  const diagnostic: Diagnostic = { severity: "error", message: stripVTControlCharacters(messageOf(first)) };
  const file = loc?.file ?? id;
  if (loc === undefined || file === undefined) return diagnostic;
  const location = { file, line: loc.line, column: loc.column + 1 };
  const source = readSource(file);
  const frame = source === null ? undefined : codeFrame(source, location.line, location.column);
  return { ...diagnostic, location, ...(frame === undefined ? {} : { frame }) };
}
