// Counts requests and open streams, for /metrics. It outlives the application, which is made anew when the config changes.

/** Answers to one operation. */
export interface OperationCount {
  readonly method: string;
  /** As in the OpenAPI document: `/threads/{thread_id}`; empty for requests that no operation took. */
  readonly route: string;
  /** Status → number of answers. */
  readonly answers: ReadonlyMap<number, number>;
}

export class HttpMetrics {
  readonly #operations = new Map<string, OperationCount>();
  /** Bodies that are being written piece by piece: event streams, and results that are waited for. */
  openStreams = 0;
  /** WebSockets. */
  openSockets = 0;

  /** A function to call with the status of each answer to an operation. */
  counter(method: string, route: string): (status: number) => void {
    const name = `${method} ${route}`;
    const answers = (this.#operations.get(name)?.answers ?? new Map<number, number>()) as Map<number, number>;
    this.#operations.set(name, { method, route, answers });
    return (status) => void answers.set(status, (answers.get(status) ?? 0) + 1);
  }

  /** All operations, with those that nobody called yet. */
  get operations(): Iterable<OperationCount> {
    return this.#operations.values();
  }
}
