// JSON that comes from outside has limits: what is nested too deeply is parsed without trouble and breaks whatever walks over it later, and
// tens of millions of empty objects take a hundred times the memory of their text.

/** Levels of objects and lists that a value may have. */
export const MAX_LEVELS = 1000;
/** Objects and lists that a value may hold. */
export const MAX_CONTAINERS = 2_000_000;
/** Characters from which on brackets are counted before anything is made of them. */
const LARGE = 1024 * 1024;

/**
 * JSON text from a caller as a value.
 * @throws SyntaxError when it is no JSON, has more than 1000 levels, or more than two million objects and lists.
 */
export function parseForeignJson(text: string): unknown {
  if (text.length > LARGE) checkBrackets(text);
  const value: unknown = JSON.parse(text);
  // Every level takes two brackets, so that most texts need no look.
  if (text.length > 2 * MAX_LEVELS && text.length <= LARGE && isDeeper(value, MAX_LEVELS)) throw tooDeep();
  return value;
}

const tooDeep = (): SyntaxError => new SyntaxError(`it has more than ${MAX_LEVELS} levels`);

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

/** The same for a large text, without making the value. What is no JSON may pass. */
function checkBrackets(text: string): void {
  let levels = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at + 1);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++levels > MAX_LEVELS) throw tooDeep();
        if (++containers > MAX_CONTAINERS)
          throw new SyntaxError(`it has more than ${MAX_CONTAINERS} objects and lists`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        levels--;
    }
  }
}

/** Where the quotation mark is that ends a string which begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (end - slashes > from && text.charCodeAt(end - slashes - 1) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
