// Evaluates the user's modules with Vite's module runner: TypeScript, JSX, JSON and tsconfig paths work without a build, packages stay
// native. It owns one Vite environment and no server: no middlewares, no socket, no watcher, nothing written to disk.
import { existsSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EnvironmentModuleNode, Plugin, RunnableDevEnvironment } from "vite";
import { commonjs } from "./commonjs.ts";
import { decorators } from "./decorators.ts";
import { isUsers } from "./stack.ts";

/** Loads modules of one project and knows which files they are made of. */
export interface ModuleLoader {
  /** The namespace of `file`; evaluated anew when it, or something that it imports, was invalidated. */
  load(file: string): Promise<Record<string, unknown>>;
  /** Real paths of the user's files that `file` is made of: itself and all that it imports, directly or not. */
  filesOf(file: string): Promise<Set<string>>;
  /** Real paths of the native modules (packages) that those files import. */
  packagesOf(file: string): Promise<Set<string>>;
  /** Makes the next `load` evaluate these files and everything that imports them again. */
  invalidate(files: Iterable<string>): void;
  /** Forgets all that was resolved or transformed, tsconfig.json included; the next `load` evaluates everything anew. */
  reset(): Promise<void>;
  /** Where `specifier` leads when `importer` imports it natively; null when it cannot be found. */
  resolve(specifier: string, importer: string): Promise<string | null>;
  close(): Promise<void>;
}

type Vite = typeof import("vite");

/** Starts a loader for the project in `root`. Vite is imported here and not above: it takes 0.1 s that `--help` should not pay. */
export async function createLoader(root: string): Promise<ModuleLoader> {
  const [vite, { ModuleRunner, createDefaultImportMeta, createNodeImportMeta }] = await Promise.all([
    import("vite"),
    import("vite/module-runner"),
  ]);
  let environment = await createEnvironment(vite, root);
  const runner = new ModuleRunner({
    // Not `environment.runner`: that registers Node's module hooks for `import.meta.resolve`, which makes every later import of the
    // process twice as slow. They are registered when a module really calls it.
    transport: { invoke: (payload) => environment.hot.handleInvoke(payload) },
    hmr: false,
    // Maps the stacks of the user's modules only. Node's own source map support would also read and map all of node_modules.
    sourcemapInterceptor: {},
    createImportMeta: (path) => ({
      ...createDefaultImportMeta(path),
      resolve: (id, parent) => createNodeImportMeta(path).resolve(id, parent),
    }),
  });

  const modulesOf = async (file: string): Promise<Set<EnvironmentModuleNode>> => {
    const seen = new Set<EnvironmentModuleNode>();
    const entry = await environment.moduleGraph.getModuleByUrl(file);
    const open = entry === undefined ? [] : [entry];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      open.push(...node.importedModules);
    }
    return seen;
  };

  return {
    load: (file) => runner.import(file),
    async filesOf(file) {
      const files = new Set([realPath(file)]);
      for (const node of await modulesOf(file)) {
        if (node.file !== null && isAbsolute(node.file) && isUsers(node.file, root)) files.add(node.file);
      }
      return files;
    },
    async packagesOf(file) {
      const packages = new Set<string>();
      for (const node of await modulesOf(file)) {
        const evaluated = node.id === null ? undefined : runner.evaluatedModules.getModuleById(node.id);
        for (const id of evaluated?.imports ?? []) {
          const meta = runner.evaluatedModules.getModuleById(id)?.meta;
          if (meta && "externalize" in meta && meta.externalize.startsWith("file:"))
            packages.add(fileURLToPath(meta.externalize));
        }
      }
      return packages;
    },
    invalidate(files) {
      const graph = environment.moduleGraph;
      for (const file of [...files].map((each) => vite.normalizePath(each))) {
        graph.onFileChange(file);
        if (existsSync(file)) continue;
        // What imports a deleted file must resolve that import again: another file may take its place, and if none does, the error
        // must name the import.
        for (const module of graph.getModulesByFile(file) ?? []) {
          for (const importer of module.importers) if (importer.file !== null) graph.onFileChange(importer.file);
        }
      }
    },
    async reset() {
      const old = environment;
      environment = await createEnvironment(vite, root);
      await old.close();
    },
    async resolve(specifier, importer) {
      try {
        const found = await environment.fetchModule(specifier, importer);
        if (!("externalize" in found && found.externalize.startsWith("file:"))) return null;
        // For an optional peer of the importer's package that is not installed, Vite names a file that is not there.
        const file = fileURLToPath(found.externalize);
        return existsSync(file) ? file : null;
      } catch {
        return null;
      }
    },
    async close() {
      await runner.close();
      await environment.close();
    },
  };
}

async function createEnvironment(vite: Vite, root: string): Promise<RunnableDevEnvironment> {
  const nodeEnv = process.env["NODE_ENV"];
  const config = await vite.resolveConfig(
    {
      root,
      configFile: false,
      envDir: false,
      publicDir: false,
      // Never written: nothing is optimised. But the default lies in the user's node_modules.
      cacheDir: join(tmpdir(), "agent-server-vite"),
      appType: "custom",
      logLevel: "silent",
      css: { postcss: {} },
      resolve: { tsconfigPaths: true },
      oxc: { include: /\.[cm]?[jt]sx?$/, exclude: [], jsx: { development: false } },
      optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, hmr: false, ws: false, watch: null },
      environments: { ssr: { dev: { preTransformRequests: true } } },
      plugins: [jsonErrors(), decorators(), commonjs()],
    },
    "serve",
  );
  // Vite sets it for its own sake; the user's code must see what the user has set.
  if (nodeEnv === undefined) delete process.env["NODE_ENV"];
  const environment = vite.createRunnableDevEnvironment("ssr", config, { hot: false });
  await environment.init();
  return environment;
}

// Vite's own JSON plugin says neither the file nor the place in a form that could be read.
function jsonErrors(): Plugin {
  return {
    name: "agent-server:json-errors",
    enforce: "pre",
    transform: {
      filter: { id: /\.json$/ },
      handler(code) {
        try {
          JSON.parse(code.replace(/^\uFEFF/, ""));
        } catch (error) {
          const { message } = error as SyntaxError;
          const position = Number(/ at position (\d+)/.exec(message)?.[1] ?? code.length);
          this.error(message.replace(/ (in JSON )?at position .*/, ""), position);
        }
      },
    },
  };
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
