// Broken config files, each with the first line (place and sentence) that the user reads for each of its problems, and hints.
import { describe, expect, test } from "vitest";
import { formatDiagnostic } from "../../src/config/format.ts";
import { loadError, project } from "./project.ts";

interface Case {
  readonly name: string;
  readonly text: string;
  /** `line:column severity: message` of every diagnostic, in order. */
  readonly says: readonly string[];
  /** Hints, in the order of the diagnostics that have one. */
  readonly hints?: readonly string[];
}

const json: readonly Case[] = [
  { name: "an empty file", text: "", says: ["1:1 error: The file is empty."] },
  { name: "white space only", text: " \r\n\t\n", says: ["1:1 error: The file is empty."] },
  { name: "null", text: "null", says: ["1:1 error: The file is empty."] },
  {
    name: "a missing comma",
    text: '{\n  "graphs": {\n    "agent": "./src/agent.ts:graph"\n  }\n  "env": ".env"\n}\n',
    says: ["4:4 error: A comma is missing here."],
  },
  {
    name: "a missing comma with CRLF",
    text: '{\r\n  "graphs": {\r\n    "a": "x:y"\r\n    "b": "x:y"\r\n  }\r\n}\r\n',
    says: ["3:15 error: A comma is missing here."],
  },
  {
    name: "a missing comma in a list",
    text: '{"dependencies": ["a" "b"]}',
    says: ["1:22 error: A comma is missing here."],
  },
  {
    name: "a trailing comma in an object",
    text: '{\n  "graphs": {},\n}',
    says: ['2:15 error: A comma before "}" is not allowed in JSON.'],
    hints: ["Remove the comma."],
  },
  {
    name: "a trailing comma in a list",
    text: '{"dependencies": ["a",]}',
    says: ['1:22 error: A comma before "]" is not allowed in JSON.'],
  },
  { name: "two commas", text: '{"a": 1,, "b": 2}', says: ["1:9 error: There is a comma too many."] },
  { name: "a leading comma", text: '{, "a": 1}', says: ["1:2 error: There is a comma too many."] },
  {
    name: "a line comment",
    text: '{\n  // my graphs\n  "graphs": {}\n}',
    says: ["2:3 error: Comments are not allowed in JSON."],
    hints: ['Remove the comment, or use a "langgraph.yaml" instead: YAML has comments.'],
  },
  { name: "a block comment", text: '{ "a": 1 /* one */ }', says: ["1:10 error: Comments are not allowed in JSON."] },
  { name: "a hash comment", text: '# config\n{ "a": 1 }', says: ["1:1 error: Comments are not allowed in JSON."] },
  {
    name: "single quotes around a key",
    text: "{ 'graphs': {} }",
    says: ["1:3 error: Single quotes are not allowed in JSON."],
    hints: ['Use double quotes: "…".'],
  },
  {
    name: "single quotes around a value",
    text: "{ \"env\": '.env' }",
    says: ["1:10 error: Single quotes are not allowed in JSON."],
  },
  { name: "backticks", text: '{ "env": `.env` }', says: ["1:10 error: Backticks are not allowed in JSON."] },
  {
    name: "typographic quotes",
    text: "{ “graphs”: {} }",
    says: ["1:3 error: Typographic quotes are not allowed in JSON."],
  },
  {
    name: "a key without quotes",
    text: "{ graphs: {} }",
    says: ["1:3 error: Keys must be in double quotes."],
    hints: ['Write "graphs".'],
  },
  {
    name: "a value without quotes",
    text: '{ "env": dotenv }',
    says: ["1:10 error: Text must be in double quotes."],
    hints: ['Write "dotenv".'],
  },
  { name: "Python's True", text: '{ "a": True }', says: ['1:8 error: "True" must be in lower case.'] },
  { name: "Python's None", text: '{ "a": None }', says: ["1:8 error: JSON has no None."], hints: ["Write null."] },
  {
    name: "a missing colon",
    text: '{ "graphs" {} }',
    says: ['1:11 error: A colon is missing after the key "graphs".'],
  },
  { name: "an equals sign", text: '{ "a" = 1 }', says: ['1:7 error: A key is followed by ":", not "=".'] },
  { name: "a semicolon", text: '{ "a": 1; "b": 2 }', says: ['1:9 error: Items are separated by ",", not ";".'] },
  { name: "a missing value", text: '{ "a": , "b": 1 }', says: ['1:8 error: A value is missing before ",".'] },
  {
    name: "a value of another language",
    text: '{ "a": @x }',
    says: ['1:8 error: "@" is not allowed here: a value is expected.'],
  },
  { name: "an end after a colon", text: '{ "a":\n\n', says: ["1:7 error: The file ends where a value is expected."] },
  {
    name: "an unclosed object",
    text: '{ "graphs": {\n  "a": "b"\n',
    says: ['1:13 error: "{" is never closed: a "}" is missing.'],
  },
  {
    name: "an unclosed list",
    text: '{ "dependencies": [ "a"',
    says: ['1:19 error: "[" is never closed: a "]" is missing.'],
  },
  {
    name: "a wrong bracket",
    text: '{ "dependencies": [ "a" } }',
    says: ['1:25 error: "[" is closed by "}"; "]" is expected.'],
  },
  {
    name: "an unclosed string",
    text: '{\n  "env": ".env\n}',
    says: ["2:10 error: The closing double quote is missing."],
  },
  {
    name: "a Windows path",
    text: '{ "env": "C:\\dev\\.env" }',
    says: ["1:13 error: A backslash cannot stand alone in JSON text."],
    hints: ["Write \\\\ for a backslash; in paths, / works everywhere."],
  },
  {
    name: "a tab in a string",
    text: '{ "a": "x\ty" }',
    says: ["1:10 error: A tab inside text must be written as \\t."],
  },
  { name: "a broken number", text: '{ "a": 01 }', says: ['1:8 error: "01" is not a JSON number.'] },
  { name: "a fraction without a zero", text: '{ "a": .5 }', says: ['1:8 error: ".5" is not a JSON number.'] },
  { name: "text after the end", text: '{ "a": 1 }}', says: ["1:11 error: There is text after the end of the config."] },
  {
    name: "an invisible space",
    text: '{\u00A0"a": 1 }',
    says: ["1:2 error: An invisible character (U+00A0) is not allowed in JSON."],
  },
  {
    name: "a merge conflict",
    text: '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> main\n}',
    says: ["2:1 error: The file has an unresolved merge conflict."],
  },
  {
    name: "a list as the root",
    text: "[]",
    says: ['1:1 error: langgraph.json must hold an object with "graphs", not a list.'],
  },
  {
    name: "a string as the root",
    text: '\uFEFF "graphs"',
    says: ['1:2 error: langgraph.json must hold an object with "graphs", not a string.'],
  },
  {
    name: "a duplicate key beside another problem",
    text: '{\n  "graphs": { "agent": "./src/agent.ts:graph" },\n  "env": {},\n  "env": 1\n}',
    says: [
      '4:3 error: The key "env" is given twice.',
      '4:10 error: "env" must be the path of an env file, an object of variables or a list of names, such as ".env" or {"NAME": "value"}, not the number 1.',
    ],
    hints: ["Line 3 has it too; only the last one would count. Remove or rename one of them."],
  },
  {
    name: "a duplicate graph id",
    text: '{"graphs": {"a": "./src/agent.ts:graph", "\\u0061": "./src/agent.ts:graph"}}',
    says: ['1:42 error: The key "a" is given twice.'],
  },
  {
    name: "too deep a nesting",
    text: `{"a":${"[".repeat(300)}${"]".repeat(300)}}`,
    says: ["1:206 error: Nested deeper than 200 levels."],
  },
  {
    name: "no graphs",
    text: '{ "env": {} }',
    says: ['1:1 error: "graphs" is missing.'],
    hints: ['It must be an object of graph ids, such as {"agent": "./src/agent.ts:graph"}.'],
  },
  { name: "empty graphs", text: '{ "graphs": {} }', says: ['1:13 error: "graphs" is empty.'] },
  {
    name: "misspelled graphs",
    text: '{\n  "grahps": { "agent": "./src/agent.ts:graph" }\n}',
    says: ['1:1 error: "graphs" is missing.', '2:3 warning: Unknown key "grahps"; it is ignored.'],
    hints: ['Rename "grahps" to "graphs".', 'Did you mean "graphs"?'],
  },
  {
    name: "graphs as a list",
    text: '{ "graphs": ["./src/agent.ts:graph"] }',
    says: [
      '1:13 error: "graphs" must be an object of graph ids, such as {"agent": "./src/agent.ts:graph"}, not a list.',
    ],
  },
  {
    name: "graphs of wrong types",
    text: '{ "graphs": { "a": 1, "b": null, "c": [], "d": {}, "e": { "path": 2, "description": 3 } } }',
    says: [
      '1:20 error: "graphs.a" must be "./file.ts:export" or {"path": "./file.ts:export", "description": "…"}, not the number 1.',
      '1:28 error: "graphs.b" must be "./file.ts:export" or {"path": "./file.ts:export", "description": "…"}, not null.',
      '1:39 error: "graphs.c" must be "./file.ts:export" or {"path": "./file.ts:export", "description": "…"}, not a list.',
      '1:48 error: "graphs.d.path" is missing.',
      '1:67 error: "graphs.e.path" must be a string, not the number 2.',
      '1:85 error: "graphs.e.description" must be a string, not the number 3.',
    ],
  },
  {
    name: "a misspelled key of a graph",
    text: '{ "graphs": { "a": { "paht": "./src/agent.ts:graph" } } }',
    says: ['1:20 error: "graphs.a.path" is missing.', '1:22 warning: Unknown key "graphs.a.paht"; it is ignored.'],
    hints: ['Rename "paht" to "path".', 'Did you mean "path"?'],
  },
  {
    name: "an empty graph id",
    text: '{ "graphs": { " ": "./src/agent.ts:graph" } }',
    says: ["1:15 error: A graph id must not be empty."],
  },
  {
    name: "a graph id that objects have already",
    text: '{ "graphs": { "__proto__": "./src/agent.ts:graph" } }',
    says: ['1:15 error: "__proto__" cannot be a graph id.'],
  },
  {
    name: "a graph without an export",
    text: '{ "graphs": { "agent": "./src/agent.ts" } }',
    says: ['1:24 error: Graph "agent" names no export: "./src/agent.ts" must end in ":export".'],
    hints: ['Write "./src/agent.ts:graph" for export const graph, or "./src/agent.ts:default" for export default.'],
  },
  {
    name: "a graph with an empty export, as an object",
    text: '{ "graphs": { "agent": { "path": "./src/agent.ts:" } } }',
    says: ['1:34 error: Graph "agent" names no export: "./src/agent.ts:" must end in ":export".'],
  },
  {
    name: "an impossible export",
    text: '{ "graphs": { "agent": "./src/agent.ts: my graph" } }',
    says: ['1:24 error: Graph "agent" names an export that no module can have: " my graph".'],
    hints: ['Write "./src/agent.ts:mygraph".'],
  },
  {
    name: "a drive without an export",
    text: '{ "graphs": { "agent": "C:\\\\agents\\\\agent.ts" } }',
    says: ['1:24 error: Graph "agent" names no export: "C:\\\\agents\\\\agent.ts" must end in ":export".'],
  },
  {
    name: "a graph without a file",
    text: '{ "graphs": { "agent": ":graph" } }',
    says: ['1:24 error: Graph "agent" names no file: ":graph".'],
  },
  {
    name: "Python graphs",
    text: '{ "graphs": { "a": "./src/a.py:graph", "b": "my_agent.main:graph", "c": "./c.py" } }',
    says: [
      '1:20 error: Graph "a" ("./src/a.py:graph") is a Python graph; agent-server runs LangGraph.js graphs (TypeScript or JavaScript) only.',
      '1:45 error: Graph "b" ("my_agent.main:graph") is a Python graph; agent-server runs LangGraph.js graphs (TypeScript or JavaScript) only.',
      '1:73 error: Graph "c" ("./c.py") is a Python graph; agent-server runs LangGraph.js graphs (TypeScript or JavaScript) only.',
    ],
  },
  {
    name: "a file without its extension",
    text: '{ "graphs": { "agent": "./src/agent:graph" } }',
    says: ['1:24 error: Graph "agent" names a file without its extension: "./src/agent:graph".'],
    hints: ['Did you mean "./src/agent.ts:graph"?'],
  },
  {
    name: "a file that is no module",
    text: '{ "graphs": { "agent": "./README.md:graph" } }',
    says: ['1:24 error: Graph "agent" must name a TypeScript or JavaScript file, not "./README.md".'],
    hints: ["The file must end in .ts, .tsx, .mts, .cts, .js, .jsx, .mjs or .cjs."],
  },
  {
    name: "a misspelled file",
    text: '{ "graphs": { "agent": "./src/agnet.ts:graph" } }',
    says: ['1:24 error: The file of graph "agent" does not exist: <root>/src/agnet.ts'],
    hints: ['Did you mean "./src/agent.ts:graph"?'],
  },
  {
    name: "a misspelled folder",
    text: '{ "graphs": { "agent": "scr/agent.ts:graph" } }',
    says: ['1:24 error: The file of graph "agent" does not exist: <root>/scr/agent.ts'],
    hints: ['Did you mean "src/agent.ts:graph"?'],
  },
  {
    name: "a file with another extension",
    text: '{ "graphs": { "agent": "./src/agent.js:graph" } }',
    says: ['1:24 error: The file of graph "agent" does not exist: <root>/src/agent.js'],
    hints: ['Did you mean "./src/agent.ts:graph"?'],
  },
  {
    name: "a file unlike any other",
    text: '{ "graphs": { "agent": "./src/workflow.ts:graph" } }',
    says: ['1:24 error: The file of graph "agent" does not exist: <root>/src/workflow.ts'],
    hints: ["That folder has agent.ts, other.mjs."],
  },
  {
    name: "a file in a folder that does not exist",
    text: '{ "graphs": { "agent": "./packages/agent.ts:graph" } }',
    says: ['1:24 error: The file of graph "agent" does not exist: <root>/packages/agent.ts'],
    hints: ["Paths count from the folder of the config file, <root>."],
  },
  {
    name: "a folder in place of a file",
    text: '{ "graphs": { "agent": "./folder.ts:graph" } }',
    says: ['1:24 error: The file of graph "agent" is not a file: <root>/folder.ts'],
  },
  {
    name: "wrong types at every level",
    text: `{
  "graphs": { "agent": "./src/agent.ts:graph" },
  "http": {
    "disable_runs": "true",
    "disable_meta": 1,
    "mount_prefix": 3,
    "middleware_order": "auth",
    "cors": { "allow_origins": "*", "allow_methods": ["GET", 1], "max_age": 1.5, "allow_origin_regex": "(" }
  },
  "dependencies": ".",
  "auth": { "path": [] },
  "store": 4
}`,
    says: [
      '4:21 error: "http.disable_runs" must be a boolean, not the string "true": use true/false.',
      '5:21 error: "http.disable_meta" must be true or false, not the number 1.',
      '6:5 warning: "http.mount_prefix" has no effect in this version of agent-server: all routes are served without the prefix.',
      '6:21 error: "http.mount_prefix" must be a string, not the number 3.',
      '7:5 warning: "http.middleware_order" has no effect in this version of agent-server: there is neither authentication nor custom middleware to order.',
      '7:25 error: "http.middleware_order" must be "auth_first" or "middleware_first", not the string "auth".',
      '8:32 error: "http.cors.allow_origins" must be a list of strings, not the string "*".',
      '8:62 error: "http.cors.allow_methods[1]" must be a string, not the number 1.',
      '8:77 error: "http.cors.max_age" must be a whole number, 0 or more, not the number 1.5.',
      '8:104 error: "http.cors.allow_origin_regex" is not a regular expression of JavaScript: /(/: Unterminated group.',
      '10:19 error: "dependencies" must be a list of strings, not the string ".".',
      '11:3 warning: "auth" has no effect in this version of agent-server: requests are NOT authenticated.',
      '11:21 error: "auth.path" must be a string, not a list.',
      '12:12 error: "store" must be an object, not the number 4.',
    ],
    hints: ["Write true, without quotes.", 'Write ["*"].', 'Write ["."].'],
  },
  {
    name: "wrong variables",
    text: '{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": { "A": null, "B": ["x"], "C=D": "x", "E": "\\u0000" } }',
    says: [
      '1:64 error: "env.A" must be a string, a number, true or false, not null.',
      '1:75 error: "env.B" must be a string, a number, true or false, not a list.',
      '1:82 error: "C=D" cannot be a variable: names must not be empty or have "=", and nothing may have a NUL.',
      '1:94 error: "E" cannot be a variable: names must not be empty or have "=", and nothing may have a NUL.',
    ],
  },
  {
    name: "a list of names with a number",
    text: '{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": ["A", 1] }',
    says: [
      "1:58 warning: The environment variable A is not set.",
      '1:63 error: "env[1]" must be a string, not the number 1.',
    ],
  },
  {
    name: "an env file that is a folder",
    text: '{ "graphs": { "agent": "./src/agent.ts:graph" }, "env": "./src" }',
    says: ["1:57 error: The env file: <root>/src is a folder; a file is needed."],
  },
];

