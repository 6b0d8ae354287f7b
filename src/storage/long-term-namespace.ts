// The rules that the namespaces of store items obey, with the reference server's texts.

import { ApiError } from "../errors.ts";

/** Every label costs memory in the index of every item below it; nobody nests by hand as deep as this. */
const MAX_LABELS = 100;

/**
 * Checks the labels of a namespace, prefix or suffix.
 * @throws ApiError 422 when a label is not a string, is empty or has a period, or when there are more than 100.
 */
export function checkLabels(labels: readonly string[]): void {
  if (labels.some((label) => typeof label !== "string" || label === "" || label.includes("."))) {
    throw new ApiError(422, `Namespace labels cannot be empty or contain periods. Received: ${labels.join(".")}`);
  }
  if (labels.length > MAX_LABELS) throw new ApiError(422, `A namespace has at most ${MAX_LABELS} labels`);
}

/**
 * Checks the namespace of one item.
 * @throws ApiError 422 when it is empty or a label is bad.
 */
export function checkNamespace(namespace: readonly string[]): void {
  if (!Array.isArray(namespace) || namespace.length === 0) throw new ApiError(422, "Namespace is required");
  checkLabels(namespace);
}

/**
 * Checks the namespace of an item to be stored.
 * @throws ApiError 422 as `checkNamespace`, and when the first label is `langgraph`.
 */
export function checkWritable(namespace: readonly string[]): void {
  checkNamespace(namespace);
  if (namespace[0] !== "langgraph") return;
  throw new ApiError(422, `The first namespace label "langgraph" is reserved for LangGraph itself; choose another one`);
}
