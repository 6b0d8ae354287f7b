// /metrics: the text is what Prometheus reads, and the numbers are those of what has happened.
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { call, frames } from "./support/http.ts";
import { useServer } from "./support/server.ts";

// One place, so that a second run waits.
const server = useServer({ jobs: 1 });
const gates = useGates();

interface Sample {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** Reads the text format strictly: any line that is none of it is an error. */
function parse(text: string): { samples: Sample[]; types: Map<string, string> } {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  let open = "";
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const help = /^# HELP ([a-z_]+) (\S.*)$/.exec(line);
    const type = /^# TYPE ([a-z_]+) (gauge|counter|histogram)$/.exec(line);
    const sample = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?[0-9.]+(?:e[+-]?\d+)?)$/.exec(line);
    if (help !== null) {
      expect(types.has(help[1]!), `${help[1]} comes once`).toBe(false);
      open = help[1]!;
    } else if (type !== null) {
      expect(type[1], "TYPE follows its HELP").toBe(open);
      types.set(open, type[2]!);
    } else {
      expect(sample, line).not.toBeNull();
      const [, name = "", pairs = "", value] = sample!;
      const family = types.get(open) === "histogram" ? name.replace(/_(?:bucket|sum|count)$/, "") : name;
      expect(family, "samples follow their TYPE").toBe(open);
      const labels = Array.from(pairs.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g), ([, key = "", held = ""]) => [
        key,
        held,
      ]);
      samples.push({ name, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(value) });
    }
  }
  return { samples, types };
}

async function scrape(): Promise<(name: string, labels?: Record<string, string>) => number | undefined> {
  const { status, text } = await call(server.url, "GET", "/metrics");
  expect(status).toBe(200);
  const { samples } = parse(text);
  return (name, labels = {}) => {
    const found = samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    expect(found.length, name).toBeLessThan(2);
    return found[0]?.value;
  };
}

const ended = (status: string) => ["agent_server_runs_ended_total", { status }] as const;
const requests = (method: string, route: string, status: number) =>
  ["agent_server_http_requests_total", { method, route, status: `${status}` }] as const;
const wait = (body: object) => call(server.url, "POST", "/runs/wait", { body });

describe("the text format", () => {
  test("is complete, and of the type that Prometheus asks for", async () => {
    const answer = await call(server.url, "GET", "/metrics");
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.text.endsWith("\n")).toBe(true);
    const { samples, types } = parse(answer.text);
    expect([...types.keys()]).toEqual(
      expect.arrayContaining(["agent_server_info", "process_cpu_seconds_total", "nodejs_eventloop_lag_seconds"]),
    );
    expect(samples.find(({ name }) => name === "agent_server_info")).toEqual({
      name: "agent_server_info",
      labels: {
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        langgraph: expect.stringMatching(/^1\.\d+\.\d+/),
        node: process.versions.node,
      },
      value: 1,
    });
    for (const name of ["process_resident_memory_bytes", "process_uptime_seconds", "agent_server_storage_bytes"])
      expect(samples.find((sample) => sample.name === name)?.value, name).toBeGreaterThan(0);
  });

  test("is asked for by name or not at all; another one is refused", async () => {
    const named = await call(server.url, "GET", "/metrics?format=prometheus");
    expect(named.headers["content-type"]).toMatch(/^text\/plain/);
    expect(await call(server.url, "GET", "/metrics?format=xml")).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining("format") },
    });
  });
});

test("the JSON has the same metrics", async () => {
  const { text } = await call(server.url, "GET", "/metrics");
  const { headers, json } = await call(server.url, "GET", "/metrics?format=json");
  expect(headers["content-type"]).toBe("application/json");
  const metrics = json as Record<string, { type: string }>;
  const { types } = parse(text);
  expect(Object.entries(metrics).map(([name, { type }]) => [name, type])).toEqual([...types]);
  expect(metrics["agent_server_runs_capacity"]).toEqual({
    type: "gauge",
    help: expect.any(String),
    values: [{ labels: {}, value: 1 }],
  });
});

