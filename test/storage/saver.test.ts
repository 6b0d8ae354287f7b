// The checkpointer against LangGraph's own validation suite, over the memory and the lmdb driver.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as messages from "@langchain/core/messages";
import * as checkpoint from "@langchain/langgraph-checkpoint";
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { buffered } from "../../src/storage/buffered.ts";
import { CheckpointStore } from "../../src/storage/checkpoints.ts";
import { Codec } from "../../src/storage/codec.ts";
import { lmdbDatabase } from "../../src/storage/lmdb-driver.ts";
import { memoryDatabase } from "../../src/storage/memory-driver.ts";
import { saverFactory } from "../../src/storage/saver.ts";
import type { Database } from "../../src/storage/database.ts";

const runtime = { messages: { ...messages }, checkpoint: { ...checkpoint } };
const makeSaver = saverFactory(runtime);

function saverOver(db: Database) {
  return makeSaver({ store: new CheckpointStore(buffered(db)), codec: new Codec(runtime) });
}

validate({ checkpointerName: "agent-server over memory", createCheckpointer: () => saverOver(memoryDatabase()) });

const opened = new Map<unknown, { db: Database; folder: string }>();
validate({
  checkpointerName: "agent-server over lmdb",
  createCheckpointer: () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-server-saver-"));
    const db = lmdbDatabase(folder);
    const saver = saverOver(db);
    opened.set(saver, { db, folder });
    return saver;
  },
  destroyCheckpointer: async (saver) => {
    const { db, folder } = opened.get(saver)!;
    await db.close();
    rmSync(folder, { recursive: true });
  },
});
