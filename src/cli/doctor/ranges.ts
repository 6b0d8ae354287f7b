// Whether a version is in a range, for the forms that package.json files have: comparisons, ^, ~, x, and alternatives. npm's own semver would be a
// dependency for one question.

type Version = readonly [major: number, minor: number, patch: number];

/** Whether `version` satisfies `range`; undefined for a range that is not understood. What stands behind a `-` does not count. */
export function satisfies(version: string, range: string): boolean | undefined {
  const parsed = parse(version);
  if (parsed === undefined) return undefined;
  const alternatives = range.split("||").map((part) => inAll(parsed, part.trim()));
  if (alternatives.includes(true)) return true;
  return alternatives.includes(undefined) ? undefined : false;
}

function inAll(version: Version, range: string): boolean | undefined {
  // `>= 14.6` is one comparison, and `1.2 - 2.3` a range of both.
  const hyphen = /^(\S+)\s+-\s+(\S+)$/.exec(range);
  const terms = (hyphen ? `>=${hyphen[1]} <=${hyphen[2]}` : range.replace(/([<>=^~])\s+/g, "$1")).split(/\s+/);
  const results = terms.map((term) => inOne(version, term));
  if (results.includes(false)) return false;
  return results.includes(undefined) ? undefined : true;
}

function inOne(version: Version, term: string): boolean | undefined {
  if (/^(?:|\*|x|latest)$/i.test(term)) return true;
  const match = /^(>=|<=|>|<|=|\^|~)?v?(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?(?:[-+].*)?$/i.exec(term);
  if (!match) return undefined;
  const [, operator = "", ...parts] = match;
  const given = parts.map(Number).findIndex((part) => Number.isNaN(part));
  const count = given < 0 ? parts.length : given;
  const [major = 0, minor = 0, patch = 0] = parts.slice(0, count).map(Number);
  const low: Version = [major, minor, patch];
  // The first version that is no longer meant by what was written: 1.2 is everything below 1.3.
  const next: Version =
    count === 1 ? [major + 1, 0, 0] : count === 2 ? [major, minor + 1, 0] : [major, minor, patch + 1];
  if (operator === ">=") return compare(version, low) >= 0;
  if (operator === "<") return compare(version, low) < 0;
  if (operator === ">") return compare(version, next) >= 0;
  if (operator === "<=") return compare(version, next) < 0;
  const end = operator === "^" ? caretEnd(low, count) : operator === "~" ? tildeEnd(low, count) : next;
  return compare(version, low) >= 0 && compare(version, end) < 0;
}

function caretEnd([major, minor, patch]: Version, count: number): Version {
  if (major > 0 || count === 1) return [major + 1, 0, 0];
  return minor > 0 || count === 2 ? [0, minor + 1, 0] : [0, 0, patch + 1];
}

function tildeEnd([major, minor]: Version, count: number): Version {
  return count === 1 ? [major + 1, 0, 0] : [major, minor + 1, 0];
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function parse(text: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}
