import { test } from "vitest";
import { useServer } from "./support/server.ts";
import { collect } from "./support/http.ts";
const server = useServer();
test("look", async () => {
  const c = server.client;
  const say = { input: { messages: [{ role: "user" as const, content: "a b" }] } };
  for (const mode of [["events"], ["events", "values", "updates", "messages-tuple", "custom"], ["tasks"], ["checkpoints"]] as any) {
    const t = await c.threads.create();
    console.log("=== " + mode);
    const ev = await collect(c.runs.stream(t.thread_id, "tokens", { ...say, streamMode: mode }));
    console.log(ev.map((e: any) => e.event === "events" ? `events ${e.data.event} ${e.data.name} ${e.data.run_id} ${JSON.stringify(e.data).length} ${JSON.stringify(e.data.data).slice(0,200)}` : JSON.stringify(e).slice(0, 300)).join("\n"));
  }
  {
    const t = await c.threads.create();
    const ev = await collect(c.runs.stream(t.thread_id, "tokens", { ...say, streamMode: ["messages-tuple"], streamSubgraphs: true }));
    console.log(ev.map((e: any) => e.event).join("\n"));
  }
  {
    const t = await c.threads.create();
    const ev = await collect(c.runs.stream(t.thread_id, "subgraph", { input: {}, streamMode: ["updates", "custom", "events", "values"], streamSubgraphs: true }));
    console.log(ev.map((e: any) => JSON.stringify(e).slice(0, 250)).join("\n"));
  }
  {
    const t = await c.threads.create();
    const ev = await collect(c.runs.stream(t.thread_id, "subgraph", { input: {}, streamMode: ["updates", "custom", "messages-tuple", "values"] }));
    console.log(ev.map((e: any) => JSON.stringify(e).slice(0, 250)).join("\n"));
  }
});
