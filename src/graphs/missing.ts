// Where an import that leads nowhere could come to lie, so that creating the file brings the graph back without another save.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { UnresolvedImport } from "./diagnose.ts";
import { readSource } from "./stack.ts";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
const COMMENT_OR_STRING = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** The paths to watch for `unresolved`; empty for a package, whose installation no file of the project tells. */
export function candidatesOf({ specifier, importer }: UnresolvedImport): string[] {
  if (importer === "") return [specifier];
  const bases = /^\.{0,2}\//.test(specifier) ? [resolve(dirname(importer), specifier)] : aliased(specifier, importer);
  return bases.flatMap((base) => {
    // TypeScript lets `./a.js` stand for `./a.ts`.
    const stem = base.replace(/\.[cm]?jsx?$/, "");
    const written = EXTENSIONS.some((extension) => base.endsWith(extension)) ? [base] : [];
    return [...written, ...EXTENSIONS.flatMap((extension) => [stem + extension, join(stem, `index${extension}`)])];
  });
}

/** The nearest tsconfig.json at or above `folder`; null when there is none. */
export function nearestTsconfig(folder: string): string | null {
  for (let current = folder; ; current = dirname(current)) {
    const file = join(current, "tsconfig.json");
    if (existsSync(file)) return file;
    if (dirname(current) === current) return null;
  }
}

function aliased(specifier: string, importer: string): string[] {
  const file = nearestTsconfig(dirname(importer));
  const options = file === null ? {} : compilerOptions(file);
  const base = resolve(file === null ? "." : dirname(file), options.baseUrl ?? ".");
  return Object.entries(options.paths ?? {}).flatMap(([pattern, targets]) => {
    const [head = "", tail] = pattern.split("*");
    const matches = tail === undefined ? specifier === pattern : specifier.startsWith(head) && specifier.endsWith(tail);
    if (!matches || !Array.isArray(targets)) return [];
    const rest = tail === undefined ? "" : specifier.slice(head.length, specifier.length - tail.length);
    return targets.map((target) =>
      resolve(
        base,
        String(target).replace("*", () => rest),
      ),
    );
  });
}

function compilerOptions(file: string): { baseUrl?: string; paths?: Record<string, unknown> } {
  try {
    const text = (readSource(file) ?? "").replaceAll(
      COMMENT_OR_STRING,
      (_, string: string | undefined) => string ?? "",
    );
    const parsed: unknown = JSON.parse(text.replaceAll(/,(\s*[}\]])/g, "$1"));
    return (parsed as { compilerOptions?: object }).compilerOptions ?? {};
  } catch {
    return {};
  }
}
