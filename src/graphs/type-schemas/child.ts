// The process that reads types: TypeScript takes a second of pure computing and some 300 MB, which the server must not spend itself.
// Started by client.ts, which also ends it.
import { extract, type Extraction, type ExtractionRequest } from "./extract.ts";
import { Programs } from "./program.ts";

/** What the process answers to a request: exactly one of both. */
export interface ChildAnswer {
  readonly extraction?: Extraction;
  readonly error?: string;
}

const programs = new Programs();

process.on("message", (request: ExtractionRequest) => {
  let answer: ChildAnswer;
  try {
    answer = { extraction: extract(programs, request) };
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(answer);
});
// The server is gone, however it ended.
process.on("disconnect", () => process.exit());
