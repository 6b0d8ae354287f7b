// SIGKILLs under load, a hundred of them in CI: everything that the server acknowledged is there afterwards, everything that it took on has come to
// an end, and no thread is stuck. The kills are drawn from a seed; what they hit is up to the machine.
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Child, start } from "../cli/helpers/built.ts";
import { drawing, seeded } from "../storage/seeded.ts";
import { type Answer, call, frames } from "./support/http.ts";
import { temporaryFolder } from "./support/server.ts";

const PROJECT = join(import.meta.dirname, "..", "fixtures", "crash-project");
const SEED = 20_261_120;
/** A hundred in CI; fewer where a person waits. */
const KILLS = process.env["THOROUGH"] === "1" ? 100 : 10;
/** Servers that are killed at the same time, each with a data folder and clients of its own: there are two cores. */
const LANES = 2;

/** Steps of the graphs that leave a trail. */
const STEPS = { steps: 5, slow: 1 } as const;
type Trailing = keyof typeof STEPS;

/** When to kill: so long after the start, or behind so many answers since the address or the graphs were there. */
type Moment =
  | { readonly when: "starting"; readonly ms: number }
  | { readonly when: "loading" | "running"; readonly answers: number; readonly ms: number };
const MOMENTS: readonly Moment["when"][] = [
  "starting",
  "starting",
  "loading",
  "loading",
  "loading",
  "running",
  "running",
];

interface Thread {
  readonly thread_id: string;
  readonly status: string;
  readonly metadata: Record<string, unknown>;
  readonly values: { readonly trail?: string[]; readonly messages?: { content: string }[] } | null;
}

interface Run {
  readonly run_id: string;
  readonly status: string;
}

const hasEnded = ({ status }: Run): boolean => status !== "pending" && status !== "running";

/** One data folder, its clients, and all that they were promised. */
class Lane {
  readonly dataDir = temporaryFolder();
  readonly file = join(this.dataDir, "effects.txt");
  readonly #random: ReturnType<typeof drawing>;
  #url = "";
  /** The server is being killed: broken connections are no surprise. */
  #killed = false;
  #onAnswer = (): void => {};
  #child: Child | undefined;
  #count = 0;

  // What was acknowledged.
  /** Thread → its metadata. */
  readonly threads = new Map<string, Record<string, number>>();
  readonly deleted = new Set<string>();
  /** Key of a store item → the newest value that was sent, and the newest that was acknowledged. */
  readonly items = new Map<string, { sent: number; acked: number }>();
  /** Messages that a `wait` has answered. */
  readonly said: { thread: string; text: string }[] = [];
  /** Runs whose creation was acknowledged. */
  readonly created = new Map<string, { thread: string; name: string; graph: Trailing | "echo" }>();
  /** Runs whose end was acknowledged. */
  readonly ended = new Map<string, "success" | "error">();
  /** Threads that were answered with an interrupt, and then with the result of resuming it. */
  readonly approved = new Map<string, string>();
  /** Every thread that a client named: any other one is a leftover of a stateless run. */
  readonly named = new Set<string>();

  // What went wrong.
  readonly problems: string[] = [];
  readonly lost: string[] = [];
  readonly stuck: string[] = [];

  kills = 0;
  /** Writes that were answered. */
  acknowledged = 0;
  readonly recovered = { again: 0, continued: 0 };
  readonly ends = { success: 0, error: 0 };
  #echoThread = randomUUID();
  #approval: { thread: string; name: string; asked: boolean } | undefined;
  readonly #queues = new Map<Trailing, { thread: string; runs: { thread: string; id: string }[] }>();

  constructor(seed: number) {
    this.#random = drawing(seeded(seed));
  }

  drawMoment(): Moment {
    const { integer, member } = this.#random;
    const when = member<Moment["when"]>(MOMENTS);
    if (when === "starting") return { when, ms: integer(500) };
    return { when, answers: 1 + integer(40), ms: integer(15) };
  }

