// Reads Markdown as far as the tests of the documents need it: code blocks, links, named files, command lines.
import { dirname, join } from "node:path";

/** The fenced code blocks of one language. */
export function fences(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , body]) => body!);
}

/** The command lines of a block that begin with `program`, as words behind it. They may be joined by `&&` or `|`. */
export function commandLines(block: string, program: string): string[][] {
  const start = words(program)[0]!;
  return block
    .split("\n")
    .flatMap(words)
    .filter((line) => start.every((word, i) => line[i] === word))
    .map((line) => line.slice(start.length));
}

/** Splits a line as a shell does: words, quotes, comments; one list per command. */
function words(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token, double, single] of line.matchAll(/"([^"]*)"|'([^']*)'|&&|\||#.*|[^\s"'|]+/g)) {
    if (token.startsWith("#")) break;
    if (token === "&&" || token === "|") commands.push([]);
    else commands.at(-1)!.push(double ?? single ?? token);
  }
  return commands;
}

/** Links to files or headings that do not exist. */
export function brokenLinks(
  text: string,
  document: string,
  read: (path: string) => string,
  exists: (path: string) => boolean,
): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? document : join(dirname(document), path);
    if (!exists(target)) return true;
    return anchor !== undefined && !anchors(read(target)).includes(anchor);
  });
}

/** The anchors of the headings, as GitHub makes them. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** Paths in backticks that look like files or folders of the repository. */
export function namedFiles(text: string): string[] {
  return [...text.matchAll(/`((?:src|test|templates|scripts|bin|\.ci)\/[\w./-]*|[\w.-]+\.(?:md|example))`/g)].map(
    ([, path]) => path!,
  );
}

/** Names of the environment variables that a source text reads; `{{ env.NAME }}` is a template of the config and no read. */
export function variablesIn(source: string): string[] {
  const single = [...source.matchAll(/(?<!\{\s?)\benv(?:\["(\w+)"\]|\.([A-Z]\w+)|\("(\w+)"\))/g)];
  const several = [...source.matchAll(/\{([^{}]*)\} = [\w.]*\benv\b/g)];
  return [
    ...single.flatMap(([, indexed, member, commander]) => indexed ?? member ?? commander ?? []),
    ...several.flatMap(([, names = ""]) => names.match(/\b[A-Z]\w*\b/g) ?? []),
  ];
}
