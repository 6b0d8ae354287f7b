// Loads what `store.index.embed` names, from the user's project: a function or an object of theirs, or a model of a provider whose
// package they have installed. It is loaded at first use; what is wrong with it is told once and never stops the server.
import type { Diagnostic, StoreConfig } from "../config/types.ts";
import { ApiError } from "../errors.ts";
import { embeddingProvider, embeddingProviders } from "./embedding-providers.ts";
import { frameOfError, messageOf } from "./errors.ts";
import { ExportError, exportProblem, type ExportSpec } from "./exports.ts";
import type { GraphHost } from "./host.ts";
import { installCommand } from "./install.ts";
import { kindOf } from "./recognise.ts";

const KEY = "store.index.embed";

/** The two methods that LangChain's Embeddings have. */
interface Embeddings {
  embedDocuments(texts: string[]): unknown;
  embedQuery(text: string): unknown;
}

/** What an embedder is made of. */
export interface EmbedderOptions {
  readonly index: NonNullable<StoreConfig["index"]>;
  /** Folder of the project. */
  readonly root: string;
  readonly graphs: Pick<GraphHost, "loadExport" | "importPackage" | "isClosed">;
  /** Told what is wrong, the same thing once. */
  onProblem(diagnostic: Diagnostic): void;
}

/**
 * Embeds with what the config names. Both methods reject with ApiError 422 when it cannot be loaded and with 502 when it throws; what it
 * gives is not checked here.
 */
export class ProjectEmbedder {
  readonly #options: EmbedderOptions;
  readonly #spec: ExportSpec;
  #model: Promise<Embeddings> | undefined;
  #told = "";

  constructor(options: EmbedderOptions) {
    this.#options = options;
    const { source, location } = options.index;
    const place = "file" in source ? source : { file: "", exportName: "" };
    this.#spec = { key: KEY, ...place, location };
  }

  /** One vector per text. */
  embedDocuments(texts: string[]): Promise<unknown> {
    return this.#call((embeddings) => embeddings.embedDocuments(texts));
  }

  /** The vector of a search. */
  embedQuery(text: string): Promise<unknown> {
    return this.#call((embeddings) => embeddings.embedQuery(text));
  }

  /** Loads it now, so that what is wrong is told before it is needed. Never rejects. */
  async check(): Promise<void> {
    await this.#load().catch(() => undefined);
  }

  async #call(use: (embeddings: Embeddings) => unknown): Promise<unknown> {
    const embeddings = await this.#load();
    try {
      return await use(embeddings);
    } catch (error) {
      const diagnostic =
        frameOfError(error, this.#options.root) ?? exportProblem(this.#spec, messageOf(error)).diagnostic;
      this.#tell({ ...diagnostic, message: `${KEY} failed: ${diagnostic.message}` });
      throw new ApiError(502, `${KEY} failed: ${messageOf(error)}`);
    }
  }

  async #load(): Promise<Embeddings> {
    const { source } = this.#options.index;
    try {
      // The host keeps an export until its file is saved. A model is made once; what failed is tried again.
      if ("file" in source) return this.#fromExport(await this.#options.graphs.loadExport(this.#spec));
      this.#model ??= this.#fromProvider(source.provider, source.model);
      return await this.#model;
    } catch (error) {
      this.#model = undefined;
      const problem = error instanceof ExportError ? error : exportProblem(this.#spec, messageOf(error));
      const { message, hint } = problem.diagnostic;
      this.#tell({ ...problem.diagnostic, severity: "warning" });
      throw new ApiError(422, [`${KEY}: ${message}`, ...(hint === undefined ? [] : [hint])].join(". "));
    }
  }

  #fromExport(value: unknown): Embeddings {
    if (isEmbeddings(value)) return value;
    if (typeof value === "function" && !isClass(value)) {
      const embed = value as (texts: string[]) => unknown;
      return {
        embedDocuments: (texts) => embed(texts),
        embedQuery: async (text) => {
          const vectors = await embed([text]);
          return Array.isArray(vectors) ? (vectors[0] as unknown) : vectors;
        },
      };
    }
    const kind = typeof value === "function" ? "a class" : kindOf(value);
    const hint = "Export an async function from texts to vectors, or an instance of an Embeddings class.";
    throw exportProblem(this.#spec, `"${this.#spec.exportName}" embeds nothing: it is ${kind}`, hint);
  }

  async #fromProvider(name: string, model: string): Promise<Embeddings> {
    const { graphs, root } = this.#options;
    const provider = embeddingProvider(name);
    if (provider === undefined) {
      const hint = `Known are ${embeddingProviders.join(", ")}; for another one name a function of yours, as "./src/embed.ts:embed".`;
      throw exportProblem(this.#spec, `No package is known that embeds for the provider "${name}"`, hint);
    }
    const module = await graphs.importPackage(provider.package);
    if (module === null) {
      throw exportProblem(this.#spec, `${provider.package} is not installed`, installCommand(root, [provider.package]));
    }
    const made = module[provider.className];
    if (typeof made !== "function") {
      throw exportProblem(
        this.#spec,
        `${provider.package} has no ${provider.className}`,
        "Install its newest version.",
      );
    }
    const embeddings: unknown = new (made as new (fields: object) => unknown)({ model });
    if (isEmbeddings(embeddings)) return embeddings;
    throw exportProblem(this.#spec, `${provider.className} of ${provider.package} embeds nothing`);
  }

  #tell(diagnostic: Diagnostic): void {
    const text = JSON.stringify([diagnostic.message, diagnostic.location]);
    if (text === this.#told || this.#options.graphs.isClosed) return;
    this.#told = text;
    this.#options.onProblem(diagnostic);
  }
}

function isEmbeddings(value: unknown): value is Embeddings {
  if (typeof value !== "object" || value === null) return false;
  const { embedDocuments, embedQuery } = value as Record<string, unknown>;
  return typeof embedDocuments === "function" && typeof embedQuery === "function";
}

function isClass(value: object): boolean {
  return Function.prototype.toString.call(value).startsWith("class");
}
