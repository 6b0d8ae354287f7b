// Searching threads through the official client: what a filter means, orders and pages that do not overlap, values taken out.
import type { Thread } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer();

/** A mark that only the threads of one test carry. */
const mark = (): string => crypto.randomUUID();
const say = (text: string) => ({ messages: [{ role: "user", content: text }] });
const search = (body: unknown) => call(server.url, "POST", "/threads/search", { body });
type Found = Thread & { extracted?: Record<string, unknown> };

describe("filters", () => {
  test("§8.20: a thread without values matches no filter on values", async () => {
    const { threads, runs } = server.client;
    const of = mark();
    await threads.create({ metadata: { of } });
    const ran = await threads.create({ metadata: { of } });
    await runs.wait(ran.thread_id, "approval", { input: { topic: "tea" } });
    for (const values of [{}, { topic: "tea" }, { log: ["planned tea"] }]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const found = await threads.search({ metadata: { of }, values });
      expect(found.map(({ thread_id }) => thread_id)).toEqual([ran.thread_id]);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await threads.count({ metadata: { of }, values })).toBe(1);
    }
    expect(await threads.search({ metadata: { of }, values: { topic: "coffee" } })).toEqual([]);
    expect(await threads.count({ metadata: { of }, values: { topic: "coffee" } })).toBe(0);
    expect(await threads.count({ metadata: { of }, values: { topic: "tea" }, status: "interrupted" })).toBe(1);
    expect(await threads.count({ metadata: { of }, values: { topic: "tea" }, status: "idle" })).toBe(0);
  });

  test("that are null are none", async () => {
    const { threads } = server.client;
    const of = mark();
    await threads.create({ metadata: { of } });
    const body = {
      metadata: { of },
      values: null,
      status: null,
      ids: null,
      select: null,
      extract: null,
      sort_by: null,
    };
    expect((await search(body)).json).toHaveLength(1);
  });

  test.for([
    { values: 1 },
    { metadata: [] },
    { status: "done" },
    { ids: ["x"] },
    { limit: 0 },
    { limit: 1001 },
    { offset: -1 },
  ])("%j is refused", async (body) => {
    expect((await search(body)).status).toBe(422);
  });
});

describe("order", () => {
  test("§8.20: every field sorts, and pages over equal threads do not overlap", async () => {
    const { threads } = server.client;
    const of = mark();
    const made: Thread[] = [];
    for (let i = 0; i < 7; i++) made.push(await threads.create({ metadata: { of } })); // oxlint-disable-line no-await-in-loop
    const ids = made.map(({ thread_id }) => thread_id);
    for (const sort_by of ["thread_id", "status", "created_at", "updated_at", "state_updated_at"]) {
      for (const sort_order of ["asc", "desc"]) {
        const paged: string[] = [];
        for (let offset = 0; offset < 7; offset += 2) {
          // Activity between two pages: it must not change the order of the others.
          if (sort_by !== "updated_at") await threads.update(ids[offset]!, { metadata: { touched: true } }); // oxlint-disable-line no-await-in-loop
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          const page = await search({ metadata: { of }, sort_by, sort_order, limit: 2, offset });
          expect(page.headers["x-pagination-total"]).toBe("7");
          expect(page.headers["x-pagination-next"]).toBe(offset < 6 ? String(offset + 2) : undefined);
          paged.push(...(page.json as Thread[]).map(({ thread_id }) => thread_id));
        }
        expect(paged.toSorted(), `${sort_by} ${sort_order}`).toEqual(ids.toSorted());
        if (sort_by === "thread_id") {
          expect(paged).toEqual(sort_order === "asc" ? ids.toSorted() : ids.toSorted().toReversed());
        }
        // Equal ones: the last made first.
        if (sort_by === "status") expect(paged).toEqual(ids.toReversed());
        if (["created_at", "state_updated_at"].includes(sort_by)) {
          expect(paged).toEqual(sort_order === "asc" ? ids : ids.toReversed());
        }
      }
    }
    expect((await search({ sort_by: "values" })).status).toBe(422);
    expect((await search({ sort_by: "status", sort_order: "up" })).status).toBe(422);
  });

  test("by status puts equal statuses together", async () => {
    const { threads, runs } = server.client;
    const of = mark();
    const make = async (graph?: "approval" | "counter"): Promise<string> => {
      const { thread_id } = await threads.create({ metadata: { of } });
      if (graph !== undefined) await runs.wait(thread_id, graph, { input: {} });
      return thread_id;
    };
    const [idle, waits, counted, alsoWaits] = [
      await make(),
      await make("approval"),
      await make("counter"),
      await make("approval"),
    ];
    const found = await threads.search({ metadata: { of }, sortBy: "status", sortOrder: "asc" });
    expect(found.map(({ thread_id }) => thread_id)).toEqual([counted, idle, alsoWaits, waits]);
  });
});

