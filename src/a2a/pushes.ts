// Where notifications of a task go: kept in its record, so that they live and die with it.
import { ApiError } from "../errors.ts";
import { RPC, RpcFailure } from "../json-rpc.ts";
import type { Threads } from "../resources/threads.ts";
import { A2AFailure } from "./errors.ts";
import type { Addressed, PushConfig } from "./model.ts";
import { withPush } from "./plan.ts";
import { admitToTask } from "./rights.ts";
import type { TaskRecord, Tasks } from "./tasks.ts";

export interface PushOptions {
  readonly tasks: Tasks;
  readonly threads: Threads;
  /** @throws A2AFailure -32001 */
  readonly find: (taskId: string, to: Addressed) => TaskRecord;
  readonly pushes: () => boolean;
  readonly checkUrl: (url: string) => Promise<void>;
}

/** Which of the configs of a task. */
export interface PushPage {
  /** 0 for all. */
  readonly size: number;
  readonly token?: string | undefined;
}

/** A config with the task that it belongs to. */
export interface TaskPush {
  readonly taskId: string;
  readonly config: PushConfig;
}

export class TaskPushes {
  readonly #options: PushOptions;

  constructor(options: PushOptions) {
    this.#options = options;
  }

  /** @throws A2AFailure -32003 when there are no notifications; RpcFailure -32602 when none may be sent there. */
  async check({ url, token, scheme, credentials }: PushConfig): Promise<void> {
    this.#supported();
    for (const [name, value] of Object.entries({ token, scheme, credentials })) {
      // What is no header could not be sent; it is said now and not when the task ends.
      if (value !== undefined && !/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value))
        throw invalid(`${name} has characters that no header may have`);
    }
    try {
      await this.#options.checkUrl(url);
    } catch (error) {
      throw error instanceof ApiError ? invalid(error.detail) : error;
    }
  }

  #supported(): void {
    if (!this.#options.pushes()) {
      throw new A2AFailure(
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
        "Push notifications are not supported: http.disable_webhooks is set",
      );
    }
  }

  /** Adds a config, or replaces the one with its id. Without an id it gets the task's. @throws RpcFailure */
  async set(taskId: string, given: PushConfig, to: Addressed): Promise<TaskPush> {
    this.#supported();
    await this.#admitted(taskId, to, "threads:update");
    await this.check(given);
    const task = this.#options.find(taskId, to);
    const config = { ...given, id: given.id || taskId };
    this.#put(task, withPush(task.push, config));
    return { taskId, config };
  }

  /** @param id the task's own id when undefined, else the first there is. @throws RpcFailure */
  async get(taskId: string, id: string | undefined, to: Addressed): Promise<TaskPush> {
    const configs = await this.list(taskId, to);
    const found =
      configs.find(({ config }) => config.id === (id ?? taskId)) ?? (id === undefined ? configs[0] : undefined);
    if (found !== undefined) return found;
    throw new A2AFailure("TASK_NOT_FOUND", `Push notification config not found for task ${taskId}`, { taskId });
  }

  /** @throws RpcFailure */
  async list(taskId: string, to: Addressed): Promise<TaskPush[]> {
    this.#supported();
    const { push } = await this.#admitted(taskId, to, "threads:read");
    return push.map((config) => ({ taskId, config }));
  }

  /** A page of them. @param token undefined for the first page. @throws RpcFailure -32602 for a token that is none. */
  async page(taskId: string, { size, token }: PushPage, to: Addressed): Promise<{ configs: TaskPush[]; next: string }> {
    const all = await this.list(taskId, to);
    if (token !== undefined && !/^[1-9]\d?$/.test(token)) throw invalid("pageToken is not one of this server");
    const start = Number(token ?? 0);
    const end = start + (size === 0 ? all.length : size);
    return { configs: all.slice(start, end), next: end < all.length ? String(end) : "" };
  }

  /** Nothing happens when it is gone already. @throws RpcFailure */
  async delete(taskId: string, id: string, to: Addressed): Promise<void> {
    this.#supported();
    const task = await this.#admitted(taskId, to, "threads:update");
    const left = task.push.filter((config) => config.id !== id);
    if (left.length < task.push.length) this.#put(task, left);
  }

  /** The task, if the caller may look at it or change it. */
  async #admitted(taskId: string, to: Addressed, event: "threads:read" | "threads:update"): Promise<TaskRecord> {
    const { threads, find } = this.#options;
    await admitToTask(threads, to.access, event, find(taskId, to));
    return find(taskId, to);
  }

  #put(task: TaskRecord, push: readonly PushConfig[]): void {
    this.#options.tasks.put({ ...task, push }, task);
  }
}

const invalid = (message: string): RpcFailure => new RpcFailure(RPC.invalidParams, `Invalid params: ${message}`);
