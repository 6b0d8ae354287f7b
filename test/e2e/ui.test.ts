// UI components of a project: what a chat page gets through the official SDK, and what the bundle does in a page.
import { cpSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { clientOf, startTestServer, useServer } from "./support/server.ts";

const FIXTURES = join(import.meta.dirname, "..", "fixtures");
const server = useServer({ cwd: join(FIXTURES, "ui-project") });
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, { headers });
const detail = async (response: Response): Promise<unknown> => ((await response.json()) as { detail: unknown }).detail;

/** Runs a bundle as a page would, and gives back what it hands to the page. */
function run(js: string, call: string): { component: (props: object) => unknown; root: string; required: string[] } {
  const required: string[] = [];
  const responses: { root: string; component: (props: object) => unknown }[] = [];
  const jsx = (type: string, props: object): unknown => ({ type, props });
  const modules: Record<string, unknown> = {
    react: { useState: (value: unknown) => [value] },
    "react/jsx-runtime": { jsx, jsxs: jsx },
    "shared-by-the-page": { shared: "Celsius" },
  };
  const window = {
    [Symbol.for("LGUI_REQUIRE")]: (name: string) => (required.push(name), modules[name]),
    [Symbol.for("LGUI_EXT_STORE")]: {
      respond: (root: string, component: (props: object) => unknown) => responses.push({ root, component }),
    },
  };
  const document = {
    getElementById: () => ({ shadowRoot: { appendChild: () => undefined } }),
    createElement: () => ({}),
  };
  runInNewContext(`${js}\n;${call}`, { window, document, console });
  return { ...responses[0]!, required };
}

test("a component is loaded and rendered in the page", async () => {
  const html = await server.client["~ui"].getComponent("echo", "weather");
  const [, src = ""] = /<script src="([^"]+)"/.exec(html) ?? [];
  const [, onload = ""] = /onload="([^"]+)"/.exec(html) ?? [];
  const [, style = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? [];
  expect(src).toBe(`${server.url.replace("http:", "")}/ui/echo/entrypoint.js`);
  const js = await fetch(`http:${src}`);
  expect(js.headers.get("content-type")).toContain("text/javascript");
  const css = await fetch(`http:${style}`);
  expect(css.headers.get("content-type")).toContain("text/css");
  expect(await css.text()).toContain(".weather");
  const call = onload.replaceAll("&quot;", '"').replace("{{shadowRootId}}", "root-1");
  const { component, root, required } = run(await js.text(), call);
  expect(root).toBe("root-1");
  expect(required.toSorted()).toEqual(["react", "react/jsx-runtime", "shared-by-the-page"]);
  expect(JSON.stringify(component({ city: "Bern" }))).toContain('"Weather in Bern"," ","Celsius"');
});

test("the assistant's id works as well as the graph's name", async () => {
  const [assistant] = await server.client.assistants.search({ graphId: "echo" });
  expect(await server.client["~ui"].getComponent(assistant!.assistant_id, "weather")).toContain(
    "/ui/echo/entrypoint.js",
  );
});

test("a client that has the file is told so", async () => {
  const first = await get("/ui/echo/entrypoint.js");
  const again = await get("/ui/echo/entrypoint.js", { "if-none-match": first.headers.get("etag")! });
  expect(again.status).toBe(304);
});

test("a name cannot break out of the HTML", async () => {
  const html = await server.client["~ui"].getComponent("echo", `x"'><script>alert(1)</script>`);
  expect(html.match(/<script/g)).toHaveLength(1);
});

test("what is not there is a 404, what does not fit a 422", async () => {
  expect(await detail(await get("/ui/tokens/entrypoint.js"))).toBe('The config has no UI components for "tokens"');
  expect((await get("/ui/echo/other.js")).status).toBe(404);
  expect((await get("/ui/__proto__/entrypoint.js")).status).toBe(404);
  const response = await fetch(`${server.url}/ui/echo`, { method: "POST", body: "{}" });
  expect(response.status).toBe(422);
});

test("a saved file is in the next answer, and one that does not parse is named", async () => {
  const folder = mkdtempSync(join(FIXTURES, "ui-copy-"));
  folders.push(folder);
  cpSync(join(FIXTURES, "ui-project"), folder, { recursive: true });
  symlinkSync(join(FIXTURES, "project"), join(folder, "project"));
  const own = await startTestServer({ cwd: folder });
  try {
    const ui = clientOf(own.url)["~ui"];
    const label = join(folder, "src", "label.ts");
    const text = async (): Promise<string> => (await fetch(`${own.url}/ui/echo/entrypoint.js`)).text();
    await ui.getComponent("echo", "weather");
    expect(await text()).toContain("Weather in");
    writeFileSync(label, "export const label = (city: string): string => `Sky over ${city}`;\n");
    utimesSync(label, new Date(), new Date(Date.now() + 5000));
    expect(await text()).toContain("Sky over");
    writeFileSync(label, "export const label = (;\n");
    utimesSync(label, new Date(), new Date(Date.now() + 10_000));
    const broken = await fetch(`${own.url}/ui/echo/entrypoint.js`);
    expect(broken.status).toBe(422);
    expect(await detail(broken)).toContain("label.ts:1");
  } finally {
    await own.stop();
  }
});
