// Lets a graph file be CommonJS. The module runner knows only ES modules, so such a file is wrapped into one, and what it requires
// becomes imports: its own files stay under the watcher, and packages give the same instance that ES modules get.
import type { Plugin } from "vite";

const MAY_BE_COMMONJS = /\bmodule\.exports\b|\bexports\s*[.,[]|\brequire\s*\(/;
const SCRIPT = /\.[cm]?[jt]sx?$/;

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The Vite plugin that wraps CommonJS files; ES modules pass untouched. */
export function commonjs(): Plugin {
  return {
    name: "agent-server:commonjs",
    transform(code, id) {
      const path = id.split("?", 1)[0] ?? id;
      if (!SCRIPT.test(path) || !MAY_BE_COMMONJS.test(code)) return null;
      const program = this.parse(code) as unknown as Node & { body: Node[] };
      if (program.body.some((node) => /^(Import|Export)/.test(node.type))) return null;
      const required = new Set<string>();
      collectRequires(program, required);
      return { code: wrap(code, path, [...required]), map: null };
    },
  };
}

function collectRequires(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collectRequires(item, into);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  if (node.type === "CallExpression") {
    const callee = node["callee"] as Node;
    const [argument] = node["arguments"] as Node[];
    const specifier = argument?.type === "Literal" ? argument["value"] : undefined;
    if (callee.type === "Identifier" && callee["name"] === "require" && typeof specifier === "string")
      into.add(specifier);
  }
  for (const child of Object.values(node)) collectRequires(child, into);
}

// All that is added stands on the first line or after the last one, so that line numbers stay those of the user's file.
// A failing import is kept and thrown by `require`, because `try { require("optional") } catch {}` is common.
function wrap(code: string, path: string, required: string[]): string {
  const imports = required.map((name) => `[${JSON.stringify(name)}, () => import(${JSON.stringify(name)})]`).join(", ");
  const head = [
    `import { createRequire as __createRequire } from "node:module";`,
    `const __required = new Map();`,
    `for (const [name, load] of [${imports}])`,
    `await load().then((found) => __required.set(name, { found }), (error) => __required.set(name, { error }));`,
    `const __native = __createRequire(import.meta.url);`,
    `const __interop = ${interop.toString().replaceAll(/\s*\n\s*/g, " ")};`,
    `const __module = { exports: {} };`,
    `const __require = Object.assign((name) => { const entry = __required.get(name); if (!entry) return __native(name);`,
    `if ("error" in entry) throw entry.error; return __interop(entry.found); }, { resolve: __native.resolve, cache: __native.cache });`,
    `(function (exports, require, module, __filename, __dirname) {`,
  ].join(" ");
  const body = code.replace(/^#!.*/, (line) => `//${line}`);
  return [
    `${head} ${body}`,
    `}).call(__module.exports, __module.exports, __require, __module, ${JSON.stringify(path)}, import.meta.dirname);`,
    `__vite_ssr_exportAll__(__module.exports);`,
    `export default __module.exports;`,
  ].join("\n");
}

// What `require` gives for an imported namespace: `module.exports` of a CommonJS module, whose names are also its default's properties.
// Its text is put on one line of the user's module: no comments inside.
function interop(namespace: Record<string, unknown>): unknown {
  const value = namespace["default"];
  if (value === undefined || value === null || (typeof value !== "object" && typeof value !== "function"))
    return namespace;
  for (const name of Object.keys(namespace)) {
    if (name === "default" || name === "__esModule" || name === "module.exports") continue;
    if ((value as Record<string, unknown>)[name] !== namespace[name]) return namespace;
  }
  return value;
}
