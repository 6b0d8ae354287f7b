// From the tokens of a run to the chunks of its answer: the artifact of a task is the message that the model is writing now, so that what a
// client has put together at the end is the answer, whatever was said on the way.
import { isObject } from "../resources/json.ts";
import { partsOf, textOf } from "./content.ts";
import type { Artifact } from "./model.ts";

/** One piece of the artifact. */
export interface Chunk {
  readonly text: string;
  /** It continues what was sent before; otherwise it replaces that. */
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** Milliseconds after which a piece goes out although nothing follows it yet. */
const HOLD_MS = 100;

/** Makes chunks; the newest piece is held back for a moment, because only behind it is known whether it is the last. */
export class ResponseChunks {
  readonly #emit: (chunk: Chunk) => void;
  readonly #seen = new Set<string>();
  #message: string | undefined;
  #sent = "";
  #held = "";
  #begun = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (chunk: Chunk) => void) {
    this.#emit = emit;
  }

  /** What has been sent of the artifact so far; undefined when nothing has. */
  get sent(): string | undefined {
    return this.#begun ? this.#sent : undefined;
  }

  /** Takes frames of the mode `messages-tuple`. */
  frames(text: string): void {
    for (const frame of text.split("\n\n")) {
      const [, data] = /^event: messages(?:\|[^\n]*)?\ndata: (.*)$/m.exec(frame) ?? [];
      if (data !== undefined) this.#tuple(JSON.parse(data));
    }
  }

  #tuple(tuple: unknown): void {
    const message: unknown = Array.isArray(tuple) ? tuple[0] : undefined;
    if (!isObject(message) || (message["type"] !== "ai" && message["type"] !== "AIMessageChunk")) return;
    const text = textOf(partsOf(message["content"]));
    if (text !== "") this.#token(typeof message["id"] === "string" ? message["id"] : "", text);
  }

  #token(message: string, text: string): void {
    if (message !== this.#message) {
      // Models that write at the same time: the one that began last is shown.
      if (this.#seen.has(message)) return;
      this.#flush(false);
      this.#seen.add(message);
      this.#message = message;
      this.#sent = "";
      this.#begun = false;
    }
    this.#flush(false);
    this.#held = text;
    this.#timer ??= setTimeout(() => this.#flush(false), HOLD_MS).unref();
  }

  #flush(lastChunk: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#held === "" && !lastChunk) return;
    const text = this.#held;
    this.#held = "";
    this.#emit({ text, append: this.#begun, lastChunk });
    this.#sent += text;
    this.#begun = true;
  }

  /**
   * Ends the artifact.
   * @param response what it is in the end. @returns whether the chunks say so; if not, it is to be sent as a whole.
   */
  finish(response: Artifact | undefined): boolean {
    const [part, ...others] = response?.parts ?? [];
    const whole = this.#sent + this.#held;
    if (part?.kind === "text" && others.length === 0 && whole === part.text) {
      this.#flush(true);
      return true;
    }
    this.drop();
    return response === undefined;
  }

  /** Forgets what is held back. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#held = "";
  }
}
