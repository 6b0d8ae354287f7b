// Which model answers: the built-in one, which needs no key, or a real one named by the variable MODEL.
import type { BaseChatModel, BindToolsInput } from "@langchain/core/language_models/chat_models";
import { BuiltInModel } from "./built-in-model.ts";

/** Providers whose package has another name. */
const PACKAGES: Record<string, string> = { azure_openai: "openai", bedrock: "aws", mistral: "mistralai" };

/** The model of this process with `tools` bound. `MODEL=openai:gpt-4.1-mini` chooses a real one. */
export async function loadModel(tools: BindToolsInput[]) {
  const spec = process.env["MODEL"];
  const model = spec ? await loadProvider(spec) : new BuiltInModel();
  if (!model.bindTools) throw new Error(`The model ${spec} cannot call tools. Choose another one for MODEL.`);
  return model.bindTools(tools);
}

async function loadProvider(spec: string): Promise<BaseChatModel> {
  const provider = /^([^:]+):./.exec(spec)?.[1];
  if (!provider) throw new Error(`MODEL is "${spec}". Write it as provider:model, for example openai:gpt-4.1-mini.`);
  const { initChatModel } = await importLangChain(spec, provider);
  return initChatModel(spec);
}

async function importLangChain(spec: string, provider: string) {
  // A variable, so that nothing looks for the package before MODEL is set.
  const name = "langchain";
  try {
    return (await import(/* @vite-ignore */ name)) as { initChatModel(spec: string): Promise<BaseChatModel> };
  } catch (cause) {
    const wanted = `langchain @langchain/${PACKAGES[provider] ?? provider}`;
    throw new Error(`MODEL=${spec} needs packages that are not installed. Run: npm install ${wanted}`, { cause });
  }
}
