// What happens to a task while somebody looks: every subscriber gets the same events in the same order, over all runs of the task, until it
// stops. A task that nobody looks at has no feed and costs nothing.
import type { RpcFailure } from "../json-rpc.ts";
import type { ActiveRun } from "../runs/active.ts";
import type { LogReader } from "../runs/log-reader.ts";
import { EventChannel } from "./channel.ts";
import { ResponseChunks } from "./deltas.ts";
import type { Artifact, TaskEvent, TaskStatus } from "./model.ts";
import { responseArtifact } from "./output.ts";
import type { TaskRecord } from "./tasks.ts";
import { artifactId, now } from "./times.ts";

/** Tokens only; the events that belong to no mode come with them. */
const MODES: ReadonlySet<string> = new Set(["messages-tuple"]);

export class TaskFeed {
  readonly id: string;
  readonly contextId: string;
  readonly #onLeft: (feed: TaskFeed) => void;
  readonly #onEmpty: (feed: TaskFeed) => void;
  readonly #channels = new Set<EventChannel>();
  #run: ActiveRun | undefined;
  #reader: LogReader | undefined;
  #chunks: ResponseChunks | undefined;
  #working: TaskStatus | undefined;
  #scheduled = false;

  /** @param onLeft a run of the task has ended without stopping it. @param onEmpty nobody looks any more. */
  constructor(
    { id, contextId }: Pick<TaskRecord, "id" | "contextId">,
    onLeft: (feed: TaskFeed) => void,
    onEmpty: (feed: TaskFeed) => void,
  ) {
    this.id = id;
    this.contextId = contextId;
    this.#onLeft = onLeft;
    this.#onEmpty = onEmpty;
  }

  /** A new subscriber. `first` is what it gets before everything that comes from now on. */
  subscribe(first: TaskEvent): EventChannel {
    const channel = new EventChannel((closed) => {
      if (this.#channels.delete(closed) && this.#channels.size === 0) this.close();
    });
    channel.event(first);
    this.#channels.add(channel);
    return channel;
  }

  /** That the task is being worked on, as the subscribers were told it; undefined when they were not. */
  get working(): TaskStatus | undefined {
    return this.#working;
  }

  /** The artifact as far as the subscribers have it; undefined before it began. */
  get partial(): Artifact | undefined {
    const text = this.#chunks?.sent;
    return text === undefined ? undefined : responseArtifact(this.id, [{ kind: "text", text }]);
  }

  /** Tells what a run of the task does, from as early on as it can still be read; a run that is followed already goes first. */
  follow(run: ActiveRun): void {
    if (this.#run !== undefined) return;
    this.#run = run;
    this.#chunks = new ResponseChunks(({ text, append, lastChunk }) => {
      this.#artifact(responseArtifact(this.id, [{ kind: "text", text }]), append, lastChunk);
    });
    if (run.log.begun) this.#begin();
    this.#reader = run.log.reader("start", MODES);
    this.#reader.onWake(() => this.#schedule());
    this.#schedule();
    void this.#leave(run);
  }

  async #leave(run: ActiveRun): Promise<void> {
    await run.ended;
    if (this.#run !== run) return;
    this.#pump();
    this.#release();
    this.#onLeft(this);
  }

  #begin(): void {
    if (this.#working !== undefined) return;
    this.#working = { state: "working", timestamp: now() };
    this.#status(this.#working, false);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    try {
      while (!reader.caughtUp) {
        const text = reader.read();
        if (text.includes("event: metadata\n")) this.#begin();
        this.#chunks?.frames(text);
      }
    } catch {
      // What is stored of the events cannot be read now. The end of the task is told all the same.
      this.#reader = undefined;
    }
  }

  /** The task has stopped: what is left of its tokens, its artifacts, its status; the streams end behind that. */
  stopped({ status, artifacts }: TaskRecord): void {
    this.#pump();
    if (this.#run !== undefined) this.#begin();
    const response = artifactId(this.id, "response");
    const complete = this.#chunks?.finish(artifacts.find((artifact) => artifact.artifactId === response)) ?? false;
    for (const artifact of artifacts) {
      if (!(complete && artifact.artifactId === response)) this.#artifact(artifact, false, true);
    }
    this.#status(status, true);
    this.end();
  }

  #artifact(artifact: Artifact, append: boolean, lastChunk: boolean): void {
    this.#tell({ type: "artifact", taskId: this.id, contextId: this.contextId, artifact, append, lastChunk });
  }

  #status(status: TaskStatus, final: boolean): void {
    this.#tell({ type: "status", taskId: this.id, contextId: this.contextId, status, final });
  }

  #tell(event: TaskEvent): void {
    for (const channel of this.#channels) channel.event(event);
  }

  /** Ends all streams. @param failure why the task's end is not told. */
  end(failure?: RpcFailure): void {
    for (const channel of this.#channels) channel.end(failure);
    // Those that are not connected yet get what waits for them when they are.
    this.#channels.clear();
    this.close();
  }

  #release(): void {
    this.#reader?.close();
    this.#reader = undefined;
    this.#chunks?.drop();
    this.#chunks = undefined;
    this.#run = undefined;
  }

  /** Looks at nothing any more. */
  close(): void {
    this.#release();
    this.#onEmpty(this);
  }
}
