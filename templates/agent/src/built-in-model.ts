// A chat model without a network: it streams its answer word by word and decides tool calls by simple rules on the text,
// so that the whole agent runs, and can be tested, without a key. Delete this file once MODEL is set.
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

interface Options extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

interface Reply {
  text: string;
  call?: { name: string; args: Record<string, string> };
}

const HELP = 'Try "remember that I like tea", "what do you remember?" or "email ada@example.com: see you at ten".';

/** The rules, first match wins. */
function reply(messages: BaseMessage[]): Reply {
  const results = messages.slice(messages.findLastIndex((message) => AIMessage.isInstance(message)) + 1);
  const tool = results.findLast((message) => ToolMessage.isInstance(message));
  if (tool) return { text: tool.name === "recall" ? `This is what I know about you:\n${tool.text}` : tool.text };

  const text = messages.findLast((message) => HumanMessage.isInstance(message))?.text.trim() ?? "";
  const email = /^e?-?mail\s+(\S+@[^\s:,]+)[:,]?\s*(.+)$/is.exec(text);
  if (email)
    return {
      text: "I will ask before I send it.",
      call: { name: "send_email", args: { to: email[1]!, text: email[2]! } },
    };
  const fact = /^(?:please\s+)?remember\s+(?:that\s+)?(.+)$/is.exec(text);
  if (fact) return { text: "", call: { name: "remember", args: { fact: fact[1]! } } };
  if (/\b(recall|remember|know about me)\b/i.test(text)) return { text: "", call: { name: "recall", args: {} } };
  return { text: `You said: ${text}\nI am the built-in model, so I only follow a few rules. ${HELP}` };
}

export class BuiltInModel extends BaseChatModel<Options> {
  constructor() {
    super({});
  }

  _llmType() {
    return "built-in";
  }

  override bindTools(tools: BindToolsInput[], options?: Partial<Options>) {
    return this.withConfig({ ...options, tools } as Partial<Options>);
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options, run)) whole = whole?.concat(chunk) ?? chunk;
    return { generations: whole ? [whole] : [] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, call } = reply(messages);
    for (const word of text.match(/\S+\s*/g) ?? []) {
      const chunk = new ChatGenerationChunk({ text: word, message: new AIMessageChunk(word) });
      yield chunk;
      await run?.handleLLMNewToken(word, undefined, undefined, undefined, undefined, { chunk });
    }
    if (!call) return;
    const message = new AIMessageChunk({
      content: "",
      tool_call_chunks: [
        {
          type: "tool_call_chunk",
          index: 0,
          id: `call_${crypto.randomUUID()}`,
          name: call.name,
          args: JSON.stringify(call.args),
        },
      ],
    });
    yield new ChatGenerationChunk({ text: "", message });
  }
}
