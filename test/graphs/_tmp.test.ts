import { expect, test } from "vitest";
import { graphSource, project, hostOf, reply } from "./project.ts";
for (const dir of ["with space", "ünï", "100%25", "a#b", "q?x", "[id]", "(group)", "it's"]) test(`dir ${dir}`, async () => {
  const files = project({ [`${dir}/graph.ts`]: graphSource("word", `import { word } from "./word.ts";`), [`${dir}/word.ts`]: `export const word = import.meta.url;` });
  const t = hostOf(files.config({ agent: "x:graph" }, { graphs: [{ id: "agent", file: files.path(`${dir}/graph.ts`), exportName: "graph", description: null }] }), {reload: true});
  await t.host.start();
  console.log(dir, t.events, await reply(t).catch((e) => e.message));
  files.write(`${dir}/word.ts`, `export const word = "two"`);
  await t.next("reloaded");
  console.log(await reply(t));
});
for (const [f, src] of Object.entries({ "g.mts": graphSource("1"), "g.cts": `import lg = require("@langchain/langgraph");\nconst S = lg.Annotation.Root({ reply: lg.Annotation<unknown> }); exports.graph = new lg.StateGraph(S).addNode("a", () => ({ reply: "cts" })).addEdge("__start__", "a");`, "h.cts": graphSource("'cts-esm'"), "deco.ts": `${graphSource("new A().x")}\nfunction dec(_t: any, c: any) { return (v: any) => "deco"; } class A { @dec x = 1; }` })) test(f, async () => {
  const files = project({ [f]: src });
  const t = hostOf(files.config({ agent: `${f}:graph` }));
  await t.host.start();
  console.log(f, t.events, await reply(t).catch((e) => e.message));
});