test("runs are counted by how they ended, with their durations", async () => {
  const before = await scrape();
  await wait({ assistant_id: "counter", input: {} });
  await wait({ assistant_id: "failing", input: { how: "text" } });
  const { thread_id } = await server.client.threads.create();
  await server.client.runs.wait(thread_id, "counter", { input: {} });
  const after = await scrape();

  expect(after(...ended("success"))! - before(...ended("success"))!).toBe(2);
  expect(after(...ended("error"))! - before(...ended("error"))!).toBe(1);
  expect(after(...ended("interrupted"))).toBe(before(...ended("interrupted")));
  const duration = "agent_server_run_duration_seconds";
  expect(after(`${duration}_count`)! - before(`${duration}_count`)!).toBe(3);
  expect(after(`${duration}_sum`)).toBeGreaterThan(before(`${duration}_sum`)!);
  expect(after(`${duration}_bucket`, { le: "+Inf" })).toBe(after(`${duration}_count`));
  expect(after(`${duration}_bucket`, { le: "1800" })).toBe(after(`${duration}_count`));
  const { text } = await call(server.url, "GET", "/metrics");
  const buckets = parse(text).samples.filter(({ name }) => name === `${duration}_bucket`);
  expect(buckets.map(({ value }) => value)).toEqual(buckets.map(({ value }) => value).toSorted((a, b) => a - b));
  expect(after("agent_server_threads")! - before("agent_server_threads")!).toBe(1);
});

test("runs that run and that wait, and streams that are open, count until they end", async () => {
  const before = await scrape();
  const gate = gates.url("metrics");
  const stream = await frames(server.url, "POST", "/runs/stream", {
    body: { assistant_id: "gated", input: { gate }, stream_mode: "updates" },
  });
  await gates.entered("metrics");
  const second = await server.client.runs.create(null, "counter", { input: {} });
  const during = await scrape();
  expect(during("agent_server_runs_running")).toBe(1);
  expect(during("agent_server_runs_pending")).toBe(1);
  expect(during("agent_server_runs_capacity")).toBe(1);
  expect(during("agent_server_open_streams")).toBe(1);

  const queued = await frames(server.url, "GET", `/runs/${second.run_id}/stream`);
  gates.open("metrics");
  await stream.all();
  await queued.all();
  const after = await scrape();
  expect(after("agent_server_runs_running")).toBe(0);
  expect(after("agent_server_runs_pending")).toBe(0);
  expect(after("agent_server_open_streams")).toBe(0);
  expect(after(...ended("success"))! - before(...ended("success"))!).toBe(2);
});

test("a stream that its reader leaves is open no more, and a cancelled run counts as interrupted", async () => {
  const before = await scrape();
  const stream = await frames(server.url, "POST", "/runs/stream", {
    body: { assistant_id: "gated", input: { gate: gates.url("left") }, on_disconnect: "cancel" },
  });
  await gates.entered("left");
  stream.leave();
  // The run that comes next starts when the one that was left is gone.
  await wait({ assistant_id: "counter", input: {} });
  const after = await scrape();
  expect(after("agent_server_open_streams")).toBe(0);
  expect(after(...ended("interrupted"))! - before(...ended("interrupted"))!).toBe(1);
});

test("a WebSocket counts as one, and while it is open", async () => {
  const { thread_id } = await server.client.threads.create();
  const path = `/threads/${thread_id}/stream/events`;
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const asking = request(`${server.url}${path}`, { headers, agent: false });
    asking.on("upgrade", (_, upgraded) => resolve(upgraded));
    asking.on("response", (response) => reject(new Error(`${response.statusCode}`)));
    asking.on("error", reject);
    asking.end();
  });
  await call(server.url, "GET", path);
  const open = await scrape();
  expect(open("agent_server_open_websockets")).toBe(1);
  expect(open(...requests("GET", "/threads/{thread_id}/stream/events", 101))).toBe(1);
  expect(open(...requests("GET", "/threads/{thread_id}/stream/events", 426))).toBe(1);
  socket.destroy();
});

test("requests are counted by operation and status, never by what they name", async () => {
  const before = await scrape();
  const { thread_id } = await server.client.threads.create();
  await call(server.url, "GET", `/threads/${thread_id}`);
  await call(server.url, "GET", `/threads/${crypto.randomUUID()}`);
  await call(server.url, "GET", "/threads/no-uuid");
  await call(server.url, "GET", "/no/such/route");
  await call(server.url, "POST", "/threads", { body: "{" });
  await call(server.url, "GET", "/ok", { headers: { host: "evil.example" } });
  const after = await scrape();
  const more = (...key: ReturnType<typeof requests>): number => (after(...key) ?? 0) - (before(...key) ?? 0);
  expect(more(...requests("GET", "/threads/{thread_id}", 200))).toBe(1);
  expect(more(...requests("GET", "/threads/{thread_id}", 404))).toBe(1);
  expect(more(...requests("GET", "/threads/{thread_id}", 422))).toBe(1);
  expect(more(...requests("POST", "/threads", 200))).toBe(1);
  expect(more(...requests("POST", "/threads", 400))).toBe(1);
  expect(more(...requests("", "", 404))).toBe(1);
  expect(more(...requests("", "", 403))).toBe(1);
  expect(more(...requests("GET", "/metrics", 200))).toBe(1);
  const { text } = await call(server.url, "GET", "/metrics");
  expect(text).not.toContain(thread_id);
});
