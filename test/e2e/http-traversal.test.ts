// No id, key, namespace or file name of a request leads out of where it belongs, in any encoding.
import { readdirSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { finish } from "../cli/helpers/io.ts";
import { folderWith } from "../cli/helpers/project.ts";
import { httpProject, serve, type HttpServer } from "./support/http-project.ts";
import { clientOf, temporaryFolder } from "./support/server.ts";

/** Ways to write `../` and what is behind it; sent as they are, because a client would tidy them up. */
const UPS = [
  "../",
  "..%2f",
  "..%2F",
  "%2e%2e/",
  "%2e%2e%2f",
  "%252e%252e%252f",
  "..%5c",
  "..\\",
  "..%c0%af",
  "....//",
  ".%00./",
  "..;/",
  "/",
  "%2f",
  "file:%2f%2f",
];
const TARGETS = ["package.json", "langgraph.json", "etc/passwd", "scalar.js.gz"];
const VARIANTS = UPS.flatMap((up) => [1, 5].flatMap((depth) => TARGETS.map((target) => up.repeat(depth) + target)));

/** A request whose path is sent byte for byte. */
function raw(url: string, path: string, method = "GET", body?: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ hostname, port, path, method, headers: { "content-type": "application/json" } });
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode!, text }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

const SECRET = /root:|"graphs"|"dependencies"|"private"|marker-of-the-project/;

async function refuseAll(server: HttpServer, prefix: string, suffix = ""): Promise<void> {
  for (const variant of VARIANTS) {
    const path = `${prefix}${variant}${suffix}`;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, text } = await raw(server.url, path);
    expect([400, 404, 405, 422], `${path} ${status}`).toContain(status);
    expect(text, path).not.toMatch(SECRET);
  }
}

describe("files that the server gives out", () => {
  const open = (): Promise<HttpServer> =>
    serve(
      httpProject(
        { ui: { counter: "./src/ui.tsx", "../echo": "./src/ui.tsx" } },
        { "src/ui.tsx": "export default { card: () => null };", "package.json": '{ "name": "marker-of-the-project" }' },
      ).folder,
    );

  test("the script of /docs", async () => {
    const server = await open();
    await refuseAll(server, "/docs/");
    await refuseAll(server, "/docs/scalar.js/");
    expect((await raw(server.url, "/docs/scalar.js")).status).toBe(200);
  });

  test("UI components", async () => {
    const server = await open();
    await refuseAll(server, "/ui/counter/");
    await refuseAll(server, "/ui/", "/entrypoint.js");
    expect((await raw(server.url, "/ui/counter/entrypoint.js")).status).toBe(200);
  });

  test("the root", async () => refuseAll(await open(), "/"));
});

test("ids, keys and namespaces are names in the database, and no files", async () => {
  const parent = temporaryFolder();
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const dataDir = join(parent, "state");
  const project = httpProject({});
  const server = await serve(project.folder, { persist: true, dataDir });
  const listed = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).toSorted();
  const before = listed(parent);
  const client = clientOf(server.url);
  for (const variant of [...VARIANTS, "\u0000", "a/b", "C:\\x", "con", "~", "$HOME", "x".repeat(300)]) {
    const text = variant;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await client.store.putItem(["files", text.replaceAll(".", "_")], text, { text });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const found = await client.store.searchItems(["files", text.replaceAll(".", "_")]);
    expect(found.items.map(({ key, value }) => [key, value])).toEqual([[text, { text }]]);
    for (const path of [`/threads/${encodeURIComponent(text)}`, `/assistants/${encodeURIComponent(text)}`]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect([404, 422]).toContain((await raw(server.url, path)).status);
    }
    const id = JSON.stringify({ thread_id: text, graph_id: text, assistant_id: text });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await raw(server.url, "/threads", "POST", id)).status).toBe(422);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect([404, 422]).toContain((await raw(server.url, "/assistants", "POST", id)).status);
  }
  expect(listed(parent)).toEqual(before);
});

test("init takes a template's name, and no path", async () => {
  const folder = folderWith();
  for (const template of ["../../src", "..", "/etc", "agent/../../src", "agent/..", ""]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { code, stderr } = await finish(["init", "new", "--template", template], { cwd: folder });
    expect([code, stderr], template).toEqual([2, expect.stringContaining("agent")]);
  }
  expect(readdirSync(folder)).toEqual([]);
});
