// The documents say what is true: generated tables equal the program's own, every link and file exists, every command line parses.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { operationsOf, stale, tables, withTables, type Source } from "../../scripts/docs.mjs";
import { ENVIRONMENT, EXIT_CODES } from "../../src/cli/environment.ts";
import { processIo } from "../../src/cli/io.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { commandTables } from "../../src/cli/reference.ts";
import { configKeys } from "../../src/config/schema.ts";
import { registerRoutes } from "../../src/server/routes.ts";
import { testProcess } from "../cli/helpers/io.ts";
import { brokenLinks, commandLines, fences, namedFiles, variablesIn } from "./markdown.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const sources = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));

function generated(): Record<string, string> {
  const source: Source = {
    commandTables,
    buildProgram,
    processIo,
    ENVIRONMENT,
    EXIT_CODES,
    configKeys,
    routes: operationsOf(registerRoutes as never),
  };
  return tables(source);
}

describe("the tables of README.md", () => {
  it("equal those that the program makes; `npm run docs` writes them", async () => {
    expect(stale(read("README.md"), generated())).toEqual([]);
  });

  it("are put back as they were by the generator", async () => {
    const parts = generated();
    const spoilt = read("README.md").replaceAll("`agent-server dev`", "`agent-server serve`");
    expect(stale(spoilt, parts)).toMatchObject([{ name: "commands", wanted: "### `agent-server dev`" }]);
    expect(stale(withTables(spoilt, parts), parts)).toEqual([]);
  });

  it("name every environment variable that src/ reads", async () => {
    const { environment = "" } = generated();
    const names = sources("src").flatMap((file) => variablesIn(read(file)));
    expect(names).toContain("HTTP_MAX_REQUEST_BODY_BYTES");
    expect(names).toContain("AGENT_SERVER_PORT");
    expect(names.filter((name) => !environment.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe.each(DOCUMENTS)("%s", (document) => {
  const text = read(document);

  it("links to what exists", () => {
    expect(brokenLinks(text, document, read, (path) => existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("names files that exist", () => {
    // In README.md the paths are those of a project: of the templates.
    const bases = document === "README.md" ? [".", "templates/agent", "templates/echo"] : ["."];
    const missing = namedFiles(text).filter((path) => !bases.some((base) => existsSync(join(ROOT, base, path))));
    // The paths of the example config are there to be replaced.
    expect(missing.filter((path) => path !== "src/researcher.ts")).toEqual([]);
  });

  it("shows npm scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  const lines = fences(text, "sh").flatMap((block) => commandLines(block, "npx agent-server"));
  it.each(lines)("shows a command line that parses: %j", async (...words) => {
    const { io } = testProcess();
    const { program } = buildProgram(io);
    const called: string[] = [];
    const watch = (command: typeof program): void => {
      command.commands.forEach(watch);
      if (command.commands.length === 0) command.action(() => void called.push(command.name()));
    };
    watch(program);
    await program.parseAsync(words, { from: "user" });
    expect(called).toHaveLength(1);
  });
});

it("README.md shows command lines at all", () => {
  const lines = fences(read("README.md"), "sh").flatMap((block) => commandLines(block, "npx agent-server"));
  expect(lines.map(([name]) => name)).toEqual(expect.arrayContaining(["dev", "init", "invoke", "stream", "threads"]));
});

it("the tree of ARCHITECTURE.md has a line for every folder of src/", () => {
  const [tree = ""] = fences(read("ARCHITECTURE.md"), "text");
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) expect(tree).toMatch(new RegExp(`^src/${name}/ `, "m"));
  const listed = [...tree.matchAll(/^(\S+)/gm)].map(([path]) => path);
  expect(listed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  // File names in a line are those of its folder.
  for (const line of tree.trim().split("\n")) {
    const [path = "", ...words] = line.split(/[\s,;:()]+/);
    const folder = path.endsWith("/") ? path : dirname(path);
    for (const file of words.filter((word) => /^[\w-]+\.(ts|mjs|js)$/.test(word)))
      expect(existsSync(join(ROOT, folder, file)), `${folder}${file}`).toBe(true);
  }
});
