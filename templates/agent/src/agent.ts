// The agent: a model that calls tools, with a person's approval before the ones that reach outside.
//
//   START → model → approve → tools → model → … → END
//
// Approval is a node of its own: a node that waits runs again from its top when the answer comes, so it must not have done anything yet.
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import {
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
  interrupt,
} from "@langchain/langgraph";
import { loadModel } from "./model.ts";
import { tools } from "./tools.ts";

type State = typeof MessagesAnnotation.State;

const SYSTEM = "You are a helpful assistant. Use the tools to remember facts, to recall them and to send e-mail.";

/** Tools that a person must approve. */
const NEEDS_APPROVAL = new Set(["send_email"]);

async function model(state: State, config: LangGraphRunnableConfig) {
  const chat = await loadModel(tools);
  return { messages: [await chat.invoke([{ role: "system", content: SYSTEM }, ...state.messages], config)] };
}

/** Asks for every call that needs it; a call that is refused is answered here and does not reach the tools. */
function approve(state: State) {
  const refused: ToolMessage[] = [];
  for (const call of openCalls(state)) {
    if (!NEEDS_APPROVAL.has(call.name)) continue;
    const answer = interrupt({
      question: `Call ${call.name}?`,
      tool: call.name,
      arguments: call.args,
      answers: ["yes", "no"],
    });
    if (!isYes(answer)) refused.push(result(call, `Not done: the person answered ${JSON.stringify(answer)}.`));
  }
  return { messages: refused };
}

async function runTools(state: State, config: LangGraphRunnableConfig) {
  const messages = await Promise.all(
    openCalls(state).map(async (call) => {
      const tool = tools.find((candidate) => candidate.name === call.name);
      if (!tool) return result(call, `There is no tool named ${call.name}.`);
      return result(call, String(await tool.invoke(call.args, config)));
    }),
  );
  return { messages };
}

/** The tool calls of the last AI message that have no answer yet. */
function openCalls({ messages }: State) {
  const last = messages.findLast((message): message is AIMessage => AIMessage.isInstance(message));
  const answered = new Set(
    messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : [])),
  );
  return (last?.tool_calls ?? []).filter((call) => call.id === undefined || !answered.has(call.id));
}

function result(call: { id?: string; name: string }, content: string) {
  return new ToolMessage({ content, name: call.name, tool_call_id: call.id ?? call.name });
}

function isYes(answer: unknown): boolean {
  return answer === true || (typeof answer === "string" && /^(y|yes|ok|approve)/i.test(answer.trim()));
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addNode("approve", approve)
  .addNode("tools", runTools)
  .addEdge(START, "model")
  .addConditionalEdges("model", (state) => (openCalls(state).length > 0 ? "approve" : END), ["approve", END])
  .addEdge("approve", "tools")
  .addEdge("tools", "model")
  .compile();
