// One attempt to load one graph: from the module to a version, or to the reason why not and the files whose change could mend it.
import type { GraphSpec } from "../config/types.ts";
import { diagnose } from "./diagnose.ts";
import type { GraphLoadError } from "./errors.ts";
import type { ModuleLoader } from "./loader.ts";
import { candidatesOf } from "./missing.ts";
import type { GraphVersion } from "./types.ts";
import { createVersion } from "./version.ts";

/** What came of an attempt; exactly one of `version` and `error` is set. */
export interface Evaluation {
  readonly version: GraphVersion | null;
  readonly error: GraphLoadError | null;
  /** Files whose change means another attempt. */
  readonly files: ReadonlySet<string>;
  /** Files to evaluate again although they did not change: they import something that is missing. */
  readonly retry: readonly string[];
  /** Whether something was not found. The loader remembers that, so it needs a reset before the next attempt. */
  readonly missing: boolean;
}

/** Loads the graph of `spec`. Never throws for what is wrong with the user's code. */
export async function evaluate(
  loader: ModuleLoader,
  spec: GraphSpec,
  root: string,
  number: number,
  onOwnPersistence: (parts: readonly string[]) => void,
): Promise<Evaluation> {
  try {
    const module = await loader.load(spec.file);
    const version = await createVersion(module, { spec, root, version: number, onOwnPersistence });
    const files = await loader.filesOf(spec.file);
    return { version: { ...version, files }, error: null, files, retry: [], missing: false };
  } catch (thrown) {
    const { error, unresolved } = diagnose(thrown, spec, root);
    const files = await loader.filesOf(spec.file);
    for (const file of unresolved ? candidatesOf(unresolved) : []) files.add(file);
    const retry = unresolved?.importer ? [unresolved.importer] : [];
    return { version: null, error, files, retry, missing: unresolved !== undefined };
  }
}
