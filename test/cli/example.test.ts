import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadProject } from "../../src/config/load.ts";
import { folderWith } from "./helpers/project.ts";

it("langgraph.json.example has only keys and values that the config accepts", async () => {
  const text = readFileSync(join(import.meta.dirname, "..", "..", "langgraph.json.example"), "utf8");
  const cwd = folderWith({
    "langgraph.json": text,
    ".env": "",
    "src/agent.ts": "",
    "src/researcher.ts": "",
    "src/ui.tsx": "",
    "src/app.ts": "",
    "src/auth.ts": "",
  });
  const loaded = await loadProject({ cwd, processEnv: { LG_WEBHOOK_TOKEN: "x", LG_WEBHOOK_SECRET: "x" } });
  expect(loaded.config?.graphs.map(({ id }) => id)).toEqual(["agent", "researcher"]);
  // What a later version will act on is known, and said to have no effect yet; anything else would be a mistake here.
  const mistakes = loaded.warnings.filter(({ message }) => !message.includes("has no effect in this version"));
  expect(mistakes).toEqual([]);
});
