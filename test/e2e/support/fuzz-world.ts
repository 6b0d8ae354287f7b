// What fuzzed requests are about: a server with a bit of everything, and threads, runs, assistants, crons, items and deliveries whose ids they
// mix with wrong ones. Everything is made anew for every operation, because requests delete things.
import { relative, join, resolve } from "node:path";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Client } from "@langchain/langgraph-sdk";
import { messagesAbout } from "./fuzz-messages.ts";
import { call } from "./http.ts";
import type { Random } from "./fuzz-random.ts";
import { PROJECT } from "./server.ts";

/** Graphs that end by themselves, whatever they are given. */
const GRAPHS = ["echo", "counter", "tokens", "approval", "subgraph", "memory", "mirror", "odd", "agent", "failing"];
/** Made from a config or a schema of its own. */
const OTHER_GRAPHS = { factory: "factory.ts:makeGraph", zod: "zod.ts:graph" };

/** A folder with a project: most graphs of the fixture project, UI components, and a store that embeds. The caller removes it. */
export function fuzzProject(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-fuzz-"));
  const at = (...path: string[]): string => `./${relative(folder, resolve(PROJECT, ...path))}`;
  const graphs = Object.fromEntries([
    ...GRAPHS.map((id) => [id, `${at("src", `${id}.ts`)}:graph`]),
    ...Object.entries(OTHER_GRAPHS).map(([id, source]) => [id, at("src", source)]),
  ]) as Record<string, string>;
  const config = {
    graphs,
    ui: { echo: at("..", "ui-project", "src", "components.tsx") },
    ui_config: { shared: ["shared-by-the-page"] },
    store: { index: { dims: 4, embed: `${at("..", "store-project", "src", "embed.ts")}:embed`, fields: ["text"] } },
    http: { configurable_headers: { includes: ["x-*"] } },
    // Far below the time from which on the fuzz tests take a request for hanging.
    env: { LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: "5000" },
  };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify(config));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Parameters of a path that belong together. */
export type At = Readonly<Record<string, string>>;

export interface World {
  /** Things that exist, as the parameters of a path name them. */
  readonly places: At[];
  /** A run that waits for its time, for those who stop or delete it: whoever waits for it waits for ever. */
  readonly waiting: At;
  /** Good values by the name of a field. */
  readonly known: Readonly<Record<string, readonly unknown[]>>;
}

const GREETING = { messages: [{ role: "user", content: "hello" }] };

/** An input for each graph that makes something of it. */
const INPUTS: readonly unknown[] = [
  {},
  GREETING,
  { messages: [{ type: "human", content: [{ type: "text", text: "send a letter" }], id: "m1" }] },
  { topic: "cleaning", log: [] },
  { ask: true },
  { how: "class" },
  { how: "text" },
  { kinds: ["date", "nan", "bytes", "circular", "proto", "text"] },
  { total: 1, trail: ["zero"] },
  null,
];

/**
 * Makes a thread that ended, one that asks something, an empty one, an assistant, a cron, an item and a delivery.
 * @param hook URL that takes a webhook.
 */
