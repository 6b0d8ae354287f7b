// What /metrics tells: the state of runs, requests, storage and process, read at the moment of asking.
import { DURATION_BUCKETS } from "../runs/metrics.ts";
import type { Metric, Sample } from "./exposition.ts";
import type { OperationCount } from "./http-metrics.ts";
import type { Services } from "./services.ts";

type Parts = Pick<Services, "version" | "engine" | "traffic" | "storage">;

/**
 * All metrics.
 * @param langgraph version of the project's LangGraph; empty when there is none.
 */
export async function collectMetrics(
  { version, engine, traffic, storage }: Parts,
  langgraph: string,
): Promise<Metric[]> {
  const { pending, running, capacity } = engine.load;
  const { atMost, sum, count } = engine.metrics.durations;
  const { threads, bytes } = storage();
  return [
    gauge("agent_server_info", "The versions that are running; always 1.", [
      { labels: { version, langgraph, node: process.versions.node }, value: 1 },
    ]),
    gauge("agent_server_runs_pending", "Runs that wait for their thread, their time or a free place.", pending),
    gauge("agent_server_runs_running", "Runs that are running.", running),
    gauge("agent_server_runs_capacity", "How many runs may run at once.", capacity),
    counter(
      "agent_server_runs_ended_total",
      "Runs that ended, by status; those that were rolled back or deleted count as interrupted.",
      Object.entries(engine.metrics.byStatus).map(([status, value]) => ({ labels: { status }, value })),
    ),
    {
      name: "agent_server_run_duration_seconds",
      help: "How long runs took from their start to their end.",
      type: "histogram",
      spread: { buckets: DURATION_BUCKETS.map((bound, index) => [bound, atMost[index]!]), sum, count },
    },
    gauge("agent_server_threads", "Threads that are stored.", threads),
    gauge("agent_server_storage_bytes", "Size of the storage file; 0 when all state is kept in memory.", bytes),
    gauge("agent_server_open_streams", "Answers that are being streamed.", traffic.openStreams),
    gauge("agent_server_open_websockets", "WebSockets that are open.", traffic.openSockets),
    counter(
      "agent_server_http_requests_total",
      "Requests that were answered, by operation; the route is empty for those that no operation took.",
      [...traffic.operations].flatMap(requests),
    ),
    ...(await ofProcess()),
  ];
}

function requests({ method, route, answers }: OperationCount): Sample[] {
  return Array.from(answers, ([status, value]) => ({ labels: { method, route, status: `${status}` }, value }));
}

/** Under the names that Prometheus clients use everywhere. */
async function ofProcess(): Promise<Metric[]> {
  const { user, system } = process.cpuUsage();
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const { active } = performance.eventLoopUtilization();
  return [
    counter("process_cpu_seconds_total", "Processor time, of the user and of the system.", (user + system) / 1e6),
    gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", startedAt()),
    gauge("process_uptime_seconds", "How long the process has been running.", process.uptime()),
    gauge("process_resident_memory_bytes", "Memory of the process.", rss),
    gauge("nodejs_heap_size_total_bytes", "Memory that the heap of JavaScript takes.", heapTotal),
    gauge("nodejs_heap_size_used_bytes", "Memory that is used of that heap.", heapUsed),
    gauge("nodejs_external_memory_bytes", "Memory outside of the heap that JavaScript objects hold.", external),
    counter("nodejs_eventloop_active_seconds_total", "How long the event loop was busy.", active / 1000),
    gauge("nodejs_eventloop_lag_seconds", "How long the event loop took to come round, just now.", await lag()),
  ];
}

const startedAt = (): number => performance.timeOrigin / 1000;

async function lag(): Promise<number> {
  const asked = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  return (performance.now() - asked) / 1000;
}

const gauge = (name: string, help: string, values: number | readonly Sample[]): Metric => ({
  name,
  help,
  type: "gauge",
  samples: samples(values),
});

const counter = (name: string, help: string, values: number | readonly Sample[]): Metric => ({
  name,
  help,
  type: "counter",
  samples: samples(values),
});

const samples = (values: number | readonly Sample[]): readonly Sample[] =>
  typeof values === "number" ? [{ value: values }] : values;
