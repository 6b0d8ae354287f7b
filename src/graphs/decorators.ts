// oxc lowers TypeScript's decorators only with `experimentalDecorators`; the standard ones stay, and Node cannot parse them. Its error
// names neither the file nor the reason, so it is told here.
import type { Plugin } from "vite";

const MAY_HAVE_DECORATOR = /^\s*@[A-Za-z_$(]/m;

/** The Vite plugin that refuses a decorator that is still there after the transform, at its place in the source. */
export function decorators(): Plugin {
  return {
    name: "agent-server:decorators",
    transform(code) {
      if (!MAY_HAVE_DECORATOR.test(code)) return;
      const position = findDecorator(this.parse(code));
      // Vite maps the position back to the user's source.
      if (position !== undefined)
        this.error('Decorators need "experimentalDecorators": true in tsconfig.json', position);
    },
  };
}

function findDecorator(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, start } = value as { type?: unknown; start: number };
  if (type === "Decorator") return start;
  for (const child of Object.values(value)) {
    const found = findDecorator(child);
    if (found !== undefined) return found;
  }
  return undefined;
}
