import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { load, loadError, project } from "./project.ts";

const files = {
  "src/agent.ts": "export const graph = 1;",
  "src/embed.ts": "export const embed = 1;",
  "src/embed.py": "",
};
const withStore = (store: unknown) =>
  project({
    ...files,
    "langgraph.json": `{\n  "graphs": { "agent": "./src/agent.ts:graph" },\n  "store": ${JSON.stringify(store)}\n}`,
  });

describe("store", () => {
  test.each([[undefined], [null], [{}], [{ index: null, ttl: null }]])("%j asks for nothing", async (store) => {
    const { config, warnings } = await load(await withStore(store ?? null));
    expect(config.store).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test("ttl has its defaults", async () => {
    const { config, warnings } = await load(await withStore({ ttl: { sweep_interval_minutes: 0.5 } }));
    expect(config.store).toEqual({ ttl: { defaultMinutes: undefined, refreshOnRead: true, sweepMinutes: 0.5 } });
    expect(warnings).toEqual([]);
    const all = { refresh_on_read: false, default_ttl: 60, sweep_interval_minutes: 5 };
    expect((await load(await withStore({ ttl: all }))).config.store?.ttl).toEqual({
      defaultMinutes: 60,
      refreshOnRead: false,
      sweepMinutes: 5,
    });
  });

  test("index names a file of the project or a model", async () => {
    const root = await withStore({ index: { dims: 3, embed: "./src/embed.ts:embed" } });
    const { config, warnings } = await load(root);
    expect(config.store?.index).toEqual({
      dims: 3,
      embed: "./src/embed.ts:embed",
      fields: ["$"],
      source: { file: join(root, "src", "embed.ts"), exportName: "embed" },
      location: { file: join(root, "langgraph.json"), line: 3, column: expect.any(Number) as number },
    });
    expect(warnings).toEqual([]);
    for (const [embed, provider, model] of [
      ["openai:text-embedding-3-small", "openai", "text-embedding-3-small"],
      ["bedrock:amazon.titan-embed-text-v2:0", "bedrock", "amazon.titan-embed-text-v2:0"],
      ["huggingface:sentence-transformers/all-MiniLM-L6-v2", "huggingface", "sentence-transformers/all-MiniLM-L6-v2"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const loaded = await load(await withStore({ index: { dims: 3, embed, fields: ["a", "b[*]"] } }));
      expect(loaded.config.store?.index).toMatchObject({ source: { provider, model }, fields: ["a", "b[*]"] });
    }
  });

  test("fields may be all that the store understands", async () => {
    const fields = [
      "$",
      "a",
      "a.b",
      "a[0]",
      "a[-1]",
      "a[*].b",
      "*",
      "a.*",
      "{a,b.c}",
      "a.{b,c}",
      "$.a",
      "$[0]",
      "two words",
    ];
    const { config } = await load(await withStore({ index: { dims: 3, embed: "openai:x", fields } }));
    expect(config.store?.index?.fields).toEqual(fields);
  });

  test.each([
    [{ index: {} }, ['"store.index.dims" is missing.', '"store.index.embed" is missing.']],
    [
      { index: { dims: 0, embed: "openai:x" } },
      ['"store.index.dims" must be a whole number, 1 or more, not the number 0.'],
    ],
    [
      { index: { dims: 1.5, embed: "openai:x" } },
      ['"store.index.dims" must be a whole number, 1 or more, not the number 1.5.'],
    ],
    [{ index: { dims: 3, embed: 4 } }, ['"store.index.embed" must be a string, not the number 4.']],
    [
      { index: { dims: 3, embed: "text-embedding-3-small" } },
      [/^"store\.index\.embed" is neither a file and export nor a provider and model: "text-embedding-3-small"\.$/],
    ],
    [
      { index: { dims: 3, embed: "./src/embed.py:embed" } },
      [/is Python; agent-server runs TypeScript and JavaScript only\.$/],
    ],
    [
      { index: { dims: 3, embed: "./src/embed.ts" } },
      ['"store.index.embed" names no export: "./src/embed.ts" must end in ":export".'],
    ],
    [
      { index: { dims: 3, embed: "./src/embed:embed" } },
      ['"store.index.embed" must name a TypeScript or JavaScript file, not "./src/embed".'],
    ],
    [
      { index: { dims: 3, embed: "./src/embedding.ts:embed" } },
      [/^The file of "store\.index\.embed" does not exist: \/.*embedding\.ts$/],
    ],
    ...["", " ", "a[", "a..b", ".a", "a.", "a[x]", "a[1", "a]", "{", "{}", "{a,}", "a.{b,c..d}"].map(
      (path): [object, string[]] => [
        { index: { dims: 3, embed: "openai:x", fields: ["$", path] } },
        [`"store.index.fields" has a path that leads nowhere: ${JSON.stringify(path)}.`],
      ],
    ),
    [{ index: { dims: 3, embed: "openai:x", fields: "a" } }, [/^"store\.index\.fields" must be a list of strings/]],
    [
      { ttl: { default_ttl: 0 } },
      ['"store.ttl.default_ttl" must be a number of minutes greater than 0, not the number 0.'],
    ],
    [
      { ttl: { sweep_interval_minutes: "5" } },
      [/^"store\.ttl\.sweep_interval_minutes" must be a number of minutes greater than 0/],
    ],
    [{ ttl: { refresh_on_read: "yes" } }, [/^"store\.ttl\.refresh_on_read" must be a boolean/]],
  ])("%j is refused", async (store, messages) => {
    const { diagnostics } = await loadError(await withStore(store));
    expect(diagnostics.map(({ message }) => message)).toEqual(
      messages.map((message) => (typeof message === "string" ? message : expect.stringMatching(message))),
    );
    for (const { severity, location, hint } of diagnostics) {
      expect(severity).toBe("error");
      expect(location).toMatchObject({ line: 3 });
      expect(hint ?? "").not.toContain("undefined");
    }
  });
});
