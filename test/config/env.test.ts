import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseEnvFile } from "../../src/config/env-file.ts";
import { applyEnv } from "../../src/config/env.ts";
import { load, loadError, project } from "./project.ts";

describe("an env file", () => {
  test.for([
    ["plain values", "A=1\nB=two words\n", { A: "1", B: "two words" }],
    ["no end of line", "A=1", { A: "1" }],
    ["spaces around the sign and the value", "A = 1 \n\tB=2\n", { A: "1", B: "2" }],
    ["empty values", "A=\nB=\"\"\nC=''\nD=1\n", { A: "", B: "", C: "", D: "1" }],
    ["export", "export A=1\nexport\tB=2\nexporter=3\n", { A: "1", B: "2", exporter: "3" }],
    [
      "comments",
      "# A=0\n\n  # x\nA=1 # one\nB=http://x/#y\nC=\"#no\" # yes\nD='#no'#yes\n",
      { A: "1", B: "http://x/", C: "#no", D: "#no" },
    ],
    ["escapes in double quotes", 'A="a\\nb\\r\\"c\\" \\\\n \\t"', { A: 'a\nb\r"c" \\n \\t' }],
    ["no escapes in other quotes", "A='a\\nb'\nB=`a\\n\"'`\nC=a\\nb", { A: "a\\nb", B: "a\\n\"'", C: "a\\nb" }],
    [
      "values over several lines",
      "A=\"one\ntwo # no comment\n\nthree\"\nB='x\ny'\nC=1",
      { A: "one\ntwo # no comment\n\nthree", B: "x\ny", C: "1" },
    ],
    ["CRLF and a BOM", '\uFEFFA=1\r\nB="x\r\ny"\r\n\r\nC=3\r\n', { A: "1", B: "x\ny", C: "3" }],
    ["the last of two", "A=1\nA=2\n", { A: "2" }],
    ["no expansion", "A=1\nB=$A ${A}\n", { A: "1", B: "$A ${A}" }],
    ["quotes inside a value", 'A=it\'s "fine"\n', { A: 'it\'s "fine"' }],
    ["dots and dashes in names", "A.B-C=1\n", { "A.B-C": "1" }],
    ["an equals sign in a value", "A=b=c==\n", { A: "b=c==" }],
    ["nothing", "", {}],
  ] as const)("with %s", ([, text, variables]) => {
    const parsed = parseEnvFile(text);
    expect(parsed.variables).toEqual(variables);
    expect(parsed.problems).toEqual([]);
  });

  test("is read, and its other lines are reported at their place", async () => {
    const root = await project({
      "src/agent.ts": "",
      "langgraph.json": '{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": "./config/.env" }',
      "config/.env": 'A=1\r\n\r\nnot a variable\r\nB="open\r\nC=3\r\n',
    });
    const { config, warnings } = await load(root);
    expect(config.env).toEqual({ A: "1", B: '"open', C: "3" });
    expect(config.envFile).toBe(join(root, "config/.env"));
    expect(warnings.map(({ location, message }) => [location, message])).toEqual([
      [{ file: join(root, "config/.env"), line: 3, column: 1 }, "This line is not NAME=value; it is ignored."],
      [
        { file: join(root, "config/.env"), line: 4, column: 1 },
        "The quote of B is not closed, or text follows it; the quote is taken as part of the value.",
      ],
    ]);
    expect(warnings[0]?.frame).toContain("> 3 | not a variable\n    | ^^^^^^^^^^^^^^");
  });

  test("that is missing is a warning, and is still to be watched", async () => {
    const root = await project({
      "src/agent.ts": "",
      "langgraph.yaml": "graphs:\n  agent: ./src/agent.ts:graph\nenv: .env\n",
    });
    const { config, warnings } = await load(root);
    expect(config.env).toEqual({});
    expect(config.envFile).toBe(join(root, ".env"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({
      severity: "warning",
      message: `The env file does not exist: ${join(root, ".env")}`,
      location: { file: join(root, "langgraph.yaml"), line: 3, column: 6 },
    });
  });

  test("in UTF-16 is an error", async () => {
    const root = await project({
      "src/agent.ts": "",
      "langgraph.json": '{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": ".env" }',
      ".env": Buffer.from("\uFEFFA=1\n", "utf16le"),
    });
    const { diagnostics } = await loadError(root);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      `The env file: ${join(root, ".env")} is saved as UTF-16; it must be UTF-8.`,
    ]);
  });
});

