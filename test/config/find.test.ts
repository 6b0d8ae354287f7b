import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findConfig } from "../../src/config/find.ts";
import { loadProject } from "../../src/config/load.ts";
import { readError } from "../../src/config/read.ts";
import { CliError } from "../../src/errors.ts";
import { asNobody, GOOD, project } from "./project.ts";

async function failure(promise: Promise<unknown>): Promise<CliError> {
  const error: unknown = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof CliError) return error;
  throw new Error("a CliError was expected", { cause: error });
}

describe("findConfig", () => {
  test("prefers json, then jsonc, then yaml, then yml", async () => {
    const all = await project({
      "langgraph.json": "",
      "langgraph.jsonc": "",
      "langgraph.yaml": "",
      "langgraph.yml": "",
    });
    const three = await project({ "langgraph.jsonc": "", "langgraph.yaml": "", "langgraph.yml": "" });
    const two = await project({ "langgraph.yaml": "", "langgraph.yml": "" });
    const one = await project({ "langgraph.yml": "" });
    expect(await findConfig({ cwd: all })).toBe(join(all, "langgraph.json"));
    expect(await findConfig({ cwd: three })).toBe(join(three, "langgraph.jsonc"));
    expect(await findConfig({ cwd: two })).toBe(join(two, "langgraph.yaml"));
    expect(await findConfig({ cwd: one })).toBe(join(one, "langgraph.yml"));
  });

  test("finds nothing without a config and without a flag", async () => {
    const root = await project({ "package.json": "{}" });
    expect(await findConfig({ cwd: root })).toBeNull();
    expect(await loadProject({ cwd: root })).toEqual({ config: null, warnings: [] });
  });

  test("takes a file or a folder, relative or absolute", async () => {
    const root = await project({ "app/langgraph.yaml": "", "other.config.json": "" });
    expect(await findConfig({ cwd: root, config: "app" })).toBe(join(root, "app/langgraph.yaml"));
    expect(await findConfig({ cwd: root, config: join(root, "app") })).toBe(join(root, "app/langgraph.yaml"));
    expect(await findConfig({ cwd: root, config: "./other.config.json" })).toBe(join(root, "other.config.json"));
    expect(await findConfig({ cwd: join(root, "app"), config: "../other.config.json" })).toBe(
      join(root, "other.config.json"),
    );
  });

  test("paths count from the folder of the named file", async () => {
    const root = await project({ "app/langgraph.json": GOOD, "app/src/agent.ts": "" });
    const { config } = await loadProject({ cwd: root, config: "app/langgraph.json" });
    expect(config?.root).toBe(join(root, "app"));
    expect(config?.graphs[0]?.file).toBe(join(root, "app/src/agent.ts"));
  });

  test("refuses a file that does not exist, and names one that does", async () => {
    const root = await project({ "langgraph.json": "" });
    const near = await failure(findConfig({ cwd: root, config: "langgrahp.json" }));
    expect(near.exitCode).toBe(2);
    expect(near.message).toBe(`There is no config file or folder at ${join(root, "langgrahp.json")}.`);
    expect(near.hint).toBe(`Did you mean --config ${join(root, "langgraph.json")}?`);
    const far = await failure(findConfig({ cwd: root, config: "no/such/file.json" }));
    expect(far.exitCode).toBe(2);
    expect(far.hint).toContain("Give --config the path of a langgraph.json");
  });

  test("refuses a folder without a config", async () => {
    const root = await project({ "app/x.txt": "" });
    const error = await failure(findConfig({ cwd: root, config: "app" }));
    expect(error.exitCode).toBe(2);
    expect(error.message).toBe(
      `The folder ${join(root, "app")} has no langgraph.json, langgraph.yaml or langgraph.yml.`,
    );
    expect(error.hint).toBe("Create one there with: agent-server init");
  });

  test("refuses a file of an unknown kind, and a path below a file", async () => {
    const root = await project({ "langgraph.toml": "", "langgraph.json": "" });
    const toml = await failure(findConfig({ cwd: root, config: "langgraph.toml" }));
    expect(toml.message).toBe("The config file langgraph.toml must end in .json, .yaml or .yml.");
    const below = await failure(findConfig({ cwd: root, config: "langgraph.json/x.json" }));
    expect(below.message).toBe(`There is no config file or folder at ${join(root, "langgraph.json/x.json")}.`);
  });
});

describe("a config that cannot be read", () => {
  test("because it is a folder", async () => {
    const root = await project();
    await mkdir(join(root, "langgraph.json"));
    const error = await failure(loadProject({ cwd: root }));
    expect(error.message).toBe(`${join(root, "langgraph.json")} is a folder; a file is needed.`);
    expect(error.exitCode).toBe(2);
  });

  test("because of its permissions", async () => {
    const root = await project({ "langgraph.json": GOOD });
    await chmod(root, 0o755);
    await chmod(join(root, "langgraph.json"), 0);
    const error = await asNobody(() => failure(loadProject({ cwd: root })));
    expect(error.message).toBe(`No permission to read ${join(root, "langgraph.json")}.`);
    expect(error.exitCode).toBe(2);
  });

  test("for reasons that only the system knows", () => {
    const system = (code: string) => Object.assign(new Error(`${code}: something`), { code });
    expect(readError("/x", system("EPERM")).message).toBe("No permission to read /x.");
    expect(readError("/x", system("EIO")).message).toBe("/x cannot be read: EIO: something");
  });

  test("because it is UTF-16", async () => {
    const root = await project({ "langgraph.json": Buffer.from(`\uFEFF${GOOD}`, "utf16le") });
    const error = await failure(loadProject({ cwd: root }));
    expect(error.message).toBe(`${join(root, "langgraph.json")} is saved as UTF-16; it must be UTF-8.`);
    expect(error.exitCode).toBe(2);
  });

  test("because it is no UTF-8", async () => {
    const root = await project({ "langgraph.json": Buffer.from([0x7b, 0xe4, 0x7d]) });
    const error = await failure(loadProject({ cwd: root }));
    expect(error.message).toBe(`${join(root, "langgraph.json")} is not valid UTF-8 text.`);
  });
});