const yaml: readonly Case[] = [
  { name: "an empty file", text: "", says: ["1:1 error: The file is empty."] },
  {
    name: "comments only",
    text: "# graphs:\n#   agent: x\n",
    says: ["1:1 error: The file is empty."],
    hints: ["Write at least two lines: graphs: and, indented, agent: ./src/agent.ts:graph"],
  },
  {
    name: "a tab",
    text: "graphs:\n\tagent: ./src/agent.ts:graph\n",
    says: ["2:1 error: Tabs are not allowed as indentation."],
    hints: ["Indent with spaces."],
  },
  {
    name: "all errors at once",
    text: "env: @x\ngraphs:\n  agent: a: b\n",
    says: [
      "1:6 error: Plain value cannot start with reserved character @.",
      '3:10 error: A value must not have a ": " of its own.',
    ],
  },
  {
    name: "a duplicate key beside another problem",
    text: "graphs:\n  agent: ./src/agent.ts:graph\n  agent: ./src/agent.ts:graph\nhttp:\n  disable_runs: 1\n",
    says: [
      '3:3 error: The key "agent" is given twice.',
      '5:17 error: "http.disable_runs" must be true or false, not the number 1.',
    ],
  },
  {
    name: "an unclosed brace",
    text: "graphs: { agent: ./src/agent.ts:graph\n",
    says: ["1:38 error: Flow map in block collection must be sufficiently indented and end with a }."],
  },
  {
    name: "an unclosed quote",
    text: 'graphs:\n  agent: "./src/agent.ts:graph\n',
    says: ['2:31 error: Missing closing "quote.'],
  },
  { name: "an unknown alias", text: "graphs:\n  agent: *x\n", says: ["2:10 error: There is no anchor &x before *x."] },
  {
    name: "two documents",
    text: "graphs:\n  agent: ./src/agent.ts:graph\n---\na: 1\n",
    says: ["3:1 error: The file has more than one YAML document."],
  },
  {
    name: "a list",
    text: "- a\n- b\n",
    says: ['1:1 error: langgraph.yaml must hold an object with "graphs", not a list.'],
  },
  {
    name: "a word",
    text: "graphs\n",
    says: ['1:1 error: langgraph.yaml must hold an object with "graphs", not a string.'],
  },
  {
    name: "graphs without entries",
    text: "graphs:\n",
    says: ['1:1 error: "graphs" must be an object of graph ids, such as {"agent": "./src/agent.ts:graph"}, not null.'],
  },
  {
    name: "the booleans of YAML 1.1",
    text: 'graphs:\n  agent: ./src/agent.ts:graph\nhttp:\n  disable_runs: yes\n  disable_store: Off\n  disable_meta: "true"\ndisable_persistence: maybe\n',
    says: [
      '4:17 error: "http.disable_runs" must be a boolean, not the string "yes": use true/false (YAML 1.2 reads yes, no, on and off as text).',
      '5:18 error: "http.disable_store" must be a boolean, not the string "Off": use true/false (YAML 1.2 reads yes, no, on and off as text).',
      '6:17 error: "http.disable_meta" must be a boolean, not the string "true": use true/false.',
      '7:22 error: "disable_persistence" must be a boolean, not the string "maybe": use true/false.',
    ],
    hints: [
      "Write true, without quotes.",
      "Write false, without quotes.",
      "Write true, without quotes.",
      "Write true or false, without quotes.",
    ],
  },
  {
    name: "a misspelled file in a block",
    text: "graphs:\r\n  agent:\r\n    path: ./src/agnet.ts:graph\r\n    descripton: x\r\n",
    says: [
      '3:11 error: The file of graph "agent" does not exist: <root>/src/agnet.ts',
      '4:5 warning: Unknown key "graphs.agent.descripton"; it is ignored.',
    ],
    hints: ['Did you mean "./src/agent.ts:graph"?', 'Did you mean "description"?'],
  },
];

