// What `threads ls`, `threads get` and `threads state` print.
import { Client } from "../client.ts";
import type { ListFlags, ShowFlags } from "../commands/threads.ts";
import { findServer, type TargetFlags } from "../discover.ts";
import { isRecord } from "../json.ts";
import { messagesOf } from "../messages.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { ago, oneLine, plain, table, toJson } from "../text.ts";

interface Thread {
  readonly thread_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly metadata: Record<string, unknown> | null;
  readonly values: unknown;
  readonly interrupts?: Record<string, unknown>;
}

interface State {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly {
    readonly name: string;
    readonly interrupts?: readonly unknown[];
    readonly error?: unknown;
  }[];
  readonly checkpoint: { readonly checkpoint_id?: string } | null;
  readonly created_at: string | null;
}

/** `threads ls`. Values are left out: a list must stay small. */
export async function listThreads(cli: Cli, flags: ListFlags): Promise<void> {
  const output = await cli.output(flags);
  const client = await connect(cli, flags);
  const found = await client.post<Thread[]>("/threads/search", {
    body: {
      limit: flags.limit,
      ...(flags.status === undefined ? {} : { status: flags.status }),
      sort_by: "updated_at",
      sort_order: "desc",
      select: ["thread_id", "created_at", "updated_at", "metadata", "status", "interrupts"],
    },
  });
  if (output.json) return output.document(found);
  if (found.length === 0) return output.note("No threads.");
  const now = cli.io.now();
  const rows = found.map((thread) => [
    oneLine(thread.thread_id),
    oneLine(thread.status),
    ago(thread.updated_at, now),
    oneLine(String(thread.metadata?.["graph_id"] ?? "")),
  ]);
  const [heading = "", ...lines] = table(["THREAD", "STATUS", "CHANGED", "GRAPH"], rows);
  output.line(output.out.bold(heading));
  for (const line of lines) output.line(line);
  if (found.length === flags.limit) output.note(output.err.dim(`the first ${flags.limit}; more with --limit`));
}

/** `threads get`. */
export async function showThread(cli: Cli, id: string, flags: ShowFlags): Promise<void> {
  const output = await cli.output(flags);
  const thread = await (await connect(cli, flags)).get<Thread>(`/threads/${encodeURIComponent(id)}`);
  if (output.json) return output.document(thread);
  const now = cli.io.now();
  field(output, "thread", thread.thread_id);
  field(output, "status", thread.status);
  field(output, "created", `${thread.created_at} (${ago(thread.created_at, now)})`);
  field(output, "changed", `${thread.updated_at} (${ago(thread.updated_at, now)})`);
  field(output, "metadata", toJson(thread.metadata ?? {}));
  const interrupts = Object.values(thread.interrupts ?? {}).flat();
  if (interrupts.length > 0) field(output, "waits for", interrupts.map(question).join("; "));
  printValues(output, thread.values);
}

/** `threads state`. */
export async function showState(cli: Cli, id: string, flags: ShowFlags): Promise<void> {
  const output = await cli.output(flags);
  const state = await (await connect(cli, flags)).get<State>(`/threads/${encodeURIComponent(id)}/state`);
  if (output.json) return output.document(state);
  field(output, "checkpoint", state.checkpoint?.checkpoint_id ?? "none: nothing ran on this thread");
  if (state.created_at !== null)
    field(output, "created", `${state.created_at} (${ago(state.created_at, cli.io.now())})`);
  field(output, "next", state.next.length > 0 ? state.next.join(", ") : "nothing; the last run ended");
  for (const task of state.tasks) {
    for (const interrupt of task.interrupts ?? []) field(output, "waits for", `${task.name}: ${question(interrupt)}`);
    if (task.error)
      field(output, "failed", `${task.name}: ${typeof task.error === "string" ? task.error : toJson(task.error)}`);
  }
  printValues(output, state.values);
}

async function connect(cli: Cli, flags: TargetFlags): Promise<Client> {
  return new Client(await findServer(flags, cli.io), cli.io.env);
}

function field({ line, out }: Output, name: string, value: string): void {
  line(`${out.dim(name.padEnd(10))}  ${oneLine(value)}`);
}

function question(interrupt: unknown): string {
  const value = isRecord(interrupt) && "value" in interrupt ? interrupt["value"] : interrupt;
  return typeof value === "string" ? value : toJson(value);
}

/** Messages as a conversation, everything else as JSON. */
function printValues(output: Output, values: unknown): void {
  if (values === null || values === undefined) return;
  const messages = messagesOf(values);
  if (messages !== undefined && messages.length > 0) output.line();
  for (const { type, name, text, calls } of messages ?? []) {
    const who = output.out.cyan(oneLine(name === undefined ? type : `${type} ${name}`));
    const called = calls.length > 0 ? output.out.dim(` → ${oneLine(calls.join(", "))}`) : "";
    output.line(`${who}${called}${text === "" ? "" : `  ${plain(text)}`}`);
  }
  const rest = messages === undefined || !isRecord(values) ? values : { ...values, messages: undefined };
  if (isRecord(rest) && Object.values(rest).every((value) => value === undefined)) return;
  output.line();
  output.line(toJson(rest, 2));
}
