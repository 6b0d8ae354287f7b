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

/** A good graph for the end of an object: what is wrong before it is all that is wrong. */
const G = '"graphs": { "agent": "./src/agent.ts:graph" }';

const json: readonly Case[] = [
  { name: "an empty file", text: "", says: ["1:1 error: The file is empty."] },
  { name: "white space only", text: " \r\n\t\n", says: ["1:1 error: The file is empty."] },
  { name: "a comment only", text: "// later\n", says: ["1:9 error: The file ends where a value is expected."] },
  { name: "null", text: "null", says: ["1:1 error: The file is empty."] },
  {
    name: "a missing comma",
    text: '{\n  "graphs": {\n    "agent": "./src/agent.ts:graph"\n  }\n  "env": {}\n}\n',
    says: ["4:4 error: A comma is missing here."],
    hints: ["Separate entries by commas."],
  },
  {
    name: "a missing comma with CRLF",
    text: '{\r\n  "graphs": {\r\n    "a": "./src/agent.ts:graph"\r\n    "b": "./src/agent.ts:graph"\r\n  }\r\n}\r\n',
    says: ["3:32 error: A comma is missing here."],
  },
  {
    name: "a missing comma with a BOM and tabs",
    text: `\uFEFF{\n\t"env": {}\n\t${G}\n}`,
    says: ["2:11 error: A comma is missing here."],
  },
  {
    name: "a missing comma in a list",
    text: `{"dependencies": ["a" "b"], ${G}}`,
    says: ["1:22 error: A comma is missing here."],
  },
  {
    name: "a quote inside text",
    text: `{"node_loader": "a"b", ${G}}`,
    says: ["1:20 error: A comma is missing here."],
  },
  { name: "two commas", text: `{"env": {},, ${G}}`, says: ["1:12 error: There is a comma too many."] },
  {
    name: "a leading comma",
    text: `{, ${G}}`,
    says: ["1:2 error: There is a comma too many."],
    hints: ["Remove the comma."],
  },
  {
    name: "nothing but a comma",
    text: `{"dependencies": [,], ${G}}`,
    says: ["1:19 error: There is a comma too many."],
  },
  {
    name: "a hash comment",
    text: `# config\n{ ${G} }`,
    says: ["1:1 error: A comment in JSON begins with // and not with #."],
    hints: ["Write //, or remove the comment."],
  },
  {
    name: "an unclosed comment",
    text: `{ ${G} /* and so on }`,
    says: ["1:49 error: The comment is never closed: */ is missing."],
  },
  {
    name: "mistakes behind comments and trailing commas",
    text: `// a\n{ /* b */ "env": [ "A", ], // c\n  "evn": {}, "ui": 1, ${G}, }`,
    says: [
      "2:20 warning: The environment variable A is not set.",
      '3:3 warning: Unknown key "evn"; it is ignored.',
      '3:20 error: "ui" must be an object, not the number 1.',
    ],
  },
  {
    name: "single quotes around a key",
    text: "{ 'graphs': { 'agent': './src/agent.ts:graph' } }",
    says: [
      "1:3 error: Single quotes are not allowed in JSON.",
      "1:15 error: Single quotes are not allowed in JSON.",
      "1:24 error: Single quotes are not allowed in JSON.",
    ],
  },
  {
    name: "single quotes around a value",
    text: `{ "base_image": 'node', ${G} }`,
    says: ["1:17 error: Single quotes are not allowed in JSON."],
    hints: ['Use double quotes: "…".'],
  },
  {
    name: "an unclosed single quote",
    text: `{ "env": '.env,\n ${G} }`,
    says: ["1:10 error: Single quotes are not allowed in JSON."],
  },
  {
    name: "backticks",
    text: `{ "base_image": \`node\`, ${G} }`,
    says: ["1:17 error: Backticks are not allowed in JSON."],
  },
  {
    name: "typographic quotes",
    text: "{ “graphs”: { „agent“: “./src/agent.ts:graph” } }",
    says: [
      "1:3 error: Typographic quotes are not allowed in JSON.",
      "1:15 error: Typographic quotes are not allowed in JSON.",
      "1:24 error: Typographic quotes are not allowed in JSON.",
    ],
  },
  {
    name: "keys and values without quotes",
    text: "{ graphs: { agent: ./src/agent.ts:graph } }",
    says: [
      "1:3 error: Keys must be in double quotes.",
      "1:13 error: Keys must be in double quotes.",
      "1:20 error: Text must be in double quotes.",
    ],
    hints: ['Write "graphs".', 'Write "agent".', 'Write "./src/agent.ts:graph".'],
  },
  {
    name: "a value without quotes",
    text: `{ "base_image": node, ${G} }`,
    says: ["1:17 error: Text must be in double quotes."],
    hints: ['Write "node".'],
  },
  {
    name: "Python's True and None",
    text: `{ "disable_persistence": True, "env": None, ${G} }`,
    says: ['1:26 error: "True" must be in lower case.', "1:39 error: JSON has no None."],
    hints: ["Write true.", "Write null."],
  },
  {
    name: "NaN",
    text: `{ "node_version": NaN, ${G} }`,
    says: ["1:19 error: JSON has no NaN."],
    hints: ["Write a number."],
  },
  {
    name: "a missing colon",
    text: '{ "graphs" { "agent": "./src/agent.ts:graph" } }',
    says: ['1:11 error: A colon is missing after the key "graphs".'],
  },
  { name: "a key alone", text: `{ "env", ${G} }`, says: ['1:8 error: A colon is missing after the key "env".'] },
  { name: "an equals sign", text: `{ "env" = {}, ${G} }`, says: ['1:9 error: A key is followed by ":", not "=".'] },
  { name: "a semicolon", text: `{ "env": {}; ${G} }`, says: ['1:12 error: Items are separated by ",", not ";".'] },
  { name: "a missing value", text: `{ "env": , ${G} }`, says: ['1:10 error: A value is missing before ",".'] },
  {
    name: "a value of another language",
    text: `{ "env": @x, ${G} }`,
    says: ['1:10 error: "@" is not allowed here: a value is expected.'],
  },
  { name: "a number as a key", text: `{ 1: 2, ${G} }`, says: ["1:3 error: A key in double quotes is expected here."] },
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
    text: `{ "dependencies": ["C:\\dev\\.app"], ${G} }`,
    says: ["1:23 error: A backslash cannot stand alone in JSON text."],
    hints: ["Write \\\\ for a backslash; in paths, / works everywhere."],
  },
  {
    name: "a tab in a string",
    text: `{ "base_image": "x\ty", ${G} }`,
    says: ["1:19 error: A tab inside text must be written as \\t."],
  },
  {
    name: "a control character in a string",
    text: `{ "base_image": "x\u0001y", ${G} }`,
    says: ["1:19 error: A control character inside text is not allowed."],
  },
  {
    name: "broken numbers",
    text: `{ "node_version": 020, "api_version": .5, "python_version": 3.11.4, ${G} }`,
    says: [
      '1:19 error: "020" is not a JSON number.',
      '1:39 error: ".5" is not a JSON number.',
      '1:61 error: "3.11.4" is not a JSON number.',
    ],
    hints: ["Write 20.", "Write 0.5.", 'Write "3.11.4".'],
  },
  { name: "text after the end", text: `{ ${G} }}`, says: ["1:50 error: There is text after the end of the config."] },
  {
    name: "an invisible space",
    text: `{\u00A0${G} }`,
    says: ["1:2 error: An invisible character (U+00A0) is not allowed in JSON."],
  },
  {
    name: "a merge conflict",
    text: '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> main\n}',
    says: ["2:1 error: The file has an unresolved merge conflict."],
  },
  {
    name: "YAML",
    text: "graphs:\n  agent: ./src/agent.ts:graph\n",
    says: ["1:1 error: This is YAML, and the file's name ends in .json."],
    hints: ["Give the file a name that ends in .yaml, or write it as JSON."],
  },
  {
    name: "mistakes of every kind at once",
    text: `{
  // the graphs
  graphs: { 'agent': "./src/agnet.ts:graph" }
  "http": { "disable_runs": True, "disable_a2a": "yes", "cors": { "max_age": "1" } },
  "evn": {};
  "ui": [],
}`,
    says: [
      "3:3 error: Keys must be in double quotes.",
      "3:13 error: Single quotes are not allowed in JSON.",
      '3:22 error: The file of graph "agent" does not exist: <root>/src/agnet.ts',
      "3:46 error: A comma is missing here.",
      '4:29 error: "True" must be in lower case.',
      '4:50 error: "http.disable_a2a" must be a boolean, not the string "yes": use true/false.',
      '4:78 error: "http.cors.max_age" must be a whole number, 0 or more, not the string "1".',
      '5:3 warning: Unknown key "evn"; it is ignored.',
      '5:12 error: Items are separated by ",", not ";".',
      '6:9 error: "ui" must be an object, not a list.',
    ],
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
    name: "a graph id that clients take for the id of an assistant",
    text: '{ "graphs": { "01234567-89AB-cdef-0123-456789abcdef": "./src/agent.ts:graph" } }',
    says: ['1:15 error: A graph id must not be a UUID: "01234567-89AB-cdef-0123-456789abcdef".'],
  },
  {
    name: "names that objects have already, below keys that are known",
    text: '{ "graphs": { "toString": "./src/agent.ts:graph", "constructor": "./src/agent.ts:graph" }, "checkpointer": { "serde": { "toString": 1 }, "valueOf": 2 }, "toJSON": {}, "encryption": { "path": { "toString": 1 } }, "http": { "cors": { "hasOwnProperty": 1 } } }',
    says: [
      '1:110 warning: "checkpointer.serde" has no effect in this version of agent-server: the server serialises them in its own way.',
      '1:138 warning: Unknown key "checkpointer.valueOf"; it is ignored.',
      '1:154 warning: Unknown key "toJSON"; it is ignored.',
      '1:168 warning: "encryption" has no effect in this version of agent-server: stored data is NOT encrypted.',
      '1:192 error: "encryption.path" must be a string, not an object.',
      '1:233 warning: Unknown key "http.cors.hasOwnProperty"; it is ignored.',
    ],
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
  "store": 4
}`,
    says: [
      '4:21 error: "http.disable_runs" must be a boolean, not the string "true": use true/false.',
      '5:21 error: "http.disable_meta" must be true or false, not the number 1.',
      '6:21 error: "http.mount_prefix" must be a string, not the number 3.',
      '7:25 error: "http.middleware_order" must be "auth_first" or "middleware_first", not the string "auth".',
      '8:32 error: "http.cors.allow_origins" must be a list of strings, not the string "*".',
      '8:62 error: "http.cors.allow_methods[1]" must be a string, not the number 1.',
      '8:77 error: "http.cors.max_age" must be a whole number, 0 or more, not the number 1.5.',
      '8:104 error: "http.cors.allow_origin_regex" is not a regular expression of JavaScript: /(/: Unterminated group.',
      '10:19 error: "dependencies" must be a list of strings, not the string ".".',
      '11:12 error: "store" must be an object, not the number 4.',
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
    name: "a store of wrong values",
    text: `{ ${G}, "store": { "index": { "dims": "3", "fields": "$" }, "ttl": { "default_ttl": 0, "refresh_on_read": "no", "swep": 1 } } }`,
    says: [
      '1:70 error: "store.index.embed" is missing.',
      '1:80 error: "store.index.dims" must be a whole number, 1 or more, not the string "3".',
      '1:95 error: "store.index.fields" must be a list of strings, not the string "$".',
      '1:126 error: "store.ttl.default_ttl" must be a number of minutes greater than 0, not the number 0.',
      '1:148 error: "store.ttl.refresh_on_read" must be a boolean, not the string "no": use true/false.',
      '1:154 warning: Unknown key "store.ttl.swep"; it is ignored.',
    ],
    hints: [
      'Write "./src/embed.ts:embed" for a function of yours, or "openai:text-embedding-3-small" for a model.',
      'Write ["$"].',
      "Write false, without quotes.",
    ],
  },
  {
    name: "an embedding that is nothing",
    text: `{ ${G}, "store": { "index": { "dims": 3, "embed": "text-embedding-3-small" } } }`,
    says: [
      '1:92 error: "store.index.embed" is neither a file and export nor a provider and model: "text-embedding-3-small".',
    ],
  },
  {
    name: "an embedding in a file that is not there",
    text: `{ ${G}, "store": { "index": { "dims": 3, "embed": "./src/agnet.ts:embed" } } }`,
    says: ['1:92 error: The file of "store.index.embed" does not exist: <root>/src/agnet.ts'],
    hints: ['Did you mean "./src/agent.ts:embed"?'],
  },
  {
    name: "an embedding without an export",
    text: `{ ${G}, "store": { "index": { "dims": 3, "embed": "./src/agent.ts" } } }`,
    says: ['1:92 error: "store.index.embed" names no export: "./src/agent.ts" must end in ":export".'],
  },
  {
    name: "an embedding without an extension, and one of Python",
    text: `{ ${G}, "store": { "index": { "dims": 3, "embed": "./src/agent:embed" } } }`,
    says: ['1:92 error: "store.index.embed" must name a TypeScript or JavaScript file, not "./src/agent".'],
    hints: ['Did you mean "./src/agent.ts:embed"?'],
  },
  {
    name: "a checkpointer of wrong values",
    text: `{ ${G}, "checkpointer": { "ttl": { "strategy": "archive", "default_ttl": "60", "sweep_limit": 0.5 } } }`,
    says: [
      '1:89 error: "checkpointer.ttl.strategy" must be "delete" or "keep_latest", not the string "archive".',
      '1:115 error: "checkpointer.ttl.default_ttl" must be a number of minutes greater than 0, not the string "60".',
      '1:136 error: "checkpointer.ttl.sweep_limit" must be a whole number, 1 or more, not the number 0.5.',
    ],
  },
  {
    name: "UI components of wrong values",
    text: `{ ${G}, "ui": { "agent": ["./ui.tsx"], "other": "./src/ui.tsx" }, "ui_config": { "shared": "react" } }`,
    says: [
      '1:67 error: "ui.agent" must be a string, not a list.',
      '1:90 warning: The UI components of "other" do not exist: <root>/src/ui.tsx',
      '1:133 error: "ui_config.shared" must be a list of strings, not the string "react".',
    ],
    hints: ["Paths count from the folder of the config file, <root>.", 'Write ["react"].'],
  },
  {
    name: "webhooks of wrong values",
    text: `{ ${G},
  "webhooks": {
    "headers": { "X-A": 1 },
    "url": { "allowed_ports": ["443"], "allowed_domains": ["https://example.com/hook"], "require_https": "yes", "max_url_length": -1 },
    "env_perfix": "A_"
  }
}`,
    says: [
      '3:25 error: "webhooks.headers.X-A" must be a string, not the number 1.',
      '4:32 error: "webhooks.url.allowed_ports[0]" must be a whole number from 1 to 65535, not the string "443".',
      '4:60 warning: "webhooks.url.allowed_domains[0]" matches nothing: a domain has neither scheme nor port nor path.',
      '4:106 error: "webhooks.url.require_https" must be a boolean, not the string "yes": use true/false.',
      '4:131 error: "webhooks.url.max_url_length" must be a whole number, 0 or more, not the number -1.',
      '5:5 warning: Unknown key "webhooks.env_perfix"; it is ignored.',
    ],
    hints: ['Write "example.com".', "Write true, without quotes.", 'Did you mean "env_prefix"?'],
  },
  {
    name: "webhook headers that cannot be filled in",
    text: `{ ${G},
  "webhooks": {
    "headers": {
      "X-A": "\${{ env.LG_WEBHOOK_TOKEN }}",
      "X-B": "\${{ env.AWS_SECRET }}",
      "X-C": "\${{ secrets.A }}",
      "Content-Type": "text/plain",
      "X Y": "z"
    }
  },
  "agent_server": { "webhooks": { "secret": "\${{ env.LG_WEBHOOK_SECRET }}" } }
}`,
    says: [
      '4:14 error: The webhook header "X-A" needs the environment variable LG_WEBHOOK_TOKEN, which is not set.',
      '5:14 error: The webhook header "X-B" names the environment variable AWS_SECRET, which does not begin with "LG_WEBHOOK_".',
      '6:14 error: The webhook header "X-C" has a template that is not understood: ${{ secrets.A }}.',
      '7:7 error: The webhook header "Content-Type" is set by the server itself.',
      '8:7 error: The webhook header "X Y" cannot be a header: its name has characters that no header name has.',
      "11:45 error: The webhook secret needs the environment variable LG_WEBHOOK_SECRET, which is not set.",
    ],
  },
  {
    name: "settings of this server of wrong values",
    text: `{ ${G}, "agent_server": { "webhooks": { "timeout_seconds": 0, "max_attempts": 101 }, "crons": { "catch_up": "always" }, "cron": {} } }`,
    says: [
      '1:101 error: "agent_server.webhooks.timeout_seconds" must be a number of seconds greater than 0 and at most 300, not the number 0.',
      '1:120 error: "agent_server.webhooks.max_attempts" must be a whole number from 1 to 100, not the number 101.',
      '1:150 error: "agent_server.crons.catch_up" must be "skip" or "once", not the string "always".',
      '1:162 warning: Unknown key "agent_server.cron"; it is ignored.',
    ],
    hints: ['Did you mean "crons"?'],
  },
  {
    name: "headers for runs of wrong values",
    text: `{ ${G}, "http": { "configurable_headers": { "includes": "x-user", "excludes": [1], "exlude": [] } } }`,
    says: [
      '1:98 error: "http.configurable_headers.includes" must be a list of strings, not the string "x-user".',
      '1:121 error: "http.configurable_headers.excludes[0]" must be a string, not the number 1.',
      '1:125 warning: Unknown key "http.configurable_headers.exlude"; it is ignored.',
    ],
    hints: ['Write ["x-user"].', 'Did you mean "exclude"?'],
  },
  {
    name: "an app and an authentication that are not there",
    text: `{ ${G},
  "http": { "app": "./src/agent.ts", "mount_prefix": "api" },
  "auth": { "path": "./src/auht.ts:auth", "cache": { "ttl_seconds": "1" }, "pth": "x" }
}`,
    says: [
      '2:20 error: "http.app" names no export: "./src/agent.ts" must end in ":export".',
      '2:54 error: "http.mount_prefix" must begin with one slash: "api".',
      '3:21 error: The file of "auth.path" does not exist: <root>/src/auht.ts',
      '3:69 error: "auth.cache.ttl_seconds" must be a number of seconds greater than 0, not the string "1".',
      '3:76 warning: Unknown key "auth.pth"; it is ignored.',
    ],
    hints: [
      'Write "./src/agent.ts:app" for export const app, or "./src/agent.ts:default" for export default.',
      'Write "/api".',
      "That folder has agent.ts, other.mjs.",
      'Did you mean "path"?',
    ],
  },
  {
    name: "origins that no page has",
    text: `{ ${G}, "env": 1, "http": { "cors": { "allow_origins": ["http://localhost:3000/", "example.com", "https://*.example.com", "https://Example.com", "tauri://localhost", "null", "*"] } } }`,
    says: [
      '1:57 error: "env" must be the path of an env file, an object of variables or a list of names, such as ".env" or {"NAME": "value"}, not the number 1.',
      '1:98 warning: "http.cors.allow_origins[0]" matches nothing: an origin is a scheme, a host in lower case and a port that is not the usual one.',
      '1:124 warning: "http.cors.allow_origins[1]" matches nothing: an origin begins with http:// or https://.',
      '1:139 warning: "http.cors.allow_origins[2]" matches nothing: an origin has no wildcards.',
      '1:164 warning: "http.cors.allow_origins[3]" matches nothing: an origin is a scheme, a host in lower case and a port that is not the usual one.',
    ],
    hints: [
      'Write "http://localhost:3000".',
      'Write "https://example.com".',
      'Use "http.cors.allow_origin_regex", such as "https://.*\\\\.example\\\\.com".',
      'Write "https://example.com".',
    ],
  },
  {
    name: "keys for other tools of wrong types",
    text: `{ ${G}, "dependencies": [1], "node_version": true, "dockerfile_lines": "RUN x", "source": { "kind": 1, "knid": "uv" }, "keep_pkg_tools": "pip", "$schema": 1 }`,
    says: [
      '1:67 error: "dependencies[0]" must be a string, not the number 1.',
      '1:87 error: "node_version" must be a string or a number, not true.',
      '1:113 error: "dockerfile_lines" must be a list of strings, not the string "RUN x".',
      '1:142 error: "source.kind" must be a string, not the number 1.',
      '1:145 warning: Unknown key "source.knid"; it is ignored.',
      '1:179 error: "keep_pkg_tools" must be true or false or a list of strings, not the string "pip".',
      '1:197 error: "$schema" must be a string, not the number 1.',
    ],
  },
  {
    name: "a key at the wrong level",
    text: `{ ${G}, "disable_a2a": true, "cors": {}, "index": { "dims": 3 }, "env": 1 }`,
    says: [
      '1:50 warning: Unknown key "disable_a2a"; it is ignored.',
      '1:71 warning: Unknown key "cors"; it is ignored.',
      '1:83 warning: Unknown key "index"; it is ignored.',
      '1:114 error: "env" must be the path of an env file, an object of variables or a list of names, such as ".env" or {"NAME": "value"}, not the number 1.',
    ],
    hints: ['Did you mean "http.disable_a2a"?', 'Did you mean "http.cors"?', 'Did you mean "store.index"?'],
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
    name: "a yes",
    text: "graphs:\n  agent: ./src/agent.ts:graph\nhttp:\n  disable_a2a: yes\n",
    says: [
      '4:16 error: "http.disable_a2a" must be a boolean, not the string "yes": use true/false (YAML 1.2 reads yes, no, on and off as text).',
    ],
    hints: ["Write true, without quotes."],
  },
  {
    name: "tabs, and more",
    text: "graphs:\n\tagent: ./src/agnet.ts:graph\nhttp:\n\tdisable_runs: 1\n",
    says: [
      "2:1 error: Tabs are not allowed as indentation.",
      '2:9 error: The file of graph "agent" does not exist: <root>/src/agnet.ts',
      "4:1 error: Tabs are not allowed as indentation.",
      '4:16 error: "http.disable_runs" must be true or false, not the number 1.',
    ],
  },
  {
    name: "a tab that leaves no sense",
    text: "graphs:\n  agent: ./src/agent.ts:graph\n\tother: x\n",
    says: ["3:1 error: Tabs are not allowed as indentation."],
  },
  {
    name: "a Windows path in double quotes, and more",
    text: 'graphs:\n  agent: ./src/agent.ts:graph\ndependencies: ["C:\\dev"]\nui: 3\n',
    says: ["3:19 error: Invalid escape sequence \\d.", '4:5 error: "ui" must be an object, not the number 3.'],
    hints: ["In double quotes a backslash is written \\\\; in paths, / works everywhere."],
  },
  {
    name: "wrong indentation",
    text: "graphs:\n  agent: ./src/agent.ts:graph\n env: .env\n",
    says: ["3:1 error: All mapping items must start at the same column."],
  },
  {
    name: "a key without a colon",
    text: "graphs:\n  agent: ./src/agent.ts:graph\nenv\nui: {}\n",
    says: ["3:1 error: Implicit keys need to be on a single line."],
  },
  {
    name: "a colon without a space",
    text: "graphs:\n  agent:./src/agent.ts:graph\n",
    says: [
      '2:3 error: "graphs" must be an object of graph ids, such as {"agent": "./src/agent.ts:graph"}, not the string "agent:./src/agent.ts:graph".',
    ],
  },
  {
    name: "a BOM, CRLF and a duplicate key",
    text: "\uFEFFgraphs:\r\n  agent: ./src/agent.ts:graph\r\nenv: {}\r\nenv: {}\r\n",
    says: ['4:1 error: The key "env" is given twice.'],
    hints: ["Only the last one would count. Remove or rename one of them."],
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