describe("extract", () => {
  test("§8.6: takes values out of threads under names of the caller's", async () => {
    const { threads, runs } = server.client;
    const of = mark();
    const empty = await threads.create({ metadata: { of, owner: { name: "ada" } } });
    const { thread_id } = await threads.create({ metadata: { of } });
    await runs.wait(thread_id, "echo", { input: say("hi") });
    const extract = {
      last: "values.messages[-1].content",
      first: "values.messages[0].content",
      tenth: "values.messages[9]",
      owner: "metadata.owner.name",
      waits: "interrupts",
      settings: "config",
      missing: "values.nothing",
    };
    const found = (await threads.search({ metadata: { of }, extract })) as Found[];
    expect(found.map(({ extracted }) => extracted)).toEqual([
      { last: "echo: hi", first: "hi", tenth: null, owner: null, waits: {}, settings: {}, missing: null },
      { last: null, first: null, tenth: null, owner: "ada", waits: {}, settings: {}, missing: null },
    ]);
    // Beside everything else.
    expect(found[1]).toEqual({ ...empty, extracted: found[1]!.extracted });
    const [interrupted] = await threads.search({ ids: [thread_id], extract: { all: "values" } });
    expect((interrupted as Found).extracted).toEqual({ all: interrupted!.values });
    expect(await threads.search({ ids: [thread_id] }).then(([plain]) => plain)).not.toHaveProperty("extracted");
  });

  test("stays whatever is selected", async () => {
    const { threads } = server.client;
    const of = mark();
    const { thread_id } = await threads.create({ metadata: { of, n: 7 } });
    const found = async (select: string[]) =>
      (await search({ metadata: { of }, select, extract: { n: "metadata.n" } })).json;
    expect(await found(["thread_id"])).toEqual([{ thread_id, extracted: { n: 7 } }]);
    expect(await found(["values", "values"])).toEqual([{ values: null, extracted: { n: 7 } }]);
    expect(await found([])).toEqual([{ extracted: { n: 7 } }]);
  });

  test("names may be any", async () => {
    const of = mark();
    await server.client.threads.create({ metadata: { of } });
    const text = `{"metadata":{"of":"${of}"},"select":[],"extract":{"__proto__":"metadata.of","":"metadata.of"}}`;
    expect((await search(text)).text).toBe(`[{"extracted":{"__proto__":"${of}","":"${of}"}}]`);
  });

  test("reads interrupts", async () => {
    const { threads, runs } = server.client;
    const { thread_id } = await threads.create();
    await runs.wait(thread_id, "approval", { input: { topic: "tea" } });
    const [task] = Object.keys((await threads.get(thread_id)).interrupts);
    const extract = { question: `interrupts.${task}[0].value.question` };
    const [found] = (await threads.search({ ids: [thread_id], extract })) as Found[];
    expect(found!.extracted).toEqual({ question: "Do tea?" });
  });

  test("ten names are taken, eleven are refused", async () => {
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, "values.x"]));
    expect((await search({ limit: 1, extract: names(10) })).status).toBe(200);
    const { status, json } = await search({ limit: 1, extract: names(11) });
    expect([status, (json as { detail: string }).detail]).toEqual([
      422,
      "extract: must have at most 10 aliases, has 11",
    ]);
  });

  test.for([
    { extract: { a: "status" } },
    { extract: { a: "values." } },
    { extract: { a: "values[x]" } },
    { extract: { a: 1 } },
    { extract: { a: null } },
    { extract: ["values"] },
    { extract: "values" },
  ])("%j is refused", async (body) => {
    const { status, json } = await search(body);
    expect(status).toBe(422);
    expect((json as { detail: string }).detail).toMatch(/^extract(?:\.a: must be a path|: must be a JSON object)/);
  });
});
