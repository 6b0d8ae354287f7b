// What is in memory of a thread that protocol v2 is spoken with: its event log and the tree of its newest run. Runs write into it as
// observers do; nothing of it is needed to go on after a restart.
import type { RunRecord } from "../resources/runs.ts";
import type { LogReader } from "../runs/log-reader.ts";
import type { ObservedEnd, ObservedEvent, ObservedStep, RunObserver } from "../runs/observer.ts";
import { AgentTree } from "./agent-tree.ts";
import { eventReader } from "./event-reader.ts";
import type { EventFilter } from "./filter.ts";
import { Replays } from "./replay.ts";
import { ThreadLog, type LogFollower } from "./thread-log.ts";

/** What a session needs to know of its thread. */
export interface SessionOptions {
  /** Numbers of events are greater than this. */
  readonly base: number;
  /** Whether a run is there that has not ended. */
  readonly isBusy: () => boolean;
  /** What a run that nobody watched from its beginning has left behind. */
  readonly outcome: () => Outcome;
  /** Called when the last reader or run has gone, and when one comes. */
  readonly onUse: (session: ThreadSession) => void;
}

/** What a thread shows when a run has ended, as JSON. */
export interface Outcome {
  readonly values: string;
  /** The data of a `checkpoints` event; undefined when the thread has none. */
  readonly checkpoint: string | undefined;
  /** The data of `input.requested` events. */
  readonly interrupts: readonly string[];
}

export class ThreadSession {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly tree = new AgentTree();
  readonly replays: Replays;
  readonly #options: SessionOptions;
  readonly #active = new Set<SessionRun>();
  /** The run whose tree this is. */
  runId: string | undefined;

  constructor(threadId: string, options: SessionOptions) {
    this.threadId = threadId;
    this.#options = options;
    this.log = new ThreadLog(options.base);
    this.replays = new Replays(this.log);
  }

  /** Somebody reads. */
  get watched(): boolean {
    return this.log.followers > 0;
  }

  /** Somebody reads, or a run writes. */
  get inUse(): boolean {
    return this.watched || this.#active.size > 0;
  }

  /** A reader for SSE. @param isSeen whether it may still read; always when undefined. */
  reader(filter: EventFilter, since: number | undefined, isSeen?: () => boolean): LogReader {
    const replay = this.replays.begin(filter, since);
    const leave = (cursor: number): void => {
      this.replays.left(filter, cursor);
      this.#options.onUse(this);
    };
    const reader = eventReader(this.log, replay, leave, isSeen);
    this.#options.onUse(this);
    return reader;
  }

  /** Lets a connection hear of every event. @returns what to call when it is closed. */
  connect(follower: LogFollower): () => void {
    this.log.follow(follower);
    this.#options.onUse(this);
    return () => {
      this.log.unfollow(follower);
      this.#options.onUse(this);
    };
  }

  /**
   * The observer of a run.
   * @param kind `native`: run by LangGraph's v3 stream; `seen`: run as always and watched from its beginning; `late`: it had begun
   * before anybody watched, so that its end, values and interrupts are all there is to tell.
   */
  observe(record: RunRecord, kind: "native" | "seen" | "late"): RunObserver {
    const run = new SessionRun(this, record, kind, this.#options, () => {
      this.#active.delete(run);
      this.#options.onUse(this);
    });
    this.#active.add(run);
    this.#options.onUse(this);
    return run;
  }
}

class SessionRun implements RunObserver {
  readonly native: boolean;
  readonly #session: ThreadSession;
  readonly #record: RunRecord;
  readonly #late: boolean;
  readonly #options: SessionOptions;
  readonly #done: () => void;
  /** Its number in the log; 0 before it has started. */
  #number = 0;
  #paused = false;
  #ended = false;

  constructor(
    session: ThreadSession,
    record: RunRecord,
    kind: "native" | "seen" | "late",
    options: SessionOptions,
    done: () => void,
  ) {
    this.#session = session;
    this.#record = record;
    this.native = kind === "native";
    this.#late = kind === "late";
    this.#options = options;
    this.#done = done;
  }

  started(): void {
    if (this.#number > 0) return;
    const { log, tree } = this.#session;
    this.#number = log.beginRun();
    this.#session.runId = this.#record.run.run_id;
    tree.begin(this.#record.graphId);
    this.#lifecycle({ namespace: [], status: "running", graphName: this.#record.graphId });
  }

  event(event: ObservedEvent): void {
    if (this.#ended) return;
    this.#session.log.append(event, this.#number, event.method === "input.requested");
  }

  step(step: ObservedStep, data: string, timestamp: number): void {
    if (this.#ended) return;
    this.#session.tree.record(step);
    this.#session.log.append({ method: "lifecycle", namespace: step.namespace, timestamp, data }, this.#number);
  }

  paused(): void {
    this.#paused = true;
  }

  ended({ status, error, superseded }: ObservedEnd): void {
    if (this.#ended) return;
    // Its graph could not be loaded, so that it never began.
    this.started();
    const final = this.#terminal(status);
    if (final !== undefined) {
      if (this.#late) this.#tellOutcome();
      for (const step of this.#session.tree.open()) this.#lifecycle({ ...step, status: final });
    }
    this.#ended = true;
    // A run that takes the place of another goes on with what the clients wait for. That there is one shows when it has been created.
    if (final !== undefined && superseded) {
      setImmediate(() => {
        if (!this.#options.isBusy()) this.#end(final, error);
      });
    } else if (final !== undefined) this.#end(final, error);
    this.#done();
  }

  /** How clients are told that the run ended; undefined when it goes on at the next start of the server. */
  #terminal(status: ObservedEnd["status"]): ObservedStep["status"] | undefined {
    if (status === "pending" || status === "running") return undefined;
    if (status === "success") return this.#paused ? "interrupted" : "completed";
    return status === "interrupted" ? "interrupted" : "failed";
  }

  #tellOutcome(): void {
    const { values, checkpoint, interrupts } = this.#options.outcome();
    const at = { namespace: [], timestamp: Date.now() };
    if (checkpoint !== undefined) this.event({ ...at, method: "checkpoints", data: checkpoint });
    this.event({ ...at, method: "values", data: values });
    for (const data of interrupts) this.event({ ...at, method: "input.requested", data });
  }

  #end(status: ObservedStep["status"], error: ObservedEnd["error"]): void {
    this.#lifecycle({ namespace: [], status, graphName: this.#record.graphId }, error?.message);
  }

  #lifecycle(step: ObservedStep, error?: string): void {
    const { namespace, status, graphName } = step;
    const { tree, log } = this.#session;
    const data = JSON.stringify({ event: status, graph_name: graphName, ...(error === undefined ? {} : { error }) });
    const isRoot = namespace.length === 0;
    // A later run has a tree of its own.
    if (this.#number === log.runs) tree.record(step);
    log.append(
      { method: "lifecycle", namespace, timestamp: Date.now(), data },
      this.#number,
      isRoot && status !== "running",
    );
  }
}
