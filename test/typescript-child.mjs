// Lets a process that is started from src/ run TypeScript, which Node 20 cannot. vitest.config.ts gives it to the children of the tests.
import { register } from "node:module";

if (process.argv[1]?.endsWith(".ts") === true) {
  const hooks = `
    import { readFile } from "node:fs/promises";
    import { fileURLToPath } from "node:url";
    import { transformWithOxc } from ${JSON.stringify(import.meta.resolve("vite"))};
    export async function load(url, context, next) {
      if (!/^file:.*\\.ts$/.test(url)) return next(url, context);
      const file = fileURLToPath(url);
      const { code } = await transformWithOxc(await readFile(file, "utf8"), file);
      return { format: "module", source: code, shortCircuit: true };
    }`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
