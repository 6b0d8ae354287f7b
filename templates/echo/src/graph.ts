// The smallest graph: one node that repeats the last message.
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

function echo(state: typeof MessagesAnnotation.State) {
  const last = state.messages.at(-1);
  return { messages: [new AIMessage(`Echo: ${last?.text ?? ""}`)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("echo", echo)
  .addEdge(START, "echo")
  .addEdge("echo", END)
  .compile();
