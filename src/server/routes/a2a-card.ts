// Agent cards over HTTP (a2a-mcp.md §1.7): one that clients of all generations understand where they look first, and one in the words of 1.0
// alone below the agent itself, or for a client that asks for 1.x.
import { z } from "zod";
import { cardFacts } from "../../a2a/card.ts";
import { commonCard, PROTOCOL_VERSIONS, pureCard } from "../../a2a/generations.ts";
import { ApiError } from "../../errors.ts";
import { RPC } from "../../json-rpc.ts";
import type { Assistant } from "../../resources/assistant.ts";
import { admitAssistant } from "../../runs/admission.ts";
import type { Context } from "../context.ts";
import { etagOf } from "../etag.ts";
import type { Route } from "../operation.ts";
import { requestOrigin } from "../request-origin.ts";
import type { Services } from "../services.ts";

/** Seconds that a card may be used without asking again. */
const MAX_AGE = 60;

/** Assistants whose graphs are named to those who name none. */
const MOST_NAMED = 20;

const cardShape = z.looseObject({ name: z.string(), description: z.string() }).meta({ id: "AgentCard" });
const cardError = z
  .object({ detail: z.string(), error: z.object({ code: z.int(), message: z.string() }) })
  .meta({ id: "AgentCardError" });

const HEADERS = {
  "A2A-Version": "`1.0` asks for a card in the words of A2A 1.0 alone.",
  "If-None-Match": "The ETag of what the client has.",
  "If-Modified-Since": "When the client got what it has.",
} as const;
const ANSWERS = {
  200: {
    means: "The card.",
    body: cardShape,
    headers: {
      ETag: "Of the card.",
      "Last-Modified": "When it changed last.",
      "Cache-Control": "How long it may be kept.",
    },
  },
  304: { means: "The client has it." },
  404: { means: "There is no such assistant.", body: cardError },
} as const;

export function a2aCardRoutes(route: Route, services: Services): void {
  const { assistants, version } = services;
  const startedAt = Date.now();

  const answer = (context: Context, assistant: Assistant, pure: boolean): Response => {
    const facts = cardFacts(assistant, {
      origin: requestOrigin(context.headers, context.url) + (services.http.mount_prefix ?? ""),
      version,
      protocolVersions: PROTOCOL_VERSIONS,
      pushNotifications: !services.http.disable_webhooks,
    });
    const asked = context.header("a2a-version");
    const text = JSON.stringify(asked?.startsWith("1.") === true || pure ? pureCard(facts) : commonCard(facts));
    const etag = etagOf(text);
    const changed = Math.max(startedAt, Date.parse(assistant.updated_at));
    const headers = {
      etag,
      "last-modified": new Date(changed).toUTCString(),
      "cache-control": `${services.door === undefined ? "public" : "private"}, max-age=${MAX_AGE}`,
      vary: "A2A-Version, Host, X-Forwarded-Host, X-Forwarded-Proto",
    };
    return isKnown(context, etag, changed) ? context.reply.empty(304, headers) : context.reply.jsonText(text, headers);
  };
  const refuse = (context: Context, status: number, detail: string): Response =>
    context.reply.json({ detail, error: { code: RPC.invalidParams, message: detail } }, undefined, status);
  const cardOf = async (context: Context, idOrGraph: string, pure: boolean): Promise<Response> => {
    const { access } = context;
    const allows = access.restricted ? await admitAssistant(assistants, access, idOrGraph) : undefined;
    try {
      return answer(context, assistants.forRun(idOrGraph, allows), pure);
    } catch (error) {
      if (error instanceof ApiError) return refuse(context, error.status, error.detail);
      throw error;
    }
  };

  route(
    {
      method: "GET",
      path: "/.well-known/agent-card.json",
      tag: "A2A",
      access: "asks",
      summary: "the agent card of an assistant, for A2A 0.3 and 1.0; without `assistant_id` if there is only one",
      query: z.object({
        assistant_id: z.string().optional().meta({ description: "Id of an assistant, or the name of a graph." }),
      }),
      headers: HEADERS,
      answers: { ...ANSWERS, 400: { means: "There are several assistants, and none is named.", body: cardError } },
    },
    async (context) => {
      const { assistant_id: named } = context.query();
      if (named !== undefined && named !== "") return cardOf(context, named, false);
      const { allows } = await context.access.authorize("assistants:search", { metadata: {} });
      const usable = assistants.usable(allows).toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
      const [only, ...others] = usable.slice(0, MOST_NAMED);
      if (only !== undefined && others.length === 0) return answer(context, only, false);
      const names = [...new Set([only, ...others].flatMap((one) => (one === undefined ? [] : [one.graph_id])))];
      return refuse(
        context,
        400,
        `Missing required parameter: assistant_id (graphs here: ${names.join(", ") || "none"})`,
      );
    },
  );
  route(
    {
      method: "GET",
      path: "/a2a/:assistant_id/.well-known/agent-card.json",
      tag: "A2A",
      access: "asks",
      summary: "the agent card of an assistant in the words of A2A 1.0 alone",
      headers: HEADERS,
      answers: ANSWERS,
    },
    (context) => cardOf(context, context.param("assistant_id"), true),
  );
}

/** Whether a client has what it asks for (RFC 9110 §13.2.2: the tag counts before the time). */
function isKnown(context: Context, etag: string, changed: number): boolean {
  const tags = context.header("if-none-match");
  if (tags !== null)
    return tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
  const since = Date.parse(context.header("if-modified-since") ?? "");
  return !Number.isNaN(since) && Math.floor(changed / 1000) * 1000 <= since;
}
