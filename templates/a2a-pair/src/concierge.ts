// An agent that knows nothing itself: it passes each question on to the expert over A2A. When the expert asks back, so does it.
import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { type Agent, send } from "./a2a.ts";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** The conversation with the expert: it remembers what was said before. */
  contextId: Annotation<string | undefined>,
  /** The expert's task that waits for an answer. */
  taskId: Annotation<string | undefined>,
  /** What the expert wants to know. */
  question: Annotation<string>,
  /** What the expert is to be told. */
  say: Annotation<string>,
});

/** The expert lives on this server; with another URL it lives anywhere. The key of this server is for this server alone. */
function expert(config: LangGraphRunnableConfig): Agent {
  const { EXPERT_URL, EXPERT_API_KEY, AGENT_SERVER_API_KEY } = process.env;
  const server = String(config.metadata?.["langgraph_api_url"] ?? "http://localhost:2024");
  const url = EXPERT_URL || `${server}/a2a/expert`;
  const isHere = new URL(url).origin === new URL(server).origin;
  return { url, key: EXPERT_API_KEY || (isHere ? AGENT_SERVER_API_KEY : undefined) };
}

function listen({ messages }: typeof State.State) {
  return { say: messages.at(-1)?.text ?? "" };
}

async function consult({ say, contextId, taskId }: typeof State.State, config: LangGraphRunnableConfig) {
  const reply = await send(expert(config), say, contextId, taskId);
  const conversation = { contextId: reply.contextId, taskId: reply.taskId };
  if (reply.taskId !== undefined) return { ...conversation, question: reply.text };
  return { ...conversation, messages: [new AIMessage(`The expert says: ${reply.text}`)] };
}

function askPerson({ question }: typeof State.State) {
  return { say: String(interrupt(`The expert asks: ${question}`)) };
}

export const graph = new StateGraph(State)
  .addNode("listen", listen)
  .addNode("consult", consult)
  .addNode("askPerson", askPerson)
  .addEdge(START, "listen")
  .addEdge("listen", "consult")
  .addConditionalEdges("consult", ({ taskId }) => (taskId === undefined ? END : "askPerson"), ["askPerson", END])
  .addEdge("askPerson", "consult")
  .compile();