export async function fuzzWorld(url: string, client: Client, hook: string): Promise<World> {
  // Assistants of their own: those of the graphs may have been changed.
  const [ended, asks, empty, later, assistant, asking, { json }] = await Promise.all([
    client.threads.create({ metadata: { graph_id: "counter" } }),
    client.threads.create(),
    client.threads.create(),
    client.threads.create(),
    client.assistants.create({ graphId: "counter", metadata: { made: "for the fuzz test" } }),
    client.assistants.create({ graphId: "approval" }),
    call(url, "POST", "/runs", {
      body: { assistant_id: "echo", input: GREETING, on_completion: "keep", stream_resumable: true, webhook: hook },
    }),
  ]);
  const kept = json as { thread_id: string; run_id: string };
  await Promise.all([
    client.runs.wait(ended.thread_id, assistant.assistant_id, { input: {} }),
    client.runs.wait(asks.thread_id, asking.assistant_id, { input: { topic: "cleaning" } }),
    client.store.putItem(["fuzz", "items"], "key", { text: "a cat", a: 1 }),
    client.assistants.update(assistant.assistant_id, { name: "Second" }),
  ]);
  const [[run], [question], delayed, state, cron, answer] = await Promise.all([
    client.runs.list(ended.thread_id),
    client.runs.list(asks.thread_id),
    client.runs.create(later.thread_id, "echo", { afterSeconds: 3600 }),
    client.threads.getState(ended.thread_id),
    client.crons.create("counter", { schedule: "0 9 1 1 *", input: {} }) as unknown as Promise<{ cron_id: string }>,
    call(url, "GET", "/internal/webhooks"),
  ]);
  const checkpoint_id = state.checkpoint.checkpoint_id!;
  const thread_ids = [ended, asks, empty].map(({ thread_id }) => thread_id);
  const others = {
    assistant_id: assistant.assistant_id,
    cron_id: cron.cron_id,
    delivery_id: (answer.json as { delivery_id: string }[])[0]?.delivery_id ?? crypto.randomUUID(),
    namespace: "inner",
    file: "scalar.js",
    checkpoint_id,
  };
  const places: At[] = [
    { ...others, thread_id: ended.thread_id, run_id: run!.run_id },
    { ...others, thread_id: asks.thread_id, run_id: question!.run_id, assistant_id: "subgraph" },
    { ...others, thread_id: kept.thread_id, run_id: kept.run_id, assistant_id: "echo", file: "entrypoint.js" },
    { ...others, thread_id: empty.thread_id, run_id: run!.run_id, assistant_id: "counter" },
  ];
  const graphs = [...GRAPHS, ...Object.keys(OTHER_GRAPHS)];
  const checkpoint = { thread_id: ended.thread_id, checkpoint_ns: "", checkpoint_id };
  const about = messagesAbout({ thread_id: asks.thread_id, run_id: question!.run_id, checkpoint_id, hook });
  const known = {
    thread_id: thread_ids,
    ids: [thread_ids, thread_ids.slice(1)],
    thread_ids: [[empty.thread_id], []],
    assistant_id: [...graphs, assistant.assistant_id],
    graph_id: graphs,
    run_id: [run!.run_id, kept.run_id],
    run_ids: [[run!.run_id, kept.run_id], [kept.run_id]],
    cron_id: [cron.cron_id],
    checkpoint_id: [checkpoint_id],
    checkpoint: [checkpoint, { checkpoint_id }, { checkpoint_ns: "" }],
    before: [checkpoint_id, { checkpoint_id }, { configurable: { checkpoint_id } }],
    after: ["-1", "-", "0", "5"],
    namespace: [["fuzz", "items"], ["fuzz"]],
    namespace_prefix: [["fuzz"], []],
    key: ["key", "other"],
    query: ["cat", ""],
    schedule: ["0 9 1 1 *", "0 0 29 2 *"],
    timezone: ["Europe/Zurich", "UTC"],
    webhook: [hook],
    input: INPUTS,
    values: [{ total: 1 }, { messages: [] }, {}, null],
    metadata: [{ a: 1 }, {}, { made: "for the fuzz test" }],
    as_node: ["one", "ten", "__start__", "ask"],
    goto: ["ten", [{ node: "one", input: {} }]],
    interrupt_before: ["*", ["ten"]],
    interrupt_after: ["*", ["one"]],
    recursion_limit: [25, 3],
    // With the first of them the graph "factory" cannot be made.
    configurable: [{ voice: "broken" }, { voice: "loud" }, { user: "ada" }, { mood: "low" }],
    // A longer delay is no hang, but nobody can wait for it.
    after_seconds: [0, 0.01],
    extract: [{ total: "values.total", last: "values.trail[-1]" }],
    channels: [["values", "lifecycle"], ["custom:a"], ["updates", "messages", "checkpoints"]],
    name: ["weather", "A name"],
    include: ["ttl"],
    xray: ["true", "1"],
  };
  const waiting = { ...others, thread_id: later.thread_id, run_id: delayed.run_id };
  return { places, waiting, known: { ...known, ...about } };
}

/** Names of the ids that requests are about. */
const IDS = ["thread_id", "run_id", "assistant_id", "cron_id", "delivery_id", "checkpoint_id"] as const;
/** Things that are known at once; beyond them, new ones take the place of others. */
const MAX_PLACES = 40;

/** Makes requests to come be about what an answer tells of. @param answer the text of its body. */
export function learn({ places, waiting }: World, answer: string, random: Random): void {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return;
  }
  const [first] = [value].flat() as [Record<string, unknown> | null | undefined];
  if (typeof first !== "object" || first === null || first["thread_id"] === waiting["thread_id"]) return;
  const ids = IDS.flatMap((id) => (typeof first[id] === "string" ? [[id, first[id]] as const] : []));
  if (ids.length === 0) return;
  const place = { ...random.pick(places), ...Object.fromEntries(ids) };
  // Those that were there first stay, and among them the assistant that may be changed.
  if (places.length < MAX_PLACES) places.push(place);
  else places[4 + random.int(MAX_PLACES - 4)] = place;
}
