// The versions of assistants: every change of one is kept, so that it can be the latest again. They are read from storage when somebody
// asks for them, and take no memory otherwise.
import { prefixRange, type Database, type Write } from "../storage/database.ts";
import { keys } from "../storage/keys.ts";
import type { Assistant } from "./assistant.ts";

export class AssistantVersions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The change that stores a version. */
  writeOf(version: Assistant): Write {
    return { key: keys.assistantVersion(version.assistant_id, version.version), value: JSON.stringify(version) };
  }

  /** All versions of an assistant, newest first; their times are those of their making. */
  list(assistantId: string): Assistant[] {
    const range = { ...prefixRange(keys.assistantVersions(assistantId)), reverse: true };
    return Array.from(this.#db.range(range), ([, text]) => JSON.parse(text) as Assistant);
  }

  find(assistantId: string, version: number): Assistant | undefined {
    const text = this.#db.get(keys.assistantVersion(assistantId, version));
    return text === undefined ? undefined : (JSON.parse(text) as Assistant);
  }

  /** The highest number that a version of an assistant has. */
  highest(assistantId: string): number {
    const range = { ...prefixRange(keys.assistantVersions(assistantId)), reverse: true, limit: 1 };
    for (const [, text] of this.#db.range(range)) return (JSON.parse(text) as Assistant).version;
    return 0;
  }

  /** The changes that delete all versions of an assistant. */
  deletion(assistantId: string): Write[] {
    const range = prefixRange(keys.assistantVersions(assistantId));
    return Array.from(this.#db.range(range), ([key]) => ({ key, value: undefined }));
  }
}
