// The project's own routes and middleware (`http.app`): loaded like a graph, loaded again on save, and asked before the server's own
// paths. What is wrong with it is shown with its place in the user's file; the last good version goes on serving.
import { ApiError } from "../errors.ts";
import { ExportError, exportProblem, type ExportSpec } from "../graphs/exports.ts";
import type { GraphHost } from "../graphs/host.ts";
import { Passage, type AppAbout, type Stage } from "./passage.ts";
import { webApp, type WebApp } from "./web-app.ts";

export interface CustomAppOptions extends AppAbout {
  readonly graphs: GraphHost;
}

type Serve = (request: Request) => Promise<Response>;

export class CustomApp {
  readonly #options: CustomAppOptions;
  readonly #unwatch: () => void;
  #app: WebApp | undefined;
  #value: unknown;
  #error: ExportError | undefined;
  #attempts = 0;
  #settle: () => void = () => undefined;
  readonly #ready = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(options: CustomAppOptions) {
    this.#options = options;
    this.#unwatch = options.graphs.onExportsChange(() => void this.#load());
  }

  /** Loads it for the first time. Resolves when it was loaded, or was reported as broken; requests wait for that. Never rejects. */
  start(): Promise<void> {
    void this.#load();
    return this.#ready;
  }

  /** Whether it is still what the config names. */
  isFor(spec: ExportSpec | undefined): boolean {
    return spec?.file === this.#options.spec.file && spec.exportName === this.#options.spec.exportName;
  }

  close(): void {
    this.#unwatch();
  }

  /** The app in front of a server. What it returns never rejects. */
  over(stage: Stage): Serve {
    return async (request) => {
      try {
        return await this.#serve(stage, request);
      } catch (error) {
        const response = stage.replyTo(request).error(error, stage.report);
        stage.count(response.status);
        return response;
      }
    };
  }

  async #serve(stage: Stage, request: Request): Promise<Response> {
    const { prefix, builtIn } = stage;
    const { pathname } = new URL(request.url);
    const inside = `${pathname}/`.startsWith(`${prefix}/`);
    const isProbe = pathname === "/ok" || pathname === `${prefix}/ok`;
    // Of the last two methods no `Request` can be made.
    if (!inside || isProbe || request.method === "TRACE" || request.method === "TRACK") return builtIn(request);
    if (this.#app === undefined) await this.#ready;
    // Without the app nothing is served: its middleware may be what keeps somebody out.
    if (this.#app === undefined)
      throw new ApiError(422, `http.app cannot be loaded: ${this.#error?.diagnostic.message}`);
    return new Passage(this.#options, stage, request, this.#app).answer();
  }

  async #load(): Promise<void> {
    const { graphs, spec, onEvent } = this.#options;
    const attempt = ++this.#attempts;
    const isFirst = this.#app === undefined;
    const begun = performance.now();
    try {
      const value = await graphs.loadExport(spec);
      if (attempt !== this.#attempts || (value === this.#value && this.#error === undefined)) return;
      this.#app = webApp(value, spec);
      this.#value = value;
      const wasBroken = this.#error !== undefined;
      this.#error = undefined;
      if (!isFirst || wasBroken) onEvent({ type: "reloaded", ids: [spec.key], ms: performance.now() - begun });
    } catch (error) {
      if (attempt !== this.#attempts || graphs.isClosed) return;
      this.#error =
        error instanceof ExportError
          ? error
          : exportProblem(spec, error instanceof Error ? error.message : String(error));
      onEvent({ type: "failed", ids: [spec.key], error: this.#error, firstLoad: isFirst });
    }
    this.#settle();
  }
}
