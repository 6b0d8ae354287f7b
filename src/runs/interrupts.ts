// What a graph asks with `interrupt()`: JSON has no undefined, and clients count on the key.

/** Gives interrupts that ask with nothing the value null, in place: LangGraph shows the same objects in several streams. */
export function nameValues(interrupts: unknown): void {
  if (!Array.isArray(interrupts)) return;
  for (const interrupt of interrupts as { value?: unknown }[]) {
    if (typeof interrupt === "object" && interrupt !== null && interrupt.value === undefined) interrupt.value = null;
  }
}
