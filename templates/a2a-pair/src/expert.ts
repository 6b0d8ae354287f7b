// An agent that another one calls: it converts distances, and asks back when a question has no unit.
import { AIMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const KM_PER_MILE = 1.609344;

function convert(state: typeof MessagesAnnotation.State) {
  const question = state.messages.at(-1)?.text ?? "";
  const distance = Number(/\d+(?:\.\d+)?/.exec(question)?.[0]);
  if (Number.isNaN(distance)) return { messages: [new AIMessage("Give me a distance, such as 5 km.")] };
  // The run stops here until somebody answers. Whoever called over A2A gets a task that is "input-required".
  const unit = unitOf(question) ?? unitOf(String(interrupt("Kilometres or miles?")));
  if (unit === undefined) return { messages: [new AIMessage("I know kilometres and miles only.")] };
  const [value, other] = unit === "km" ? [distance / KM_PER_MILE, "miles"] : [distance * KM_PER_MILE, "km"];
  return { messages: [new AIMessage(`${distance} ${unit} are ${value.toFixed(2)} ${other}.`)] };
}

function unitOf(text: string): "km" | "miles" | undefined {
  if (/\b(?:km|kilomet(?:re|er)s?)\b/i.test(text)) return "km";
  return /\b(?:mi|miles?)\b/i.test(text) ? "miles" : undefined;
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("convert", convert)
  .addEdge(START, "convert")
  .addEdge("convert", END)
  .compile();
