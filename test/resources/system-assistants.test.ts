// The assistants that the config makes: what LANGGRAPH_CONFIG gives, and what happens when the config changes under patched ones.
import { describe, expect, test } from "vitest";
import { Assistants } from "../../src/resources/assistants.ts";
import { systemSettings } from "../../src/resources/system-assistants.ts";
import { keys } from "../../src/storage/keys.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";

const settingsOf = (value: unknown, graphs = ["agent"]) => systemSettings(JSON.stringify(value), graphs);

describe("LANGGRAPH_CONFIG", () => {
  test("gives config and context by graph", () => {
    const { settings, problems } = settingsOf(
      { agent: { tags: ["t"], recursion_limit: 7, context: { model: "a" } }, other: { configurable: { n: 1 } } },
      ["agent", "other"],
    );
    expect(problems).toEqual([]);
    expect(Object.fromEntries(settings)).toEqual({
      agent: { config: { tags: ["t"], recursion_limit: 7, configurable: { model: "a" } }, context: { model: "a" } },
      other: { config: { configurable: { n: 1 } }, context: { n: 1 } },
    });
  });

  test.each([undefined, "", "  "])("%j is nothing", (text) => {
    expect(systemSettings(text, ["agent"])).toMatchObject({ problems: [] });
  });

  test.each([
    ["no JSON", "{nope", /LANGGRAPH_CONFIG is ignored, because it is not valid JSON: /],
    ["no object", "[1]", /LANGGRAPH_CONFIG is ignored, because it is not a JSON object/],
    [
      "an unknown graph",
      '{"agnt":{}}',
      /LANGGRAPH_CONFIG: "agnt" is ignored: there is no such graph \(graphs here: agent\)/,
    ],
    ["no config", '{"agent":7}', /LANGGRAPH_CONFIG: "agent" is ignored: /],
    ["wrong tags", '{"agent":{"tags":"x"}}', /"agent" is ignored: tags: /],
    ["a wrong context", '{"agent":{"context":[]}}', /"agent" is ignored: context: must be a JSON object/],
    [
      "different settings under both names",
      '{"agent":{"configurable":{"a":1},"context":{"a":2}}}',
      /"agent" is ignored: .*two names of one thing/,
    ],
  ])("with %s is a problem with a reason", (_, text, problem) => {
    const { settings, problems } = systemSettings(text, ["agent"]);
    expect(settings.size).toBe(0);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test("one wrong graph does not spoil the others", () => {
    const { settings, problems } = settingsOf({ agent: { context: { a: 1 } }, nobody: {} });
    expect([...settings.keys()]).toEqual(["agent"]);
    expect(problems).toHaveLength(1);
  });
});

describe("a changed config", () => {
  const sync = (assistants: Assistants, description: string | null, value: unknown = {}): void =>
    assistants.sync([{ id: "agent", description }], settingsOf(value).settings);

  test("is followed where nothing was patched", () => {
    const assistants = new Assistants(memoryDatabase());
    sync(assistants, "one");
    const first = assistants.get("agent");
    sync(assistants, "two", { agent: { context: { model: "a" } } });
    const second = assistants.get("agent");
    expect(second).toMatchObject({
      description: "two",
      version: 1,
      config: { configurable: { model: "a" } },
      context: { model: "a" },
      created_at: first.created_at,
    });
    expect(second.updated_at > first.updated_at).toBe(true);
    const { items } = assistants.versions("agent", { limit: 10, offset: 0 });
    expect(items).toEqual([{ ...second, updated_at: first.updated_at }]);
    sync(assistants, null);
    expect(assistants.get("agent")).toMatchObject({ description: null, config: {}, context: {} });
  });

  test("that changes nothing changes nothing", () => {
    const assistants = new Assistants(memoryDatabase());
    sync(assistants, "one", { agent: { context: { model: "a" } } });
    const before = assistants.get("agent");
    sync(assistants, "one", { agent: { context: { model: "a" } } });
    expect(assistants.get("agent")).toEqual(before);
  });

  test("takes back nothing that was patched", () => {
    const assistants = new Assistants(memoryDatabase());
    sync(assistants, "one");
    assistants.patch("agent", { name: "Mine", context: { model: "mine" }, metadata: { mine: true } });
    sync(assistants, "two", { agent: { context: { model: "theirs" } } });
    expect(assistants.get("agent")).toMatchObject({
      name: "Mine",
      version: 2,
      description: "two",
      config: { configurable: { model: "mine" } },
      context: { model: "mine" },
      metadata: { created_by: "system", mine: true },
    });
    // The version that is still as the config made it goes with the config.
    assistants.setLatest("agent", 1);
    expect(assistants.get("agent")).toMatchObject({ name: "agent", description: "two", context: { model: "theirs" } });

    assistants.patch("agent", { description: "My own" });
    sync(assistants, "three");
    expect(assistants.get("agent")).toMatchObject({ description: "My own", version: 3, context: {} });
  });

  test("without a graph hides the assistant of that graph, and keeps it", () => {
    const assistants = new Assistants(memoryDatabase());
    const both = [
      { id: "agent", description: null },
      { id: "other", description: null },
    ];
    assistants.sync(both);
    const patched = assistants.patch("other", { name: "Kept" });
    const mine = assistants.create({ graph_id: "other", name: "Mine" });
    assistants.sync(both.slice(0, 1));
    expect(() => assistants.get("other")).toThrow(
      'Assistant "other" not found: its graph is not in the config any more',
    );
    expect(() => assistants.forRun("other")).toThrow(/its graph is not in the config any more \(graphs here: agent\)/);
    // One that a caller made stays, and says why it cannot run.
    expect(assistants.get(mine.assistant_id)).toEqual(mine);
    expect(() => assistants.forRun(mine.assistant_id)).toThrow(
      /^Assistant "Mine" \(.*\) is made of the graph "other", which is not in the config \(graphs here: agent\)\.$/,
    );
    expect(assistants.search({ limit: 10, offset: 0 }).items.map(({ name }) => name)).toEqual(["Mine", "agent"]);
    expect(assistants.count({})).toBe(2);
    // Its id is not free.
    expect(() => assistants.create({ graph_id: "agent", assistant_id: patched.assistant_id })).toThrow(
      /already exists/,
    );
    assistants.sync(both);
    expect(assistants.get("other")).toEqual(patched);
  });
});

test("what an earlier version of this server has stored is taken over, as version 1", () => {
  const database = memoryDatabase();
  const first = new Assistants(database);
  first.sync([{ id: "agent", description: "old" }]);
  const { assistant_id: id, ...record } = first.get("agent");
  database.write([
    { key: keys.assistant(id), value: JSON.stringify({ assistant_id: id, ...record }) },
    { key: keys.assistantVersion(id, 1), value: undefined },
  ]);
  const second = new Assistants(database);
  second.sync([{ id: "agent", description: "new" }]);
  expect(second.get("agent")).toMatchObject({ created_at: record.created_at, version: 1, description: "new" });
  second.patch("agent", { name: "Two" });
  const versions = second.versions("agent", { limit: 10, offset: 0 }).items;
  expect(versions.map(({ version, name }) => [version, name])).toEqual([
    [2, "Two"],
    [1, "agent"],
  ]);
});
