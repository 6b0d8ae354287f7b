import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { packageName } from "../../src/cli/init/manifest.ts";
import { version } from "../../src/cli/package.ts";
import { asNobody } from "../config/project.ts";
import { finish } from "./helpers/io.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "Agent Server "));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const manifestOf = async (path: string) => JSON.parse(await readFile(join(path, "package.json"), "utf8"));
const filesOf = async (path: string) => (await readdir(path, { recursive: true })).toSorted();

describe("init", () => {
  it("makes a project in a new folder and says what to type", async () => {
    const cwd = await folder();
    const { code, stdout, stderr } = await finish(["init", "apps/My Agent"], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const target = join(cwd, "apps", "My Agent");
    expect(await filesOf(target)).toEqual(
      [".env", ".gitignore", "README.md", "langgraph.json", "package.json", "src", "test", "tsconfig.json"]
        .concat(["src/agent.ts", "src/built-in-model.ts", "src/model.ts", "src/tools.ts", "test/agent.test.mjs"])
        .toSorted(),
    );
    expect(stderr.trimEnd().split("\n").slice(-3)).toEqual([
      "  cd 'apps/My Agent' && npm install",
      "  npm run dev",
      expect.stringMatching(/^ {2}npx agent-server invoke "hello"/),
    ]);
    expect(await manifestOf(target)).toMatchObject({
      name: "my-agent",
      scripts: { dev: "agent-server dev", test: "node --test" },
      dependencies: {
        "@langchain/core": "1.2.13",
        "@langchain/langgraph": "1.4.18",
        "@langchain/langgraph-checkpoint": "1.1.5",
        "@langchain/langgraph-sdk": "1.12.4",
      },
      devDependencies: { "agent-server": `^${version}` },
    });
    expect(await readFile(join(target, ".gitignore"), "utf8")).toContain(".agent-server/");
  });

  it("works in the current folder and with the other template", async () => {
    const cwd = await folder();
    const { code, stderr } = await finish(["init", ".", "-t", "echo"], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("\n  npm install\n");
    expect((await manifestOf(cwd)).name).toBe(packageName(basename(cwd)));
    expect(await filesOf(cwd)).toContain("src/graph.ts");
  });

  it("refuses when files would be overwritten, names them, and writes nothing", async () => {
    const cwd = await folder();
    await mkdir(join(cwd, "src"));
    await writeFile(join(cwd, "src", "agent.ts"), "mine");
    await writeFile(join(cwd, "README.md"), "mine");
    const { code, stderr } = await finish(["init"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: This folder has files of these names already: (README\.md, src\/agent\.ts|src\/agent\.ts, README\.md)\./,
    );
    expect(await filesOf(cwd)).toEqual(["README.md", "src", "src/agent.ts"]);
    expect(await readFile(join(cwd, "README.md"), "utf8")).toBe("mine");
  });

  it("leaves what is in an existing package.json and adds what is missing", async () => {
    const cwd = await folder();
    const mine = {
      name: "mine",
      type: "commonjs",
      scripts: { dev: "my dev" },
      dependencies: { "agent-server": "file:x.tgz" },
    };
    await writeFile(join(cwd, "package.json"), JSON.stringify(mine, null, "\t"));
    const { code, stderr } = await finish(["init"], { cwd });
    expect(code).toBe(0);
    const manifest = await manifestOf(cwd);
    expect(manifest).toMatchObject(mine);
    expect(manifest.dependencies["@langchain/core"]).toBe("1.2.13");
    expect(manifest.devDependencies).not.toHaveProperty("agent-server");
    expect(manifest.scripts.test).toBe("node --test");
    expect(stderr).toMatch(/added to your package\.json: @langchain\/core, .*script test/);
    expect(await readFile(join(cwd, "package.json"), "utf8")).toContain('\n\t"name"');
  });

  it.each([
    ["not JSON", "{,}", /package\.json is not valid JSON/],
    ["a list", "[]", /package\.json is not a JSON object/],
  ])("refuses a package.json that is %s before it writes anything", async (_name, text, message) => {
    const cwd = await folder();
    await writeFile(join(cwd, "package.json"), text);
    const { code, stderr } = await finish(["init"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(await filesOf(cwd)).toEqual(["package.json"]);
  });

  it("refuses a file as the folder", async () => {
    const cwd = await folder();
    await writeFile(join(cwd, "taken"), "");
    expect(await finish(["init", "taken"], { cwd })).toMatchObject({
      code: 2,
      stderr: "error: taken is a file, not a folder.\n",
    });
  });

  it("says in one sentence why a folder cannot be written to", async () => {
    const cwd = await folder();
    await writeFile(join(cwd, "taken"), "");
    await mkdir(join(cwd, "locked"));
    await chmod(join(cwd, "locked"), 0o555);
    await chmod(cwd, 0o755);
    for (const [dir, reason] of [
      ["taken/below", "a part of the path is a file"],
      ["locked", "no permission"],
      ["locked/below", "no permission"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { code, stderr } = await asNobody(() => finish(["init", dir], { cwd }));
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `error: Cannot make a project in ${join(cwd, dir)}: ${reason}.\nChoose another folder: agent-server init <dir>\n`,
      });
    }
  });

  it.each([
    ["My Agent", "my-agent"],
    [".hidden", "hidden"],
    ["ünïcode", "n-code"],
    ["日本", "my-agent"],
    ["a_b.c", "a_b.c"],
  ])("names the package of folder %s %s", (name, expected) => {
    expect(packageName(name)).toBe(expected);
  });
});
