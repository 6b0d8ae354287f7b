// Saves of the config and env files while others are being taken over: none is missed.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadProject } from "../../src/config/load.ts";
import type { ProjectConfig } from "../../src/config/types.ts";
import { watchConfig } from "../../src/server/config-watch.ts";
import type { StartOptions } from "../../src/server/types.ts";

const CONFIG = { graphs: { agent: "./agent.ts:graph" }, env: ".env" };

/** A project, as it was read; `follow` watches its files and resolves when it was taken over with `name=value` in its env file. */
async function followed() {
  const cwd = mkdtempSync(join(tmpdir(), "agent-server-config-watch-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const save = (file: string, text: string, at?: Date): void => {
    writeFileSync(join(cwd, file), text);
    if (at !== undefined) utimesSync(join(cwd, file), at, at);
  };
  save("agent.ts", "");
  save("langgraph.json", JSON.stringify(CONFIG));
  save(".env", "STAGE=first\n");
  const readAt = Date.now();
  const { config } = await loadProject({ cwd, processEnv: {} });
  const follow = (stage: string, take: (project: ProjectConfig) => Promise<void> = async () => {}): Promise<void> =>
    new Promise((resolve, reject) => {
      const onEvent: StartOptions["onEvent"] = (event) => reject(new Error(JSON.stringify(event)));
      const reconfigure = async (project: ProjectConfig): Promise<void> => {
        await take(project);
        if (project.env["STAGE"] === stage) resolve();
      };
      const options = { cwd, config: undefined, onEvent } as StartOptions;
      const watch = watchConfig(options, { project: config!, readAt, processEnv: {} }, reconfigure);
      onTestFinished(() => watch.close());
    });
  return { save, follow };
}

test("a save that comes while another is taken over", async () => {
  const { save, follow } = await followed();
  let taken = 0;
  const seen = follow("third", async () => {
    await Promise.resolve();
    // At the very end.
    if (++taken === 1) save(".env", "STAGE=third\n");
  });
  save(".env", "STAGE=second\n");
  await expect(seen).resolves.toBeUndefined();
});

test("a save that came before the files were watched", async () => {
  const { save, follow } = await followed();
  save(".env", "STAGE=second\n", new Date(Date.now() + 1000));
  await expect(follow("second")).resolves.toBeUndefined();
});

test("an env file that the config begins to name", async () => {
  const { save, follow } = await followed();
  const seen = follow("other", async ({ env }) => {
    if (env["STAGE"] === "named") save(".env.other", "STAGE=other\n");
  });
  save(".env.other", "STAGE=named\n");
  save("langgraph.json", JSON.stringify({ ...CONFIG, env: ".env.other" }));
  await expect(seen).resolves.toBeUndefined();
});
