// Prints the answer of a run on a terminal while the model writes it.
import { isRecord } from "../json.ts";
import { type Message, toMessage } from "../messages.ts";
import type { Output } from "../output.ts";
import { oneLine, plain } from "../text.ts";

/** Prints tokens of AI messages to stdout and results of tools as dim lines to stderr. */
export class TokenPrinter {
  readonly #output: Output;
  #current: { id: string | undefined; step: string; text: string } | undefined;
  /** Texts printed so far, to leave out a message that comes a second time as a whole. */
  readonly #printed = new Set<string>();
  #lineOpen = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Takes in the data of one `messages` event: `[message, metadata]`. */
  take(data: unknown): void {
    if (!Array.isArray(data)) return;
    const message = toMessage(data[0]);
    if (message?.type === "tool") this.#note(`${message.name ?? "tool"}: ${oneLine(message.text, 100)}`);
    if (message?.type === "ai" && message.text !== "") this.#write(message, stepOf(data[1]));
  }

  /** Ends the stream of tokens: prints `answer` if it was not streamed, and closes the line. */
  finish(answer: Message | undefined): void {
    if (answer && answer.text !== "" && !this.#wasPrinted(answer)) this.#write(answer, "end");
    this.#endLine();
  }

  #write({ id, text }: Message, step: string): void {
    const current = this.#current;
    if (current?.id === id && current?.step === step) {
      current.text += text;
    } else {
      // A node that streams its model under one id and returns the message under another sends the same text twice.
      if (current?.step === step && current.text === text) return;
      this.#remember();
      this.#endLine();
      this.#current = { id, step, text };
    }
    this.#output.write(plain(text));
    this.#lineOpen = !text.endsWith("\n");
  }

  #wasPrinted({ text }: Message): boolean {
    this.#remember();
    return this.#printed.has(text);
  }

  #remember(): void {
    if (this.#current) this.#printed.add(this.#current.text);
  }

  #note(text: string): void {
    this.#endLine();
    this.#output.note(this.#output.err.dim(text));
  }

  #endLine(): void {
    if (this.#lineOpen) this.#output.line();
    this.#lineOpen = false;
  }
}

/** The execution of a node that a token belongs to. */
function stepOf(metadata: unknown): string {
  if (!isRecord(metadata)) return "";
  return String(metadata["langgraph_checkpoint_ns"] ?? metadata["langgraph_node"] ?? "");
}