  /** Starts the server, lets all clients at it, and kills it. */
  async killOnce(moment: Moment): Promise<void> {
    const child = this.#start();
    const kill = (): void => {
      this.#killed = true;
      child.process.kill("SIGKILL");
    };
    const killAfterAnswers = (): void => {
      let left = moment.when === "starting" ? Infinity : moment.answers;
      this.#onAnswer = () => {
        if (--left === 0) setTimeout(kill, moment.ms);
      };
    };
    if (moment.when === "starting") setTimeout(kill, moment.ms);
    if (moment.when === "loading") killAfterAnswers();
    if (moment.when === "running") void child.seen(/ready in/).then(killAfterAnswers, () => {});
    const url = await child.seen(/url\s+(http:\/\/\S+)/).catch(() => undefined);
    if (url !== undefined) {
      this.#url = url[1]!;
      await Promise.all([
        this.#client(() => this.#head()),
        this.#client(() => this.#say()),
        this.#client(() => this.#ask()),
        this.#client(() => this.#queue("slow")),
        this.#client(() => this.#queue("steps")),
        this.#client(() => this.#stream()),
      ]);
    }
    const code = await child.ended;
    if (!this.#killed || code !== "SIGKILL")
      throw new Error(`the server ended by itself (${code}):\n${child.output.stderr}`);
    this.kills++;
    this.#takeRecovery(child);
  }

