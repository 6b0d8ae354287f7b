// JSON that comes from outside has limits: what is nested too deeply is parsed without trouble, and breaks whatever walks over it later.

/** Levels of objects and lists that a value may have. */
export const MAX_LEVELS = 1000;

/**
 * JSON text from a caller as a value.
 * @throws SyntaxError when it is no JSON or has more than 1000 levels.
 */
export function parseForeignJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Every level takes two brackets, so that most texts need no look.
  if (text.length > 2 * MAX_LEVELS && isDeeper(value, MAX_LEVELS))
    throw new SyntaxError(`it has more than ${MAX_LEVELS} levels`);
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}
