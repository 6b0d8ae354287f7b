// The official StreamController, which `useStream` of @langchain/react, vue, svelte and angular is made of, against a real server: what a
// page does from its first message to a reload in the middle of a run.
import { randomUUID } from "node:crypto";
import { StreamController } from "@langchain/langgraph-sdk/stream";
import { expect, onTestFinished, test } from "vitest";
import { useGates } from "./support/gates.ts";
import { PROTOCOL_PROJECT } from "./support/protocol.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: PROTOCOL_PROJECT });
const gates = useGates();

type Snapshot = ReturnType<Page["rootStore"]["getSnapshot"]>;
type Page = StreamController<Record<string, unknown>>;

/** A page that shows a thread. */
function page(assistantId: string, threadId: string | null = null, more: object = {}): Page {
  const controller: Page = new StreamController({ assistantId, client: server.client, threadId, ...more } as never);
  onTestFinished(() => controller.dispose());
  return controller;
}
/** Waits until the page shows what is wanted. Its streams are several, so that an end may come before the last word. */
function shown(controller: Page, wanted: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
  return new Promise((resolve) => {
    const look = (): void => {
      const snapshot = controller.rootStore.getSnapshot();
      if (wanted(snapshot)) resolve(snapshot);
    };
    onTestFinished(controller.rootStore.subscribe(look));
    look();
  });
}
const textOf = ({ messages }: Snapshot): string => messages.map((message) => message.text).join("|");
const says = (content: string) => ({ messages: [{ role: "user", content }] });
const TOLD = "one two three four five six";

test("a first message makes the thread and shows the tokens as they come", async () => {
  const controller = page("slow");
  await controller.hydrate(null);
  const submitted = controller.submit({ ...says("go"), gate: gates.url("page") } as never);
  await shown(controller, (snapshot) => textOf(snapshot) === "go|one two three ");
  expect(controller.rootStore.getSnapshot().isLoading).toBe(true);
  gates.open("page");
  await submitted;
  const { threadId, error } = await shown(
    controller,
    (snapshot) => !snapshot.isLoading && textOf(snapshot) === `go|${TOLD}`,
  );
  expect(error).toBeUndefined();
  expect(await server.client.threads.get(threadId!)).toMatchObject({ status: "idle" });
});

test("a page that is opened again on a finished thread waits for the end of its own run", async () => {
  const first = page("slow");
  await first.submit({ ...says("go"), gate: "" } as never);
  const { threadId } = first.rootStore.getSnapshot();
  await first.dispose();

  const completed: unknown[] = [];
  const again = page("slow", threadId, { onCompleted: (event: unknown) => completed.push(event) });
  await again.hydrate(threadId);
  await shown(again, (snapshot) => textOf(snapshot) === `go|${TOLD}`);
  const submitted = again.submit({ ...says("again"), gate: gates.url("again") } as never);
  await gates.entered("again");
  await shown(again, (snapshot) => textOf(snapshot).endsWith("|again|one two three "));
  expect(again.rootStore.getSnapshot().isLoading).toBe(true);
  expect(completed).toEqual([]);
  gates.open("again");
  await submitted;
  await shown(again, (snapshot) => textOf(snapshot) === `go|${TOLD}|again|${TOLD}`);
  await expect.poll(() => completed).toHaveLength(1);
});

test("a page that is loaded in the middle of a run shows it to its end, whoever started it", async () => {
  const { thread_id } = await server.client.threads.create();
  const first = page("slow", thread_id);
  await first.hydrate(thread_id);
  void first.submit({ ...says("go"), gate: gates.url("reload") } as never).catch(() => undefined);
  await gates.entered("reload");
  await first.dispose();
  const second = page("slow", thread_id);
  await second.hydrate(thread_id);
  await shown(second, (snapshot) => snapshot.isLoading && textOf(snapshot) === "go|one two three ");
  gates.open("reload");
  await shown(second, (snapshot) => !snapshot.isLoading && textOf(snapshot) === `go|${TOLD}`);

  // One that was started through REST with nobody there: its end and what came of it.
  const rest = await server.client.threads.create();
  await server.client.runs.create(rest.thread_id, "steps", { input: { name: "a", gate: gates.url("rest reload") } });
  await gates.entered("rest reload");
  let connections = 0;
  const third = page("steps", rest.thread_id, { onConnected: () => void connections++ });
  await third.hydrate(rest.thread_id);
  await shown(third, ({ isLoading }) => isLoading);
  // Its root stream and its stream of lifecycles.
  await expect.poll(() => connections).toBe(2);
  gates.open("rest reload");
  await shown(third, ({ isLoading, values }) => !isLoading && (values["log"] as string[]).includes("a:two"));
});

test("a question is shown, answered, and shown again after a reload until it is answered", async () => {
  const controller = page("pair");
  await controller.submit({} as never);
  const { threadId, interrupts } = controller.rootStore.getSnapshot();
  expect(interrupts.map(({ value }) => value).toSorted()).toEqual(["left?", "right?"]);
  await controller.dispose();

  const again = page("pair", threadId);
  await again.hydrate(threadId);
  await shown(again, ({ interrupts: open }) => open.length === 2);
  const answers = Object.fromEntries(
    again.rootStore.getSnapshot().interrupts.map(({ id, value }) => [id!, `${value}!`]),
  );
  await again.respondAll(answers);
  await shown(again, ({ values }) => (values["log"] as string[] | undefined)?.includes("joined 2") === true);
  expect(again.rootStore.getSnapshot().interrupts).toEqual([]);
});

