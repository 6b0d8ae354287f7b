// A request body that may be read twice: by the project's own app, and by the server, when the app leaves the request to it. Nothing is
// read before somebody asks for it, and nothing is kept longer than somebody might need it.

/** Who reads, and the next piece for it. */
interface Reader {
  at: number;
}

/** A body with several readers, who may be anywhere in it. */
export class SharedBody {
  readonly #source: () => ReadableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #readers = new Set<Reader>();
  /** What was read and somebody may need, from piece `#first` on. */
  readonly #chunks: Uint8Array[] = [];
  #first = 0;
  #ended = false;
  #reading: Promise<void> | undefined;
  #released = false;

  /** @param source the body itself, asked for at the first read. */
  constructor(source: () => ReadableStream<Uint8Array>) {
    this.#source = source;
  }

  /** The whole body for one reader. Not after `release`. */
  stream(): ReadableStream<Uint8Array> {
    const reader: Reader = { at: 0 };
    this.#readers.add(reader);
    const leave = (): void => {
      this.#readers.delete(reader);
      this.#trim();
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#chunk(reader.at);
          if (chunk === undefined) {
            leave();
            return controller.close();
          }
          reader.at++;
          this.#trim();
          controller.enqueue(chunk);
        },
        cancel: leave,
      },
      // Nothing is read ahead.
      { highWaterMark: 0 },
    );
  }

  /** Nobody else will come: what all have read is forgotten. */
  release(): void {
    this.#released = true;
    this.#trim();
  }

  #trim(): void {
    if (!this.#released) return;
    const least = Math.min(...[...this.#readers].map(({ at }) => at), this.#first + this.#chunks.length);
    this.#chunks.splice(0, least - this.#first);
    this.#first = least;
  }

  async #chunk(at: number): Promise<Uint8Array | undefined> {
    while (at >= this.#first + this.#chunks.length && !this.#ended) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after the other
      await (this.#reading ??= this.#read());
    }
    return this.#chunks[at - this.#first];
  }

  async #read(): Promise<void> {
    try {
      this.#reader ??= this.#source().getReader();
      const { done, value } = await this.#reader.read();
      if (done) this.#ended = true;
      else this.#chunks.push(value);
    } finally {
      this.#reading = undefined;
    }
  }
}
