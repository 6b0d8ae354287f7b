// Schemas from TypeScript types at the real command line: the process that reads types is started from the build, and what it read is kept.
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { clientOf, startCli, temporaryFolder } from "./support/server.ts";

const properties = { ask: { type: "boolean" }, log: { type: "array", items: { type: "string" } } };

test(
  "plain types become schemas, of a graph and of the graphs in it, and a restart reads none again",
  { timeout: 120_000 },
  async () => {
    const dataDir = temporaryFolder();
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const kept = (): string[] => readdirSync(join(dataDir, "schemas"));
    const ask = async (): Promise<unknown> => {
      const server = await startCli({ dataDir });
      onTestFinished(async () => {
        await server.kill("SIGKILL");
      });
      const { assistants } = clientOf(server.url);
      const [schemas, subgraphs] = await Promise.all([
        assistants.getSchemas("subgraph"),
        assistants.getSubgraphs("subgraph", { recurse: true }),
      ]);
      expect(schemas).toMatchObject({
        graph_id: "subgraph",
        input_schema: { type: "object", properties },
        output_schema: { type: "object", properties, required: ["ask", "log"] },
        state_schema: { type: "object", properties },
        config_schema: null,
        context_schema: null,
      });
      expect(subgraphs).toMatchObject({ inner: { input_schema: { properties }, state_schema: { properties } } });
      expect(await server.kill("SIGINT")).toBe(130);
      expect(server.child.output.stderr).not.toMatch(/warning/i);
      return schemas;
    };
    const first = await ask();
    const files = kept();
    expect(files).toHaveLength(1);
    const { ino } = statSync(join(dataDir, "schemas", files[0]!));
    expect(await ask()).toEqual(first);
    // Each reading writes a file of its own.
    expect(kept().map((name) => statSync(join(dataDir, "schemas", name)).ino)).toEqual([ino]);
  },
);