test("one question after the other can be answered", async () => {
  const controller = page("pair");
  await controller.submit({} as never);
  const { interrupts } = controller.rootStore.getSnapshot();
  await controller.respond("one", { interruptId: interrupts[0]!.id! });
  await shown(controller, ({ interrupts: open, isLoading }) => !isLoading && open.length === 1);
  expect(controller.rootStore.getSnapshot().interrupts[0]!.id).toBe(interrupts[1]!.id);
  await controller.respond("two", { interruptId: interrupts[1]!.id! });
  await shown(controller, ({ values }) => (values["log"] as string[] | undefined)?.includes("joined 2") === true);
});

test("a message that interrupts a run is shown to its end", async () => {
  const controller = page("slow");
  const first = controller.submit({ ...says("first"), gate: gates.url("superseded") } as never);
  await shown(controller, (snapshot) => textOf(snapshot) === "first|one two three ");
  const second = controller.submit({ ...says("second"), gate: gates.url("superseding") } as never, {
    multitaskStrategy: "interrupt",
  });
  await gates.entered("superseding");
  await shown(controller, (snapshot) => textOf(snapshot).startsWith("first|second|one two three "));
  expect(controller.rootStore.getSnapshot().isLoading).toBe(true);
  gates.open("superseding");
  await Promise.all([first, second]);
  expect(controller.rootStore.getSnapshot()).toMatchObject({ isLoading: false, error: undefined });
  // What the first run had said until then was not stored; the official client goes on showing it.
  await shown(controller, (snapshot) => textOf(snapshot) === `first|second|${TOLD}|one two three `);
});

test("queued messages wait on the server and run in their order", async () => {
  const controller = page("steps", null, { queue: "server" });
  const first = controller.submit({ name: "a", gate: gates.url("queue") } as never);
  await gates.entered("queue");
  await controller.submit({ name: "b", gate: "" } as never, { multitaskStrategy: "enqueue" });
  await controller.submit({ name: "c" } as never, { multitaskStrategy: "enqueue" });
  expect(controller.queueStore.getSnapshot()).toHaveLength(2);
  gates.open("queue");
  await first;
  const log = ["a", "b", "c"].flatMap((name) => [`${name}:one`, `${name}:two`]);
  await shown(
    controller,
    ({ values, isLoading }) => !isLoading && JSON.stringify(values["log"]) === JSON.stringify(log),
  );
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (controller.queueStore.getSnapshot().length === 0) resolve();
    };
    onTestFinished(controller.queueStore.subscribe(look));
    look();
  });
});

test("stopping cancels the run on the server, and other pages see that it has ended", async () => {
  const controller = page("slow");
  void controller.submit({ ...says("go"), gate: gates.url("stop") } as never).catch(() => undefined);
  await gates.entered("stop");
  const { threadId } = await shown(controller, (snapshot) => textOf(snapshot) === "go|one two three ");
  const other = page("slow", threadId);
  await other.hydrate(threadId);
  await shown(other, ({ isLoading }) => isLoading);
  await controller.stop();
  await shown(other, ({ isLoading }) => !isLoading);
  expect(await server.client.runs.list(threadId!)).toMatchObject([{ status: "interrupted" }]);
});

test("a run that fails shows its error", async () => {
  const controller = page("steps");
  await controller.submit({ name: "a", fail: true } as never);
  const { error, isLoading } = controller.rootStore.getSnapshot();
  expect(isLoading).toBe(false);
  expect(String(error)).toContain("a went wrong");
});

test("a thread that does not exist yet is made by the first message", async () => {
  const threadId = randomUUID();
  const controller = page("slow", threadId);
  await controller.hydrate(threadId);
  expect(controller.rootStore.getSnapshot().error).toBeUndefined();
  await controller.submit({ ...says("go"), gate: "" } as never);
  await shown(controller, (snapshot) => textOf(snapshot) === `go|${TOLD}`);
});

test("an answer is edited by running again from the checkpoint before it", async () => {
  const controller = page("slow");
  await controller.submit({ ...says("first"), gate: "" } as never);
  const { messages } = await shown(controller, (snapshot) => textOf(snapshot) === `first|${TOLD}`);
  const parent = await new Promise<string>((resolve) => {
    const look = (): void => {
      const id = controller.messageMetadataStore.getSnapshot().get(messages[1]!.id!)?.parentCheckpointId;
      if (id !== undefined) resolve(id);
    };
    onTestFinished(controller.messageMetadataStore.subscribe(look));
    look();
  });
  await controller.submit({ ...says("second"), gate: "" } as never, { forkFrom: parent });
  const { values } = await server.client.threads.getState<{ messages: { content: unknown }[] }>(
    controller.rootStore.getSnapshot().threadId!,
  );
  expect(values.messages.map(({ content }) => content)).toContain("second");
  expect(values.messages).toHaveLength(3);
});

test("graphs in the graph are found", async () => {
  const controller = page("nested");
  await controller.submit(says("go") as never);
  expect([...controller.subgraphStore.getSnapshot().values()].map(({ nodeName }) => nodeName)).toContain("middle");
});