const files = { "src/agent.ts": "", "src/other.mjs": "", "src/types.d.ts": "", "README.md": "", "folder.ts/x": "" };

async function check(name: string, { text, says, hints }: Case): Promise<void> {
  const root = await project({ ...files, [name]: text });
  const error = await loadError(root);
  const place = (value: string) => value.replaceAll("<root>", root);
  expect(error.exitCode).toBe(2);
  expect(
    error.diagnostics.map(
      ({ location, severity, message }) => `${location?.line}:${location?.column} ${severity}: ${message}`,
    ),
  ).toEqual(says.map(place));
  if (hints) expect(error.diagnostics.flatMap(({ hint }) => hint ?? [])).toEqual(hints.map(place));
  for (const diagnostic of error.diagnostics) {
    expect(diagnostic.location?.file).toBe(`${root}/${name}`);
    expect(diagnostic.frame).toMatch(/^> *\d+ \|/m);
    expect(diagnostic.frame).toMatch(/\^$/m);
    // Every problem can be read from the message alone.
    expect(error.message).toContain(formatDiagnostic(diagnostic, process.cwd()).split("\n")[0]?.split(" - ")[1]);
  }
}

describe("langgraph.json with", () => {
  test.for(json)("$name", (broken) => check("langgraph.json", broken));
});

describe("langgraph.yaml with", () => {
  test.for(yaml)("$name", (broken) => check("langgraph.yaml", broken));
});

test("an error message is readable alone", async () => {
  const root = await project({
    ...files,
    "langgraph.json": '{\n  "graphs": { "agent": "./src/agnet.ts:graph" },\n  "evn": {}\n}\n',
  });
  const { message, hint } = await loadError(root);
  expect(hint).toBeUndefined();
  expect(message).toBe(`langgraph.json:2:24 - error: The file of graph "agent" does not exist: ${root}/src/agnet.ts

  1 | {
> 2 |   "graphs": { "agent": "./src/agnet.ts:graph" },
    |                        ^^^^^^^^^^^^^^^^^^^^^^
  3 |   "evn": {}
  4 | }

hint: Did you mean "./src/agent.ts:graph"?

langgraph.json:3:3 - warning: Unknown key "evn"; it is ignored.

  1 | {
  2 |   "graphs": { "agent": "./src/agnet.ts:graph" },
> 3 |   "evn": {}
    |   ^^^^^
  4 | }
  5 |

hint: Did you mean "env"?

langgraph.json has 1 error.`);
});
