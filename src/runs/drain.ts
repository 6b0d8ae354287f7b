// LangGraph's way to stop a run behind the step that it is at, from 1.3 on. The server asks for it when it stops; a graph may ask as well.
import type { LangGraphRuntime } from "../graphs/types.ts";

/** LangGraph's control of one run; undefined where it has none. */
export function runControl(runtime: LangGraphRuntime): { requestDrain(): void } | undefined {
  const RunControl = runtime.langgraph["RunControl"];
  return typeof RunControl === "function" ? new (RunControl as new () => { requestDrain(): void })() : undefined;
}

/** Lets a graph run. @returns whether it stopped because it was asked to. */
export async function drains(run: () => Promise<void>): Promise<boolean> {
  try {
    await run();
    return false;
  } catch (error) {
    if (error instanceof Error && error.name === "GraphDrained") return true;
    throw error;
  }
}
