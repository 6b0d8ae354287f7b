// Makes TypeScript programs of graph files, with the options of the user's tsconfig.json as far as they decide what a type is. Parsed
// files are kept between programs: most of the time goes into the declarations of the packages, and those are the same for all graphs.
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { getLibFiles, libFolderInMemoryPath, ts } from "@ts-morph/common";

/** Places where files are missed that are remembered. */
const MAX_MISSING = 500;
/** Parsed files that are kept; a graph with all its packages has some 500. */
const MAX_PARSED = 3000;

/** A program, and the files that its types come from. */
export interface TypeProgram {
  readonly program: ts.Program;
  /** Absolute paths of files whose change may change a type. Files that were looked for and not found are among them. */
  readonly files: ReadonlySet<string>;
}

interface Settings {
  readonly options: ts.CompilerOptions;
  /** Where packages of declarations are looked for: the folder of the tsconfig.json, or the file's own. */
  readonly folder: string;
  /** Declaration files that the tsconfig includes: they may declare what no file imports. */
  readonly declarations: readonly string[];
  /** The tsconfig.json, those that it extends, and where one would take its place. */
  readonly files: readonly string[];
}

interface Parsed {
  /** Size and time of the file. */
  readonly stamp: string;
  readonly source: ts.SourceFile;
}

/** Makes programs one after the other. */
export class Programs {
  readonly #libraries = new Map(
    getLibFiles().map(({ fileName, text }) => [`${libFolderInMemoryPath}/${fileName}`, text]),
  );
  readonly #parsed = new Map<string, Parsed>();
  #parsedWith = "";

  /** A program of `file` and all that it imports. What is wrong with the code does not matter. */
  create(file: string): TypeProgram {
    const { options, folder, declarations, files } = readSettings(file);
    // These options decide how a file is parsed.
    const { jsx, jsxImportSource } = options;
    const parsedWith = JSON.stringify([jsx, jsxImportSource]);
    if (parsedWith !== this.#parsedWith || this.#parsed.size > MAX_PARSED) this.#parsed.clear();
    this.#parsedWith = parsedWith;
    const missing = new Set<string>();
    const host = this.#host(options, folder, missing);
    const program = ts.createProgram({ rootNames: [file, ...declarations], options, host });
    const used = new Set([...files, ...missing]);
    for (const { fileName } of program.getSourceFiles()) {
      const from = packageOf(fileName);
      if (!this.#libraries.has(fileName)) used.add(from === null ? fileName : join(from, "package.json"));
    }
    return { program, files: used };
  }

  #host(options: ts.CompilerOptions, folder: string, missing: Set<string>): ts.CompilerHost {
    const base = ts.createCompilerHost(options);
    const cache = ts.createModuleResolutionCache(folder, (name) => base.getCanonicalFileName(name), options);
    const host: ts.CompilerHost = {
      ...base,
      getCurrentDirectory: () => folder,
      getDefaultLibLocation: () => libFolderInMemoryPath,
      getDefaultLibFileName: (given) => `${libFolderInMemoryPath}/${ts.getDefaultLibFileName(given)}`,
      fileExists: (name) => this.#libraries.has(name) || base.fileExists(name),
      readFile: (name) => this.#libraries.get(name) ?? base.readFile(name),
      getSourceFile: (name, version) => this.#parse(name, version, host),
      writeFile: () => {},
      resolveModuleNameLiterals: (names, importer, redirected, given, source) =>
        names.map((name) => {
          const mode = ts.getModeForUsageLocation(source, name, given);
          const found = ts.resolveModuleName(name.text, importer, given, host, cache, redirected, mode);
          if (!found.resolvedModule && packageOf(importer) === null) {
            // Where TypeScript has looked is no part of its public types.
            const { failedLookupLocations = [] } = found as { failedLookupLocations?: readonly string[] };
            for (const place of failedLookupLocations) if (missing.size < MAX_MISSING) missing.add(place);
          }
          return found;
        }),
    };
    return host;
  }

  #parse(
    name: string,
    version: ts.ScriptTarget | ts.CreateSourceFileOptions,
    host: ts.CompilerHost,
  ): ts.SourceFile | undefined {
    const library = this.#libraries.get(name);
    const found = library === undefined ? statSync(name, { throwIfNoEntry: false }) : undefined;
    const stamp = found ? `${found.size} ${found.mtimeMs}` : "";
    const known = this.#parsed.get(name);
    if (known?.stamp === stamp) return known.source;
    const text = library ?? host.readFile(name);
    if (text === undefined) return undefined;
    // Words are taken from the user's own files only: the comments of packages are a third of their text.
    const how = typeof version === "object" ? version : { languageVersion: version };
    const isUsers = library === undefined && packageOf(name) === null;
    const { ParseAll, ParseNone } = ts.JSDocParsingMode;
    const source = ts.createSourceFile(name, text, { ...how, jsDocParsingMode: isUsers ? ParseAll : ParseNone });
    this.#parsed.set(name, { stamp, source });
    return source;
  }
}

/** The folder of the package that `file` is installed in; null for a file of the user. */
export function packageOf(file: string): string | null {
  const match = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file);
  return match === null ? null : match[0];
}

function readSettings(file: string): Settings {
  const files: string[] = [];
  const config = ts.findConfigFile(dirname(file), existsSync);
  const parsed =
    config === undefined
      ? undefined
      : ts.getParsedCommandLineOfConfigFile(
          config,
          {},
          {
            ...ts.sys,
            onUnRecoverableConfigFileDiagnostic: () => {},
            readFile(name) {
              files.push(name);
              return ts.sys.readFile(name);
            },
            // Only declarations are wanted: the rest is imported by the graph or does not matter to it.
            readDirectory: (root, _extensions, excludes, includes, depth) =>
              ts.sys.readDirectory(root, [".d.ts"], excludes, includes, depth),
          },
        );
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const nearer = join(folder, "tsconfig.json");
    if (nearer === config || folder === dirname(folder)) break;
    files.push(nearer);
  }
  const declarations = (parsed?.fileNames ?? []).filter((name) => name.endsWith(".d.ts"));
  const folder = dirname(config ?? file);
  return { options: typeOptions(parsed?.options ?? {}), folder, declarations, files };
}

// The user's options decide where modules are and which libraries there are, but not how strict the types are: without strictness each
// may be undefined, and zod's are all optional.
function typeOptions(own: ts.CompilerOptions): ts.CompilerOptions {
  const { baseUrl, paths, pathsBasePath, rootDirs, typeRoots, types, customConditions, jsx, jsxImportSource } = own;
  const { experimentalDecorators, moduleSuffixes } = own;
  const lib = own.lib?.filter((name) => typeof name === "string");
  const hasBase = lib?.some((name) => /^lib\.es(5|6|next|20\d\d)\.d\.ts$/.test(name)) ?? false;
  return {
    ...defined({ baseUrl, paths, pathsBasePath, rootDirs, typeRoots, customConditions, jsx, jsxImportSource }),
    ...defined({ experimentalDecorators, moduleSuffixes, configFilePath: own.configFilePath }),
    // A lib of a later TypeScript is unknown here; without any there would be no arrays.
    ...(lib === undefined || lib.length === 0 ? {} : { lib: hasBase ? lib : [...lib, "lib.esnext.d.ts"] }),
    types: types ?? ["node"],
    target: ts.ScriptTarget.ESNext,
    // What Vite finds: the older ways know no `exports`, the stricter ones need every ending.
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
}

function defined(options: Record<string, unknown>): ts.CompilerOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ts.CompilerOptions;
}
