// A run that is given up writes nothing any more, also when it was in the middle of writing: values that LangGraph serialises take a while.
import * as messages from "@langchain/core/messages";
import * as checkpoint from "@langchain/langgraph-checkpoint";
import { expect, test } from "vitest";
import { buffered } from "../../src/storage/buffered.ts";
import { CheckpointStore } from "../../src/storage/checkpoints.ts";
import { Codec } from "../../src/storage/codec.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { saverFactory } from "../../src/storage/saver.ts";

const runtime = { messages: { ...messages }, checkpoint: { ...checkpoint } };
const config = { configurable: { thread_id: "thread", checkpoint_ns: "", checkpoint_id: checkpoint.uuid6(1) } };

test("nothing is stored of what was under way", async () => {
  const db = buffered(memoryDatabase());
  let abandoned = false;
  const saver = saverFactory(runtime)({
    store: new CheckpointStore(db),
    codec: new Codec(runtime),
    isAbandoned: () => abandoned,
  });
  const value = new Map([["a", 1]]);
  const put = () =>
    saver.put(
      config,
      { ...checkpoint.emptyCheckpoint(), channel_values: { a: value }, channel_versions: { a: 1 } },
      { source: "loop", step: 1, parents: {} },
      { a: 1 },
    );
  const putWrites = () => saver.putWrites(config, [["a", value]], checkpoint.uuid6(2));
  const stored = (): number => db.count("k/", "k0");
  await put();
  const before = stored();
  expect(before).toBeGreaterThan(0);
  const underWay = Promise.allSettled([put(), putWrites()]);
  abandoned = true;
  for (const end of await underWay) expect(end).toMatchObject({ reason: { message: "the run was cancelled" } });
  expect(stored()).toBe(before);
  await expect(put()).rejects.toThrow("the run was cancelled");
  await expect(putWrites()).rejects.toThrow("the run was cancelled");
});
