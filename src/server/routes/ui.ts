// The project's UI components over HTTP (wire-api §1.9): HTML that loads a component into a chat page, and the files that it loads.
import { z } from "zod";
import { ApiError } from "../../errors.ts";
import { uiGlobal } from "../../graphs/ui.ts";
import { admitAssistant } from "../../runs/admission.ts";
import type { Answer, Route } from "../operation.ts";
import { etagOf } from "../etag.ts";
import { requestOrigin } from "../request-origin.ts";
import type { Services } from "../services.ts";

const componentBody = z.object({ name: z.string().min(1).max(200).meta({ description: "Name of the component." }) });

const TYPES: Readonly<Record<string, "text/javascript" | "text/css">> = {
  "entrypoint.js": "text/javascript",
  "entrypoint.css": "text/css",
};

export function uiRoutes(route: Route, { ui, assistants, http }: Services): void {
  const noComponents = (id: string): ApiError => new ApiError(404, `The config has no UI components for "${id}"`);
  /** The name under which the config has the components of an assistant. @throws ApiError 404 */
  const nameOf = (id: string): string => {
    const name = ui.has(id) ? id : assistants.find(id)?.graph_id;
    if (name !== undefined && ui.has(name)) return name;
    throw noComponents(id);
  };
  const html: Answer = { means: "HTML that loads the component.", body: z.string(), type: "text/html" };

  route(
    {
      method: "POST",
      path: "/ui/:assistant_id",
      tag: "System",
      access: "asks",
      summary: "HTML that loads a UI component of the project into a chat page",
      body: componentBody,
      answers: { 200: html },
      errors: [404, 422],
    },
    async (context) => {
      const id = context.param("assistant_id");
      const name = nameOf(id);
      const allows = await admitAssistant(assistants, context.access, id);
      const assistant = assistants.find(id);
      if (assistant !== undefined && !assistants.usable(allows).includes(assistant)) throw noComponents(id);
      const { name: component } = await context.body();
      const { css } = await ui.get(name);
      // Without a scheme: the page may have come through a proxy that speaks https.
      const { host } = new URL(requestOrigin(context.headers, context.url));
      const base = `//${host}${http.mount_prefix ?? ""}/ui/${encodeURIComponent(name)}`;
      const call = `${uiGlobal(name)}.render(${JSON.stringify(component)}, "{{shadowRootId}}")`;
      const style = css === "" ? "" : `<link rel="stylesheet" href="${escapeHtml(`${base}/entrypoint.css`)}">\n`;
      const script = `<script src="${escapeHtml(`${base}/entrypoint.js`)}" onload="${escapeHtml(call)}"></script>\n`;
      return context.reply.text(style + script, "text/html");
    },
  );
  route(
    {
      method: "GET",
      path: "/ui/:assistant_id/:file",
      tag: "System",
      access: "pages",
      summary: "`entrypoint.js` or `entrypoint.css` of the UI components",
      answers: {
        200: { means: "The file.", body: z.string(), type: "text/javascript" },
        304: { means: "With `If-None-Match`: the client has it." },
      },
      headers: { "If-None-Match": "The ETag of what the client has." },
      errors: [404, 422],
    },
    async (context) => {
      const name = nameOf(context.param("assistant_id"));
      const file = context.param("file");
      const type = Object.hasOwn(TYPES, file) ? TYPES[file] : undefined;
      if (type === undefined) throw new ApiError(404, `UI components have no file "${file}"`);
      const { js, css } = await ui.get(name);
      const text = type === "text/css" ? css : js;
      const etag = etagOf(text);
      const headers = { etag, "cache-control": "no-cache" };
      if (context.header("if-none-match") === etag) return context.reply.empty(304, headers);
      return context.reply.text(text, type, headers);
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
