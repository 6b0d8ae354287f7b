// Which package of LangChain embeds for the provider in `provider:model`. LangChain.js has nothing that does this by itself, as the
// Python one has; the names are those that its `init_embeddings` takes.

/** Where the class is that embeds; all of these take `{ model }` and read keys from the environment. */
export interface EmbeddingProvider {
  readonly package: string;
  readonly className: string;
}

const OPENAI = "@langchain/openai";
const BEDROCK: EmbeddingProvider = { package: "@langchain/aws", className: "BedrockEmbeddings" };

const PROVIDERS: Readonly<Record<string, EmbeddingProvider>> = {
  openai: { package: OPENAI, className: "OpenAIEmbeddings" },
  azure_openai: { package: OPENAI, className: "AzureOpenAIEmbeddings" },
  google_genai: { package: "@langchain/google-genai", className: "GoogleGenerativeAIEmbeddings" },
  google_vertexai: { package: "@langchain/google-vertexai", className: "VertexAIEmbeddings" },
  cohere: { package: "@langchain/cohere", className: "CohereEmbeddings" },
  mistralai: { package: "@langchain/mistralai", className: "MistralAIEmbeddings" },
  ollama: { package: "@langchain/ollama", className: "OllamaEmbeddings" },
  aws: BEDROCK,
  bedrock: BEDROCK,
};

/** The provider of that name, in any case and with `-` or `_`; undefined when it is not known. */
export function embeddingProvider(name: string): EmbeddingProvider | undefined {
  const key = name.toLowerCase().replaceAll("-", "_");
  return Object.hasOwn(PROVIDERS, key) ? PROVIDERS[key] : undefined;
}

/** The names that `embeddingProvider` knows. */
export const embeddingProviders: readonly string[] = Object.keys(PROVIDERS);
