// Deletes an assistant: its runs end first, because they would go on for something that is gone, and its threads go with it if asked.
// The assistant itself goes last, so that after a crash in between the same request can be made again.
import { ApiError } from "../errors.ts";
import type { Assistants } from "../resources/assistants.ts";
import type { ThreadRecord, Threads } from "../resources/threads.ts";
import type { RunEngine } from "./engine.ts";

/**
 * Deletes an assistant with its versions. Records of runs that have ended stay with their threads.
 * @param options.threads delete the threads whose `metadata.assistant_id` is this assistant, too, with their runs and checkpoints.
 * @param options.mayDelete asked for each of those threads; the others stay.
 * @throws ApiError 404
 */
export async function deleteAssistant(
  { assistants, threads, engine }: { assistants: Assistants; threads: Threads; engine: RunEngine },
  idOrGraph: string,
  options: { readonly threads: boolean; readonly mayDelete?: (thread: ThreadRecord) => boolean | Promise<boolean> },
): Promise<void> {
  const { assistant_id: id } = assistants.get(idOrGraph);
  const stopRuns = (): Promise<unknown> => engine.cancelWhere(({ run }) => run.assistant_id === id, "interrupt");
  await stopRuns();
  if (options.threads) {
    const { mayDelete = () => true } = options;
    const kept = new Set<string>();
    const left = (): ThreadRecord[] => threadsOf(threads, id).filter(({ thread_id }) => !kept.has(thread_id));
    // Others may make threads meanwhile.
    for (let found = left(); found.length > 0; found = left()) {
      for (const thread of found) {
        if (await mayDelete(thread)) await engine.deleteThread(thread.thread_id).catch(unlessGone);
        else kept.add(thread.thread_id);
      }
    }
  }
  assistants.delete(id);
  await stopRuns();
}

function threadsOf(threads: Threads, assistantId: string): readonly ThreadRecord[] {
  const query = { metadata: { assistant_id: assistantId }, limit: Number.MAX_SAFE_INTEGER, offset: 0 };
  return threads.search(query).items;
}

/** Somebody else may have deleted the thread. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error;
}