  #start(): Child {
    this.#killed = false;
    this.#onAnswer = () => {};
    const args = ["dev", "--host", "127.0.0.1", "--port", "0", "--no-reload", "--data-dir", this.dataDir];
    this.#child = start(args, { cwd: PROJECT, env: { NO_COLOR: "1" } });
    return this.#child;
  }

  /** Leaves no process and no file behind, wherever the test stopped. */
  async clear(): Promise<void> {
    this.#killed = true;
    this.#child?.process.kill("SIGKILL");
    await this.#child?.ended;
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  #takeRecovery({ output }: Child): void {
    const line = /^recovered: (.*)$/m.exec(output.stderr)?.[1] ?? "";
    const count = (pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
    this.recovered.again += count(/(\d+) waiting runs? queued again/);
    this.recovered.continued += count(/(\d+) interrupted runs? continued/);
  }

  /** Repeats one client's work until the server is gone. */
  async #client(work: () => Promise<void>): Promise<void> {
    while (!this.#killed) {
      try {
        await work();
      } catch (error) {
        if (!this.#killed) this.problems.push(String(error));
        return;
      }
    }
  }

  /** One request. @throws Error when the connection breaks, or the answer is not the one that belongs there. */
  async #send(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await call(this.#url, method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    if (method !== "GET" && !path.endsWith("/search")) this.acknowledged++;
    this.#onAnswer();
    return answer;
  }

  /** Heads of threads, and store items. */
  async #head(): Promise<void> {
    const { integer, member } = this.#random;
    const kind = this.threads.size < 5 ? "create" : member(["create", "patch", "patch", "put", "put", "delete"]);
    const n = ++this.#count;
    if (kind === "create") {
      const thread = this.#newThread();
      await this.#send("POST", "/threads", { thread_id: thread, metadata: { made: n } });
      this.threads.set(thread, { made: n });
      return;
    }
    if (kind === "put") {
      const key = `key ${integer(50)}`;
      const item = this.items.get(key) ?? { sent: 0, acked: 0 };
      this.items.set(key, item);
      item.sent = n;
      await this.#send("PUT", "/store/items", { namespace: ["crash"], key, value: { n } });
      item.acked = n;
      return;
    }
    const thread = member([...this.threads.keys()]);
    if (kind === "patch") {
      await this.#send("PATCH", `/threads/${thread}`, { metadata: { [`patch ${n}`]: n } });
      this.threads.get(thread)![`patch ${n}`] = n;
    } else {
      // From here on it may be gone.
      this.threads.delete(thread);
      await this.#send("DELETE", `/threads/${thread}`);
      this.deleted.add(thread);
    }
  }

  #newThread(): string {
    const thread = randomUUID();
    this.named.add(thread);
    return thread;
  }

  /** Waits for answers to messages, now and then without a thread. */
  async #say(): Promise<void> {
    const text = `message ${++this.#count}`;
    const body = {
      assistant_id: "echo",
      input: { messages: [{ role: "user", content: text }] },
      if_not_exists: "create",
    };
    if (this.#random.integer(4) === 0) {
      await this.#send("POST", "/runs/wait", body);
      await this.#send("POST", "/runs", body);
      return;
    }
    if (this.#random.integer(8) === 0) this.#echoThread = randomUUID();
    const thread = this.#echoThread;
    this.named.add(thread);
    const { headers, json } = await this.#send("POST", `/threads/${thread}/runs/wait`, body);
    if ("__error__" in (json as object)) throw new Error(`${text}: ${JSON.stringify(json)}`);
    const run = idAtEnd(headers["content-location"]);
    this.created.set(run, { thread, name: text, graph: "echo" });
    this.ended.set(run, "success");
    this.said.push({ thread, text });
  }

  /** Lets a graph ask, and answers it. */
  async #ask(): Promise<void> {
    this.#approval ??= { thread: this.#newThread(), name: `approval ${++this.#count}`, asked: false };
    const { thread, name, asked } = this.#approval;
    const path = `/threads/${thread}/runs/wait`;
    if (!asked) {
      // When it fails nobody knows whether it was asked; the next round takes another thread.
      this.#approval = undefined;
      const { json } = await this.#send("POST", path, {
        assistant_id: "approval",
        input: { name },
        if_not_exists: "create",
      });
      if (!("__interrupt__" in (json as object))) throw new Error(`${name}: no interrupt in ${JSON.stringify(json)}`);
      this.#approval = { thread, name, asked: true };
      return;
    }
    const before = (await this.#send("GET", `/threads/${thread}`)).json as Thread;
    if (before.status !== "interrupted") this.lost.push(`interrupt of ${name}: the thread is ${before.status}`);
    this.#approval = undefined;
    await this.#send("POST", path, { assistant_id: "approval", command: { resume: "yes" } });
    this.approved.set(thread, name);
  }

  /** Enqueues runs on a thread, a few at a time, and joins the oldest. */
  async #queue(graph: Trailing): Promise<void> {
    const queue = this.#queues.get(graph) ?? { thread: this.#newThread(), runs: [] };
    this.#queues.set(graph, queue);
    if (this.#random.integer(10) === 0) queue.thread = this.#newThread();
    for (let i = this.#random.integer(4); i >= 0; i--) {
      const { thread } = queue;
      const name = `${graph} ${++this.#count}`;
      const input = { name, file: this.file, ms: this.#random.integer(graph === "slow" ? 25 : 5) };
      const body = { assistant_id: graph, input, if_not_exists: "create" };
      const { run_id } = (await this.#send("POST", `/threads/${thread}/runs`, body)).json as Run;
      this.created.set(run_id, { thread, name, graph });
      queue.runs.push({ thread, id: run_id });
    }
    while (queue.runs.length > 3) {
      const { thread, id } = queue.runs[0]!;
      const { json } = await this.#send("GET", `/threads/${thread}/runs/${id}/join`);
      this.ended.set(id, "__error__" in (json as object) ? "error" : "success");
      queue.runs.shift();
    }
  }

  /** Reads a run's events to the end. */
  async #stream(): Promise<void> {
    const thread = this.#newThread();
    const name = `steps ${++this.#count}`;
    const body = {
      assistant_id: "steps",
      input: { name, file: this.file, ms: this.#random.integer(5) },
      stream_mode: "updates",
      if_not_exists: "create",
    };
    const stream = await frames(this.#url, "POST", `/threads/${thread}/runs/stream`, { body });
    this.#onAnswer();
    const run = idAtEnd(stream.headers["content-location"]);
    this.created.set(run, { thread, name, graph: "steps" });
    this.acknowledged++;
    const events = await stream.all();
    this.#onAnswer();
    // One update per step; less would be a stream that pretends to be complete.
    const updates = events.filter(({ event }) => event === "updates").length;
    if (updates !== STEPS.steps) throw new Error(`${name}: ${updates} updates in ${JSON.stringify(events)}`);
    this.ended.set(run, "success");
  }

  /** Starts the server for the last time, waits for everything to end, and compares. */
  async settle(): Promise<void> {
    const child = this.#start();
    this.#url = (await child.seen(/url\s+(http:\/\/\S+)/))[1]!;
    const busy = (await this.#allThreads()).filter(({ status }) => status === "busy");
    const used = [...this.created.values()].map(({ thread }) => thread);
    for (const thread of new Set([...busy.map(({ thread_id }) => thread_id), ...used])) {
      // A run without a thread takes its thread with it, so it may be gone meanwhile.
      const { status, json } = await call(this.#url, "GET", `/threads/${thread}/runs?limit=1000`);
      for (const { run_id } of status === 404 ? [] : (json as Run[]).filter((run) => !hasEnded(run)))
        await call(this.#url, "GET", `/threads/${thread}/runs/${run_id}/join`);
    }
    const threads = new Map((await this.#allThreads()).map((thread) => [thread.thread_id, thread]));
    this.#compareHeads(threads);
    await this.#compareItems();
    await this.#compareRuns(threads);
    this.#compareTrails(threads);
    this.#compareEffects();
    this.#killed = true;
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe(0);
    this.#takeRecovery(child);
  }

  async #allThreads(): Promise<Thread[]> {
    const all: Thread[] = [];
    for (let page: Thread[] | undefined; page === undefined || page.length > 0; all.push(...page)) {
      const body = { limit: 1000, offset: all.length, sort_by: "created_at" };
      page = (await this.#send("POST", "/threads/search", body)).json as Thread[];
    }
    return all;
  }

  async #runsOf(thread: string): Promise<Run[]> {
    return (await this.#send("GET", `/threads/${thread}/runs?limit=1000`)).json as Run[];
  }

  #compareHeads(threads: ReadonlyMap<string, Thread>): void {
    for (const [id, metadata] of this.threads) {
      const found = threads.get(id)?.metadata;
      if (found === undefined) this.lost.push(`thread ${id}`);
      for (const [key, value] of Object.entries(metadata))
        if (found !== undefined && found[key] !== value) this.lost.push(`metadata "${key}" of thread ${id}`);
    }
    for (const id of this.deleted) if (threads.has(id)) this.lost.push(`deletion of thread ${id}`);
    for (const [id, { status }] of threads) {
      if (status === "busy") this.stuck.push(`thread ${id}`);
      if (!this.named.has(id)) this.stuck.push(`thread ${id} of a stateless run`);
    }
  }

  async #compareItems(): Promise<void> {
    const body = { namespace_prefix: ["crash"], limit: 1000 };
    const { items } = (await this.#send("POST", "/store/items/search", body)).json as {
      items: { key: string; value: { n: number } }[];
    };
    const found = new Map(items.map(({ key, value }) => [key, value.n]));
    for (const [key, { sent, acked }] of this.items) {
      const n = found.get(key) ?? 0;
      if (n < acked || n > sent) this.lost.push(`store item "${key}": ${n} is not between ${acked} and ${sent}`);
    }
  }

  /** Every run is there and has ended, and those whose end was told have not changed. */
  async #compareRuns(threads: ReadonlyMap<string, Thread>): Promise<void> {
    const byThread = new Map<string, Map<string, Run>>();
    for (const [id, { thread, name, graph }] of this.created) {
      if (!threads.has(thread)) {
        this.lost.push(`thread ${thread} of run "${name}"`);
        continue;
      }
      const runs = byThread.get(thread) ?? new Map((await this.#runsOf(thread)).map((run) => [run.run_id, run]));
      byThread.set(thread, runs);
      const run = runs.get(id);
      if (run === undefined) this.lost.push(`run "${name}"`);
      else if (!hasEnded(run)) this.stuck.push(`run "${name}": ${run.status}`);
      else if (run.status !== "success" && run.status !== "error") this.lost.push(`run "${name}": ${run.status}`);
      else {
        this.ends[run.status]++;
        const told = this.ended.get(id);
        if (told !== undefined && told !== run.status)
          this.lost.push(`end of run "${name}": ${told}, now ${run.status}`);
        const done = graph === "echo" || (threads.get(thread)!.values?.trail ?? []).includes(`${name}:${STEPS[graph]}`);
        if (run.status === "success" && !done) this.lost.push(`result of run "${name}"`);
      }
    }
    for (const [thread, runs] of byThread)
      for (const run of runs.values()) if (!hasEnded(run)) this.stuck.push(`run ${run.run_id} on ${thread}`);
  }

  /** Each thing happened once, and in the order of its asking. */
  #compareTrails(threads: ReadonlyMap<string, Thread>): void {
    for (const { thread_id, values } of threads.values()) {
      const { trail = [], messages = [] } = values ?? {};
      const contents = messages.map(({ content }) => content);
      for (const list of [trail, contents])
        if (new Set(list).size < list.length) this.problems.push(`twice on ${thread_id}: ${list.join(", ")}`);
      // "steps 17:3": the numbers of runs rise, and within a run its steps do.
      const order = trail
        .filter((entry) => /^(?:steps|slow) /.test(entry))
        .map((entry) => entry.split(" ")[1]!.split(":"));
      const ranks = order.map(([run, step]) => Number(run) * 10 + Number(step));
      if (ranks.some((rank, i) => i > 0 && rank <= ranks[i - 1]!))
        this.problems.push(`out of order on ${thread_id}: ${trail.join(", ")}`);
    }
    for (const { thread, text } of this.said) {
      const contents = threads.get(thread)?.values?.messages?.map(({ content }) => content) ?? [];
      for (const wanted of [text, `echo: ${text}`])
        if (!contents.includes(wanted)) this.lost.push(`"${wanted}" on thread ${thread}`);
    }
    for (const [thread, name] of this.approved) {
      const wanted = [`${name}:planned`, `${name}:answered yes`, `${name}:done`];
      const trail = threads.get(thread)?.values?.trail ?? [];
      if (trail.join() !== wanted.join()) this.lost.push(`approval on thread ${thread}: ${trail.join(", ")}`);
    }
  }

  /** No attempt executes a step twice, and there are three attempts at most. */
  #compareEffects(): void {
    const lines = readFileSync(this.file, "utf8").trimEnd().split("\n");
    if (new Set(lines).size < lines.length) this.problems.push("an attempt executed a step twice");
    const late = lines.filter((line) => Number(line.split(" ").at(-1)) > 3);
    if (late.length > 0) this.problems.push(`attempts behind the third: ${late.join(", ")}`);
  }
}

const idAtEnd = (path: string | undefined): string => path?.split("/").at(-1) ?? "";

test("SIGKILLs at random moments under load lose nothing and leave nothing stuck", { timeout: 600_000 }, async () => {
  const lanes = Array.from({ length: LANES }, (_, i) => new Lane(SEED + i));
  onTestFinished(async () => {
    await Promise.all(lanes.map((lane) => lane.clear()));
  });
  await Promise.all(
    lanes.map(async (lane) => {
      for (let i = 0; i < KILLS / LANES; i++) await lane.killOnce(lane.drawMoment());
      await lane.settle();
    }),
  );
  const sum = (of: (lane: Lane) => number): number => lanes.reduce((total, lane) => total + of(lane), 0);
  const total = {
    kills: sum(({ kills }) => kills),
    lost: sum(({ lost }) => lost.length),
    stuck: sum(({ stuck }) => stuck.length),
  };
  console.log(
    `${total.kills} SIGKILLs: ${total.lost} of ${sum(({ acknowledged }) => acknowledged)} acknowledged writes lost, ${total.stuck} stuck threads or runs`,
    {
      messagesAnswered: sum(({ said }) => said.length),
      interruptsAnswered: sum(({ approved }) => approved.size),
      runsSucceeded: sum(({ ends }) => ends.success),
      runsGivenUp: sum(({ ends }) => ends.error),
      waitingRunsQueuedAgain: sum(({ recovered }) => recovered.again),
      interruptedRunsContinued: sum(({ recovered }) => recovered.continued),
    },
  );
  expect(lanes.flatMap(({ problems, lost, stuck }) => [...problems, ...lost, ...stuck])).toEqual([]);
  expect(total).toEqual({ kills: KILLS, lost: 0, stuck: 0 });
  // The load reached what it is about.
  for (const { recovered, ends, approved, said, deleted } of lanes) {
    const reached = {
      ...recovered,
      success: ends.success,
      approved: approved.size,
      said: said.length,
      deleted: deleted.size,
    };
    expect(Object.entries(reached).filter(([, count]) => count === 0)).toEqual([]);
  }
});