test("a list of names takes nothing and warns about unset ones", async () => {
  const text = '{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": ["SET", "UNSET"] }';
  const root = await project({ "src/agent.ts": "", "langgraph.json": text });
  const { config, warnings } = await load(root, { SET: "" });
  expect(config.env).toEqual({});
  expect(config.envFile).toBeNull();
  expect(warnings.map(({ location, message }) => [location?.column, message])).toEqual([
    [65, "The environment variable UNSET is not set."],
  ]);
});

describe("variables in the config", () => {
  test.for([
    [
      "langgraph.json",
      `{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": { "V": 1.10, "N": 1234567890123456789, "E": 1e3, "T": true, "S": "1.10" } }`,
      { V: "1.10", N: "1234567890123456789", E: "1e3", T: "true", S: "1.10" },
    ],
    [
      "langgraph.yaml",
      "graphs:\n  agent: ./src/agent.ts:graph\nenv:\n  V: 1.10\n  N: 1234567890123456789\n  Z: 00420\n  H: 0x1F # hex\n  T: True\n  A: &a 2.50\n  B: *a\n  S: '1.10'\n  I: !!int 007\n  1.10: key\n",
      {
        V: "1.10",
        N: "1234567890123456789",
        Z: "00420",
        H: "0x1F",
        T: "True",
        A: "2.50",
        B: "2.50",
        S: "1.10",
        I: "007",
        "1.10": "key",
      },
    ],
  ] as const)("arrive as they are written in %s", async ([name, text, env]) => {
    const { config } = await load(await project({ "src/agent.ts": "", [name]: text }));
    expect(config.env).toEqual(env);
  });

  test("may have the names of what every object has", async () => {
    const text = `{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": { "toString": "1", "__proto__": "2", "constructor": "3", "valueOf": "4", "toJSON": "5" } }`;
    const root = await project({ "src/agent.ts": "", "langgraph.json": text });
    const { config } = await load(root);
    const names = ["toString", "__proto__", "constructor", "valueOf", "toJSON"];
    expect(Object.keys(config.env)).toEqual(names);
    const update = applyEnv(config.env, process.env);
    expect(Object.keys(process.env)).toEqual(expect.arrayContaining(names));
    update({});
    expect(Object.keys(process.env).filter((name) => names.includes(name))).toEqual([]);
    const list = `{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": ["toString", "constructor"] }`;
    const { warnings } = await load(await project({ "src/agent.ts": "", "langgraph.json": list }));
    expect(warnings).toHaveLength(2);
  });
});

describe("applyEnv", () => {
  test("sets what the process does not have", () => {
    const env = { KEPT: "process", EMPTY: "" };
    applyEnv({ KEPT: "file", EMPTY: "file", NEW: "file" }, env);
    expect(env).toEqual({ KEPT: "process", EMPTY: "", NEW: "file" });
  });

  test("updates, adds and removes its own on a reload, never those of the process", () => {
    const env: Record<string, string | undefined> = { KEPT: "process", UNNAMED: "process" };
    const update = applyEnv({ KEPT: "1", CHANGED: "1", REMOVED: "1", SAME: "1" }, env);
    update({ KEPT: "2", CHANGED: "2", SAME: "1", ADDED: "2", UNNAMED: "2" });
    expect(env).toEqual({ KEPT: "process", UNNAMED: "process", CHANGED: "2", SAME: "1", ADDED: "2" });
    update({ REMOVED: "3" });
    expect(env).toEqual({ KEPT: "process", UNNAMED: "process", REMOVED: "3" });
    update({});
    expect(env).toEqual({ KEPT: "process", UNNAMED: "process" });
  });

  test("leaves alone what the user's code has changed since", () => {
    const env: Record<string, string | undefined> = {};
    const update = applyEnv({ A: "1", B: "1" }, env);
    env["A"] = "by the graph";
    delete env["B"];
    update({ A: "2", B: "2" });
    expect(env).toEqual({ A: "by the graph", B: "2" });
    update({});
    expect(env).toEqual({ A: "by the graph" });
  });

  test("works on the real environment", () => {
    const name = "AGENT_SERVER_TEST_APPLY_ENV";
    expect(process.env[name]).toBeUndefined();
    const update = applyEnv({ [name]: "1" }, process.env);
    expect(process.env[name]).toBe("1");
    update({});
    expect(name in process.env).toBe(false);
  });
});
