// What the agent can do. Facts live in the long-term store: they outlive the thread, and every thread of the same user sees them.
import { type StructuredToolInterface, type ToolRunnableConfig, tool } from "@langchain/core/tools";
import { getStore } from "@langchain/langgraph";

const object = (properties: Record<string, { type: "string"; description: string }>) => ({
  type: "object" as const,
  properties,
  required: Object.keys(properties),
});

const remember = tool(
  async ({ fact }: { fact: string }, config: ToolRunnableConfig) => {
    await store().put(namespace(config), crypto.randomUUID(), { fact });
    return `Remembered: ${fact}`;
  },
  {
    name: "remember",
    description: "Keep a fact about the user for later conversations.",
    schema: object({ fact: { type: "string", description: "the fact, one sentence" } }),
  },
);

const recall = tool(
  async (_input: object, config: ToolRunnableConfig) => {
    const items = await store().search(namespace(config), { limit: 100 });
    return items.length === 0 ? "Nothing yet." : items.map((item) => `- ${item.value["fact"]}`).join("\n");
  },
  { name: "recall", description: "List everything that is remembered about the user.", schema: object({}) },
);

const sendEmail = tool(
  ({ to, text }: { to: string; text: string }) =>
    `Sent to ${to}: ${text} (a template sends nothing; put your mailer here)`,
  {
    name: "send_email",
    description: "Send an e-mail. A person approves it first.",
    schema: object({
      to: { type: "string", description: "the address" },
      text: { type: "string", description: "what to write" },
    }),
  },
);

/** Everything that the model may call. */
export const tools: StructuredToolInterface[] = [remember, recall, sendEmail];

function store() {
  const found = getStore();
  if (!found) throw new Error("This graph needs a store: run it with agent-server, or compile it with one.");
  return found;
}

/** One drawer per user: pass `configurable.user_id` with the run. */
function namespace(config: ToolRunnableConfig): string[] {
  return ["memories", String(config.configurable?.["user_id"] ?? "default")];
}
